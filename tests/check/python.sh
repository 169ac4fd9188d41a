#!/bin/sh
# python.sh [--array-api DIR] - the module's tests with more examples, beside PyTorch and Dask, on a
# cluster of two processes, under the address sanitizer with the debug interpreter; einops' own
# tests on tenon; installing from the source without what can be done without; and
# data-apis/array-api-tests from a checkout in DIR.  A part whose component is missing is named.
set -eu
cd "$(dirname "$0")/../.."
dir=
[ "${1-}" != --array-api ] || dir=$(cd "$2" && pwd)
build=$PWD/build/release
check=$PWD/build/check
mkdir -p "$build" "$check"
TENON_EXAMPLES=400 python/test.sh build/release
venv=$build/python-venv
python=$venv/bin/python
pytest="$python -m pytest -q --no-header -p no:cacheprovider"
packages=$($python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# has MODULE [PACKAGE]: is it there, or can it be fetched?  PyTorch is too large to fetch.
has()
{
    [ $# = 1 ] || $python -c "import $1" 2>/dev/null ||
        "$venv/bin/pip" install -q "$2" 2>/dev/null || :
    $python -c "import $1" 2>/dev/null || { echo "not run: $1" && return 1; }
}

! has torch || $pytest python/tests/test_exchange.py
if has distributed 'dask[array,distributed]'; then
    TENON_CLUSTER=4096 $pytest python/tests/test_dask.py python/tests/test_cluster.py
fi
if has einops einops; then
    for mode in backend functions; do
        PYTHONPATH=python/tests TENON_EINOPS=$mode $pytest -p einops_suite --pyargs einops.tests
    done
fi

# Sanitizers in the module and the asserts of a debug interpreter; PyTorch does not load there.
debug=$(command -v python3-dbg || :)
if [ -n "$debug" ] && [ -f "$(gcc -print-file-name=libasan.so)" ]; then
    cmake -S . -B "$check/python-asan" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DTENON_SANITIZE=address,undefined -DTENON_ASSERTS=ON -DTENON_PYTHON=ON -DTENON_TESTS=OFF \
        -DTENON_TOOLS=OFF -DTENON_INSTALL=OFF -DPython_EXECUTABLE=/usr/bin/python3 \
        >"$check/python-asan.log"
    cmake --build "$check/python-asan" --target tenon_python >>"$check/python-asan.log"
    site=$check/python-asan/site
    rm -rf "$site"
    mkdir -p "$site/torch"
    echo 'raise ImportError' >"$site/torch/__init__.py"
    cp -r python/tenon "$site"
    cp "$check/python-asan/python/_core.abi3.so" "$site/tenon"
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
        ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1 \
        PYTHONMALLOC=malloc TENON_EXAMPLES=10 PYTHONPATH=$site:$packages "$debug" -m pytest -q --no-header -p no:cacheprovider \
        python/tests -k 'not command and not interpreter and not light'
else
    echo "not run: python3-dbg"
fi

# From the source, with what is there and without; what is hidden from pkg-config is not found.
for lacks in "" sleef+liburing+libpng; do
    root=$check/python-pip
    rm -rf "$root"
    python3 -m venv "$root"
    hidden=
    if [ -n "$lacks" ]; then
        hidden=$root/pkgconfig
        mkdir "$hidden"
        cp "$(pkg-config --variable=pcfiledir zlib)/zlib.pc" "$hidden"
    fi
    (
        [ -z "$hidden" ] || export PKG_CONFIG_LIBDIR="$hidden" TENON_BLAS=none
        "$root/bin/pip" install -q --disable-pip-version-check \
            -C build-dir="$check/python-pip-build${hidden:+-without}" .
        "$root/bin/python" -c 'import sys, tenon as tn
tn.show_config()
without = len(sys.argv) > 1
assert tn.config()["sleef"] is not without and tn.config()["io_uring"] is not without
assert not without or tn.config()["blas"] == "none"
assert (tn.ones((3, 4)) @ tn.ones((4, 2))).tolist() == [[4, 4]] * 3
assert abs(float(tn.exp(tn.ones(9))[8]) - 2.718281828459045) < 1e-15' $lacks
    )
done

if [ -z "$dir" ]; then
    echo "not run: array-api-tests (./dev check python --array-api DIR)"
    exit 0
fi
"$venv/bin/pip" install -q -r "$dir/requirements.txt"
# The names of extensions are asked for even when the extensions are off.
(cd "$dir" && ARRAY_API_TESTS_MODULE=tenon ARRAY_API_TESTS_VERSION=2024.12 $pytest \
    -k 'not (test_has_names and (linalg or fft))' --disable-extension linalg fft \
    --xfails-file "$OLDPWD/python/tests/array_api_exceptions.txt" array_api_tests)
