#!/bin/sh
# package.sh BUILD DIR [VERSION] - make the Debian packages of a build, and name them.
set -eu
build=$1 dir=$2
version=${3-$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")}
mkdir -p "$dir"
rm -f "$dir"/*.deb
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$dir" -D CPACK_PACKAGE_VERSION="$version" \
    -D CPACK_DEBIAN_DEV_PACKAGE_DEPENDS="libtenon${version%.*} (= $version)" >"$dir/cpack.log" ||
    { cat "$dir/cpack.log" && exit 1; }
rm -rf "$dir/_CPack_Packages"
ls "$dir"/*.deb
