// expand-math: functions of f32 become calls, so that every target computes the same bits.
//
//   o[i] = exp(x[i])   =>   o[i] = exp_f32(x[i])
//
// A power with a small whole exponent is a product, as the language defines it. Reciprocals are
// divisions, which round better than any approximation. Functions of f64 are the target's own.
#include <cmath>

#include "kernel/legalizations.h"
#include "kernel/math_functions.h"
#include "kernel/term.h"

namespace tang::kernel {

namespace {

// The function of f32 that computes `op`, none for other operations.
uint32_t (*function_of(Op op))(Module&) {
  switch (op) {
    case Op::exp:
      return exp_f32;
    case Op::exp2:
      return exp2_f32;
    case Op::log:
      return log_f32;
    case Op::log2:
      return log2_f32;
    case Op::sin:
      return sin_f32;
    case Op::cos:
      return cos_f32;
    case Op::tan:
      return tan_f32;
    case Op::atan2:
      return atan2_f32;
    case Op::tanh:
      return tanh_f32;
    case Op::erf:
      return erf_f32;
    case Op::sigmoid:
      return sigmoid_f32;
    case Op::pow:
      return pow_f32;
    default:
      return nullptr;
  }
}

// By squaring. A negative power is that of the reciprocal: the power itself may overflow where the
// result does not.
Term whole_power(Term x, int n) {
  Term square = n < 0 ? 1 / x : x;
  Term product = same_type(x, 1);
  for (int left = std::abs(n); left > 0; left >>= 1) {
    if (left & 1) product = product * square;
    if (left > 1) square = square * square;
  }
  return product;
}

// The exponent, if it is a constant whole number for which a product is as good as pow.
bool is_small_whole(const Exprs& exprs, ExprId exponent, int& n) {
  if (!exprs.is_constant(exponent)) return false;
  const double v = exprs[exponent].value().real;
  // A product loses half an ulp a factor in f32; in f64 it is what the language's meaning computes.
  const bool single = exprs.type(exponent) == Type::f32;
  const double low = single ? -8 : 0, high = single ? 8 : 64;
  if (!(v >= low && v <= high) || v != std::trunc(v)) return false;
  n = static_cast<int>(v);
  return true;
}

}  // namespace

void expand_math(Module& module, const Capabilities& /*capabilities*/) {
  Exprs& exprs = module.exprs;
  rewrite_expressions(module, [&](const Kernel&, const Expr& old, const auto& args) {
    if (old.type != Type::f32 && old.type != Type::f64) return ExprId();
    const Term x{&exprs, args[0]};
    if (old.op == Op::recip) return (1 / x).id;
    if (old.op == Op::rsqrt) return (1 / apply(Op::sqrt, x)).id;
    int n = 0;
    if (old.op == Op::pow && is_small_whole(exprs, args[1], n)) return whole_power(x, n).id;
    if (old.type == Type::f64 && old.op == Op::sigmoid) return (1 / (1 + apply(Op::exp, -x))).id;
    const auto add = function_of(old.op);
    if (old.type == Type::f64 || add == nullptr) return ExprId();
    std::vector<Term> terms;
    for (size_t i = 0; i < old.n_args; ++i) terms.push_back({&exprs, args[i]});
    return call(module, add(module), terms).id;
  });
}

}  // namespace tang::kernel
