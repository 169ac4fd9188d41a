#!/bin/sh
# promises.sh PROMISES BUILD SOURCE - every promise names what holds it, and that exists: a test of
# this build or a check of tests/check.
set -eu
promises=$1 build=$2 source=$3
ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: *//p' >"$build/promises.tests"
# one promise is one item: join its lines
awk '/^- / {if (item) print item; item = $0; next} /^  / && item {item = item $0; next}
    {if (item) print item; item = ""} END {if (item) print item}' "$promises" >"$build/promises.items"
bad=0 n=0
while read -r item; do
    n=$((n + 1))
    names=$(echo "$item" | grep -oE '`((test|repo|cli|cpp|python|mpi)_[a-z0-9_]+|check [a-z]+)`' | tr -d '`' | tr ' ' '/')
    [ -n "$names" ] || { echo "nothing holds: $item" && bad=1; }
    for name in $names; do
        case $name in
        check/*) [ -x "$source/tests/$name.sh" ] ;;
        *) grep -qx "$name" "$build/promises.tests" ;;
        esac || { echo "no such test: $name" && bad=1; }
    done
done <"$build/promises.items"
echo "$n promises"
[ $n -ge 20 ] && [ $bad = 0 ]
