// Logarithms of exponentials: log(exp(x)*y) = x + log(y), so that a probability whose logarithm is
// wanted is never computed. A real law. Measure: the number of logarithms over exponentials.
#include "rewrite/carry.h"
#include "rewrite/edit.h"
#include "rewrite/laws.h"
#include "rewrite/passes.h"
#include "rewrite/terms.h"

namespace tang {

namespace {

// log of what a product leaves beside its exponential: its own value where that is 1.
ExprId logarithm(Exprs& exprs, const Product& p) {
  ExprId rest = exprs.real(p.coefficient);
  for (const ExprId f : p.factors)
    rest = is_constant(exprs, rest, 1.0) ? f : exprs.make(Op::mul, rest, f);
  ExprId low;
  for (const ExprId f : p.divisors) low = low.valid() ? exprs.make(Op::mul, low, f) : f;
  ExprId result = expr_of(exprs, p.exponent);
  if (!is_constant(exprs, rest, 1.0))
    result = exprs.make(Op::add, result, exprs.make(Op::log, rest));
  if (low.valid()) result = exprs.make(Op::sub, result, exprs.make(Op::log, low));
  return result;
}

bool takes_logarithms(const Arena& arena, const Comprehension& c) {
  std::vector<ExprId> roots;
  for (const Component& k : c.components) roots.push_back(k.value);
  for (const ExprId id : arena.exprs.post_order(roots))
    if (arena.exprs[id].op == Op::log || arena.exprs[id].op == Op::log2) return true;
  return false;
}

}  // namespace

Program simplify(const Program& program, const RewriteOptions& options, Trace* trace) {
  if (options.strict) return program;
  Edit edit(program, trace);
  Arena& arena = edit.arena();
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const DefId def(d);
    const Comprehension c = edit.current(def);
    if (!takes_logarithms(arena, c)) continue;
    const Comprehension made =
        rebuilt(arena, c, [&](ExprId old, const std::array<ExprId, 3>& args) {
          const Expr e = arena.exprs[old];
          if (e.op != Op::log && e.op != Op::log2) return ExprId();
          const Product p = product_of(arena.exprs, args[0]);
          if (!p.has_exp || !p.masks.empty() || !(p.coefficient > 0)) return ExprId();
          const ExprId natural = logarithm(arena.exprs, p);
          return e.op == Op::log ? natural
                                 : arena.exprs.make(Op::mul, natural,
                                                    arena.exprs.real(1.4426950408889634));
        });
    if (made == tidy(arena, c)) continue;
    edit.replace(def, made,
                 {.pass = "simplify",
                  .laws = {law::kLogOfExp},
                  .says = name_of(program.defs[d]) + " takes no logarithm of an exponential"});
  }
  return edit.changed() ? edit.finish() : program;
}

}  // namespace tang
