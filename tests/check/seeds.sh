#!/bin/sh
# seeds.sh - the random tests with new seeds, which ./dev test does not take: there a failure has to
# come from the change.  SEED_ROUNDS is the number of runs of each program, 20 by default.  A failure
# prints its seed.
set -eu
rounds=${SEED_ROUNDS:-20}
programs=$(grep -l seed_asked -r tests --include='test_*.c' | sed 's|.*/||; s|\.c$||' | sort)
cmake --preset release -DTENON_TESTS=ON
cmake --build --preset release --target $programs
export TEST_SEED=new OMP_WAIT_POLICY=passive
cases=$(for i in $(seq "$rounds"); do printf '%s\n' $programs; done)
mkdir -p build/check/seeds
printf '%s\n' "$cases" | cat -n | xargs -P "$(nproc)" -L 1 sh -c '
    out=build/check/seeds/$2.$1
    build/release/tests/$2 >"$out" 2>&1 && rm "$out" || { cat "$out" && exit 1; }' sh
echo "$rounds runs of each of $(printf '%s\n' $programs | wc -l) programs with new seeds passed"
