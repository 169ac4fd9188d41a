#!/bin/sh
# msan.sh - no reader decides by a byte that nobody has set: corpora and golden files are replayed
# under the memory sanitizer, which compiles the library but not zlib and the C library's
# mathematics.
set -eu
# No OpenMP and no SLEEF: the sanitizer cannot follow them; no libpng, which calls the wrapped zlib.
cmake -S . -B build/msan -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang-19 \
    -DCMAKE_C_FLAGS=-O1 -DTENON_SANITIZE=memory -DTENON_OPENMP=OFF -DTENON_SLEEF=OFF -DTENON_PNG=OFF \
    -DTENON_ISA_LEVELS=base -DTENON_TESTS=ON -DTENON_TEST_PREFIX=msan/
cmake --build build/msan --target fuzz_targets
export MSAN_OPTIONS=poison_in_malloc=0:poison_in_free=0:allocator_may_return_null=1
data=tests/data
total=0
for name in npy npz gguf safetensors pt index pattern slice einsum expr program; do
    more=
    for file in $data/*."$name"; do
        [ ! -f "$file" ] || more="$more $file"
    done
    n=$(build/msan/tests/fuzz/fuzz_$name tests/fuzz/corpus/$name $more)
    echo "$name: $n"
    total=$((total + ${n% files}))
done
echo "$total files replayed, 0 reports"
