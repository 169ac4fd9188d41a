#!/bin/sh
# valgrind.sh - ten thousand random calls, the files and the patterns under memcheck, set so
# that a load beyond a block is an error even if its other bytes are good.
#
# Memcheck knows no AVX-512: the levels are base and avx2.  Threads of OpenMP stay until the end,
# so only what is definitely lost counts.
set -eu
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target test_oracle test_io_reference test_io_save test_pattern
check="valgrind -q --partial-loads-ok=no --error-exitcode=9 --leak-check=full
    --errors-for-leak-kinds=definite --show-leak-kinds=definite"
cases=${VALGRIND_CASES:-5000}
export OMP_WAIT_POLICY=passive TENON_ISA=avx2
for level in base avx2; do
    TENON_ISA=$level TEST_CASES=$cases $check build/release/tests/test_oracle run
done
for test in test_io_reference test_io_save test_pattern; do
    $check build/release/tests/$test
done
echo "$((2 * cases)) random calls, files and patterns: 0 errors, 0 bytes lost"
