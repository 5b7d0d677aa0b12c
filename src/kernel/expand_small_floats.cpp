// expand-small-floats: reals of 16 and 8 bits are reached by their bits, as i32.
//
//   h[i] = h[i] * 2.0     =>   h[i] = f32_to_f16(f16_to_f32(h[i]) * 2.0)
//   f32(f16(x))           =>   round_f32_to_f16(x)
//
// A node of such a type becomes its value as f32, which holds all of them. Conversion is exact or
// rounds once: from integers it goes by f64.
#include "kernel/legalizations.h"
#include "kernel/number_functions.h"
#include "kernel/term.h"
#include "kernel/walk.h"

namespace tang::kernel {

namespace {

bool is_small(Type type) {
  return is_real(type) && type_bits(type) <= 16;
}

Term rounded(Module& module, Term x, Type small) {
  if (x.type() == Type::boolean) return cast(Type::f32, x);
  if (is_integer(x.type())) x = cast(Type::f64, x);
  return call(module, round_to_small(module, x.type(), small), {x});
}

Term expand_load(Module& module, const Kernel& kernel, const Expr& load) {
  const Term bits{&module.exprs, module.exprs.load(Type::i32, load.buffer(), load.form())};
  return call(module, decode_small(module, kernel.buffers[load.buffer()].type), {bits});
}

// What is stored may be rounded to the buffer's type already; the store rounds it anyway.
ExprId without_rounding(const Exprs& exprs, ExprId value, Type small) {
  const Expr& outer = exprs[value];
  if (outer.op != Op::cast) return value;
  const Expr& inner = exprs[outer.args[0]];
  const bool same = inner.op == Op::cast && inner.type == small;
  return same && is_real(exprs.type(inner.args[0])) ? inner.args[0] : value;
}

}  // namespace

void expand_small_floats(Module& module, const Capabilities& /*capabilities*/) {
  Exprs& exprs = module.exprs;
  for (Kernel& kernel : module.kernels)
    for_each_statement(kernel.body, [&](Stmt& stmt) {
      auto* store = std::get_if<Store>(&stmt.node);
      if (!store) return;
      const Type type = kernel.buffer(store->buffer).type;
      if (is_small(type)) store->value = without_rounding(exprs, store->value, type);
    });
  rewrite_expressions(module, [&](const Kernel& kernel, const Expr& old, const auto& args) {
    if (old.op == Op::load && old.type == Type::f32 && is_small(kernel.buffers[old.buffer()].type))
      return expand_load(module, kernel, old).id;
    if (!is_small(old.type)) return ExprId();
    if (old.op == Op::constant) return exprs.constant(Type::f32, old.value());
    if (old.op == Op::cast) return rounded(module, {&exprs, args[0]}, old.type).id;
    return ExprId();
  });
  for (Kernel& kernel : module.kernels)
    for_each_statement(kernel.body, [&](Stmt& stmt) {
      auto* store = std::get_if<Store>(&stmt.node);
      if (!store) return;
      const Type type = kernel.buffer(store->buffer).type;
      const Term value{&exprs, store->value};
      if (is_small(type) && is_real(value.type()))
        store->value = call(module, encode_small(module, value.type(), type), {value}).id;
    });
}

}  // namespace tang::kernel
