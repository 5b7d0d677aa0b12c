// The compiler as a library: the text of a tensor program in, source code out.
//
//   const tang::CompileResult result = tang::compile({.text = program, .name = "model.tir"});
//   for (const tang::CompileMessage& m : result.messages) std::cerr << m.rendered;
//   for (const tang::CompiledFile& f : result.files) save(f.name, f.text);   // model.c, .h, .json
//
// No call reads or writes files, but where `import` is given and asks for them; calls do not
// share state, so that any number may run at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tang {

struct CompileRequest {
  std::string text;                     // of the program
  std::string name = "program.tir";     // for messages, and for the names of what comes out
  std::string target = "c";             // a name of compile_targets()
  std::string entry;                    // which entry point; empty: the file's only program
  std::string prefix;                   // of public names; empty: made from `name`
  std::map<std::string, int64_t> bind;  // sizes of dimensions to make constant
  // The text of a file that the program imports; without it no import is found.
  std::function<std::optional<std::string>(const std::string& name)> import;
};

// A place in the text. Lines and columns count from 1, columns in bytes.
struct CompilePlace {
  std::string file;  // empty: no place
  uint32_t line = 0;
  uint32_t column = 0;
};

struct CompileNote {
  CompilePlace place;
  std::string text;
};

struct CompileMessage {
  bool is_error = true;  // else a warning
  std::string name;      // stable, for tools: "range-conflict"
  CompilePlace place;
  std::string text;  // one sentence
  std::vector<CompileNote> notes;
  std::string rendered;  // all of it with the source line and a caret, as tangc prints it
};

struct CompiledFile {
  std::string name;  // "model.c"
  std::string text;
};

struct CompileResult {
  bool ok = false;                       // no error; then there are files
  std::vector<CompileMessage> messages;  // in the order in which they were found
  std::vector<CompiledFile> files;       // the source, its header, the manifest
};

// Throws std::logic_error for a fault of the compiler itself, and std::invalid_argument when the
// request names no target or no valid prefix.
CompileResult compile(const CompileRequest& request);

std::vector<std::string> compile_targets();
std::string compiler_version();

}  // namespace tang
