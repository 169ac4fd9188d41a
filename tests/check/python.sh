#!/bin/sh
# python.sh [--array-api DIR] - the module's tests with more examples, beside PyTorch and Dask, on a
# cluster of two processes, under the address sanitizer with the debug interpreter; einops' own
# tests on tenon; the limited API, and other versions of Python (TENON_PYTHONS); installing from the
# source without what can be done without; and data-apis/array-api-tests from a checkout in DIR.
# A part whose component is missing is named, and once more in the last line.
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

# not_run COMPONENT: what needs it is not run.
missing=
not_run()
{
    echo "not run: $1"
    missing="$missing${missing:+, }$1"
}

# has MODULE [PACKAGE]: is it there, or can it be fetched?  PyTorch is too large to fetch.
has()
{
    [ $# = 1 ] || $python -c "import $1" 2>/dev/null ||
        "$venv/bin/pip" install -q "$2" 2>/dev/null || :
    $python -c "import $1" 2>/dev/null || { not_run "$1" && return 1; }
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
    not_run "python3-dbg"
fi

# The symbols of the wheel against the limited API; the source against the whole one, which an
# interpreter without a lock needs; the wheel in later versions of Python.
tools=build/wheel-tools/bin
$tools/python -c 'import abi3audit' 2>/dev/null || $tools/pip install -q abi3audit 2>/dev/null || :
if [ -x $tools/abi3audit ]; then
    $tools/abi3audit --strict "$build"/wheel/tenon-*.whl
else
    not_run "abi3audit"
fi
gcc -std=c17 -fsyntax-only -Wall -Wextra -Werror -D_GNU_SOURCE -DTPY_SLEEF=0 -DTPY_OPENMP=0 \
    -DTPY_URING=0 -DTPY_PNG=0 -Iinclude -isystem \
    "$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')" python/src/*.c
for other in ${TENON_PYTHONS-python3.12 python3.13 python3.14}; do
    later=$check/python-later
    rm -rf "$later"
    if "$other" -m venv "$later" 2>/dev/null &&
        "$later/bin/pip" install -q numpy pytest hypothesis ml_dtypes einops 2>/dev/null; then
        "$later/bin/pip" install -q --no-index --no-deps "$build"/wheel/tenon-*.whl
        "$later/bin/python" -m pytest -q --no-header -p no:cacheprovider python/tests
    else
        not_run "$other"
    fi
done

# The source distribution is what git has of the library, the command and the module, and no more.
rm -rf "$check/sdist"
mkdir "$check/sdist"
build/wheel-tools/bin/python -c 'import sys; from scikit_build_core.build import build_sdist
build_sdist(sys.argv[1])' "$check/sdist" >/dev/null
tar tzf "$check"/sdist/*.tar.gz | sed 's|^[^/]*/||' | grep -v '^PKG-INFO$' | sort >"$check/sdist/has"
git ls-files CHANGELOG.md CMakeLists.txt LICENSE README.md pyproject.toml cli cmake include man \
    python src | sort | diff "$check/sdist/has" -

# The source with what is there, the distribution without; what is hidden from pkg-config is not
# found.
for lacks in "" sleef+liburing+libpng; do
    root=$check/python-pip
    rm -rf "$root"
    python3 -m venv "$root"
    source=.
    hidden=
    if [ -n "$lacks" ]; then
        source=$(echo "$check"/sdist/*.tar.gz)
        hidden=$root/pkgconfig
        mkdir "$hidden"
        cp "$(pkg-config --variable=pcfiledir zlib)/zlib.pc" "$hidden"
    fi
    (
        [ -z "$hidden" ] || export PKG_CONFIG_LIBDIR="$hidden" TENON_BLAS=none
        "$root/bin/pip" install -q --disable-pip-version-check \
            -C build-dir="$check/python-pip-build${hidden:+-without}" "$source"
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
    not_run "array-api-tests (./dev check python --array-api DIR)"
    echo "the module, its wheel and its source distribution; not run: $missing"
    exit 0
fi
"$venv/bin/pip" install -q -r "$dir/requirements.txt"
# The names of extensions are asked for even when the extensions are off.
(cd "$dir" && ARRAY_API_TESTS_MODULE=tenon ARRAY_API_TESTS_VERSION=2024.12 $pytest \
    -k 'not (test_has_names and (linalg or fft))' --disable-extension linalg fft \
    --xfails-file "$OLDPWD/python/tests/array_api_exceptions.txt" array_api_tests)
echo "the module, its wheel and its source distribution${missing:+; not run: $missing}"
