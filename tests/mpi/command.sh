#!/bin/sh
# command.sh MPI TENON TENON-MPI [RANKS...] - tenon-mpi gives the bytes that tenon gives, and refuses
# what tenon refuses.  For one number of ranks, every fourth of the small cases.
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

# due: whether a small case is run; mpirun takes longer than all the rest.
all=$# count=0
due()
{
    count=$((count + 1))
    [ "$all" -gt 1 ] || [ $((count % 4)) = 0 ]
}

# refused COMMAND...: tenon-mpi refuses it as tenon does, with the same sentence and exit code.
refused()
{
    due || return 0
    one=0 many=0
    "$tenon" "$@" >said 2>&1 || one=$?
    if [ $one = 2 ] || grep -q "already exists" said; then # before MPI begins: mpirun may lose what is said
        "$program" "$@" >said_mpi 2>&1 || many=$?
    else
        run "$n" "$@" >said_mpi 2>&1 || many=$?
    fi
    [ "$one" = "$many" ] || { echo "exit $many instead of $one: $*" && cat said_mpi && exit 1; }
    grep '^tenon' said >want
    grep '^tenon' said_mpi | sed 's/^tenon-mpi/tenon/' >got
    cmp -s want got || { echo "other sentences: $*" && cat want said_mpi && exit 1; }
    [ ! -e x.npy ]
}

data=$here/../data
cp "$data"/c_f32.npy "$data"/c_f64.npy "$data"/c_i32.npy .
cp "$data"/many.safetensors all.safetensors
cp "$data"/long.npy .
# 1.8 MB in F order: reductions of many pieces.
"$tenon" stack c_f64.npy c_f64.npy c_f64.npy -a 0 -o wide.npy
for k in 1 2 3 4 5 6 7; do
    "$tenon" concat wide.npy wide.npy wide.npy wide.npy -a 0 -o wider.npy -f
    mv wider.npy wide.npy
    [ "$(stat -c %s wide.npy)" -lt 1000000 ] || break
done
"$tenon" permute 3,2,0,1 wide.npy -o wider.npy
mv wider.npy wide.npy
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

    "$tenon" rearrange 'a b (c d) -> d a b c' c=5 "$data"/c_f32.npy -o one.npy -f
    run "$n" rearrange 'a b (c d) -> d a b c' c=5 "$data"/c_f32.npy -o many.npy -f
    cmp one.npy many.npy

    # Through a symbolic link, and by the longest name that there is.
    longest=$(printf '%0251d' 0).npy
    cp c_f32.npy linked.npy
    ln -sf linked.npy link.npy
    run "$n" rearrange 'a b (c d) -> d a b c' c=5 "$data"/c_f32.npy -o link.npy -f
    [ -L link.npy ]
    cmp one.npy linked.npy
    run "$n" rearrange 'a b (c d) -> d a b c' c=5 "$data"/c_f32.npy -o "$longest"
    cmp one.npy "$longest"
    rm link.npy linked.npy "$longest"

    # The bytes of one process: over every set of axes, in one piece and in many.
    while read -r op file more; do
        due || continue
        "$tenon" reduce $op $file $more -o one.npy -f
        run "$n" reduce $op $file $more -o many.npy -f
        cmp one.npy many.npy
    done <<END
