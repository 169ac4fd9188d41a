#!/bin/sh
# threads.sh - all tests under the thread sanitizer, with OpenMP understood through Archer.
set -eu
cmake --preset tsan -DTENON_TESTS=ON -DTENON_WERROR=ON
cmake --build --preset tsan
ctest --preset tsan --no-tests=error >build/check/threads.ctest || { cat build/check/threads.ctest && exit 1; }
grep 'tests passed' build/check/threads.ctest
