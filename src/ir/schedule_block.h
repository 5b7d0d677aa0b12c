// A `schedule` block of the text, as it is written. schedule/blocks.h says what its clauses mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "support/ids.h"

namespace tang {

using TensorId = Id<struct TensorTag>;

// A word of a clause: `tile`, `i=64`, `score=group`, `3`.
struct ScheduleWord {
  std::string name;               // empty: a number alone
  std::string value;              // of name=value, when that is a name
  std::optional<int64_t> number;  // of name=number, or alone
  TensorId tensor;                // of a word of `place`: what its name means
  Span span;
};

struct ScheduleBlock {
  TensorId tensor;  // the definition's result that the block names
  std::vector<std::vector<ScheduleWord>> clauses;
  Span span;  // of the name
};

}  // namespace tang
