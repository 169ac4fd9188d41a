#!/bin/sh
# faults.sh - every allocation and every system call fails once, in the library and in the command,
# under the sanitizers of addresses and leaks; every malloc of the process, also in the libraries
# below, without them; and the disk is full.
set -eu
cmake --preset asan -DTENON_TESTS=ON -DTENON_WERROR=ON
cmake --build --preset asan
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target test_faults_malloc test_faults_infini
ctest --preset asan -R '/(test_faults_|test_io_save_faults$|test_io_memory$|cli_trouble$)' -V \
    --no-tests=error >build/check/faults.txt 2>&1 || { cat build/check/faults.txt && exit 1; }
for name in malloc infini; do
    build/release/tests/test_faults_$name >>build/check/faults.txt 2>&1 ||
        { cat build/check/faults.txt && exit 1; }
done
grep -oE '[0-9]+ (allocations|system calls|mallocs).* failed$' build/check/faults.txt | paste -sd',' |
    sed 's/,/, /g'
