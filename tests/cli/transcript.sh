#!/bin/sh
# transcript.sh TENON DATA FILE - run the commands of a transcript and compare what they say.
#
# "$ " begins a command for the shell, "> " is a line of its standard output, "2> " of its standard
# error, "? " its exit code if that is not 0; other lines are remarks.  Commands run in an empty
# folder, with the golden files in data/.
set -u
tenon=$1 data=$2 file=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/here"
ln -s "$tenon" "$work/bin/tenon"
ln -s "$data" "$work/here/data"
PATH="$work/bin:$PATH"
export PATH
unset OMP_NUM_THREADS
bad=0 command=

check()
{
    [ -n "$command" ] || return 0
    (cd "$work/here" && eval "$command") >"$work/out" 2>"$work/err" </dev/null
    got=$?
    if [ "$got" != "$code" ] || ! cmp -s "$work/out" "$work/want_out" ||
        ! cmp -s "$work/err" "$work/want_err"; then
        bad=1
        echo "$file: $command"
        [ "$got" = "$code" ] || echo "exit code $got, not $code"
        diff "$work/want_out" "$work/out"
        diff "$work/want_err" "$work/err"
    fi
}

begin()
{
    command=$1 code=0
    : >"$work/want_out"
    : >"$work/want_err"
}

begin ''
while IFS= read -r line; do
    case $line in
    '$ '*)
        check
        begin "${line#??}"
        ;;
    '> '* | '>') line=${line#>} && printf '%s\n' "${line# }" >>"$work/want_out" ;;
    '2> '*) printf '%s\n' "${line#2> }" >>"$work/want_err" ;;
    '? '*) code=${line#??} ;;
    esac
done <"$file"
check
exit $bad
