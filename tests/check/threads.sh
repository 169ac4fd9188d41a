#!/bin/sh
# threads.sh - the tests of shared plans, handles, errors, files, streams and first use, and random calls,
# under the thread sanitizer of clang-19, with OpenMP understood through Archer.  Archer says that
# it is there, and a race on purpose is found: otherwise silence would prove nothing.
#
# libomp-19-dev cannot be installed beside libomp-dev: its files are unpacked under build/check.
set -eu
omp=$PWD/build/check/omp-19/usr/lib/llvm-19/lib
if [ ! -e "$omp/libarcher.so" ]; then
    rm -rf build/check/omp-19 && mkdir -p build/check/omp-19
    (cd build/check/omp-19 && apt-get -qq -o APT::Sandbox::User= download libomp-19-dev libomp5-19 &&
        for deb in ./*.deb; do dpkg -x "$deb" .; done)
fi
cmake --preset tsan -DTENON_TESTS=ON -DTENON_WERROR=ON -Darcher="$omp/libarcher.so" \
    -DCMAKE_C_FLAGS="-O1 -idirafter $omp/clang/19/include" -DOpenMP_C_FLAGS=-fopenmp \
    -DOpenMP_C_LIB_NAMES=omp -DOpenMP_omp_LIBRARY="$omp/libomp.so"
tests="test_threads test_plan_shared test_runtime test_runtime_handle test_io_reference test_io_queue
    test_stream_threads test_oracle"
cmake --build --preset tsan --target $tests

# Archer is loaded, and what it is loaded for works.
export OMP_TOOL_LIBRARIES="$omp/libarcher.so" LD_LIBRARY_PATH="$omp" OMP_NUM_THREADS=4
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1
race=build/tsan/tests/test_threads
ARCHER_OPTIONS=verbose=1 $race race >build/check/threads.race 2>&1 &&
    { cat build/check/threads.race && echo "the race on purpose is not found" && exit 1; }
grep -q 'Archer detected' build/check/threads.race || { echo "Archer is not loaded" && exit 1; }
grep -q 'WARNING: ThreadSanitizer: data race' build/check/threads.race

export TEST_CASES=5000
ctest --preset tsan -j "$(nproc)" --timeout 3000 --no-tests=error \
    -R "/($(echo $tests | tr ' ' '|'))\$" >build/check/threads.ctest ||
    { cat build/check/threads.ctest && exit 1; }
echo "$(grep -c ' Passed ' build/check/threads.ctest) programs without a race, 16 threads x 1000 calls; the race on purpose is found"
