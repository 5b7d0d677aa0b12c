// Looks for values on which a monoid of a program breaks its laws.
#pragma once

#include <optional>
#include <string>

#include "ir/program.h"

namespace tang {

// A sentence with the values that break a law: the identity on either side, associativity, or
// commutativity where the monoid claims it. Nothing where a few hundred samples find none, which is
// no proof that it holds.
std::optional<std::string> broken_law(const Arena& arena, const Monoid& monoid);

}  // namespace tang
