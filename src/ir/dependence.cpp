#include "ir/dependence.h"

#include <set>

namespace tang {

Dependence::Dependence(const Arena& arena, const Comprehension& c) : arena_(arena) {
  for (size_t a = c.n_points; a < c.n_axes(); ++a) reduce_.set(a);
  for (const Read& read : c.reads) {
    const View& view = arena.views[read.view];
    AxisSet axes = guard(view.guard);
    for (const Coord& coord : view.coords)
      axes |= coord.is_gather() ? expr(coord.data) : form(coord.form);
    if (read.otherwise.valid()) axes |= expr(read.otherwise);
    reads_.push_back(axes);
  }
}

AxisSet Dependence::form(FormId f) const {
  AxisSet axes;
  arena_.forms.for_each_var(f, [&](Var v) {
    if (v.kind == VarKind::axis) axes.set(v.index);
  });
  return axes;
}

AxisSet Dependence::expr(ExprId root) {
  if (const auto found = memo_.find(root); found != memo_.end()) return found->second;
  for (const ExprId id : arena_.exprs.post_order({root})) {
    if (memo_.contains(id)) continue;
    const Expr& e = arena_.exprs[id];
    AxisSet axes;
    if (e.op == Op::form) axes = form(e.form());
    if (e.op == Op::read) axes = reads_[e.index()];
    for (size_t i = 0; i < e.n_args; ++i) axes |= memo_.at(e.args[i]);
    memo_.emplace(id, axes);
  }
  return memo_.at(root);
}

AxisSet Dependence::guard(GuardId g) {
  AxisSet axes;
  const Guard& guard = arena_.guards[g];
  for (const Constraint& c : guard.constraints) axes |= form(c.form);
  if (guard.condition.valid()) axes |= expr(guard.condition);
  return axes;
}

std::vector<uint32_t> components_needed(const Arena& arena, const Monoid& monoid,
                                        const std::vector<uint32_t>& wanted) {
  std::set<uint32_t> needed;
  std::vector<uint32_t> stack = wanted;
  while (!stack.empty()) {
    const uint32_t next = stack.back();
    stack.pop_back();
    if (!needed.insert(next).second) continue;
    for (const ExprId id : arena.exprs.post_order({monoid.combine[next]}))
      if (const Expr& e = arena.exprs[id]; e.op == Op::left || e.op == Op::right)
        stack.push_back(e.index());
  }
  return {needed.begin(), needed.end()};
}

AxisSet axes_around(const Arena& arena, const Comprehension& c, uint32_t read) {
  const auto uses = [&](ExprId root) {
    if (!root.valid()) return false;
    for (const ExprId id : arena.exprs.post_order({root}))
      if (arena.exprs[id].op == Op::read && arena.exprs[id].index() == read) return true;
    return false;
  };
  AxisSet axes;
  bool everywhere = uses(arena.guards[c.domain].condition);
  for (const Read& other : c.reads) {
    everywhere |= uses(other.otherwise);
    everywhere |= uses(arena.guards[arena.views[other.view].guard].condition);
    for (const Coord& coord : arena.views[other.view].coords) everywhere |= uses(coord.data);
  }
  for (size_t a = 0; a < c.n_axes(); ++a)
    if (everywhere || a >= c.n_points) axes.set(a);
  for (size_t k = 0; k < c.components.size(); ++k) {
    if (!uses(c.components[k].value)) continue;
    std::vector<uint8_t> own = c.components[k].axes;
    if (!c.is_map() && arena.monoids[c.monoid].keeps_list(k)) own.pop_back();  // its places
    for (const uint8_t axis : own) axes.set(axis);
  }
  return axes;
}

AxisSet axes_of_domain(const Comprehension& c) {
  AxisSet axes;
  for (size_t a = 0; a < c.n_axes(); ++a) axes.set(a);
  for (const Component& k : c.components) {
    AxisSet own;
    for (const uint8_t axis : k.axes) own.set(axis);
    for (size_t a = 0; a < c.n_points; ++a)
      if (!own.test(a)) axes.reset(a);
  }
  return axes;
}

Facts facts_of(const Program& program, const Comprehension& c, const AxisSet& axes,
               bool in_domain) {
  Forms& forms = program.arena->forms;
  Facts facts = program.assumptions;
  for (uint32_t a = 0; a < c.n_axes(); ++a) {
    if (!axes.test(a)) continue;
    const FormId axis = forms.axis(a);
    facts.push_back({.form = axis});
    facts.push_back({.form = forms.add(forms.sub(c.extents[a], axis), -1)});
  }
  if (in_domain)
    for (const Constraint& k : program.arena->guards[c.domain].constraints) facts.push_back(k);
  return facts;
}

}  // namespace tang
