// Text to graph: lex, parse, resolve names, infer ranges and kinds, build comprehensions.
//
// What only a proof decides comes back as obligations, which `check` discharges. Errors go to the
// Diagnostics, as many as make sense in one run; the program is absent when there was one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/obligation.h"
#include "ir/program.h"

namespace tang {

struct ParseOptions {
  std::map<std::string, int64_t> bind;  // dims made concrete
  std::string entry;                    // which entry point; empty: the file's only program
  // The text of an imported file, or nothing: by its name in the program, behind the folder of the
  // imported file that imports it, as in "layers/norm".
  std::function<std::optional<std::string>(const std::string& name)> import;
};

struct Parsed {
  Program program;
  std::vector<Obligation> obligations;
};

// `file` is a number of `sources`.
std::optional<Parsed> parse(Sources& sources, uint32_t file, const ParseOptions& options,
                            Diagnostics& diagnostics);

}  // namespace tang
