# What cmake --install gives: headers, both libraries, tenonConfig.cmake, tenon.pc.
#
# The static library has an export set of its own: only who links it needs the libraries that
# tenon stands on.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)

install(DIRECTORY include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS tenon EXPORT tenon_targets LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS tenon_static EXPORT tenon_static_targets)
install(EXPORT tenon_targets NAMESPACE tenon:: DESTINATION ${package_dir})
install(EXPORT tenon_static_targets NAMESPACE tenon:: DESTINATION ${package_dir})

configure_package_config_file(cmake/tenonConfig.cmake.in tenonConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tenonConfig.cmake ${PROJECT_BINARY_DIR}/tenonConfigVersion.cmake
        DESTINATION ${package_dir})

list(JOIN tenon_packages " " tenon_requires)
configure_file(cmake/tenon.pc.in tenon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
