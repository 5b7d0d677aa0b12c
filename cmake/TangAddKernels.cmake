# tang_add_kernels(<target> <model.tir>
#                  [TARGET <language>] [ENTRY <name>] [PREFIX <prefix>] [BIND <dim>=<size>...])
#
# Compiles a tensor program with tangc and adds what comes out to <target>: the source is built
# into it, and the generated header, named like the program (and its entry point, when that is
# given: "model_decode.h"), is on its include path:
#
#   add_executable(app main.c)
#   tang_add_kernels(app attention.tir TARGET c PREFIX model BIND S=512)   # "attention.h"
#
# TARGET is a language of `tangc targets`; c when not given. The files stand in the folder
# tang/<target> of the binary directory and are made again when the program, a file that it
# imports, or tangc changes.
function(tang_add_kernels target model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TARGET;ENTRY;PREFIX" "BIND")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tang_add_kernels: what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tang_add_kernels: there is no target ${target}")
  endif()
  if(NOT arg_TARGET)
    set(arg_TARGET c)
  endif()
  set(extension_c .c)
  if(NOT DEFINED extension_${arg_TARGET})
    message(FATAL_ERROR "tang_add_kernels: ${arg_TARGET} is not a target that a build can compile")
  endif()

  cmake_path(ABSOLUTE_PATH model NORMALIZE OUTPUT_VARIABLE program)
  cmake_path(GET program STEM LAST_ONLY stem)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/tang/${target})
  file(MAKE_DIRECTORY ${folder})
  set(options --target=${arg_TARGET})
  if(arg_ENTRY)
    string(APPEND stem _${arg_ENTRY})
    list(APPEND options --entry=${arg_ENTRY})
  endif()
  if(arg_PREFIX)
    list(APPEND options --prefix=${arg_PREFIX})
  endif()
  foreach(binding IN LISTS arg_BIND)
    list(APPEND options --bind=${binding})
  endforeach()

  set(source ${folder}/${stem}${extension_${arg_TARGET}})
  add_custom_command(
    OUTPUT ${source} ${folder}/${stem}.h ${folder}/${stem}.json
    COMMAND tangc::tangc ${program} ${options} -o ${source} --depfile=${source}.d
    DEPENDS ${program} tangc::tangc
    DEPFILE ${source}.d
    COMMENT "Compiling ${model} with tangc"
    VERBATIM)
  target_sources(${target} PRIVATE ${source} ${folder}/${stem}.h)
  target_include_directories(${target} PRIVATE ${folder})
  find_library(TANG_MATH_LIBRARY m)
  mark_as_advanced(TANG_MATH_LIBRARY)
  if(TANG_MATH_LIBRARY)
    target_link_libraries(${target} PRIVATE ${TANG_MATH_LIBRARY})
  endif()
endfunction()
