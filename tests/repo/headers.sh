#!/bin/sh
# headers.sh INCLUDE - every public header compiles alone, as C and as C++17, by gcc and by clang,
# without a warning.  C17 only mends the wording of C11: each compiler takes one of them; the
# many headers of InfiniOp's operators are alike, and go to one compiler of each language.
set -eu
bad=0 n=0
for header in $(cd "$1" && find . -name '*.h' | sed 's,^\./,,' | sort); do
    for cc in 'gcc -xc -std=c11' 'clang++ -xc++ -std=c++17' 'g++ -xc++ -std=c++17' \
        'clang -xc -std=c17'; do
        case $header:$cc in infiniop/ops/*:g++* | infiniop/ops/*:clang\ *) continue ;; esac
        n=$((n + 1))
        echo "#include <$header>" | $cc -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
            -fsyntax-only -I"$1" - || { echo "$header: not as $cc" && bad=1; }
    done
done
echo "$n compilations"
[ $n -gt 0 ] && [ $bad = 0 ]
