#!/bin/sh
# kill.sh TENON - kill -9 at any moment of writing leaves the old file or the new one, whole, and
# nothing else: by a copy, and every second time by an einsum.  KILLS says how often, 100 by default.
set -u
tenon=$1 kills=${KILLS-100}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Zeros with a header in front: 2000 x 1500 f32, and its transpose.
make()
{
    printf '\223NUMPY\1\0\166\0' >"$3"
    printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': ($1, $2), }" >>"$3"
    head -c 12000000 /dev/zero >>"$3"
}
make 2000 1500 in.npy
start=$(date +%s%N)
"$tenon" permute 1,0 in.npy -o new.npy || exit 1
whole=$((($(date +%s%N) - start) / 1000000))
cp in.npy old.npy
mkdir out
torn=0 replaced=0 i=0
while [ $i -lt "$kills" ]; do
    cp old.npy out/x.npy
    [ $((i % 2)) = 0 ] && words="permute 1,0" || words="einsum ij->ji"
    "$tenon" $words in.npy -f -o out/x.npy &
    pid=$!
    # Up to one and a half times a whole run.
    delay=$((i * 37 % 100 * whole * 3 / 200))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    if cmp -s out/x.npy new.npy; then
        replaced=$((replaced + 1))
    elif ! cmp -s out/x.npy old.npy; then
        torn=$((torn + 1))
    fi
    i=$((i + 1))
done
left=$(ls -A out | grep -cv '^x.npy$')
echo "$kills kills: $torn torn, $replaced new, $left files left over"
# A name is there for the instant between link and rename; more than one in a hundred is a fault.
[ $torn = 0 ] && [ "$left" -le $((kills / 100 + 1)) ]
