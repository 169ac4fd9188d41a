#!/bin/sh
# accuracy.sh - every float op of every level on a million points beside long double and MPFR.
set -eu
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target test_ops_accuracy
TENON_POINTS=1048576 build/release/tests/test_ops_accuracy >build/check/accuracy.txt 2>&1 ||
    { cat build/check/accuracy.txt && exit 1; }
echo "$(grep -c ' ulp$' build/check/accuracy.txt) functions within their bounds"
