# What find_package(tangc) finds, in the build tree and once installed.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tangc)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tangcConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tangcConfig.cmake
  ${PROJECT_BINARY_DIR}/tangcConfig.cmake COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/TangAddKernels.cmake
  ${PROJECT_BINARY_DIR}/TangAddKernels.cmake COPYONLY)

export(EXPORT tangcTargets NAMESPACE tangc:: FILE ${PROJECT_BINARY_DIR}/tangcTargets.cmake)
install(EXPORT tangcTargets NAMESPACE tangc:: DESTINATION ${package_dir})
install(FILES
  ${PROJECT_BINARY_DIR}/tangcConfig.cmake ${PROJECT_BINARY_DIR}/tangcConfigVersion.cmake
  cmake/TangAddKernels.cmake
  DESTINATION ${package_dir})
install(DIRECTORY include/tang DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
