// Terms that a mask makes the identity are left out: `select(c, x, identity)` under a reduction
// becomes x over the points where c holds. What is affine in c becomes a constraint, so that loops
// are shorter; what reads data becomes the domain's condition.
//
// Exact: folding an identity changes no state (a sum starts at +0, and x + 0 = x for every x that
// such a sum holds). Measure: the number of selects that stand over values.
#include <algorithm>
#include <cmath>

#include "rewrite/carry.h"
#include "rewrite/edit.h"
#include "rewrite/passes.h"
#include "rewrite/terms.h"

namespace tang {

namespace {

// A mask's condition and what stands where it holds.
struct Masked {
  ExprId condition, value;
};

std::optional<Masked> masked(Arena& arena, ExprId value, ExprId identity) {
  const Expr e = arena.exprs[value];
  if (e.op != Op::select) return std::nullopt;
  if (e.args[2] == identity) return Masked{e.args[0], e.args[1]};
  if (e.args[1] == identity)
    return Masked{arena.exprs.make(Op::logic_not, e.args[0]), e.args[2]};
  return std::nullopt;
}

// The reduction with one more layer of masks in its domain; nothing when there is none.
std::optional<Comprehension> unmask(Arena& arena, const Comprehension& c) {
  const Monoid m = arena.monoids[c.monoid];
  std::vector<Masked> parts;
  for (size_t k = 0; k < m.n_visible(); ++k) {
    const auto part = masked(arena, c.components[k].value, m.identity[k]);
    if (!part) return std::nullopt;
    if (!parts.empty() && part->condition != parts[0].condition) return std::nullopt;
    parts.push_back(*part);
  }
  Comprehension result = c;
  // A condition that depends on point axes that a component lacks would give it more cells.
  Dependence dependence(arena, c);
  const AxisSet needed = dependence.expr(parts[0].condition);
  for (const Component& k : c.components)
    for (size_t a = 0; a < c.n_points; ++a)
      if (needed.test(a) && std::find(k.axes.begin(), k.axes.end(), a) == k.axes.end())
        return std::nullopt;
  for (size_t k = 0; k < parts.size(); ++k) result.components[k].value = parts[k].value;
  const Guard domain = arena.guards[c.domain];
  result.domain =
      arena.guard(both(arena, domain, guard_of(arena, parts[0].condition)));
  return tidy(arena, result);
}

}  // namespace

Program masks_to_domain(const Program& program, const RewriteOptions&, Trace* trace) {
  Edit edit(program, trace);
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const DefId def(d);
    Comprehension c = edit.current(def);
    if (c.is_map()) continue;
    bool any = false;
    while (auto next = unmask(edit.arena(), c)) {
      c = std::move(*next);
      any = true;
    }
    if (!any) continue;
    edit.replace(def, c,
                 {.pass = "masks-to-domain",
                  .laws = {},
                  .says = name_of(program.defs[d]) + " folds only points that its mask leaves"});
  }
  return edit.changed() ? edit.finish() : program;
}

}  // namespace tang
