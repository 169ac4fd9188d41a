#!/bin/sh
# oracle.sh - ten million random calls beside the slow oracle: every level, plain and streamed, 1 to
# 8 threads, the same bits.  One program per core, each with a seed of its own.
set -eu
calls=${ORACLE_CALLS:-10000000}
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target test_oracle
programs=$(nproc)
export OMP_WAIT_POLICY=passive TEST_CALLS=$(((calls + programs - 1) / programs))
first=$(date +%s)
rm -f build/check/oracle.*.txt
for i in $(seq "$programs"); do
    TEST_SEED=$(((first * 1000 + i) * 1000000000)) build/release/tests/test_oracle \
        >"build/check/oracle.$i.txt" 2>&1 || echo "program $i fails" >>build/check/oracle.bad.txt &
done
wait
cat build/check/oracle.*.txt
[ ! -e build/check/oracle.bad.txt ]
sed -n 's/^seed .*, \([0-9]*\) calls by each of \([0-9]\) ways.*/\1 \2/p' build/check/oracle.*.txt |
    awk '{n += $1 * $2; levels = $2 / 2}
         END {print n " calls as the oracle says, " levels " levels plain and streamed, 1 to 8 threads"
              exit n < '"$calls"'}'
