#!/bin/sh
# symbols.sh LIBRARY HEADERS - the names that leave the library are exactly the tn_ functions
# that the headers declare.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$1" | awk '{print $3}' | sed 's/@.*//' | sort -u >"$work/exported"
# A declaration begins with TN_API and may go on over lines up to its semicolon; the function
# is the first name before a parenthesis that is not an attribute.
cat "$2"/*.h | awk '/^TN_API/ {on = 1; text = ""} on {text = text " " $0}
    on && /;/ {on = 0; if (match(text, /tn_[a-z0-9_]+\(/)) print substr(text, RSTART, RLENGTH - 1)}' |
    sort -u >"$work/declared"

bad=0
for name in $(comm -23 "$work/exported" "$work/declared"); do
    echo "exported but in no header: $name"
    bad=1
done
for name in $(comm -13 "$work/exported" "$work/declared"); do
    echo "declared but not exported: $name"
    bad=1
done
for name in $(grep -v '^tn_' "$work/exported" || true); do
    echo "not a tn_ name: $name"
    bad=1
done
echo "$(wc -l <"$work/exported") names exported, $(wc -l <"$work/declared") declared"
[ -s "$work/exported" ] && [ $bad = 0 ]
