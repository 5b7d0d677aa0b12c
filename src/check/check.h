// Discharges obligations: what a program must guarantee for all sizes that its assumptions allow.
// A refuted one is an error with the sizes and the index that break it; one that cannot be decided
// is an error that says which guard or assumption would help.
#pragma once

#include <vector>

#include "check/solver.h"
#include "ir/obligation.h"
#include "support/diagnostics.h"

namespace tang {

// True when all hold. `solver` is asked for what affine/prove leaves open.
bool check(const Program& program, const std::vector<Obligation>& obligations,
           Diagnostics& diagnostics, const SolverSource& solver = {});

}  // namespace tang
