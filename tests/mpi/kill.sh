#!/bin/sh
# kill.sh MPI TENON TENON-MPI - a rank that is killed while it saves ends the job, and the file is
# the old one or the whole new one.
set -eu
mpi=$1 tenon=$2 program=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# 64 MiB of one file that grows by joining itself.
"$tenon" convert "$here"/../data/long.npy -o a.npy
while [ "$(stat -c %s a.npy)" -lt 67108864 ]; do
    "$tenon" concat a.npy a.npy a.npy a.npy -o b.npy -f -a 0
    mv b.npy a.npy
done
"$tenon" flip -a 0 a.npy -o old.npy
cp old.npy out.npy
cp a.npy new.npy
killed=0
for wait in 0.2 0.4 0.6 0.8 1.0 1.2 1.5; do
    "$here"/mpirun.sh "$mpi" 2 "$program" convert a.npy -o out.npy -f >said 2>&1 &
    job=$!
    sleep $wait
    # The ranks are children of children of mpirun: the last one that runs the program.
    rank=$(pgrep -f "^$program convert a.npy -o out.npy" | tail -n 1 || true)
    [ -z "$rank" ] || { kill -9 "$rank" && killed=$((killed + 1)); }
    wait $job || true
    cmp -s out.npy old.npy || cmp -s out.npy new.npy || { echo "torn after $wait s" && exit 1; }
    cp old.npy out.npy
done
[ $killed -gt 0 ] || { echo "no rank was killed in time" && exit 1; }
"$here"/mpirun.sh "$mpi" 2 "$program" convert a.npy -o out.npy -f
cmp out.npy new.npy
echo "$killed ranks killed under $mpi: no torn file"
