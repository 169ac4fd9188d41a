#!/bin/sh
# test.sh BUILD [pytest options] - run the tests of the module on the installed wheel, in a venv in
# BUILD.  NumPy, pytest, hypothesis, einops, ml_dtypes and mypy come from PyPI; if it cannot be
# reached, Debian's packages are used, and missing ones are reported.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
python=${PYTHON-/usr/bin/python3}
[ -x "$python" ] || python=python3
"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "not run: python3-venv" && exit 77; }
[ -f "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    { echo "not run: python3-dev" && exit 77; }
# Use the compiler and the flags of the tests' own build: a compiler cache then has every object of
# the library.  With Python's name for the compiler, it would have none.
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$build/CMakeCache.txt" 2>/dev/null) || :
[ -z "$compiler" ] || export CC="$compiler"
levels=$(sed -n 's/^TENON_UNOPTIMIZED:[^=]*=//p' "$build/CMakeCache.txt" 2>/dev/null) || :
define=--config-settings=cmake.define
TENON_WHEEL_OPTIONS="$define.TENON_WERROR=ON $define.TENON_UNOPTIMIZED=$levels ${TENON_WHEEL_OPTIONS-}" \
    python/wheel.sh "$build/wheel"
venv=$build/python-venv
[ -x "$venv/bin/pip" ] || "$python" -m venv --system-site-packages "$venv"
pip="$venv/bin/pip install -q --disable-pip-version-check"
$venv/bin/python -c 'import numpy, pytest, hypothesis, einops, ml_dtypes, mypy' 2>/dev/null ||
    $pip 'numpy>=2' pytest hypothesis einops ml_dtypes mypy 2>/dev/null || :
$pip --no-index --no-deps --force-reinstall "$build"/wheel/tenon-*.whl
for module in numpy pytest hypothesis; do
    $venv/bin/python -c "import $module" 2>/dev/null || { echo "not run: $module" && exit 77; }
done
for module in einops ml_dtypes mypy torch dask; do
    $venv/bin/python -c "import $module" 2>/dev/null || echo "not run: $module"
done
$venv/bin/python -m pytest -q --no-header -p no:cacheprovider python/tests "$@"
[ -f python/tenon/__init__.pyi ] && ! $venv/bin/python -c 'import mypy' 2>/dev/null ||
    (cd "$build" && python-venv/bin/python -m mypy.stubtest tenon \
        --mypy-config-file "$OLDPWD/python/tests/mypy.ini" \
        --ignore-unused-allowlist --allowlist "$OLDPWD/python/tests/stubtest.txt")
