// A decision procedure for what affine/prove leaves open. `check` knows only this interface; the
// driver has an implementation, loaded when it is first asked for.
#pragma once

#include <functional>
#include <optional>

#include "affine/prove.h"
#include "scalar/expr.h"

namespace tang {

class Solver {
 public:
  virtual ~Solver() = default;
  // As prove() of affine/prove.h; without a goal, as prove_empty().
  virtual Proof prove(const Forms& forms, const Facts& facts, std::optional<Constraint> goal) = 0;
  // Whether two expressions over Op::variable leaves are equal for all real, integer and boolean
  // values, functions such as exp being any functions. Rounding and wrap-around are left out.
  virtual Verdict equal(const Exprs& exprs, ExprId a, ExprId b) = 0;
};

// Gives null where there is none.
using SolverSource = std::function<Solver*()>;

}  // namespace tang
