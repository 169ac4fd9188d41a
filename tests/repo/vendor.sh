#!/bin/sh
# vendor.sh BUILD SOURCE - a project takes tenon in by add_subdirectory or FetchContent: both targets
# are there under their installed names, nothing but the library is built, and nothing is installed.
set -eu
build=$1 source=$2
out=$build/vendor_test
rm -rf "$out"
mkdir -p "$out/project"
cat >"$out/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(vendor LANGUAGES C)
if(FETCH)
    include(FetchContent)
    FetchContent_Declare(tenon SOURCE_DIR $source)
    FetchContent_MakeAvailable(tenon)
else()
    add_subdirectory($source tenon)
endif()
foreach(kind tenon tenon_static)
    add_executable(use_\${kind} main.c)
    target_link_libraries(use_\${kind} PRIVATE tenon::\${kind})
endforeach()
foreach(target tenon_command infiniop unit_tests demo)
    if(TARGET \${target})
        message(FATAL_ERROR "\${target} is built in a project that did not ask for it")
    endif()
endforeach()
END
cat >"$out/project/main.c" <<'END'
#include <stdio.h>
#include <tenon/tenon.h>
int main(void)
{
    tn_tensor t;
    if (tn_full(&t, TN_F32, 2, (int64_t[]){2, 3}, NULL))
        return 1;
    printf("%lld\n", (long long)tn_numel(&t));
    tn_free(&t);
    return 0;
}
END
levels=$(sed -n 's/^TENON_UNOPTIMIZED:[^=]*=//p' "$build/CMakeCache.txt")
launcher=
! command -v ccache >/dev/null || launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
cmake -S "$out/project" -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTENON_WERROR=ON \
    -DTENON_UNOPTIMIZED="$levels" $launcher >"$out/log"
cmake -S "$out/project" -B "$out/fetched" -G Ninja -DFETCH=ON >>"$out/log"
cmake --build "$out/build" >>"$out/log" || { tail -n 20 "$out/log" && exit 1; }
[ "$("$out/build/use_tenon")" = 6 ] && [ "$("$out/build/use_tenon_static")" = 6 ]
DESTDIR=$out/root cmake --install "$out/build" >>"$out/log"
[ ! -e "$out/root" ] || { find "$out/root" && exit 1; }
rm -rf "$out"
echo "vendored: tenon::tenon and tenon::tenon_static"
