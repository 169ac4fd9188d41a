#!/bin/sh
# levels.sh - on CPUs that lack AVX2 or AVX-512, and with TENON_ISA asking for more than there is,
# the level falls back and every example gives its results.  Without BLAS: OpenBLAS takes kernels
# by other facts than what the emulated CPU says it can, and stops at an instruction it lacks.
set -eu
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release
n=0
for cpu in Nehalem:base Haswell:avx2; do
    run="qemu-x86_64 -cpu ${cpu%:*} -E TENON_ISA=avx512 -E TENON_BLAS=none"
    said=$($run build/release/tests/test_runtime isa 2>/dev/null)
    [ "$said" = "${cpu#*:}" ] || { echo "${cpu%:*} says $said" && exit 1; }
    for program in build/release/examples/[0-9]*_*; do
        [ -f "$program" ] && [ -x "$program" ] || continue
        $run "$program" || { echo "$program fails on ${cpu%:*}" && exit 1; }
        n=$((n + 1))
    done
done
echo "$n runs of the examples on Nehalem and Haswell"
