#!/bin/sh
# large.sh TENON - tensors of many blocks, by one thread and by several, with much memory and with
# little: changed and changed back they are the same bytes.
set -u
tenon=$1 bad=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
{
    printf '\223NUMPY\1\0\166\0'
    printf "%-117s\n" "{'descr': '<i4', 'fortran_order': False, 'shape': (40, 7, 131, 97), }"
    head -c 35577 /dev/urandom >part
    i=0
    while [ $i -lt 401 ]; do cat part && i=$((i + 1)); done | head -c 14231840
} >in.npy

# try FIRST SECOND: the second command undoes the first; @ stands for the file.
try()
{
    for threads in 1 3; do
        for memory in 1M 12M 200M; do
            rest="--max-mem $memory --no-sync -f -o"
            if ! OMP_NUM_THREADS=$threads "$tenon" $(echo "$1" | sed 's/@/in.npy/') $rest mid.npy ||
                ! OMP_NUM_THREADS=$threads "$tenon" $(echo "$2" | sed 's/@/mid.npy/') $rest out.npy ||
                ! cmp -s in.npy out.npy; then
                bad=1
                echo "$1, then $2, with $memory and $threads threads: not the same"
            fi
        done
    done
}
try 'permute 3,2,1,0 @' 'permute 3,2,1,0 @'
try 'permute 0,2,3,1 @' 'permute 0,3,1,2 @'
try 'flip -a 0,3 @' 'flip -a 0,3 @'
try 'roll 5 -a 2 @' 'roll -5 -a 2 @'
try 'pad --before 1,0,2,0 --after 0,3,0,1 --mode wrap @' 'slice [1:,:7,2:,:97] @'
try 'cast i64 @' 'cast i32 @'
try 'op add @ 77' 'op sub @ 77'
exit $bad
