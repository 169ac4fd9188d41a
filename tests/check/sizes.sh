#!/bin/sh
# sizes.sh - files of 2^31 and 2^32 + 5 bytes, sparse: info, stats, slice, convert, report and diff
# see their last elements.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset release >/dev/null
cmake --build build/release --target tenon_command >/dev/null
tenon=$PWD/build/release/bin/tenon
work=$(mktemp -d -p build/check)
trap 'rm -rf "$work"' EXIT
cd "$work"
for bytes in 2147483648 4294967301; do
    n=$((bytes - 128)) # elements of u8 behind the header
    printf '\223NUMPY\1\0\166\0' >x.npy
    printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': ($n,), }" >>x.npy
    truncate -s $bytes x.npy
    printf '\7' | dd of=x.npy bs=1 seek=$((bytes - 1)) conv=notrunc status=none
    "$tenon" info x.npy | grep -q "($n,)"
    "$tenon" stats --max-mem 64M x.npy | grep -q "max 7 .*zeros $((n - 1)) "
    "$tenon" report --json --max-mem 64M x.npy | grep -q ",$n,$n,0,7,"
    "$tenon" slice '[-2:]' x.npy -f -o tail.npy
    "$tenon" show tail.npy | grep -q '\[0, 7\]'
    "$tenon" diff -q --max-mem 64M x.npy x.npy | grep -q '^1 equal'
    rm -f x.npy tail.npy
done
echo "files of 2147483648 and 4294967301 bytes are read to their last element"
