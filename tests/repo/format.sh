#!/bin/sh
# format.sh [--check] - format every C file, template (.inc) and list (.def) with clang-format, or
# name those that differ.
set -eu
how=-i
[ "${1-}" = --check ] && how='--dry-run -Werror'
find include src tests examples bench cli python mpi \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' -o \
    -name '*.hpp' -o -name '*.cpp' \) 2>/dev/null | sort | xargs clang-format $how
