#!/bin/sh
# sanitizers.sh - the tests that ./dev test runs under gcc's sanitizers, under those of clang, then what
# copies or computes elements under those of gcc with kernels that are watched, too: on every
# instruction set, with ordinary stores and with every output counted as beyond the cache.
#
# Kernels are not watched by clang 14, which compiles one of them in up to eight minutes.
set -eu
levels=base
! grep -qws avx2 /proc/cpuinfo || levels="base avx2"
! grep -qws avx512vbmi /proc/cpuinfo || levels="base avx2 avx512"
what='/(infiniop_ctypes|test_(cast|contract|copy_kernels|dims|einsum|expr|float_env|index|infiniop|join|ops|pad|pattern|plan_shared|rearrange|reduce|row|scan|search|sort|stream_ways|threads))'
itself='_(base|avx2|stream|none|accuracy)$' # goes by levels and ways of its own
said=0

# run_tests PRESET OUT [...]: the tests that ctest's options choose.
run_tests()
{
    preset=$1 out=build/check/sanitizers.$2
    shift 2
    ctest --preset "$preset" -j "$(nproc)" --output-on-failure --no-tests=error "$@" >"$out" ||
        { cat "$out" && exit 1; }
    said=$((said + $(grep -c ' Passed ' "$out")))
}

cmake --preset release -DTENON_TESTS=ON -DTENON_WERROR=ON
cmake --build --preset release
cmake --preset asan-clang -DTENON_TESTS=ON -DTENON_WERROR=ON -DTENON_KERNELS="$PWD/build/release"
cmake --build --preset asan-clang
run_tests asan-clang clang -LE long

cmake --preset asan -DTENON_TESTS=ON -DTENON_WERROR=ON -DTENON_KERNELS=
cmake --build --preset asan
for level in $levels; do
    for stream in "" 0; do
        export TENON_ISA=$level TENON_STREAM=$stream
        run_tests asan gcc.$level.${stream:-plain} -R "$what" -E "$itself"
    done
done
echo "$said runs of the tests, by clang without kernels and by gcc on $levels, plain and streamed: 0 reports"
