# Configures, builds and runs the sample as a user would:
#
#   cmake -D BUILD=<build tree of tangc> -D TREE=build|install -D GENERATOR=... -D WORK=<folder>
#         [-D FLAGS=<compiler flags>] -P check.cmake
cmake_minimum_required(VERSION 3.25)

function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0 OR NOT out MATCHES "${expected}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}; expected '${expected}' in\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/sample/ DESTINATION ${WORK}/source)
set(package ${BUILD})
if(TREE STREQUAL install)
  run("" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
  set(package ${WORK}/installed)
endif()
run("" ${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${package} -D CMAKE_C_FLAGS=${FLAGS} -D CMAKE_CXX_FLAGS=${FLAGS})
file(READ ${WORK}/build/CMakeCache.txt cache)
if(NOT cache MATCHES "tangc_DIR:PATH=${package}")
  message(FATAL_ERROR "the sample did not find the tangc of ${package}")
endif()
run("" ${CMAKE_COMMAND} --build ${WORK}/build)
run("sample: right" ${WORK}/build/app)
run("embed: right" ${WORK}/build/embed)

# A changed program is compiled again, and nothing else is.
file(READ ${WORK}/source/models/scale.tir text)
string(REPLACE "factor * x[i]" "factor * x[i] + 1.0" text "${text}")
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
file(WRITE ${WORK}/source/models/scale.tir "${text}")
run("Compiling models/scale.tir" ${CMAKE_COMMAND} --build ${WORK}/build)
execute_process(COMMAND ${WORK}/build/app OUTPUT_VARIABLE out)
if(NOT out MATCHES "scale is wrong")
  message(FATAL_ERROR "the changed program was not built: ${out}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build OUTPUT_VARIABLE out)
if(out MATCHES "Compiling")
  message(FATAL_ERROR "nothing changed, and this was built:\n${out}")
endif()

# A wrong program stops the build with its error.
file(WRITE ${WORK}/source/models/scale.tir "y = x\noutput y\n")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build
                RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0 OR NOT out MATCHES "scale.tir:1:5")
  message(FATAL_ERROR "a wrong program gave status ${status} and\n${out}")
endif()
file(REMOVE_RECURSE ${WORK})
