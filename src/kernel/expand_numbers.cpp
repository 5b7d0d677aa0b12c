// expand-numbers: operations whose rules are the language's become calls of functions that spell
// the rules out; what does nothing is dropped, and powers of two need no division.
//
//   max(x[i], y)   =>   max_f32(x[i], y)
//   n / m, n % 8   =>   floor_div_i32(n, m), n & 7
//   i8(x[i])       =>   f32_to_i8(x[i])
#include <bit>

#include "kernel/legalizations.h"
#include "kernel/number_functions.h"
#include "kernel/term.h"

namespace tang::kernel {

namespace {

// Division by a constant that is a positive power of two rounds down by itself.
bool is_power_of_two(const Exprs& exprs, ExprId divisor, int64_t& value) {
  if (!exprs.is_constant(divisor)) return false;
  value = exprs[divisor].value().integer;
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

ExprId divide(Module& module, Op op, Term a, Term b) {
  int64_t divisor = 0;
  if (is_power_of_two(module.exprs, b.id, divisor)) {
    const int shift = std::countr_zero(static_cast<uint64_t>(divisor));
    return op == Op::div ? (a >> shift).id : (a & (divisor - 1)).id;
  }
  const auto function = op == Op::div ? floor_quotient : floor_remainder;
  return call(module, function(module, a.type()), {a, b}).id;
}

ExprId integer_operation(Module& module, Op op, Term a, Term b) {
  switch (op) {
    case Op::div:
    case Op::mod:
      return divide(module, op, a, b);
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::stop:
      return a.id;
    default:
      return {};
  }
}

}  // namespace

void expand_numbers(Module& module, const Capabilities& /*capabilities*/) {
  Exprs& exprs = module.exprs;
  rewrite_expressions(module, [&](const Kernel&, const Expr& old, const auto& args) {
    if (old.n_args == 0) return ExprId();
    const Term a{&exprs, args[0]}, b{&exprs, args[1]};
    const Type type = a.type();
    switch (old.op) {
      case Op::min:
        return call(module, minimum(module, type), {a, b}).id;
      case Op::max:
        return call(module, maximum(module, type), {a, b}).id;
      case Op::sign:
        return call(module, sign_of(module, type), {a}).id;
      case Op::cast:
        if (!is_real(type) || !is_integer(old.type)) return ExprId();
        return call(module, real_to_integer(module, type, old.type), {a}).id;
      default:
        break;
    }
    if (is_integer(type)) return integer_operation(module, old.op, a, b);
    return old.op == Op::stop ? a.id : ExprId();
  });
}

}  // namespace tang::kernel
