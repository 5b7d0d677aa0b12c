// The automatic passes, a file each. Internal to rewrite/.
#pragma once

#include <string>

#include "rewrite/rewrite.h"

namespace tang {

using Rewrite = Program(const Program&, const RewriteOptions&, Trace*);

Rewrite cse;
Rewrite dce;
Rewrite hoist_invariant_factors;
Rewrite masks_to_domain;
Rewrite merge_siblings;
Rewrite reshape_as_view;
Rewrite simplify;
Rewrite stabilize_softmax;
Rewrite substitute_maps;

// The part of stabilize_softmax that gives sums of exponentials a maximum to be shifted by.
Program shift_exponents(const Program& program, Trace* trace);

// With quotients and guards simplified where the ranges of axes tell.
Comprehension with_simple_views(const Program& program, const Comprehension& c);

// The name by which a definition is spoken of: its first result that has one.
std::string name_of(const Def& def);

}  // namespace tang
