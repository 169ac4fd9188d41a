#!/bin/sh
# kill_edit.sh TENON - kill -9 at any moment of the commands on model files leaves the old result or
# the new one, whole; reshard goes on where it was killed.  KILLS says how often, 50 at most.
set -u
tenon=$1 kills=${KILLS-50}
[ "$kills" -le 50 ] || kills=50
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# A model of ten tensors of 100 x 100 f32.
printf '\223NUMPY\1\0\166\0' >t.npy
printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (100, 100), }" >>t.npy
head -c 40000 /dev/urandom >>t.npy
for i in 0 1 2 3 4 5 6 7 8 9; do cp t.npy "layer.$i.npy"; done
"$tenon" merge layer.*.npy -o m.safetensors || exit 1
rm layer.*.npy
echo '** -> = : permute 1,0' >rules.txt
mkdir out want
bad=0 new=0 left=0 i=0

# run COMMAND HOW FOLDER: HOW is exec where the process itself is to be killed.
run()
{
    case $1 in
    0) $2 "$tenon" convert m.safetensors -f -o "$3/x.gguf" ;;
    1) $2 "$tenon" rename 'layer.{i}=l.{i}' m.safetensors -f -o "$3/x.safetensors" ;;
    2) $2 "$tenon" report -q m.safetensors -f -o "$3/x.html" ;;
    3) $2 "$tenon" split --shard-size 100K m.safetensors -f -o "$3/x" ;;
    4) $2 "$tenon" reshard rules.txt m.safetensors -q -o "$3/r" >/dev/null ;;
    esac
}

start=$(date +%s%N)
for k in 0 1 2 3 4; do run $k '' want || exit 1; done
each=$((($(date +%s%N) - start) / 5000000))
while [ $i -lt "$kills" ]; do
    k=$((i % 5))
    rm -rf out && mkdir out
    case $k in
    4) ;;
    3) mkdir out/x && echo old >out/x/old ;;
    *) for name in x.gguf x.safetensors x.html; do echo old >out/$name; done ;;
    esac
    run $k exec out 2>/dev/null &
    pid=$!
    delay=$((i * 37 % 100 * each * 3 / 200))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    case $k in
    0) name=x.gguf ;;
    1) name=x.safetensors ;;
    2) name=x.html ;;
    3) name=x ;;
    4) name=r ;;
    esac
    if [ $k = 4 ]; then # absent or whole; the same command completes it
        [ ! -e out/r ] || diff -r out/r want/r >/dev/null || bad=$((bad + 1))
        [ -e out/r ] || run 4 '' out || bad=$((bad + 1))
        diff -r out/r want/r >/dev/null || bad=$((bad + 1))
    elif diff -r out/$name want/$name >/dev/null 2>&1; then
        new=$((new + 1))
    elif [ "$(cat out/$name 2>/dev/null || cat out/$name/old)" != old ]; then
        echo "command $k is torn"
        bad=$((bad + 1))
    fi
    left=$((left + $(ls -A out | grep -cv "^x\|^r$")))
    i=$((i + 1))
done
echo "$kills kills: $bad torn, $new new, $left files left over"
# as in kill.sh: between the name of a new file and its renaming over the old one a kill leaves it
[ $bad = 0 ] && [ $left -le $((kills / 100 + 1)) ]
