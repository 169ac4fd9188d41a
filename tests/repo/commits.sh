#!/bin/sh
# commits.sh - every commit says what it does in at most 72 columns, and why in a body.
#
# Earlier commits are left as they are.  Without the history (an unpacked archive, a shallow
# clone) there is nothing to look at.
set -eu
first=2ac4009
git rev-parse -q --verify "$first^{commit}" >/dev/null 2>&1 ||
    { echo "not run: the history of git" && exit 77; }
git log --no-merges --format='%x01%h %s%n%b' "$first..HEAD" | awk '
    function judge() {
        if (head == "") return
        n++
        hash = head
        sub(/ .*/, "", hash)
        subject = substr(head, length(hash) + 2)
        if (length(subject) > 72) {
            print hash ": the subject has " length(subject) " columns, at most 72: " subject
            bad = 1
        }
        if (!body) {
            print hash ": has no body: " subject
            bad = 1
        }
    }
    /^\001/ { judge(); head = substr($0, 2); body = 0; next }
    /[^ \t]/ { body = 1 }
    END { judge(); print n + 0 " commits"; exit bad }'
