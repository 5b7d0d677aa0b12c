# find_package(tangc): the compiler tangc::tangc, the function tang_add_kernels(), and for programs
# that call the compiler, the library tangc::driver with <tang/tang.h>.
#
# Only the library needs fmt, so a project that just builds kernels works without.
find_package(fmt QUIET)
include(${CMAKE_CURRENT_LIST_DIR}/tangcTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TangAddKernels.cmake)
