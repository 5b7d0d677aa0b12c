#include "rewrite/domain.h"

#include <algorithm>

#include "ir/dependence.h"

namespace tang {

namespace {

// The constraints hold with `at` in place of each reduce axis.
bool hold_at(const Program& program, const Comprehension& c, const std::vector<FormId>& at,
             const Facts& facts) {
  Forms& forms = program.arena->forms;
  const auto place = [&](Var v) {
    return v.kind == VarKind::axis && v.index >= c.n_points ? at[v.index - c.n_points] : FormId();
  };
  for (size_t r = 0; r < at.size(); ++r) {
    const FormId extent = c.extents[c.n_points + r];
    if (!proves(forms, facts, {.form = at[r]}) ||
        !proves(forms, facts, {.form = forms.add(forms.sub(extent, at[r]), -1)}))
      return false;
  }
  const std::vector<Constraint> constraints = program.arena->guards[c.domain].constraints;
  return std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& k) {
    return proves(forms, facts,
                  {.form = forms.substitute(k.form, place), .modulus = k.modulus});
  });
}

Facts facts_of_points(const Program& program, const Comprehension& c) {
  AxisSet points = axes_of_domain(c);
  for (size_t a = c.n_points; a < c.n_axes(); ++a) points.reset(a);
  return facts_of(program, c, points, false);
}

}  // namespace

std::optional<std::vector<FormId>> extents_to_be_positive(const Program& program,
                                                          const Comprehension& c) {
  Forms& forms = program.arena->forms;
  const Guard domain = program.arena->guards[c.domain];
  if (domain.condition.valid()) return std::nullopt;
  Facts facts = facts_of_points(program, c);
  std::vector<FormId> open;
  for (size_t a = c.n_points; a < c.n_axes(); ++a) {
    const Constraint positive{.form = forms.add(c.extents[a], -1)};
    if (proves(forms, facts, positive)) continue;
    open.push_back(c.extents[a]);
    facts.push_back(positive);
  }
  if (domain.constraints.empty()) return open;
  // An element that is likely there: the first, or the one at a point axis.
  std::vector<FormId> at(c.n_axes() - c.n_points, forms.constant(0));
  if (hold_at(program, c, at, facts)) return open;
  for (uint32_t a = 0; a < c.n_points; ++a)
    for (size_t r = 0; r < at.size(); ++r) {
      std::vector<FormId> diagonal = at;
      diagonal[r] = forms.axis(a);
      if (hold_at(program, c, diagonal, facts)) return open;
    }
  return std::nullopt;
}

bool reads_are_in_range(const Program& program, const Comprehension& map) {
  Arena& arena = *program.arena;
  const Facts facts = facts_of(program, map, axes_of_domain(map), false);
  for (const Read& read : map.reads) {
    const View view = arena.views[read.view];
    if (view.guarded) continue;
    const std::vector<FormId> shape = arena.tensors[read.tensor].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (view.coords[d].is_gather()) return false;
      const FormId f = view.coords[d].form;
      if (!proves(arena.forms, facts, {.form = f}) ||
          !proves(arena.forms, facts,
                  {.form = arena.forms.add(arena.forms.sub(shape[d], f), -1)}))
        return false;
    }
  }
  return true;
}

}  // namespace tang
