#include "rewrite/expand.h"

#include <algorithm>
#include <unordered_set>

#include "ir/cost.h"
#include "rewrite/carry.h"

namespace tang {

namespace {

constexpr int64_t kMost = 256;  // operations of one point
constexpr int kRounds = 32;     // maps of maps

}  // namespace

Comprehension expanded(const Edit& edit, Comprehension c, std::set<size_t>* through) {
  Arena& arena = edit.arena();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Comprehension> bodies(c.reads.size());
    std::vector<const Comprehension*> maps(c.reads.size(), nullptr);
    int64_t cost = operations(arena, c);
    bool any = false;
    for (uint32_t k = 0; k < c.reads.size(); ++k) {
      auto source = edit.source(c.reads[k].tensor);
      if (!source || !source->comprehension.is_map() || source->comprehension.is_update()) continue;
      if (!why_not_splice(arena, c, k, source->comprehension).empty()) continue;
      cost += operations(arena, source->comprehension);
      if (cost > kMost) return c;
      if (through) through->insert(source->node);
      bodies[k] = std::move(source->comprehension);
      maps[k] = &bodies[k];
      any = true;
    }
    if (!any) return c;
    c = splice(edit.program(), c, maps);
  }
  return c;
}

std::vector<Def> snapshots(Edit& edit, const std::set<size_t>& nodes) {
  std::vector<Def> defs;
  for (const size_t node : nodes) defs.push_back(edit.snapshot(node));
  return defs;
}

bool depends_on(const Edit& edit, const Comprehension& from, const std::vector<size_t>& targets) {
  if (targets.empty()) return false;
  const size_t first = *std::min_element(targets.begin(), targets.end());
  std::unordered_set<TensorId> seen;
  std::vector<TensorId> stack;
  const auto push = [&](const Comprehension& c) {
    for (const Read& read : c.reads)
      if (seen.insert(read.tensor).second) stack.push_back(read.tensor);
  };
  push(from);
  while (!stack.empty()) {
    const auto source = edit.source(stack.back());
    stack.pop_back();
    if (!source) continue;
    if (std::find(targets.begin(), targets.end(), source->node) != targets.end()) return true;
    // Definitions stand after what they read; what a pass added has no place to go by.
    if (source->node < edit.program().defs.size() && source->node < first) continue;
    push(source->comprehension);
  }
  return false;
}

}  // namespace tang
