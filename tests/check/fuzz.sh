#!/bin/sh
# fuzz.sh - every fuzz target searches for FUZZ_SECONDS, 60 by default, from its committed corpus,
# with 512 MB of memory.  What it finds is left in build/check/fuzz/NAME.
set -eu
seconds=${FUZZ_SECONDS-60}
here=$PWD
cmake --preset fuzz -DTENON_TESTS=ON
cmake --build --preset fuzz --target fuzz_targets
export here seconds ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32
rm -rf build/check/fuzz
ls tests/fuzz/corpus | xargs -n 1 -P "$(nproc)" sh -c '
    work=$here/build/check/fuzz/$1 dict=
    mkdir -p "$work/corpus" "$work/found"
    [ ! -f "tests/fuzz/$1.dict" ] || dict=-dict=$here/tests/fuzz/$1.dict
    build/fuzz/tests/fuzz/fuzz_$1 "$work/corpus" "$here/tests/fuzz/corpus/$1" $dict \
        -max_total_time=$seconds -rss_limit_mb=512 -timeout=120 -report_slow_units=120 -max_len=4096 \
        -print_final_stats=1 -artifact_prefix="$work/found/" >"$work/log" 2>&1 ||
        cp "$work/log" "$work/found/log"
' fuzz
total=0
for log in build/check/fuzz/*/log; do
    name=${log%/log} name=${name##*/}
    runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$log")
    echo "$name: ${runs:-0} executions"
    [ "${runs:-0}" -gt 0 ] || { tail -n 20 "$log" && exit 1; }
    total=$((total + runs))
done
found=$(find build/check/fuzz/*/found -type f ! -name log | wc -l)
failed=$(find build/check/fuzz/*/found -name log)
[ -z "$failed" ] || grep -ahE "not so|ERROR|SUMMARY" $failed
[ "$found" = 0 ] || find build/check/fuzz/*/found -type f
echo "$total executions, findings $found"
[ -z "$failed" ] && [ "$found" = 0 ]
