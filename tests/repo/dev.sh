#!/bin/sh
# dev.sh DEV - the script that people meet: its help, unknown words, tests and cases, and the one
# line it prints where it may not install packages.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1" && cat "$work/out" && exit 1; }

"$1" help >"$work/out"
for word in demo test 'test NAME' quick build bench check deps format; do
    grep -q "^./dev $word" "$work/out" || fail "help does not list $word"
done

status=0
"$1" nonsense >"$work/out" 2>&1 || status=$?
[ $status = 2 ] || fail "an unknown word ends with $status"
grep -q 'no such word: nonsense' "$work/out" || fail "an unknown word is not named"
grep -q '^./dev test' "$work/out" || fail "an unknown word does not bring the list"

# One test by name: an unknown name and a case that matches nothing are errors.  cmake and ctest
# are stand-ins, because the real ones would configure the build that runs this test.
mkdir "$work/tools"
printf '#!/bin/sh\n' >"$work/tools/cmake"
cat >"$work/tools/ctest" <<'END'
#!/bin/sh
case " $* " in
*" -N "*) printf '  Test #1: test_nest\n  Test  #2: cli_views\n' ;;
*) case ${TEST_FILTER-} in '' | '*normal*') echo "1: [ RUN      ] the_normal_form" ;; esac ;;
esac
END
printf '#!/bin/sh\necho install ok installed\n' >"$work/tools/dpkg-query"
chmod +x "$work/tools/cmake" "$work/tools/ctest" "$work/tools/dpkg-query"
try() { # STATUS WORDS ARGUMENT...
    want=$1 words=$2 status=0
    shift 2
    PRESET=stub PATH="$work/tools:$PATH" "$dev" test "$@" >"$work/out" 2>&1 || status=$?
    [ $status = "$want" ] || fail "test $*: status $status, expected $want"
    grep -q "$words" "$work/out" || fail "test $*: does not say: $words"
}
dev=$1
try 0 the_normal_form nest
try 0 the_normal_form test_nest normal
try 2 'no such test: nonsense' nonsense
try 2 'there is test_nest' nes
try 2 'no case of test_nest matches absent' nest absent
try 2 'cli_views has no cases' cli_views normal
try 2 'a name and a case' a b c
rm -f "$(dirname "$1")/build/stub.log"

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
