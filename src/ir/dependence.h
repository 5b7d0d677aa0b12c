// What in a comprehension depends on which of its axes.
#pragma once

#include <bitset>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace tang {

using AxisSet = std::bitset<256>;

// The axes of one comprehension on which its parts depend, through reads too.
class Dependence {
 public:
  Dependence(const Arena& arena, const Comprehension& c);
  AxisSet form(FormId f) const;
  AxisSet expr(ExprId e);
  AxisSet guard(GuardId g);
  AxisSet read(uint32_t k) const { return reads_[k]; }
  // No reduce axis.
  bool is_invariant(ExprId e) { return (expr(e) & reduce_).none(); }
  const AxisSet& reduce_axes() const { return reduce_; }

 private:
  const Arena& arena_;
  std::vector<AxisSet> reads_;
  AxisSet reduce_;
  std::unordered_map<ExprId, AxisSet> memo_;
};

// The components that the wanted ones read through `combine`, themselves included, in order.
std::vector<uint32_t> components_needed(const Arena& arena, const Monoid& monoid,
                                        const std::vector<uint32_t>& wanted);

// The axes over which a read is evaluated: the reduce axes, and the point axes of the components
// that use it; all where its domain or another read does.
AxisSet axes_around(const Arena& arena, const Comprehension& c, uint32_t read);
// The axes that are there wherever the domain is: the reduce axes, and point axes that every
// component has.
AxisSet axes_of_domain(const Comprehension& c);

// Facts that hold wherever these axes of a comprehension are: their ranges, the domain's affine
// constraints when `in_domain`, and the program's assumptions. The range of an axis may be empty,
// which says everything, so it counts only where the axis is.
Facts facts_of(const Program& program, const Comprehension& c, const AxisSet& axes, bool in_domain);

}  // namespace tang
