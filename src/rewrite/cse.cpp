// Common subexpressions. Equal comprehensions are one by construction; what is left are equal
// results inside different definitions: a component of a tuple that another definition computes
// alone, or computes at other positions of its tuple. Measure: the number of definitions.
//
// A definition whose every result another, earlier one has too goes away.
#include <algorithm>
#include <map>

#include "rewrite/edit.h"
#include "rewrite/normal_form.h"
#include "rewrite/passes.h"

namespace tang {

namespace {

std::optional<ComprehensionId> alone(Arena& arena, const Comprehension& c, uint32_t k) {
  const auto part = component_alone(arena, c, k);
  if (!part) return std::nullopt;
  return arena.comprehensions.intern(*part);
}

}  // namespace

Program cse(const Program& program, const RewriteOptions&, Trace* trace) {
  Edit edit(program, trace);
  Arena& arena = edit.arena();
  struct Known {
    DefId def;
    uint32_t component;
  };
  std::map<ComprehensionId, Known> known;
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const DefId def(d);
    const Comprehension c = edit.current(def);
    if (c.is_update()) continue;
    const ComprehensionId id = program.defs[d].id;
    std::vector<std::optional<ComprehensionId>> parts;
    const size_t n = c.is_map() ? 1 : arena.monoids[c.monoid].n_visible();
    for (uint32_t k = 0; k < n; ++k) parts.push_back(alone(arena, c, k));
    const bool all_known = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
      return part && known.contains(*part);
    });
    if (!all_known) {
      for (uint32_t k = 0; k < parts.size(); ++k)
        if (parts[k]) known.emplace(*parts[k], Known{def, k});
      continue;
    }
    Step step{.pass = "cse",
              .laws = {},
              .before = {edit.snapshot(def)},
              .after = {},
              .equal = {},
              .says = name_of(program.defs[d]) + " is what an earlier definition computes"};
    for (uint32_t k = 0; k < parts.size(); ++k) {
      const Known& other = known.at(*parts[k]);
      const Def from = edit.snapshot(other.def);
      if (step.after.empty() || step.after.back().id != from.id) step.after.push_back(from);
      step.equal.emplace_back(arena.component(step.before[0].id, k),
                              arena.component(from.id, other.component));
      edit.stand_for(arena.component(id, k),
                     arena.component(program.def(other.def).id, other.component));
    }
    edit.drop(def);
    if (trace) trace->steps.push_back(std::move(step));
  }
  return edit.changed() ? edit.finish() : program;
}

}  // namespace tang
