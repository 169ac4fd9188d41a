#!/bin/sh
# report.sh - tenon report's page of 10,000 tensors in a headless Chromium.
set -eu
cd "$(dirname "$0")/../.."
chromium=$(command -v chromium || command -v chromium-browser || :)
[ -n "$chromium" ] || { echo "not run: chromium" && exit 77; }
cmake --preset release >/dev/null
cmake --build build/release --target tenon_command >/dev/null
exec python3 tests/check/report.py build/release/bin/tenon "$chromium" build/check/report
