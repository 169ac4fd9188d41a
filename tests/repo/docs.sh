#!/bin/sh
# docs.sh - every link of the documents to a file of the project finds it, every path that they
# name is there, every public call is declared, and docs/testing.md has every environment variable.
set -eu
bad=0 n=0
for doc in *.md docs/*.md docs/*/*.md; do
    [ -f "$doc" ] || continue
    for link in $(grep -o '](\([^)#]*\)' "$doc" | sed 's/^](//'); do
        case $link in http*) continue ;; esac
        n=$((n + 1))
        [ -e "$(dirname "$doc")/$link" ] || { echo "$doc: no file $link" && bad=1; }
    done
    for path in $(grep -oE '`(src|include|tests|cmake|docs|examples)/[a-z0-9_/]+\.[a-z]+`' "$doc" |
        tr -d '`'); do
        n=$((n + 1))
        [ -e "$path" ] || { echo "$doc: no file $path" && bad=1; }
    done
    for name in $(grep -o '`tn_[a-z0-9_]*[a-z0-9]`' "$doc" | tr -d '`' | sort -u); do
        n=$((n + 1))
        grep -qrw "$name" include mpi/include || { echo "$doc: no header has $name" && bad=1; }
    done
done
# As C, Python and the shell ask for one.
for name in $( (grep -rhoE '(getenv|tni_env_[a-z]+|number_asked)\("[A-Z_]+"' src cli mpi tests bench
    grep -rhoE 'environ(\.get\(|\[)"[A-Z_]+"' tests bench python mpi tools --include=*.py
    grep -hoE '\$\{[A-Z_]+:?-' dev $(find tests python mpi cmake bench -name '*.sh')) |
    sed 's/^[^A-Z]*//; s/[^A-Z_].*//' | sort -u); do
    n=$((n + 1))
    grep -q "^| .*\`$name\`" docs/testing.md || { echo "docs/testing.md lacks $name" && bad=1; }
done
echo "$n links and names"
[ $n -gt 0 ] && [ $bad = 0 ]
