// Which nodes of an expression are evaluated whatever the conditions are, and under which
// conditions the others are: branches of select and right operands of && and || are lazy.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scalar/expr.h"

namespace tang::kernel {

class Branches {
 public:
  // `order`: the nodes of `root`, arguments first.
  Branches(const Exprs& exprs, ExprId root, const std::vector<ExprId>& order);

  // Arguments that name the node, in the whole expression.
  uint32_t uses(ExprId id) const;
  // The node may be evaluated whenever the expression is: it is anyway, or every load in it is or
  // has its guard within the node.
  bool is_safe(ExprId id) const { return safe_.contains(id); }

  // Makes the conditions of all nodes, in the pool of the expression.
  void find_conditions(Exprs& exprs);
  // Holds exactly when the expression evaluates the node; an invalid id for always.
  ExprId condition(ExprId id) const { return regions_[region_of_.at(id)].test; }

 private:
  // A place in the tree of branches, or several of them.
  using RegionId = uint32_t;
  struct Region {
    RegionId parent = 0;
    ExprId condition;  // of the branch within the parent; none for the whole and for several
    bool when = true;
    ExprId test;  // the conjunction of all conditions from the root
  };
  static constexpr RegionId kWhole = 0;

  RegionId child(Exprs& exprs, RegionId parent, ExprId condition, bool when);
  RegionId join(Exprs& exprs, std::vector<RegionId> regions);
  bool contains(RegionId outer, RegionId inner) const;

  ExprId root_;
  std::vector<ExprId> order_;
  std::unordered_map<ExprId, uint32_t> uses_;
  std::unordered_set<ExprId> safe_;
  std::vector<Region> regions_;
  std::map<std::tuple<RegionId, ExprId, bool>, RegionId> children_;
  std::unordered_map<ExprId, RegionId> region_of_;
};

bool is_lazy(Op op);  // evaluates its first argument, and of the others what it needs

}  // namespace tang::kernel
