#!/bin/sh
# machines.sh [MACHINE...] - the unit tests and ten thousand random calls on aarch64, on s390x
# (whose numbers have their first byte last) and on i686.
#
# Debian's packages for each machine are unpacked under build/check; nothing is installed.  The
# golden files are read and written there too (test_io_reference, test_io_save).  Random calls give the
# bits that this machine gives where bytes have the same order; i686 has no exact numbers for i64 and
# u64 to compare with.
set -eu
[ $# -gt 0 ] || set -- aarch64 s390x i686
packages="libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libgomp1 libcmocka0 libcmocka-dev
    zlib1g zlib1g-dev liburing2 liburing-dev libsleef3 libsleef-dev"

# unpack ARCH ROOT: what a build for a Debian architecture stands on.
unpack()
{
    [ ! -e "$2/ready" ] || return 0
    apt=$2.apt
    rm -rf "$2" "$apt"
    mkdir -p "$2" "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
    : >"$apt/status"
    set -- "$1" "$2" -o "Dir::State=$apt/state" -o "Dir::State::status=$apt/status" \
        -o "Dir::Cache=$apt/cache" -o "APT::Architecture=$1" -o "APT::Architectures=$1" \
        -o APT::Sandbox::User=
    root=$2
    shift 2
    apt-get -qq "$@" update || echo "not every index came; what is missing stops the download"
    (cd "$apt/debs" && apt-get -qq "$@" download $packages)
    for deb in "$apt"/debs/*.deb; do
        dpkg -x "$deb" "$root"
    done
    find "$root" -type l -lname '/*' | while read -r link; do
        ln -sfn "$root$(readlink "$link")" "$link"
    done
    rm -rf "$apt"
    : >"$root/ready"
}

said=
for machine in "$@"; do
    case $machine in
    aarch64) arch=arm64 emulator=qemu-aarch64 ;;
    s390x) arch=s390x emulator=qemu-s390x ;;
    i686) arch=i386 emulator= ;;
    esac
    root=$PWD/build/check/root-$arch
    build=build/check/$machine
    unpack $arch "$root"
    cmake -G Ninja -S . -B "$build" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/cross.cmake" \
        -DTENON_MACHINE="$machine" -DTENON_SYSROOT="$root" -DTENON_WERROR=ON -DTENON_TESTS=ON
    cmake --build "$build" --target unit_tests
    # 10^4 random calls by each of a level's two ways; other random tests have their own numbers.
    export TEST_EMULATOR="${emulator:+$emulator -L $root}" TEST_CALLS=20000 OMP_NUM_THREADS=4
    ctest --test-dir "$build" -R '^test_' -j "$(nproc)" --output-on-failure --no-tests=error \
        --timeout 3000 >"build/check/$machine.ctest" || { cat "build/check/$machine.ctest" && exit 1; }
    said="$said$machine $(grep -c ' Passed ' "build/check/$machine.ctest"), "
    if [ "$machine" = aarch64 ]; then
        vectors=$(aarch64-linux-gnu-objdump -d "$build"/CMakeFiles/tenon_objects_base.dir/src/kernels/*/*.o |
            grep -cE '\b(v[0-9]+\.(16b|8h|4s|2d)|ld1|st1|q[0-9]+)\b')
        isa=$($TEST_EMULATOR "$build/tests/test_runtime" isa)
        [ "$isa" = neon ] && [ "$vectors" -ge 10000 ] || { echo "$isa: $vectors" && exit 1; }
    fi
    if [ "$machine" != s390x ]; then
        cmake --preset release -DTENON_TESTS=ON
        cmake --build --preset release --target test_oracle
        here=$(TEST_SEED=8 TEST_CASES=10000 TENON_ISA=base build/release/tests/test_oracle run)
        there=$(TEST_SEED=8 TEST_CASES=10000 TENON_ISA=base $TEST_EMULATOR "$build/tests/test_oracle" run)
        [ "$here" = "$there" ] || { echo "here $here, on $machine $there" && exit 1; }
    fi
done
echo "tests passed: ${said}10^4 random calls each; ${vectors:-0} NEON instructions in the kernels"
