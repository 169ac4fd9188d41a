#!/bin/sh
# progress.sh TENON - the bar on a terminal, lines where they are asked for, silence elsewhere.
#
# The reader of the pipe sleeps, so that the work takes longer than a second.  77: no script(1).
set -u
tenon=$1
command -v script >/dev/null || { echo "not run: script(1)" && exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
{
    printf '\223NUMPY\1\0\166\0'
    printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (6000, 4000), }"
    head -c 24000000 /dev/zero
} >big.npy
slow="sleep 1.3; cat >/dev/null"
work="permute 1,0 big.npy --max-mem 12M -o -"

# has FILE WORDS / lacks FILE WORDS
has() { grep -q "$2" "$1" || { bad=1 && echo "$1 has no $2:" && cat -v "$1"; }; }
lacks() { ! grep -q "$2" "$1" || { bad=1 && echo "$1 has $2:" && cat -v "$1"; }; }

script -qec "'$tenon' $work | { $slow; }" /dev/null </dev/null >bar
has bar '\[#*\.*\] *[0-9]*%  .* of 24.0 MB, .*/s, [0-9]* s left'
tail -c 5 bar | od -An -c | grep -q '\\r 033   \[   K' || { bad=1 && echo "the bar stays:" && cat -v bar; }

script -qec "'$tenon' $work -q | { $slow; }" /dev/null </dev/null >quiet
lacks quiet '%'

"$tenon" $work 2>plain | { sleep 1.3 && cat >/dev/null; }
lacks plain '%'

"$tenon" $work --progress 2>lines | { sleep 1.3 && cat >/dev/null; }
has lines '^\[#*\.*\] *[0-9]*%  .* left$'

script -qec "'$tenon' permute 1,0 big.npy -o short.npy" /dev/null </dev/null >short
lacks short '%'

# Of a result of one number the bytes that are read count.
"$tenon" einsum 'ij,ij->' big.npy big.npy --progress -o one.npy 2>sums
has sums '^\[#*\.*\] *[0-9]*%  .* of 48.0 MB, .* left$'
exit $bad
