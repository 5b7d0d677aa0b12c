// The log of the rewrites: each application as data, for `tangc explain`, for certificates, and for
// tests. Ids are never reused, so a step stays readable after later ones.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace tang {

// One application: definitions, and what stands in their place. Both sides read the same tensors,
// as far as neither defines them.
struct Step {
  std::string_view pass;
  std::vector<std::string_view> laws;  // the real laws it relied on (rewrite/laws.h); empty: exact
  std::vector<Def> before, after;
  std::vector<std::pair<TensorId, TensorId>> equal;  // (of before, of after): the claim
  std::string says;                                  // one sentence for the user
};

// Something that a pass looked at and left alone, and why.
struct Refusal {
  std::string_view pass;
  std::string name;  // of the definition
  std::string why;   // a clause: "two reductions read it, and it costs 12 operations"
};

struct Trace {
  std::vector<Step> steps;
  std::vector<Refusal> refusals;
  // The names of what steps mention, by ComprehensionId.
  std::unordered_map<uint32_t, Def> defs;
};

}  // namespace tang
