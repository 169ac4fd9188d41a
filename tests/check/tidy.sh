#!/bin/sh
# tidy.sh - clang-tidy with the checks of .clang-tidy on every source file of src and cli.
set -eu
command -v clang-tidy >/dev/null || { echo "not run: clang-tidy" && exit 77; }
cmake --preset release
find src cli -name '*.c' | sort >build/check/tidy.files
xargs -P "$(nproc)" -n 6 clang-tidy -p build/release --quiet <build/check/tidy.files
echo "$(wc -l <build/check/tidy.files) files, no findings"
