// The laws of a program's own monoids: what is proved of them, and what was only tried.
#pragma once

#include <string>
#include <vector>

#include "check/solver.h"
#include "ir/program.h"

namespace tang {

struct LawReport {
  std::string monoid;
  std::string law;      // "associative", "identity", "commutative"
  bool proved = false;  // over the reals; else the samples of the text stage found nothing
};

// Of each monoid that reductions of the program use and that is not built in, once; `solver` may be
// null.
std::vector<LawReport> monoid_laws(const Program& program, Solver* solver);

}  // namespace tang
