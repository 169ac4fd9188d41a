#!/bin/sh
# faults.sh - every allocation and every system call fails once, in the library and in the command,
# under the sanitizers of addresses and leaks; and the disk is full.
set -eu
cmake --preset asan -DTENON_TESTS=ON -DTENON_WERROR=ON
cmake --build --preset asan
ctest --preset asan -R '/(test_faults_|test_io_save$|test_io_memory$|cli_trouble$)' -V \
    --no-tests=error >build/check/faults.txt 2>&1 || { cat build/check/faults.txt && exit 1; }
grep -o '[0-9]* [a-z ,]*[0-9]* *[a-z ]* failed$' build/check/faults.txt | paste -sd';'
