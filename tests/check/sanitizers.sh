#!/bin/sh
# sanitizers.sh - all tests under the sanitizers of clang (./dev test has those of gcc), then what
# copies or computes elements under both, on every instruction set, with ordinary stores and with
# every output counted as beyond the cache; ordinary stores of the highest set are in the former.
set -eu
case $(uname -m) in
x86_64) levels="base avx2 avx512" highest=avx512 ;;
*) levels=base highest=base ;;
esac
what='/(infiniop_ctypes|test_(cast|contract|dims|einsum|expr|float_env|index|infiniop|join|ops|pad|pattern|plan_shared|rearrange|reduce|rows|scan|threads))'
itself='_(base|avx2|stream|none|accuracy)$' # goes by levels and ways of its own
said=0
for preset in asan asan-clang; do
    cmake --preset $preset -DTENON_TESTS=ON -DTENON_WERROR=ON
    cmake --build --preset $preset
    if [ $preset = asan-clang ]; then
        out=build/check/sanitizers.$preset.all
        ctest --preset $preset -LE long -j "$(nproc)" --output-on-failure --no-tests=error >"$out" ||
            { cat "$out" && exit 1; }
        said=$((said + $(grep -c ' Passed ' "$out")))
    fi
    for level in $levels; do
        for stream in "" 0; do
            [ $level$stream != $highest ] || continue
            out=build/check/sanitizers.$preset.$level.${stream:-plain}
            TENON_ISA=$level TENON_STREAM=$stream ctest --preset $preset -R "$what" -E "$itself" \
                -j "$(nproc)" --output-on-failure --no-tests=error >"$out" || { cat "$out" && exit 1; }
            said=$((said + $(grep -c ' Passed ' "$out")))
        done
    done
done
echo "$said runs of the tests on $levels, plain and streamed, by gcc and clang: 0 reports"
