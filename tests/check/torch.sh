#!/bin/sh
# torch.sh - files that versions of torch write are read as torch has them.
#
# TORCH_VERSIONS names versions, which are installed in build/torch-VERSION by pip (gigabytes);
# without it the torch of python3 writes the files.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset release >/dev/null
cmake --build build/release --target tenon_command >/dev/null
for version in ${TORCH_VERSIONS-}; do
    [ -x "build/torch-$version/bin/python" ] || python3 -m venv "build/torch-$version"
    "build/torch-$version/bin/pip" install -q "torch==$version" "numpy<2"
    "build/torch-$version/bin/python" tests/check/torch_files.py build/release/bin/tenon
done
[ -z "${TORCH_VERSIONS-}" ] || exit 0
python3 -c 'import torch' 2>/dev/null || { echo "not run: torch" && exit 77; }
exec python3 tests/check/torch_files.py build/release/bin/tenon
