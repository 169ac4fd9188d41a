#!/bin/sh
# package.sh BUILD SOURCE - the Debian packages: made, installed into an empty root, used, upgraded
# and removed again.
set -eu
build=$1 source=$2
for program in dpkg dpkg-deb dpkg-shlibdeps cpack; do
    command -v $program >/dev/null || { echo "not run: $program" && exit 77; }
done
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")
out=$build/package_test
rm -rf "$out"
mkdir -p "$out/old" "$out/new" "$out/root/var/lib/dpkg"
touch "$out/root/var/lib/dpkg/status"
"$source/cmake/package.sh" "$build" "$out/old"
# The next version: the same files under another number, which is quicker than packing them anew.
for package in "$out"/old/*.deb; do
    dpkg-deb --raw-extract "$package" "$out/files"
    sed -i "s/^Version: .*/&+1/; s/(= $version)/(= $version+1)/" "$out/files/DEBIAN/control"
    dpkg-deb -Zgzip -z1 --build "$out/files" "$out/new" >>"$out/log"
    rm -r "$out/files"
done

# What must be running is Debian's own here: dependencies are looked at by name.
install="dpkg --root=$out/root --force-not-root --force-depends --force-script-chrootless --log=$out/log"
for package in "$out"/old/*.deb; do
    dpkg-deb --field "$package" Package Version Depends
done >"$out/fields"
grep -q '^Depends: .*libc6' "$out/fields"
grep -q "^Depends: libtenon.* (= $version)" "$out/fields"
$install --install "$out"/old/*.deb >"$out/dpkg.log" 2>&1 || { cat "$out/dpkg.log" && exit 1; }

root=$out/root/usr
lib=$(dirname "$(find "$root" -name 'libtenon.so')")
cat >"$out/main.c" <<'END'
#include <stdio.h>
#include <tenon/tenon.h>
int main(void) { puts(tn_version()); return 0; }
END
cat >"$out/main.cpp" <<'END'
#include <tenon/tenon.hpp>
int main() { return tn::tensor::zeros({2, 3}).size() == 6 ? 0 : 1; }
END
gcc -I"$root/include" "$out/main.c" -o "$out/main" -L"$lib" -ltenon -Wl,-rpath,"$lib"
[ "$("$out/main")" = "$version" ]
if command -v g++ >/dev/null; then
    g++ -std=c++17 -I"$root/include" "$out/main.cpp" -o "$out/main_cpp" -L"$lib" -ltenon \
        -Wl,-rpath,"$lib"
    "$out/main_cpp"
fi
"$root/bin/tenon" --version | grep -q "$version"
[ -f "$root/share/man/man1/tenon.1" ] || [ -f "$root/share/man/man1/tenon.1.gz" ]

$install --install "$out"/new/*.deb >"$out/dpkg.log" 2>&1 || { cat "$out/dpkg.log" && exit 1; }
dpkg --root="$out/root" --list | grep -c "$version+1" >"$out/count"
[ "$(cat "$out/count")" = 3 ]
$install --purge tenon libtenon-dev "libtenon${version%.*}" >"$out/dpkg.log" 2>&1 ||
    { cat "$out/dpkg.log" && exit 1; }
left=$(find "$out/root/usr" -type f 2>/dev/null || :)
[ -z "$left" ] || { echo "left behind: $left" && exit 1; }
rm -rf "$out"
echo "3 packages installed, used, upgraded and removed"
