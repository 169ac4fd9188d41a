#!/bin/sh
# coverage.sh [-v] - lines, branches and MC/DC of core, view, nest/nest.c and io that their own
# tests run; -v names what is missed.  Fails when a share falls below what coverage.py demands.
set -eu
tests=$(cd tests && ls core/test_*.c view/test_*.c nest/test_*.c io/test_*.c */test_faults_*.c |
    sed 's,.*/,,; s/\.c$//' | sort -u)
cmake --preset coverage -DTENON_TESTS=ON
cmake --build --preset coverage --target $tests
rm -rf build/coverage/raw
export LLVM_PROFILE_FILE="$PWD/build/coverage/raw/%m_%p.profraw"
ctest --preset coverage --no-tests=error -j "$(nproc)" -R "^($(echo $tests | tr ' ' '|'))\$"
llvm-profdata-19 merge --failure-mode=all -o build/coverage/all.profdata build/coverage/raw/*
python3 tests/check/coverage.py "$@" build/coverage/all.profdata $(
    for t in $tests; do echo build/coverage/tests/$t; done)
