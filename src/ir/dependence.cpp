#include "ir/dependence.h"

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

}  // namespace tang
