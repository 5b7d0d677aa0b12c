# tang_embed(TARGET FILE SYMBOL): compiles the text of a file into a target, as
# `extern const std::string_view SYMBOL` of namespace tang::embedded. A change of the file rebuilds.
#
# The same file is the script of the build step, which wraps the text in a raw string literal.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${TANG_EMBED_IN}" text)
  file(WRITE "${TANG_EMBED_OUT}"
    "#include <string_view>\n\nnamespace tang::embedded {\n"
    "extern const std::string_view ${TANG_EMBED_SYMBOL};\n"
    "const std::string_view ${TANG_EMBED_SYMBOL} = R\"embedded(${text})embedded\";\n"
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
