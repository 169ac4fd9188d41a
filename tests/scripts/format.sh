#!/bin/sh
# format.sh [--check] - bring every C file into the form of .clang-format, or say which are not.
set -eu
how=-i
[ "${1-}" = --check ] && how='--dry-run -Werror'
find include src tests examples bench cli -name '*.[ch]' 2>/dev/null | sort |
    xargs clang-format $how
