#!/bin/sh
# gdb.sh PROGRAM PRINTERS - gdb shows a tensor, a nest and a plan as tools/gdb/tenon.py says.
set -eu
command -v gdb >/dev/null || { echo "not run: gdb" && exit 77; }
out=$(gdb -q -nx -batch -ex 'set debuginfod enabled off' -ex "source $2" -ex 'break look_here' \
    -ex run -ex 'print *t' -ex 'print *nest' -ex 'print *plan' -ex 'tn-print t 3' "$1" 2>&1)
case $out in
*"ptrace: Operation not permitted"* | *"Cannot PTRACE"*) echo "not run: gdb (no ptrace)" && exit 77 ;;
*"Python scripting is not supported"*) echo "not run: gdb with Python" && exit 77 ;;
esac
for words in 'f32 (3, 2), strides (1, 3): 1, 4, 2, 5, 3, 6' 'nest of 2 axes over 2 operands' \
    '3 x map, steps 8 4' '2 x map, steps 4 12' 'rearrange f32 (3, 2)' '1, 4, 2, ...'; do
    printf '%s\n' "$out" | grep -qF -e "$words" ||
        { echo "gdb does not show: $words" && printf '%s\n' "$out" && exit 1; }
done
echo "a tensor, a nest and a plan"
