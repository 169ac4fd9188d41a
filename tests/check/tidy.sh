#!/bin/sh
# tidy.sh - clang-tidy with the checks of .clang-tidy on every source file of src and cli.
set -eu
command -v clang-tidy >/dev/null || { echo "not run: clang-tidy" && exit 77; }
# clang's own build folder: clang-tidy does not know every option of gcc.
cmake -S . -B build/tidy -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DTENON_TESTS=OFF
find src cli -name '*.c' | sort >build/check/tidy.files
xargs -P "$(nproc)" -n 6 clang-tidy -p build/tidy --quiet <build/check/tidy.files
echo "$(wc -l <build/check/tidy.files) files, no findings"
