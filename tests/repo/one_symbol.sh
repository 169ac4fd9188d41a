#!/bin/sh
# one_symbol.sh OBJECT... - each kernel object exports one symbol, its table, so that no code of
# one instruction set can be taken for that of another.
set -eu
levels=$(sed -n 's/^LEVEL([A-Z0-9_]*, \([a-z0-9_]*\)).*/\1/p' "$(dirname "$0")/../../src/core/isa.def")
bad=0
for object in "$@"; do
    names=$(nm --extern-only --defined-only "$object" | awk '{print $3}')
    good=
    for level in $levels; do
        case $(printf '%s\n' "$names" | wc -l):$names in
        1:tni_*_"$level") good=yes ;;
        esac
    done
    [ $good ] || {
        echo "$object exports, and should export one table:"
        echo "$names"
        bad=1
    }
done
echo "$# kernel objects"
[ $# -gt 0 ] && [ $bad = 0 ]
