#!/bin/sh
# calls.sh SOURCE - every call that reduce.h, rows.h and index.h declare is made by each of the
# tests that go through all of them: between fences, by the fuzzer, beside the oracle, without
# memory, and by those of promises and of the floating-point control.
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat include/tenon/reduce.h include/tenon/rows.h include/tenon/index.h |
    awk '/^TN_API/ {on = 1; text = ""} on {text = text " " $0}
    on && /;/ {on = 0; if (match(text, /tn_[a-z0-9_]+\(/)) print substr(text, RSTART, RLENGTH - 1)}' |
    sort -u >"$work/declared"

# Names, dtypes and shapes: they touch no element and allocate nothing.
facts='tn_(reduction|scan)_(parse|name|params|result)|tn_(pattern_)?reduce_(shape|axes)|tn_sort_workspace'
grep -vxE "$facts" "$work/declared" >"$work/calls"

# A copy and a plan go through the kernels of their call.
bad=0
while read -r what but files; do
    for name in $(grep -vxE "$but" "$work/calls"); do
        cat $files | grep -qE "\b$name\b" || { echo "$what: $name is not called" && bad=1; }
    done
done <<'END'
fences tn_plan_.*|tn_(reduce|masked_select|nonzero)_copy tests/ops/test_reduce_guard.c
fuzzer - tests/fuzz/program_reduce.h
oracle - tests/support/trial_reduce.h tests/support/trial_rows.h tests/support/trial_index.h
allocations - tests/ops/test_faults_compute.c
promises - tests/support/reduce_calls.h
END
for test in tests/ops/test_reduce_promises.c tests/runtime/test_float_env.c; do
    for group in $(sed -n 's/^static void \(.*_all\)(work \*w)$/\1/p' tests/support/reduce_calls.h); do
        grep -q "\b$group\b" $test || { echo "$test: $group is not called" && bad=1; }
    done
done
echo "$(wc -l <"$work/calls") calls of $(wc -l <"$work/declared") declared, in 5 tests"
[ "$(wc -l <"$work/calls")" -ge 30 ] && [ $bad = 0 ]
