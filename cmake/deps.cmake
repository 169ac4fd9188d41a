# What tenon stands on: tenon_packages, by their pkg-config names, and OpenMP unless it is off.
# What is not installed and can be done without is left out.
#
# tenon_libraries is what to link; ./dev deps knows the Debian packages.
find_package(PkgConfig REQUIRED)
set(tenon_packages)
if(TENON_SLEEF)
    pkg_check_modules(sleef QUIET sleef)
    if(sleef_FOUND)
        list(APPEND tenon_packages sleef)
    else()
        message(STATUS "SLEEF is not installed: vector math is the C library's, one element at a time")
        set(TENON_SLEEF OFF)
    endif()
endif()
if(TENON_IO)
    list(APPEND tenon_packages zlib)
endif()
set(tenon_libraries)
foreach(package ${tenon_packages})
    pkg_check_modules(${package} REQUIRED IMPORTED_TARGET ${package})
    list(APPEND tenon_libraries PkgConfig::${package})
endforeach()

# Reads in flight by io_uring; without liburing threads do it.
set(tenon_uring OFF)
if(TENON_IO AND TENON_URING)
    pkg_check_modules(liburing IMPORTED_TARGET liburing)
    if(liburing_FOUND)
        set(tenon_uring ON)
        list(APPEND tenon_packages liburing)
        list(APPEND tenon_libraries PkgConfig::liburing)
    endif()
endif()

# Pictures of the command; without libpng it says so.
if(TENON_IO AND TENON_PNG)
    pkg_check_modules(libpng QUIET IMPORTED_TARGET libpng)
endif()

set(tenon_openmp_libs)
if(TENON_OPENMP)
    find_package(OpenMP REQUIRED COMPONENTS C)
    list(APPEND tenon_libraries OpenMP::OpenMP_C)
    foreach(lib ${OpenMP_C_LIB_NAMES})
        string(APPEND tenon_openmp_libs " -l${lib}")
    endforeach()
endif()
