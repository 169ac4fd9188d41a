#!/bin/sh
# coverage.sh - the share of lines that the tests of a debug build run, in each room.
set -eu
cmake --preset coverage -DTENON_TESTS=ON
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
ctest --preset coverage --no-tests=error
rooms="core view runtime plan ops io"
for room in $rooms; do
    find build/coverage -path "*src/$room/*.gcda" -print | while read -r data; do
        (cd build/coverage && gcov -n "../../$data" 2>/dev/null)
    done | awk -v room="$room" '
        /^File/ {mine = index($0, "/src/" room "/") > 0}
        /^Lines executed/ && mine {split($0, p, /[:% ]+/); n += $NF; hit += $NF * p[3] / 100; mine = 0}
        END {if (n) printf "%s %.1f%%\n", room, 100 * hit / n}'
done | tee build/check/coverage.rooms
paste -sd' ' build/check/coverage.rooms
