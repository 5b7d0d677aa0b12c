// A comprehension seen through the maps that it reads: what algebra compares.
#pragma once

#include <set>

#include "rewrite/edit.h"

namespace tang {

// `c` with the body of every map that it reads, and of those that these read, in place of the read,
// as far as views allow it and it stays small. What is returned is for comparing and for building
// new comprehensions; whether anything computes it is another question. The maps' nodes (as in
// Edit::Source) are added to `through`.
Comprehension expanded(const Edit& edit, Comprehension c, std::set<size_t>* through = nullptr);

// The definitions of these nodes, in an order in which each follows what it reads.
std::vector<Def> snapshots(Edit& edit, const std::set<size_t>& nodes);

// Whether one of `targets` (nodes, as in Edit::Source) is needed to compute `from`.
bool depends_on(const Edit& edit, const Comprehension& from, const std::vector<size_t>& targets);

}  // namespace tang
