#include "ir/cost.h"

#include <algorithm>
#include <bitset>
#include <unordered_map>

namespace tang {

namespace {

int64_t weight(const Expr& e) {
  const OpClass cls = op_info(e.op).cls;
  if (cls == OpClass::leaf) return 0;
  if (cls == OpClass::real && e.op != Op::fma) return 8;
  return e.op == Op::div || e.op == Op::mod ? 5 : 1;
}

}  // namespace

int64_t operations(const Arena& arena, const Comprehension& c) {
  std::unordered_map<ExprId, int64_t> sizes;
  int64_t total = 0;
  for (const Component& component : c.components) {
    for (const ExprId id : arena.exprs.post_order({component.value})) {
      const Expr& e = arena.exprs[id];
      int64_t size = weight(e);
      for (size_t i = 0; i < e.n_args; ++i)
        size = std::min(size + sizes.at(e.args[i]), int64_t{1} << 40);
      sizes[id] = size;
    }
    total += sizes.at(component.value);
  }
  return total;
}

int64_t cost_again(const Arena& arena, const Comprehension& c) {
  int64_t own = 0;  // reads that depend on every axis
  for (const Read& read : c.reads) {
    std::bitset<256> axes;
    for (const Coord& coord : arena.views[read.view].coords)
      if (!coord.is_gather())
        arena.forms.for_each_var(coord.form, [&](Var v) {
          if (v.kind == VarKind::axis) axes.set(v.index);
        });
    if (axes.count() == c.n_axes()) ++own;
  }
  return operations(arena, c) + 4 * std::max<int64_t>(0, own - 1);
}

}  // namespace tang
