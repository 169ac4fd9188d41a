#!/bin/sh
# abi.sh SOURCE BUILD [--write] - the binary interface of libtenon.so beside the committed one in
# docs/tenon.abi: what is there stays as it is; more may come.
#
# Compared is a build of its own of the files that define public functions: debug information, no
# optimisation, so that compilers of any age agree.  --write makes docs/tenon.abi anew;
# docs/promises.md says when that is allowed.
set -eu
source=$1
out=$2/abi
baseline=$source/docs/tenon.abi
[ "$(uname -m)" = x86_64 ] || { echo "the baseline is that of x86_64" && exit 0; }
rm -rf "$out" && mkdir -p "$out"
cd "$out"
find "$source"/src -name '*.c' ! -path '*/src/kernels/*' ! -path '*/src/compat/infini*' -exec \
    grep -lE '^[a-z][a-z_0-9 ]*[ *]tn_[a-z0-9_]*\(' {} + | xargs -P "$(nproc)" -n 12 ${CC:-gcc} -c -std=gnu17 -g -O0 -fPIC -fvisibility=hidden \
    -ffile-prefix-map="$source/"= -DTENON_BUILDING -D_GNU_SOURCE -I"$source/include" -I"$source/src"
${CC:-gcc} -shared -Wl,--unresolved-symbols=ignore-all -o libtenon.so ./*.o
facts="--exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-elf-needed --drop-undefined-syms --no-show-locs --no-parameter-names --drop-private-types"
abidw $facts --headers-dir "$source/include/tenon" libtenon.so >tenon.abi
[ "${3-}" != --write ] || cp tenon.abi "$baseline"
[ -s "$baseline" ] || { echo "docs/tenon.abi is missing" && exit 1; }
abidiff --no-added-syms --no-show-locs "$baseline" tenon.abi
