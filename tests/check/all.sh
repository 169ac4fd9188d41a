#!/bin/sh
# all.sh [NAME...] - run every long check of this folder, or the named ones; one line each with
# its figure.  A check is NAME.sh: it prints its figure as its last line, and fails by its status.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/check
[ $# -gt 0 ] || set -- $(cd tests/check && ls ./*.sh | sed 's,^\./,,; s,\.sh$,,' | grep -v '^all$')
bad=0
for name in "$@"; do
    [ -x "tests/check/$name.sh" ] || { echo "no such check: $name" >&2 && exit 2; }
    if "tests/check/$name.sh" >"build/check/$name.log" 2>&1; then
        printf '%-12s ok      %s\n' "$name" "$(tail -n 1 "build/check/$name.log")"
    else
        printf '%-12s FAILED  build/check/%s.log\n' "$name" "$name"
        bad=1
    fi
done
exit $bad
