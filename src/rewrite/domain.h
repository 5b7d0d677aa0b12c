// What can be said of a reduction's domain at a point without looking at data.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"

namespace tang {

// Reduce extents that must be positive for every point to have an element in the domain; nothing
// when that cannot be told.
std::optional<std::vector<FormId>> extents_to_be_positive(const Program& program,
                                                          const Comprehension& c);

// Every plain read of the map is in range wherever its axes are, so that it may be evaluated where
// the program did not.
bool reads_are_in_range(const Program& program, const Comprehension& map);

}  // namespace tang
