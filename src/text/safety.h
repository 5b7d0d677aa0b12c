// Which reads are in range because of where they stand, and what is left to be proved.
#pragma once

#include <string>
#include <vector>

#include "text/resolve.h"

namespace tang {

// The ranges of all indices that a comprehension sees, and the assumptions so far.
Facts index_facts(const Resolver& resolver, size_t nest);

// True where no coordinate of a read needs a proof.
bool plainly_in_range(const Resolver& resolver, const Slot& slot);

// Fixes for every read of a comprehension whether it is plain or guarded, and which conditions of
// enclosing comprehensions its domain takes over.
void decide_guards(Resolver& resolver, size_t nest);

// What must be proved of a finished comprehension. `axes` gives the axis of each index.
void collect_obligations(Resolver& resolver, size_t nest, const std::vector<FormId>& axes,
                         const std::vector<std::string>& axis_names);

// Bounds of the values of an integer component; absent sides are open.
Range range_of_values(Resolver& resolver, size_t nest, size_t component);

}  // namespace tang
