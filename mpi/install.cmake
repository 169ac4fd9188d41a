# Installed with TENON_MPI: <tenon/mpi.h>, the libraries, their package files.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME mpi) # separate from packages without MPI
set(mpi_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenon-mpi)
install(DIRECTORY include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(name ${tenon_mpi_names})
    install(TARGETS tenon_mpi_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
configure_file(tenon-mpi.pc.in tenon-mpi.pc @ONLY)
configure_file(tenon-mpiConfig.cmake.in tenon-mpiConfig.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenon-mpi.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenon-mpiConfig.cmake DESTINATION ${mpi_package_dir})
