#!/bin/sh
# images.sh [TENON] - images as networks want them, in the shell: u8 NHWC to normalised f16 NCHW,
# padded to 96 x 96.  The elements go through pipes; nothing needs more memory than --max-mem.
set -eu
tenon=${1-tenon}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# header DESCR SHAPE: the first 128 bytes of a .npy
header()
{
    printf '\223NUMPY\1\0\166\0'
    printf '%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
}
{ header '|u1' '(2, 60, 90, 3)' && head -c 32400 /dev/urandom; } >images.npy
{ header '<f4' '(3, 1, 1)' && printf '\354\121\370\76\325\170\351\76\33\57\317\76'; } >mean.npy
{ header '<f4' '(3, 1, 1)' && printf '\372\176\152\76\101\140\145\76\146\146\146\76'; } >std.npy

"$tenon" permute 0,3,1,2 images.npy -o - |
    "$tenon" eval "f16((x / 255 - m) / s)" x=- m=mean.npy s=std.npy --max-mem 64M -o - |
    "$tenon" pad --before 0,0,18,3 --after 0,0,18,3 - -o batch.npy
"$tenon" info batch.npy

# what the batch looks like: the mean of each channel, a reduction in the same language
"$tenon" eval "mean(f32(x), axis=(0, 2, 3))" x=batch.npy -o means.npy
"$tenon" show means.npy
"$tenon" info batch.npy | grep -q 'f16 *(2, 3, 96, 96)'
"$tenon" info means.npy | grep -q 'f32 *(3,)'
