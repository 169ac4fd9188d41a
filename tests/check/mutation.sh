#!/bin/sh
# mutation.sh [--all] [--count N] [--seed N] - small faults in core, view and io are noticed by the
# tests of their room; without --all a sample of 300.
set -eu
exec python3 tests/check/mutation.py "$@"
