// What computing a definition's point again costs, where it is read, against storing and loading
// it: the one rule by which rewrites and schedules call a map cheap. No measurement, no machine.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace tang {

inline constexpr int64_t kCheap = 4;  // at most so much: recomputing beats a store and a load

// Operations of one point as they would be written out, what is used twice counting twice; a
// transcendental function counts as eight, a division as five. At most 2^40 a component.
int64_t operations(const Arena& arena, const Comprehension& c);

// The same, and four for each element beyond the first that a point loads for itself alone.
int64_t cost_again(const Arena& arena, const Comprehension& c);

}  // namespace tang
