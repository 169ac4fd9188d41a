#!/bin/sh
# run.sh BUILD SOURCE COMPILER [FLAG...] - the C++ header: its test, the example and the three
# jobs, compiled without a warning and run.  The jobs print in C++ what they print in C.
set -eu
build=$1 source=$2
shift 2
command -v "$1" >/dev/null || { echo "not run: $1" && exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
compile()
{
    program=$1 file=$2
    shift 2
    "$@" -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$source/include" "$file" \
        -o "$out/$program" -L"$build" -ltenon -Wl,-rpath,"$build"
}
echo '#include <string>' | "$@" -xc++ -fsyntax-only - 2>/dev/null ||
    { echo "not run: $*" && exit 77; }
compile test "$source/tests/cpp/test_tensor.cpp" "$@"
"$out/test"
case " $* " in *" -fno-exceptions "*) exit 0 ;; esac
compile dimension "$source/examples/cpp/dimension.cpp" "$@"
"$out/dimension"
compile jobs_cpp "$source/examples/jobs/jobs.cpp" "$@"
gcc -std=c17 -I"$source/include" "$source/examples/jobs/jobs.c" -o "$out/jobs_c" -L"$build" \
    -ltenon -Wl,-rpath,"$build"
"$out/jobs_c" "$out/jobs.npy" >"$out/c"
"$out/jobs_cpp" "$out/jobs.npy" >"$out/cpp"
cat "$out/c"
cmp "$out/c" "$out/cpp"
