# tang_embed(TARGET FILE SYMBOL): compiles the text of a file into a target, as
# `extern const std::string_view SYMBOL` of namespace tang::embedded. A change of the file rebuilds.
#
# tang_embed_folder(TARGET FOLDER EXTENSION SYMBOL): the same for the files of a folder, as
# `extern const std::vector<std::pair<std::string_view, std::string_view>> SYMBOL`: the name of each
# without its extension, and its text.
#
# The same file is the script of the build step, which wraps each text in a raw string literal.
if(CMAKE_SCRIPT_MODE_FILE)
  if(TANG_EMBED_FOLDER)
    file(GLOB files ${TANG_EMBED_FOLDER}/*${TANG_EMBED_EXTENSION})
    set(type "std::vector<std::pair<std::string_view, std::string_view>>")
    set(value "{\n")
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      file(READ ${file} text)
      string(APPEND value "{\"${name}\", R\"embedded(${text})embedded\"},\n")
    endforeach()
    string(APPEND value "}")
  else()
    file(READ "${TANG_EMBED_IN}" text)
    set(type "std::string_view")
    set(value "R\"embedded(${text})embedded\"")
  endif()
  file(WRITE "${TANG_EMBED_OUT}"
    "#include <string_view>\n#include <utility>\n#include <vector>\n\nnamespace tang::embedded {\n"
    "extern const ${type} ${TANG_EMBED_SYMBOL};\n"
    "const ${type} ${TANG_EMBED_SYMBOL} = ${value};\n"
    "}  // namespace tang::embedded\n")
  return()
endif()

set(TANG_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(tang_embed target file symbol)
  get_filename_component(in ${file} ABSOLUTE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DTANG_EMBED_IN=${in} -DTANG_EMBED_OUT=${out}
            -DTANG_EMBED_SYMBOL=${symbol} -P ${TANG_EMBED_SCRIPT}
    DEPENDS ${in} ${TANG_EMBED_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

function(tang_embed_folder target folder extension symbol)
  get_filename_component(in ${folder} ABSOLUTE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${in}/*${extension})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DTANG_EMBED_FOLDER=${in} -DTANG_EMBED_EXTENSION=${extension}
            -DTANG_EMBED_OUT=${out} -DTANG_EMBED_SYMBOL=${symbol} -P ${TANG_EMBED_SCRIPT}
    DEPENDS ${files} ${TANG_EMBED_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
