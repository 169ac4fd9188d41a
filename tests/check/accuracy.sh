#!/bin/sh
# accuracy.sh - every float op of every level on a million points beside long double and MPFR, f32
# and f64 at a time.
set -eu
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target test_ops_accuracy
export TENON_POINTS=1048576
rm -f build/check/accuracy.bad
for dtype in f32 f64; do
    build/release/tests/test_ops_accuracy $dtype >build/check/accuracy.$dtype 2>&1 ||
        : >build/check/accuracy.bad &
done
wait
cat build/check/accuracy.f32 build/check/accuracy.f64
[ ! -e build/check/accuracy.bad ]
echo "$(cat build/check/accuracy.f?? | grep -c ' ulp$') functions within their bounds, $TENON_POINTS points each"
