// Strictness goes down from the root, safety up from the leaves, regions down again.
#include "kernel/branches.h"

#include <algorithm>

namespace tang::kernel {

bool is_lazy(Op op) {
  return op == Op::select || op == Op::logic_and || op == Op::logic_or;
}

Branches::Branches(const Exprs& exprs, ExprId root, const std::vector<ExprId>& order)
    : root_(root), order_(order) {
  std::unordered_set<ExprId> strict = {root};
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Expr& e = exprs[*it];
    const size_t n_strict = is_lazy(e.op) ? 1 : e.n_args;
    for (size_t i = 0; i < e.n_args; ++i) {
      ++uses_[e.args[i]];
      if (i < n_strict && strict.contains(*it)) strict.insert(e.args[i]);
    }
  }
  for (const ExprId id : order) {
    const Expr& e = exprs[id];
    const size_t n_strict = is_lazy(e.op) ? 1 : e.n_args;
    bool safe = e.op != Op::load;
    for (size_t i = 0; i < n_strict; ++i) safe &= safe_.contains(e.args[i]);
    if (safe || strict.contains(id)) safe_.insert(id);
  }
}

uint32_t Branches::uses(ExprId id) const {
  const auto it = uses_.find(id);
  return it == uses_.end() ? 0 : it->second;
}

Branches::RegionId Branches::child(Exprs& exprs, RegionId parent, ExprId condition, bool when) {
  const auto [it, added] = children_.try_emplace({parent, condition, when}, 0);
  if (!added) return it->second;
  const ExprId holds = when ? condition : exprs.make(Op::logic_not, condition);
  const ExprId test = exprs.logical_and(regions_[parent].test, holds);
  it->second = static_cast<RegionId>(regions_.size());
  regions_.push_back({.parent = parent, .condition = condition, .when = when, .test = test});
  return it->second;
}

bool Branches::contains(RegionId outer, RegionId inner) const {
  while (inner != outer && regions_[inner].condition.valid()) inner = regions_[inner].parent;
  return inner == outer || outer == kWhole;
}

// Where any of the regions is reached. A region within another adds nothing; both branches of one
// condition are their parent.
Branches::RegionId Branches::join(Exprs& exprs, std::vector<RegionId> regions) {
  for (bool changed = true; changed;) {
    changed = false;
    std::sort(regions.begin(), regions.end());
    regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
    for (size_t a = 0; a < regions.size() && !changed; ++a)
      for (size_t b = 0; b < regions.size() && !changed; ++b) {
        if (a == b) continue;
        const Region &x = regions_[regions[a]], &y = regions_[regions[b]];
        if (contains(regions[a], regions[b])) {
          regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(b));
          changed = true;
        } else if (x.condition.valid() && x.condition == y.condition && x.parent == y.parent) {
          regions[a] = x.parent;
          changed = true;
        }
      }
  }
  if (regions.size() == 1) return regions[0];
  ExprId any = regions_[regions[0]].test;
  for (size_t i = 1; i < regions.size(); ++i)
    any = exprs.make(Op::logic_or, any, regions_[regions[i]].test);
  regions_.push_back({.parent = kWhole, .condition = {}, .when = true, .test = any});
  return static_cast<RegionId>(regions_.size() - 1);
}

void Branches::find_conditions(Exprs& exprs) {
  regions_.assign(1, {});  // the whole
  std::unordered_map<ExprId, std::vector<RegionId>> reached;
  reached[root_] = {kWhole};
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const RegionId region = join(exprs, std::move(reached[*it]));
    region_of_[*it] = region;
    const Expr e = exprs[*it];
    for (size_t i = 0; i < e.n_args; ++i) {
      RegionId inner = region;
      if (is_lazy(e.op) && i > 0)
        inner = child(exprs, region, e.args[0], e.op == Op::logic_or ? false : i == 1);
      reached[e.args[i]].push_back(inner);
    }
  }
}

}  // namespace tang::kernel
