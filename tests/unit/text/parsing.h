// A program given as a string, parsed, with what tests ask of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/syntax.h"

namespace tang::syntax {

class Parsing {
 public:
  explicit Parsing(std::string text) {
    const uint32_t number = sources.add("t.tir", std::move(text));
    file = parse_syntax(sources, number, diagnostics);
  }
  // "name line:column message"
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : diagnostics.all()) {
      const LineColumn at = sources.place(d.span.file, d.span.begin);
      out.push_back(d.name + " " + std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
                    d.message);
    }
    return out;
  }
  std::string text_of(Span span) const {
    return sources.text(span.file).substr(span.begin, span.end - span.begin);
  }
  template <class T>
  const T& item(size_t i) const {
    return std::get<T>((*file)[file->top.items.at(i)].data);
  }
  const ExprNode& node(ExprNodeId id) const { return (*file)[id]; }

  Sources sources;
  Diagnostics diagnostics;
  std::optional<File> file;
};

}  // namespace tang::syntax
