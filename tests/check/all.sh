#!/bin/sh
# all.sh [NAME...] - run every long check of this folder, or the named ones; one line each with
# its time and its figure.  A check is NAME.sh: it prints its figure as its last line, and fails by
# its status.  Status 77 means that a component is missing: its last line is `not run: COMPONENT`,
# which is printed and is neither a success nor a failure.  A terminal shows what runs.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/check
case "${1-} ${2-}" in "python --array-api") shift && exec tests/check/python.sh "$@" ;; esac
[ $# -gt 0 ] || set -- $(cd tests/check && ls ./*.sh | sed 's,^\./,,; s,\.sh$,,' | grep -v '^all$')
bad=0
for name in "$@"; do
    [ -x "tests/check/$name.sh" ] || { echo "no such check: $name" >&2 && exit 2; }
    [ ! -t 1 ] || printf '%-12s ...\r' "$name"
    start=$(date +%s)
    status=0
    "tests/check/$name.sh" >"build/check/$name.log" 2>&1 || status=$?
    case $status in
    0) printf '%-12s ok %6d s  %s\n' "$name" $(($(date +%s) - start)) \
        "$(tail -n 1 "build/check/$name.log")" ;;
    77) printf '%-12s %s\n' "$name" "$(tail -n 1 "build/check/$name.log")" ;;
    *)
        printf '%-12s FAILED  build/check/%s.log\n' "$name" "$name"
        bad=1
        ;;
    esac
done
exit $bad
