#include "rewrite/normal_form.h"

#include <algorithm>

#include "ir/dependence.h"
#include "rewrite/carry.h"
#include "rewrite/expand.h"
#include "rewrite/passes.h"

namespace tang {

namespace {

// The component itself first, since its place in a tuple says nothing, then what it needs.
std::vector<uint32_t> itself_first(const Arena& arena, const Monoid& monoid, uint32_t k) {
  std::vector<uint32_t> all = components_needed(arena, monoid, {k});
  std::erase(all, k);
  all.insert(all.begin(), k);
  return all;
}

Monoid part_of(Arena& arena, const Monoid& m, const std::vector<uint32_t>& parts) {
  const auto renumber = [&](ExprId id, const std::array<ExprId, 3>&) {
    const Expr e = arena.exprs[id];
    if (e.op != Op::left && e.op != Op::right) return ExprId();
    const auto at = std::find(parts.begin(), parts.end(), e.index()) - parts.begin();
    return arena.exprs.leaf(e.op, e.type, static_cast<uint64_t>(at));
  };
  Exprs::Memo memo;
  Monoid part{.name = "", .types = {}, .identity = {}, .combine = {}};
  for (const uint32_t k : parts) {
    part.types.push_back(m.types[k]);
    part.identity.push_back(m.identity[k]);
    part.combine.push_back(arena.exprs.rewrite(m.combine[k], memo, renumber));
    if (m.keeps_lists()) part.places.push_back(m.places[k]);
  }
  // That two states may change sides is a property of the whole, which the part shares.
  part.commutative = m.commutative;
  return part;
}

}  // namespace

std::optional<Comprehension> component_alone(Arena& arena, const Comprehension& c, uint32_t k) {
  if (c.is_update()) return std::nullopt;
  Comprehension alone = c;
  if (!c.is_map()) {
    const Monoid m = arena.monoids[c.monoid];
    const std::vector<uint32_t> parts = itself_first(arena, m, k);
    alone.monoid = arena.monoids.intern(part_of(arena, m, parts));
    alone.components.clear();
    for (const uint32_t part : parts) alone.components.push_back(c.components[part]);
  }
  // Axes: those of the component in the order of its dimensions, then the reduce axes.
  const std::vector<uint8_t> own = c.components[k].axes;
  std::vector<AxisImage> images(c.n_axes(), {.form = arena.forms.constant(0), .data = {}});
  alone.extents.clear();
  const auto keep = [&](size_t axis) {
    images[axis].form = arena.forms.axis(static_cast<uint32_t>(alone.extents.size()));
    alone.extents.push_back(c.extents[axis]);
  };
  for (const uint8_t axis : own) keep(axis);
  alone.n_points = static_cast<uint8_t>(own.size());
  for (size_t axis = c.n_points; axis < c.n_axes(); ++axis) keep(axis);
  ReadList list(arena);
  Carrier carrier(arena, c, images, list);
  alone.domain = arena.guard(carrier.guard(c.domain));
  for (Component& part : alone.components) {
    part.value = carrier.expr(part.value);
    for (uint8_t& axis : part.axes)
      axis = static_cast<uint8_t>(std::find(own.begin(), own.end(), axis) - own.begin());
  }
  alone.reads = list.reads;
  return tidy(arena, alone);
}

std::optional<ComprehensionId> normal_form(const Program& program, TensorId tensor) {
  const Edit edit(program, nullptr);
  const auto source = edit.source(tensor);
  if (!source) return std::nullopt;
  Arena& arena = edit.arena();
  auto alone = component_alone(arena, source->comprehension, source->component);
  if (!alone) return std::nullopt;
  const Comprehension whole = expanded(edit, std::move(*alone));
  return arena.comprehensions.intern(with_simple_views(program, tidy(arena, whole)));
}

}  // namespace tang
