#!/bin/sh
# ops.sh OP_LIST README - the table of ops in the README is what the library says of itself.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" >"$work/said"
sed -n '/^<!-- ops -->$/,/^<!-- end of ops -->$/p' "$2" | sed '1d;$d' >"$work/written"
diff "$work/written" "$work/said"
