#!/bin/sh
# mpi.sh - libtenon-mpi and tenon-mpi under Open MPI (1 to 6 ranks) and MPICH (1 and 2: it polls),
# a rank that is killed while it saves, and an installed package that a program is built against.
set -eu
cd "$(dirname "$0")/../.."
for mpi in openmpi mpich; do
    command -v mpicc.$mpi >/dev/null || { echo "not run: mpicc.$mpi" && exit 77; }
done
build=build/check/mpi
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DTENON_MPI=ON -DTENON_TESTS=ON \
    -DTENON_WERROR=ON >/dev/null
cmake --build $build
runs=0
for mpi in openmpi mpich; do
    ranks="1 2"
    [ $mpi = mpich ] || ranks="1 2 3 4 5 6"
    program=$build/bin/tenon-mpi
    [ -x $build/bin/tenon-mpi-$mpi ] && program=$build/bin/tenon-mpi-$mpi
    for n in $ranks; do
        tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_move_$mpi 200
        tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_calls_$mpi
        tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_wrong_$mpi
        tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_threads_$mpi
        tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_random_$mpi 300 "$n"
        runs=$((runs + 5))
    done
    # As if every two ranks, or each, were a node of their own.
    for each in 1 2; do
        export TENON_MPI_PER_NODE=$each
        for n in ${ranks#1 }; do
            tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_move_$mpi 200
            tests/mpi/mpirun.sh $mpi "$n" $build/tests/mpi/ranks_calls_$mpi
            runs=$((runs + 2))
        done
        unset TENON_MPI_PER_NODE
    done
    tests/mpi/command.sh $mpi "$PWD/$build/bin/tenon" "$PWD/$program" $ranks
    tests/mpi/kill.sh $mpi "$PWD/$build/bin/tenon" "$PWD/$program"
done

# The package: pkg-config with mpicc, and CMake.
prefix=$PWD/$build/moved
cmake --install $build --prefix "$prefix" >/dev/null
flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenon-mpi.pc)") pkg-config --cflags --libs tenon-mpi)
mpicc examples/mpi/halo.c -o $build/halo $flags -lm -Wl,-rpath,"$(dirname "$(find "$prefix" -name 'libtenon.so')")"
usual=openmpi
readelf -d $build/halo | grep -q mpich && usual=mpich
tests/mpi/mpirun.sh $usual 2 $build/halo
mkdir -p $build/consumer
cat >$build/consumer/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(tenon-mpi REQUIRED)
add_executable(halo $PWD/examples/mpi/halo.c)
target_link_libraries(halo tenon::mpi m)
END
cmake -S $build/consumer -B $build/consumer/build -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build $build/consumer/build >/dev/null
tests/mpi/mpirun.sh $usual 2 $build/consumer/build/halo
# tenon.mpi, where this Python has tenon, NumPy and mpi4py on Open MPI.
python=${PYTHON-python3}
if "$python" -c 'import tenon, numpy, mpi4py.MPI' 2>/dev/null; then
    for n in 1 2 3; do
        TENON_MPI_LIBRARY=$(find "$prefix" -name libtenon-mpi-openmpi.so) \
            tests/mpi/mpirun.sh openmpi $n "$python" tests/mpi/ranks.py
    done
else
    echo "not run: mpi4py"
fi
echo "$runs runs under two MPIs, the command, a killed rank, a package"
