// Names of one scope of printed text: the program's own where possible, never one that the target
// reserves, no two alike.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "emit/dialect.h"

namespace tang::emit {

class Scope {
 public:
  explicit Scope(const Dialect& dialect) : dialect_(&dialect) {}

  // A name of this scope for `wanted`: itself, or with `_` or a number appended.
  std::string name(std::string_view wanted);
  // Keeps a name from being given to anything else.
  void reserve(std::string_view name) { used_.emplace(name); }

 private:
  const Dialect* dialect_;
  std::unordered_set<std::string> used_;
};

}  // namespace tang::emit
