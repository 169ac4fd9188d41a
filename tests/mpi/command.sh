#!/bin/sh
# command.sh MPI TENON TENON-MPI [RANKS...] - tenon-mpi gives the bytes that tenon gives, refuses
# what tenon refuses, and leaves the old file when a rank is killed.
set -eu
mpi=$1 tenon=$2 program=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
run()
{
    n=$1
    shift
    "$here"/mpirun.sh "$mpi" "$n" "$program" "$@"
}
# expect CODE WORDS COMMAND...: the exit code, and words that it says.
expect()
{
    code=$1 words=$2
    shift 2
    got=0
    "$@" >said 2>&1 || got=$?
    [ "$got" = "$code" ] || { echo "exit $got instead of $code: $*" && cat said && exit 1; }
    grep -qF -- "$words" said || { echo "no \"$words\": $*" && cat said && exit 1; }
}

data=$here/../data
for n in "${@:-2}"; do
    for file in c_f32 f_f32 be_f64 c_bf16 c_c128 scalar empty long; do
        in=$data/$file.npy
        "$tenon" convert "$in" -o one.npy -f
        run "$n" convert "$in" -o many.npy -f
        cmp one.npy many.npy
    done
    "$tenon" cast f16 "$data"/c_f64.npy -o one.npy -f
    run "$n" cast f16 "$data"/c_f64.npy -o many.npy -f
    cmp one.npy many.npy
    run "$n" convert "$data"/c_i32.npy -o many.safetensors -f --name x
    "$tenon" convert "$data"/c_i32.npy -o one.safetensors -f --name x
    cmp one.safetensors many.safetensors
    "$tenon" slice '1:, ::-1' many.safetensors:x -o one.npy -f
    run "$n" slice '1:, ::-1' many.safetensors:x -o many.npy -f
    cmp one.npy many.npy
    "$tenon" permute 2,0,1 "$data"/c_f32.npy -o one.npy -f
    run "$n" permute 2,0,1 "$data"/c_f32.npy -o many.npy -f
    cmp one.npy many.npy
    run "$n" rearrange 'a b c -> c a b' "$data"/c_f32.npy -o many.npy -f
    cmp one.npy many.npy

    for axes in 0 1,2 0,1,2; do # the bytes of one process
        "$tenon" reduce mean "$data"/c_f64.npy -a $axes -o one.npy -f
        run "$n" reduce mean "$data"/c_f64.npy -a $axes -o many.npy -f
        cmp one.npy many.npy
    done
    expect 1 'no reduction' run "$n" reduce frob "$data"/c_f32.npy -o x.npy
    expect 1 'each once' run "$n" reduce sum "$data"/c_f32.npy -a 0,0 -o x.npy
    expect 1 'is there already' run "$n" permute 2,0,1 "$data"/c_f32.npy -o many.npy
    expect 1 'No such file' run "$n" permute 1,0 none.npy -o x.npy
    expect 1 'expected each' run "$n" permute 1,1,0 "$data"/c_f32.npy -o x.npy
    expect 1 'axes are named' run "$n" permute 1 "$data"/c_f32.npy -o x.npy
    "$tenon" permute 2,0,1 "$data"/c_f32.npy -o one.npy -f
    for mem in 60 100; do # slabs of one row, of two and then one
        run "$n" permute 2,0,1 "$data"/c_f32.npy -o many.npy -f --max-mem $mem
        cmp one.npy many.npy
    done
    "$tenon" cast f16 "$data"/c_f64.npy -o one.safetensors -f --name x
    run 1 cast f16 "$data"/c_f64.npy -o many.safetensors -f --name x --max-mem 200
    cmp one.safetensors many.safetensors
    expect 1 'is there already' run "$n" permute 2,0,1 "$data"/c_f32.npy -o many.npy --max-mem 60
    expect 1 'max-mem' run "$n" permute 2,0,1 "$data"/c_f32.npy -o x.npy --max-mem 1
    expect 2 'OUT is missing' run "$n" permute 2,0,1 "$data"/c_f32.npy
    expect 1 'No such file' run "$n" convert "$data"/c_f32.npy -o no/x.npy
    [ ! -e x.npy ]
done

# Without mpirun.
bash -c '. "$1"; COMP_WORDS=(tenon-mpi perm); COMP_CWORD=1; PATH=$2:$PATH; _tenon_mpi
    [ "${COMPREPLY[*]}" = permute ]' - "$here"/../../man/tenon-mpi.bash "$(dirname "$program")"
expect 2 'missing command' "$program"
expect 2 'unknown command' "$program" frob
expect 2 'unknown option' "$program" explain --frob
expect 0 'permute AXES' "$program" help
expect 0 'tenon-mpi ' "$program" version
expect 2 '--ranks' "$program" explain permute 1,0
expect 2 'no distribution' "$program" explain --ranks 4 --shape 4,4 --src rows permute 1,0
expect 0 '65535 of 256 B' "$program" explain --ranks 65536 --shape 524288,524288 permute 1,0
expect 0 '"messages": 255' "$program" explain --ranks 65536 --shape 4096,4096,4096 --json \
    --src block:1,block:2@256x256 --dst block:0,block:2@256x256
expect 0 'by two levels' "$program" explain --ranks 65536 --shape 524288,524288 permute 1,0 \
    --alpha 2us --beta 25G

# Nothing but what was asked for is left behind.
[ "$(ls -a | grep -c '\.tmp$')" = 0 ]
echo "tenon-mpi under $mpi: fine"
