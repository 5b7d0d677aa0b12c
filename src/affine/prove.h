// Decides facts about forms: is `form >= 0` at every integer point that the known facts allow?
//
// Every compile uses it, so it is small and fast: intervals first, then Fourier-Motzkin elimination
// over the rationals with a limit on the number of inequalities. Each product of atoms and each
// quotient counts as a variable of its own; a quotient q = f/k brings k*q <= f <= k*q + k - 1.
// Sound: `proved` is a proof, `refuted` comes with integer values that satisfy every fact and break
// the form. `unknown` says nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "affine/form.h"

namespace tang {

// form >= 0 when modulus is 0, else form is a multiple of modulus.
struct Constraint {
  FormId form;
  int64_t modulus = 0;
  auto operator<=>(const Constraint&) const = default;
};

using Facts = std::vector<Constraint>;

enum class Verdict : uint8_t { proved, refuted, unknown };

struct Proof {
  Verdict verdict = Verdict::unknown;
  std::map<Var, int64_t> witness;  // a value for every variable of facts and goal, when refuted
};

Proof prove(Forms& forms, const Facts& facts, Constraint goal);
// The same without the search for a witness, for callers that only ask whether it is proved. It
// looks at facts that are connected with the goal by variables only.
bool proves(Forms& forms, const Facts& facts, Constraint goal);
// Integer values that satisfy all facts, by a bounded search near their bounds.
// `refuted` with a witness: such a point exists; `proved`: none exists.
Proof prove_empty(Forms& forms, const Facts& facts);

// The tightest constant bounds of a form that intervals and elimination find; absent where none.
// Where no point satisfies the facts, any bounds may come back.
struct Bounds {
  std::optional<int64_t> low, high;
};
Bounds bounds(Forms& forms, const Facts& facts, FormId form);

}  // namespace tang
