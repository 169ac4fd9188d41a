#!/bin/sh
# oracle.sh - ten million random calls beside the slow oracle: every level, plain and streamed, 1 to
# 8 threads, the same bits.  One program per core, each with a seed of its own.
set -eu
cases=${ORACLE_CASES:-10000000}
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target test_oracle test_runtime
case $(build/release/tests/test_runtime isa) in
avx512) ways=6 ;;
avx2) ways=4 ;;
*) ways=2 ;;
esac
programs=$(nproc)
export OMP_WAIT_POLICY=passive TEST_CASES=$(((cases + ways * programs - 1) / (ways * programs)))
first=$(date +%s)
rm -f build/check/oracle.*.txt
for i in $(seq "$programs"); do
    TEST_SEED=$(((first * 1000 + i) * 1000000000)) build/release/tests/test_oracle \
        >"build/check/oracle.$i.txt" 2>&1 || echo "program $i fails" >>build/check/oracle.bad.txt &
done
wait
cat build/check/oracle.*.txt
[ ! -e build/check/oracle.bad.txt ]
echo "$((TEST_CASES * ways * programs)) calls as the oracle says, $((ways / 2)) levels plain and streamed, 1 to 8 threads"
