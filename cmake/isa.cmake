# tenon_isa_objects(target): compile each *_isa.c of src/kernels once per instruction set.
#
# The levels are the rows of src/core/isa.def; other machines than x86-64 have the first alone.
# Each object sees TNI_ISA (base, avx2, avx512) and exports one table whose name ends in it.
# src/runtime/cpu.c asks the CPU for every feature that is named here.  TENON_ISA_LEVELS leaves out
# levels above base, which makes kernels quicker to compile while one works on them.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/src/core/isa.def tenon_levels REGEX "^LEVEL")
list(TRANSFORM tenon_levels REPLACE "^LEVEL\\([A-Z0-9_]+, ([a-z0-9_]+)\\).*" "\\1")
set(TENON_ISA_LEVELS ${tenon_levels} CACHE STRING "instruction sets to compile kernels for")
if(NOT (CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64" AND CMAKE_SIZEOF_VOID_P EQUAL 8))
    set(tenon_levels base)
endif()
set(tenon_isa_flags_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -mtune=haswell)
set(tenon_isa_flags_avx512 ${tenon_isa_flags_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl
    -mavx512cd -mavx512vbmi -mprefer-vector-width=512 -mtune=icelake-server)

# Kernels of reductions copy values of several vectors as vectors, of 64 bytes with AVX-512: a vector
# that is loaded after two stores of its halves waits until both are in the cache (Zen 5: short rows of
# f64 become 1.3 times as fast, argmax of 16 bits down columns 1.25 times).  Copies of f16 in tiles
# lose a tenth by it.
include(CheckCCompilerFlag)
check_c_compiler_flag("-mmove-max=512 -mstore-max=512" TENON_MOVE_MAX)
if(TENON_MOVE_MAX)
    file(GLOB tenon_reductions CONFIGURE_DEPENDS src/kernels/reduce/*_isa.c)
    set_source_files_properties(${tenon_reductions} PROPERTIES
        COMPILE_OPTIONS "-mmove-max=512;-mstore-max=512")
endif()

# Arithmetic rounds to its own type, not to the registers of an 8087.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^i[3-6]86$" OR
   (CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64" AND CMAKE_SIZEOF_VOID_P EQUAL 4))
    add_compile_options(-msse2 -mfpmath=sse)
endif()

# Structs of some hundred bytes are cleared and copied by vectors or by the C library: the string
# instructions that gcc prefers take 7 ns for 200 bytes on Zen 4, and small calls have several.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
    set(tenon_small_blocks -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
        -mmemcpy-strategy=vector_loop:256:noalign,libcall:-1:noalign)
endif()

# Kernels are slow to compile: builds that are not for speed take less trouble.
if(TENON_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(tenon_kernel_opt -O1)
else()
    set(tenon_kernel_opt -O3)
endif()
# On a CPU without AVX-512 its kernels take a fifth of a build and no test runs them: ./dev test
# compiles them at -O0 there, which still finds their errors.  Such a library is not for installing.
set(TENON_UNOPTIMIZED "" CACHE STRING "instruction sets whose kernels are compiled at -O0")
if(TENON_UNOPTIMIZED AND TENON_INSTALL)
    install(CODE "message(WARNING \"kernels for ${TENON_UNOPTIMIZED} are not optimized: configure \
with -DTENON_UNOPTIMIZED= before installing\")")
endif()
# At -O1 with the fuzzer's counters clang 14 takes minutes for this one, at -O0 two seconds.
if(TENON_SANITIZE MATCHES "fuzzer")
    set_source_files_properties(src/kernels/contract/contract_isa.c PROPERTIES COMPILE_OPTIONS -O0)
endif()

# Kernels take most of the time of a build, and under sanitizers most of that of the tests: ./dev test
# links those of the release into the sanitized build, where pages without access guard their operands;
# check sanitizers compiles its own.
set(TENON_KERNELS "" CACHE PATH "folder of a build whose kernels are linked instead of compiling any")

function(tenon_isa_objects target)
    foreach(level ${tenon_levels})
        if(NOT level STREQUAL "base" AND NOT level IN_LIST TENON_ISA_LEVELS)
            break() # each level stands on the one before it
        endif()
        list(APPEND levels ${level})
    endforeach()
    list(LENGTH levels count)
    target_compile_definitions(${target} PRIVATE TNI_LEVELS=${count})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/kernels/*_isa.c)
    if(NOT sources)
        return()
    endif()
    foreach(level ${levels})
        if(TENON_KERNELS)
            list(TRANSFORM sources REPLACE "^${CMAKE_CURRENT_SOURCE_DIR}(.*)$"
                 "${TENON_KERNELS}/CMakeFiles/${target}_${level}.dir\\1.o" OUTPUT_VARIABLE objects)
            set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
            target_sources(${target} INTERFACE ${objects})
            continue()
        endif()
        add_library(${target}_${level} OBJECT ${sources})
        tenon_warnings(${target}_${level})
        target_include_directories(${target}_${level} PRIVATE include src)
        target_compile_definitions(${target}_${level} PRIVATE TENON_BUILDING _GNU_SOURCE
            TNI_LEVELS=${count} TNI_ISA=${level} TNI_ISA_${level}=1 $<$<BOOL:${TENON_SLEEF}>:TENON_SLEEF>)
        set(opt ${tenon_kernel_opt})
        if(level IN_LIST TENON_UNOPTIMIZED)
            set(opt -O0 -w) # at -O0 intrinsics are macros that warn, and so do pragmas of loops
        endif()
        target_compile_options(${target}_${level} PRIVATE ${opt} -ffp-contract=off
            -fno-math-errno -fno-trapping-math ${tenon_isa_flags_${level}}
            $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>) # some loops that may be vectors are not
        target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_${level}>)
    endforeach()
endfunction()
