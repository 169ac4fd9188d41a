# Debian packages by CPack: libtenon0.2 (the library), libtenon-dev (headers, static library, CMake
# and pkg-config files), tenon (the command).  ./dev package makes them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Tenon maintainers <maintainers@tenon.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CPU tensors in C: views, strided copy, elementwise work")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(soname ${tenon_soversion})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libtenon${soname})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared library.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtenon-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libtenon${soname} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libsleef-dev, zlib1g-dev, liburing-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers for C and C++, the static library, package files.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME tenon)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The command: files of tensors, shown and rearranged.")

include(CPack)
