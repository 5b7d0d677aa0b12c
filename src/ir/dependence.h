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

}  // namespace tang
