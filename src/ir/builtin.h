// The built-in monoids, each as its expressions: the one definition that the interpreter, lowering
// and differentiation share (language reference, section 8).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace tang {

// How many values a reduction under a monoid folds: at least, and at most (SIZE_MAX: any number).
struct MonoidArity {
  size_t least, most;
};
// `name` as in Monoid: "topk(3)" is topk.
std::optional<MonoidArity> builtin_monoid_arity(std::string_view name);
std::vector<std::string_view> builtin_monoid_names();

// The monoid for values of these kinds. `types` holds the kinds of the visible components, already
// converted to what the monoid takes (any, all: boolean; logsumexp, online_softmax, welford,
// affine: f64). argmax, argmin and topk carry a hidden boolean that tells a point from the
// identity. `places` is the k of topk(k).
MonoidId builtin_monoid(Arena& arena, std::string_view name, const std::vector<Type>& types,
                        int64_t places = 1);

// Folds several monoids at once. Components: the visible ones of each in order, then the hidden
// ones of each in order.
MonoidId product_monoid(Arena& arena, const std::vector<MonoidId>& parts);

// The values of a reduction's hidden components for one point: true for each.
ExprId hidden_value(Arena& arena, const Monoid& monoid, size_t component);

}  // namespace tang