mean c_f64.npy -a 0
mean c_f64.npy -a 1,2
mean c_f64.npy
var c_f32.npy -a -1 --params 1 --keep
argmax c_i32.npy -a 0,2
sum long.npy
sum wide.npy --max-mem 1
std wide.npy -a 0 --max-mem 1
norm wide.npy -a 1 --params 3 --max-mem 1
END
    refused reduce frob c_f32.npy -o x.npy
    refused reduce sum c_f32.npy -a 0,0 -o x.npy
    refused reduce sum c_f32.npy -a q -o x.npy
    refused reduce sum c_f32.npy --params 1 -o x.npy
    refused reduce logsumexp c_i32.npy -o x.npy
    refused permute 2,0,1 c_f32.npy -o one.npy
    refused permute 1,0 none.npy -o x.npy
    refused permute 1,1,0 c_f32.npy -o x.npy
    refused permute 1 c_f32.npy -o x.npy
    refused permute a c_f32.npy -o x.npy
    refused permute 2,0,1 c_f32.npy
    refused permute
    refused slice 1:2:0 c_f32.npy -o x.npy
    refused slice 9 c_f32.npy -o x.npy
    refused rearrange 'a_b' c_f32.npy -o x.npy
    refused cast f99 c_f32.npy -o x.npy
    refused cast f16
    refused cast --frob f16 c_f32.npy -o x.npy
    refused convert all.safetensors:no -o x.npy
    refused convert c_f32.npy -o no/x.npy
    refused convert c_f32.npy -o x.foo
    refused convert c_f32.npy c_f64.npy -o x.npy
    refused convert c_f32.npy -o x.npy --max-mem zz
    expect 1 '18 tensors' run "$n" convert all.safetensors -o x.npy
    "$tenon" permute 2,0,1 "$data"/c_f32.npy -o one.npy -f
    for mem in 60 100; do # slabs of one row, of two and then one
        run "$n" permute 2,0,1 "$data"/c_f32.npy -o many.npy -f --max-mem $mem
        cmp one.npy many.npy
    done
    "$tenon" cast f16 "$data"/c_f64.npy -o one.safetensors -f --name x
    run 1 cast f16 "$data"/c_f64.npy -o many.safetensors -f --name x --max-mem 200
    cmp one.safetensors many.safetensors
    refused permute 2,0,1 c_f32.npy -o one.npy --max-mem 60
    expect 1 'max-mem' run "$n" permute 2,0,1 "$data"/c_f32.npy -o x.npy --max-mem 1
    # How far it is: lines where they are asked for, silence elsewhere.
    run "$n" permute 2,0,1 c_f32.npy -o many.npy -f --max-mem 60 --progress 2>said
    grep -q '^ *20%$' said && grep -q '^100%$' said
    run "$n" reduce sum wide.npy -o many.npy -f --max-mem 1 --progress 2>said
    grep -q '^100%$' said
    run "$n" permute 2,0,1 c_f32.npy -o many.npy -f --max-mem 60 2>said
    run "$n" permute 2,0,1 c_f32.npy -o many.npy -f --max-mem 60 --progress -q 2>>said
    [ ! -s said ]
    [ ! -e x.npy ]
done

# Without mpirun.
bash -c '. "$1"; COMP_WORDS=(tenon-mpi perm); COMP_CWORD=1; PATH=$2:$PATH; _tenon_mpi
    [ "${COMPREPLY[*]}" = permute ]' - "$here"/../../man/tenon-mpi.bash "$(dirname "$program")"
expect 2 'missing command' "$program"
expect 2 'unknown command' "$program" frob
expect 2 'unknown option' "$program" explain --frob
expect 1 'each axis of 0 to 1 once' "$program" explain --ranks 4 --shape 4,4 permute 0,2
expect 0 'permute AXES' "$program" help
expect 0 'tenon-mpi ' "$program" version
expect 2 '--ranks' "$program" explain permute 1,0
expect 2 'invalid distribution' "$program" explain --ranks 4 --shape 4,4 --src rows permute 1,0
expect 0 '65535 of 256 B' "$program" explain --ranks 65536 --shape 524288,524288 permute 1,0
expect 0 '"messages": 255' "$program" explain --ranks 65536 --shape 4096,4096,4096 --json \
    --src block:1,block:2@256x256 --dst block:0,block:2@256x256
expect 0 'by two levels' "$program" explain --ranks 65536 --shape 524288,524288 permute 1,0 \
    --alpha 2us --beta 25G

# Nothing but what was asked for is left behind.
[ "$(ls -a | grep -c '\.tmp$')" = 0 ]
echo "tenon-mpi under $mpi: fine"
