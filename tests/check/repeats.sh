#!/bin/sh
# repeats.sh - the tests that ./dev test leaves out because they repeat others: all of them without
# OpenMP, where threads.c alone is another object, and lower instruction sets with streaming stores.
set -eu
said=0
for preset in release serial; do
    which=
    [ $preset = serial ] || which='-L long'
    cmake --preset $preset -DTENON_TESTS=ON -DTENON_WERROR=ON
    cmake --build --preset $preset
    out=build/check/repeats.$preset
    ctest --test-dir build/$preset $which -j "$(nproc)" --output-on-failure --no-tests=error \
        >"$out" || { cat "$out" && exit 1; }
    said=$((said + $(grep -c ' Passed ' "$out")))
done
echo "$said repeated tests passed"
