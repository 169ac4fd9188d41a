#!/bin/sh
# symbols.sh LIBRARY HEADERS - the names that leave the library are exactly the tn_ functions
# that the headers declare, and nothing that prints or ends the program is asked of the system.
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
nm -D --undefined-only "$1" | awk '{print $2}' | sed 's/@.*//' | sort -u >"$work/asked"
for name in $(grep -xE '_IO_putc|std(out|err)|(__)?v?[fd]?printf(_chk)?|f?puts|f?putc|putchar|fwrite|perror|(__)?v?syslog(_chk)?|_?exit|_Exit|quick_exit|abort|raise|kill|__assert\w*' "$work/asked" || true); do
    echo "prints or ends the program: $name"
    bad=1
done
echo "$(wc -l <"$work/exported") names exported, $(wc -l <"$work/declared") declared"
[ -s "$work/exported" ] && grep -qx malloc "$work/asked" && [ $bad = 0 ]
