// The automatic passes, a file each. Internal to rewrite/.
#pragma once

#include <string>
#include <unordered_map>

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

// Which updates overwrite what: a definition has to come before those that overwrite what it reads.
class Overwrites {
 public:
  explicit Overwrites(const Program& program);
  // The first update, by DefId, that overwrites what the comprehension reads; SIZE_MAX: none does.
  size_t deadline(const Comprehension& c) const;

 private:
  std::unordered_map<TensorId, size_t> updates_;  // by what they overwrite
};

// The name by which a definition is spoken of: its first result that has one.
std::string name_of(const Def& def);

}  // namespace tang
