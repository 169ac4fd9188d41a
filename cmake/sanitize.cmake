# TENON_SANITIZE watches everything that is compiled; a report ends the program.  The address
# sanitizer finds what null and object-size look for, and kernels compile in two thirds of the time.
if(TENON_SANITIZE)
    set(flags -fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    if(TENON_SANITIZE MATCHES "address")
        list(APPEND flags -fno-sanitize=null,object-size)
    endif()
    add_compile_options(${flags})
    add_link_options(${flags})
endif()

# What tests run under.  Memory that is not there is NULL, as without sanitizers.  LLVM's OpenMP
# drops its tables when a team outgrows twice the default, which is reported as a leak; and
# threads are only understood through its Archer tool.
set(tenon_test_environment TENON_WAKE=0 TENON_TUNE=)
if(TENON_SANITIZE)
    # clang 14 stops at the end of a program whose threads ask for thread-local memory by name, in
    # its search for leaks, unless it does not follow such memory.
    set(asan_options allocator_may_return_null=1)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
        string(APPEND asan_options :intercept_tls_get_addr=0)
    endif()
    list(APPEND tenon_test_environment OMP_NUM_THREADS=4 ASAN_OPTIONS=${asan_options})
endif()
if(TENON_SANITIZE MATCHES "thread")
    find_library(archer archer REQUIRED)
    list(APPEND tenon_test_environment OMP_TOOL_LIBRARIES=${archer}
        TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1)
endif()
