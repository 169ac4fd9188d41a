# cross.cmake - a toolchain file: build for TENON_MACHINE (aarch64, s390x, i686) against the
# Debian packages unpacked under TENON_SYSROOT, and run programs there by qemu or as they are.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENON_MACHINE TENON_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TENON_MACHINE})
set(CMAKE_SYSROOT ${TENON_SYSROOT})
set(CMAKE_C_COMPILER ${TENON_MACHINE}-linux-gnu-gcc)
set(folder ${TENON_MACHINE}-linux-gnu)
if(TENON_MACHINE STREQUAL "i686")
    set(folder i386-linux-gnu)
    set(CMAKE_SHARED_LINKER_FLAGS_INIT
        "-Wl,-rpath,${TENON_SYSROOT}/lib/${folder}:${TENON_SYSROOT}/usr/lib/${folder}")
    set(CMAKE_EXE_LINKER_FLAGS_INIT "${CMAKE_SHARED_LINKER_FLAGS_INIT} \
-Wl,--dynamic-linker=${TENON_SYSROOT}/lib/ld-linux.so.2")
else()
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TENON_MACHINE} -L ${TENON_SYSROOT})
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TENON_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${TENON_SYSROOT}/usr/lib/${folder}/pkgconfig)
