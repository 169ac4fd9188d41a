#!/bin/sh
# proof.sh - the arithmetic of sizes is proved for any number of axes: it does not overflow, stays
# in its arrays, and views stay inside the tensor they are made from; each seeded fault is noticed.
set -eu
exec python3 tests/proof/prove.py
