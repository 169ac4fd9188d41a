#!/bin/sh
# consumer.sh BUILD CONSUMER VERSION README - install into an empty folder, then build and run a
# program against it: through CMake (shared and static) and through pkg-config, and the program
# of the README as it stands there.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/usr" >"$work/log"

cmake -G Ninja -S "$2" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/usr" -DEXPECTED_VERSION="$3" >>"$work/log"
cmake --build "$work/build" >>"$work/log"
"$work/build/shared"
"$work/build/static"

pc=$(find "$work/usr" -name tenon.pc)
lib=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="$lib/pkgconfig"
[ "$(pkg-config --modversion tenon)" = "$3" ]
[ "$(realpath "$(pkg-config --variable=prefix tenon)")" = "$(realpath "$work/usr")" ]
cc "$2/main.c" $(pkg-config --cflags --libs tenon) -o "$work/by-pkg-config"
LD_LIBRARY_PATH="$lib" "$work/by-pkg-config"
cc "$2/main.c" $(pkg-config --cflags tenon) "$lib/libtenon.a" \
    $(pkg-config --libs --static tenon | sed 's/-ltenon//') -o "$work/by-pkg-config-static"
"$work/by-pkg-config-static"

awk '/^```c$/ {on = 1; next} /^```$/ {if (on) exit} on' "$4" >"$work/readme.c"
cc -Wall -Wextra "$work/readme.c" $(pkg-config --cflags --libs tenon) -o "$work/readme"
[ "$(LD_LIBRARY_PATH="$lib" "$work/readme")" = "0.2 1.0" ]

"$work/usr/bin/tenon" version | grep -q "$3"
[ -s "$work/usr/share/man/man1/tenon.1" ]

# The soname is that of the binary interface: 0.MINOR before 1.0, then MAJOR.
case $3 in
0.*) soname=libtenon.so.${3%.*} ;;
*) soname=libtenon.so.${3%%.*} ;;
esac
[ "$(readlink "$lib/$soname")" = "libtenon.so.$3" ]
readelf -d "$lib/libtenon.so.$3" | grep -qF "[$soname]"
