// Names in scope: what each means, and what the user may have meant by one that means nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/program.h"
#include "text/meaning.h"

namespace tang {

enum class SymbolKind : uint8_t {
  faulty,     // its definition failed: uses are silent
  dim,        // also a bound one, whose value is a constant
  constant,   // `const`
  loop_name,  // of `for`
  scalar,     // a run-time scalar
  parameter,  // a scalar of a function, or a value that a function's body defines
  tensor,     // an input, a definition, or a leading slice of one
};

std::string_view symbol_kind_name(SymbolKind kind);  // "dim", "const", "scalar" ...

// Which names code sees: the file's (0 for the program's own), and the locals of one function call.
struct Sight {
  uint32_t local = 0;
  uint32_t file = 0;
};

struct Symbol {
  SymbolKind kind = SymbolKind::faulty;
  Meaning meaning;              // of everything but tensors
  TensorId tensor;              // of a tensor
  std::vector<FormId> leading;  // the coordinates that a leading slice fixes
  uint32_t frame = 0;           // of a file or a function call: who sees it
  uint32_t loop_depth = 0;      // how many loops it stands in, within its frame
  size_t home = 0;              // of a parameter: the comprehension whose reads it uses
  Span span;                    // of its definition
};

// Names of one name space, each with a stack of meanings, undone in reverse order.
class Scope {
 public:
  // The innermost meaning that can be seen.
  const Symbol* find(const std::string& name, Sight sight) const;
  void define(const std::string& name, Symbol symbol);
  // Gives the innermost meaning that can be seen another value, for as long as it lives.
  void replace(const std::string& name, Sight sight, Symbol symbol);
  size_t mark() const { return log_.size(); }
  void undo_to(size_t mark);
  // "; did you mean tanh?" for the visible name closest to `name`, or "".
  std::string suggestion(const std::string& name, Sight sight) const;

 private:
  std::unordered_map<std::string, std::vector<Symbol>> symbols_;
  std::vector<std::string> log_;
};

// Insertions, deletions, replacements and swaps of neighbours that turn one name into the other.
size_t edit_distance(std::string_view a, std::string_view b);

// Keeps the candidate closest to a name, among those near enough to be a slip.
struct Suggestion {
  explicit Suggestion(std::string wanted) : name(std::move(wanted)) {}
  void consider(std::string_view candidate);
  std::string text() const;  // "; did you mean tanh?" or ""

  std::string name;
  std::string best;
  size_t distance = SIZE_MAX;
};

}  // namespace tang
