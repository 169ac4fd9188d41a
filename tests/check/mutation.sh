#!/bin/sh
# mutation.sh [--all] [--count N] [--seed N] [FILE...] - small faults in core, view and io are
# noticed by the tests of their module: 95 of 100 in each module, of a sample of N per module that the
# printed seed draws, or of all.
set -eu
exec python3 tests/check/mutation.py "$@"
