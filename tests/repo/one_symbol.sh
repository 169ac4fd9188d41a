#!/bin/sh
# one_symbol.sh OBJECT... - each kernel object exports one symbol, its table, so that no code of
# one instruction set can be taken for that of another.
set -eu
bad=0
for object in "$@"; do
    names=$(nm --extern-only --defined-only "$object" | awk '{print $3}')
    case $(printf '%s\n' "$names" | wc -l):$names in
    1:tni_*_base | 1:tni_*_avx2 | 1:tni_*_avx512) ;;
    *)
        echo "$object exports, and should export one table:"
        echo "$names"
        bad=1
        ;;
    esac
done
echo "$# kernel objects"
[ $# -gt 0 ] && [ $bad = 0 ]
