#!/bin/sh
# options.sh - all tests where a build leaves something out: SLEEF, libpng, the BLAS, or
# files and threads.
set -eu
said=0
for off in SLEEF PNG BLAS IO+OPENMP; do
    build=build/check/without-$off
    cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTENON_TESTS=ON -DTENON_WERROR=ON \
        $(echo $off | tr + '\n' | sed 's/.*/-DTENON_&=OFF/')
    cmake --build "$build"
    ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --no-tests=error >"$build.ctest" ||
        { cat "$build.ctest" && exit 1; }
    said=$((said + $(grep -c ' Passed ' "$build.ctest")))
done
echo "$said tests passed without SLEEF, libpng or a BLAS, and without files and threads"
