#!/bin/sh
# dev.sh DEV - the script that people meet: its list, its refusal of unknown words, and the one
# line it prints where it may not install.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1" && cat "$work/out" && exit 1; }

"$1" help >"$work/out"
for word in demo test build bench check deps format; do
    grep -q "^./dev $word" "$work/out" || fail "help does not list $word"
done

status=0
"$1" nonsense >"$work/out" 2>&1 || status=$?
[ $status = 2 ] || fail "an unknown word ends with $status"
grep -q 'no such word: nonsense' "$work/out" || fail "an unknown word is not named"
grep -q '^./dev test' "$work/out" || fail "an unknown word does not bring the list"

# A machine with nothing installed, a user who is not root, and no sudo.
mkdir "$work/bin"
for tool in sh dirname cat grep mkdir rm; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
chmod +x "$work/bin/id" "$work/bin/dpkg-query"
for word in demo test deps; do
    status=0
    PATH="$work/bin" "$1" $word >"$work/out" 2>&1 || status=$?
    [ $status = 1 ] || fail "$word without root ends with $status"
    [ "$(grep -c '^apt-get install .*cmake.*libsleef-dev' "$work/out")" = 1 ] ||
        fail "$word without root does not print the line"
done
