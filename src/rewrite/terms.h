// Expressions as algebra sees them: sums and products in a normal form, and conditions as affine
// constraints with a rest.
//
// The normal forms hold over the reals; passes compare by them and mostly keep the expressions that
// the program wrote. Nothing here is recursive in the depth of an expression beyond kDeep levels:
// what is deeper is an atom.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/dependence.h"

namespace tang {

// A reduction of one real component by this operation, and no more: a sum, a maximum.
bool folds_by(const Arena& arena, const Comprehension& c, Op op);

// A constant's value as a real number.
std::optional<double> constant_of(const Exprs& exprs, ExprId e);
bool is_constant(const Exprs& exprs, ExprId e, double value);

// Sum of coefficient * product of factors; the empty product is the constant term.
struct Sum {
  std::map<std::vector<ExprId>, double> terms;  // factors sorted; no coefficient is 0
  bool operator==(const Sum&) const = default;
  void add(const Sum& other, double factor = 1.0);
  void add_term(std::vector<ExprId> factors, double coefficient);
};
Sum sum_of(Exprs& exprs, ExprId e);
ExprId expr_of(Exprs& exprs, const Sum& sum);
// c where a = c*b term by term, up to the rounding of coefficients.
std::optional<double> ratio(const Sum& a, const Sum& b);

// coefficient * product of factors / product of divisors * exp(exponent), where `masks` hold; where
// one fails, exp(-inf) times the rest.
struct Product {
  double coefficient = 1.0;
  std::vector<ExprId> factors, divisors;
  bool has_exp = false;
  Sum exponent;
  std::vector<ExprId> masks;  // each boolean
};
Product product_of(Exprs& exprs, ExprId e);

// A sum's terms without those that are a select between a value and -inf: their conditions come
// back in `masks`, and the value stands in.
Sum unmasked(Exprs& exprs, const Sum& sum, std::vector<ExprId>& masks);

// The form that an integer expression always equals.
std::optional<FormId> form_of(Arena& arena, ExprId e);
// The same condition as constraints, where it is affine, and a rest.
Guard guard_of(Arena& arena, ExprId condition);
// Both.
Guard both(Arena& arena, const Guard& a, const Guard& b);

}  // namespace tang
