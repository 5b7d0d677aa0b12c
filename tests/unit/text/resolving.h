// A program given as a string, resolved to a graph, with what tests ask of it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/verify.h"
#include "text/parse.h"
#include "text/print.h"

namespace tang {

class Resolving {
 public:
  explicit Resolving(std::string text, ParseOptions options = {},
                     std::map<std::string, std::string> files = {}) {
    options.import = [files](const std::string& name) -> std::optional<std::string> {
      const auto found = files.find(name);
      if (found == files.end()) return std::nullopt;
      return found->second;
    };
    parsed = parse(sources, sources.add("t.tir", std::move(text)), options, diagnostics);
    if (parsed) broken = verify(parsed->program);
  }
  // "name line:column", in the order in which they were found.
  std::vector<std::string> places() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : diagnostics.all()) {
      if (!d.span.valid()) {
        out.push_back(d.name);
        continue;
      }
      const LineColumn at = sources.place(d.span.file, d.span.begin);
      out.push_back(d.name + " " + std::to_string(at.line) + ":" + std::to_string(at.column));
    }
    return out;
  }
  std::string message(size_t i = 0) const {
    return i < diagnostics.all().size() ? diagnostics.all()[i].message : "";
  }
  // The lines of the printed program that define something.
  std::string definitions() const {
    if (!parsed) return render_text(diagnostics, sources, false);
    std::string out;
    for (size_t d = 0; d < parsed->program.defs.size(); ++d)
      out += print_def(parsed->program, DefId(d)) + "\n";
    return out;
  }
  const Program& program() const { return parsed->program; }

  Sources sources;
  Diagnostics diagnostics;
  std::optional<Parsed> parsed;
  std::vector<std::string> broken;
};

// The definitions of a program without its outputs: `output y` is added for the last name.
inline std::string definitions_of(const std::string& text) {
  const Resolving r(text);
  for (const std::string& sentence : r.broken) ADD_FAILURE() << sentence << "\nin\n" << text;
  return r.definitions();
}

}  // namespace tang
