// Which reductions are over a prefix: a point folds what the one before it folded, and more.
#pragma once

#include <optional>

#include "ir/schedule.h"

namespace tang {

struct Prefix {
  uint8_t reduce = 0, point = 0;  // axes u and t
};

// The domain says u <= t + k for the first reduce axis u (any, where the monoid commutes), a point
// axis t that all results have, and a constant k <= 0, and nothing else depends on t.
std::optional<Prefix> prefix_of(Arena& arena, const Comprehension& c);

// The same, as a decision of a schedule.
std::optional<Scan> scan_of(const Program& program, DefId node);

}  // namespace tang
