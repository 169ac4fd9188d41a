#!/bin/sh
# python.sh [--array-api DIR] - the module's tests with more examples, Dask on a cluster of two
# processes, and data-apis/array-api-tests from a checkout in DIR.
set -eu
cd "$(dirname "$0")/../.."
dir=
[ "${1-}" != --array-api ] || dir=$2
build=build/release
mkdir -p $build
TENON_EXAMPLES=400 python/test.sh $build
python=$PWD/$build/python-venv/bin/python
$python -c 'import dask.array, distributed' 2>/dev/null ||
    $PWD/$build/python-venv/bin/pip install -q 'dask[array,distributed]' || :
if $python -c 'import dask.array, distributed' 2>/dev/null; then
    TENON_CLUSTER=1 $python -m pytest -q --no-header -p no:cacheprovider python/tests/test_dask.py
else
    echo "not run: dask"
fi
if [ -z "$dir" ]; then
    echo "not run: array-api-tests (./dev check python --array-api DIR)"
    exit 0
fi
$PWD/$build/python-venv/bin/pip install -q -r "$dir/requirements.txt"
cp python/tests/array_api_exceptions.txt $build/array_api_exceptions.txt
printf '%s\n' 'test_has_names[linalg-' 'test_has_names[fft-' >$build/array_api_skips.txt
(cd "$dir" && ARRAY_API_TESTS_MODULE=tenon ARRAY_API_TESTS_VERSION=2024.12 "$python" -m pytest -q \
    --no-header -p no:cacheprovider --disable-extension linalg --disable-extension fft \
    --xfails-file "$OLDPWD/$build/array_api_exceptions.txt" \
    --skips-file "$OLDPWD/$build/array_api_skips.txt" array_api_tests)
