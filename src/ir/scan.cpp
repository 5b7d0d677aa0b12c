#include "ir/scan.h"

#include <algorithm>

#include "ir/dependence.h"

namespace tang {

namespace {

// t of t - u + k >= 0 with a constant k <= 0.
std::optional<uint32_t> prefix_axis(Forms& forms, const Constraint& c, uint32_t reduce,
                                    uint32_t n_points) {
  if (c.modulus != 0) return std::nullopt;
  for (uint32_t t = 0; t < n_points; ++t) {
    const FormId rest = forms.sub(c.form, forms.sub(forms.axis(t), forms.axis(reduce)));
    const auto k = forms.as_constant(rest);
    if (k && *k <= 0) return t;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Prefix> prefix_of(Arena& arena, const Comprehension& c) {
  if (c.is_map()) return std::nullopt;
  const Guard& domain = arena.guards[c.domain];
  Dependence dependence(arena, c);
  const uint32_t last = arena.monoids[c.monoid].commutative ? static_cast<uint32_t>(c.n_axes())
                                                            : c.n_points + 1u;
  for (uint32_t reduce = c.n_points; reduce < std::min<size_t>(last, c.n_axes()); ++reduce)
    for (size_t n = 0; n < domain.constraints.size(); ++n) {
      const auto t = prefix_axis(arena.forms, domain.constraints[n], reduce, c.n_points);
      if (!t) continue;
      bool free = !domain.condition.valid() || !dependence.expr(domain.condition).test(*t);
      for (size_t other = 0; other < domain.constraints.size(); ++other)
        free &= other == n || !dependence.form(domain.constraints[other].form).test(*t);
      for (const Component& k : c.components)
        free &= !dependence.expr(k.value).test(*t) &&
                std::find(k.axes.begin(), k.axes.end(), *t) != k.axes.end();
      if (free)
        return Prefix{.reduce = static_cast<uint8_t>(reduce), .point = static_cast<uint8_t>(*t)};
    }
  return std::nullopt;
}

std::optional<Scan> scan_of(const Program& program, DefId node) {
  const auto prefix = prefix_of(*program.arena, program.comprehension(node));
  if (!prefix) return std::nullopt;
  return Scan{.over = {node, prefix->reduce}, .along = prefix->point};
}

}  // namespace tang
