#!/bin/sh
# trouble.sh TENON DATA - the system refuses: one sentence, exit code 1, nothing left behind.
set -u
tenon=$1 data=$2
work=$(mktemp -d) || exit 1
trap 'umount "$work/full" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

# expect WORDS - the last command has failed with them, and the folder out is as empty as before.
expect()
{
    code=$?
    if [ $code != 1 ] || ! grep -q "$1" err || [ "$(wc -l <err)" != 1 ] || [ -n "$(ls -A out)" ]; then
        bad=1
        echo "wanted \"$1\", exit code 1, nothing left; got $code: $(cat err) $(ls -A out)"
    fi
    rm -f err
}

mkdir out
cat "$data"/c_*.npy >/dev/null
head -c 2000000 /dev/zero >zeros
{
    printf '\223NUMPY\1\0\166\0'
    printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (1000, 2000), }"
    cat zeros
} >big.npy

for to in x.npy x.npz x.safetensors; do
    (ulimit -f 64 && "$tenon" permute 1,0 big.npy -o out/$to 2>err)
    expect 'File too large'
done

# A file system of a megabyte, where one can be mounted.
mkdir full
if mount -t tmpfs -o size=1m none full 2>/dev/null; then
    rmdir out && ln -s full out
    "$tenon" permute 1,0 big.npy -o out/x.npy 2>err
    expect 'No space left'
    umount full
    rm out && mkdir out
fi

# A folder that may not be written, for somebody who is not root.
chmod 555 out
user=
[ "$(id -u)" != 0 ] || user='setpriv --reuid=65534 --clear-groups'
if [ -z "$user" ] || $user true 2>/dev/null; then
    chmod 755 "$work"
    cp "$tenon" here 2>/dev/null
    $user ./here permute 1,0 big.npy -o out/x.npy 2>err
    expect 'Permission denied'
fi
chmod 755 out

"$tenon" permute 1,0 big.npy -o - 2>err | head -c 10 >/dev/null
grep -q 'Broken pipe' err || { bad=1 && echo "a closed pipe: $(cat err)"; }
exit $bad
