#include "ir/program.h"

#include <algorithm>

#include "support/panic.h"

namespace tang {

namespace {

void mix_all(uint64_t& seed, const auto& ids) {
  hash_mix(seed, ids.size());
  for (const auto& id : ids) hash_mix(seed, id.value);
}

}  // namespace

uint64_t Tensor::hash() const {
  uint64_t seed = static_cast<uint64_t>(kind) << 8 | static_cast<uint64_t>(type);
  hash_mix(seed, source);
  hash_mix(seed, component);
  mix_all(seed, shape);
  return seed;
}

uint64_t Guard::hash() const {
  uint64_t seed = condition.value;
  for (const Constraint& c : constraints) {
    hash_mix(seed, c.form.value);
    hash_mix(seed, static_cast<uint64_t>(c.modulus));
  }
  return seed;
}

uint64_t View::hash() const {
  uint64_t seed = guarded;
  hash_mix(seed, guard.value);
  for (const Coord& c : coords) {
    hash_mix(seed, c.form.value);
    hash_mix(seed, c.data.value);
  }
  return seed;
}

uint64_t Monoid::hash() const {
  uint64_t seed = std::hash<std::string>{}(name);
  for (const Type t : types) hash_mix(seed, static_cast<uint64_t>(t));
  mix_all(seed, identity);
  mix_all(seed, combine);
  for (const int64_t n : places) hash_mix(seed, static_cast<uint64_t>(n));
  return seed;
}

uint64_t Comprehension::hash() const {
  uint64_t seed = n_points;
  mix_all(seed, extents);
  hash_mix(seed, domain.value);
  hash_mix(seed, monoid.value);
  hash_mix(seed, into.value_or(UINT32_MAX));
  for (const Read& r : reads) {
    hash_mix(seed, r.tensor.value);
    hash_mix(seed, r.view.value);
    hash_mix(seed, r.otherwise.value);
  }
  for (const Component& c : components) {
    hash_mix(seed, c.value.value);
    for (const uint8_t axis : c.axes) hash_mix(seed, axis);
  }
  return seed;
}

GuardId Arena::guard(Guard g) {
  if (g.condition.valid() && exprs.is_constant(g.condition)) {
    if (exprs[g.condition].value().integer == 0)
      g.constraints.push_back({.form = forms.constant(-1)});
    g.condition = {};
  }
  bool never = false;
  std::erase_if(g.constraints, [&](const Constraint& c) {
    const auto value = forms.as_constant(c.form);
    const bool holds = value && (c.modulus == 0 ? *value >= 0 : *value % c.modulus == 0);
    never |= value && !holds;
    return holds;
  });
  if (never) g = {.constraints = {{.form = forms.constant(-1)}}, .condition = {}};
  std::sort(g.constraints.begin(), g.constraints.end());
  g.constraints.erase(std::unique(g.constraints.begin(), g.constraints.end()), g.constraints.end());
  return guards.intern(std::move(g));
}

TensorId Arena::component(ComprehensionId id, uint32_t component) {
  const Comprehension& c = comprehensions[id];
  TANG_ASSERT(component < c.components.size(), "component {} of {}", component,
              c.components.size());
  const Component& part = c.components[component];
  Tensor t{.kind = TensorKind::component,
           .source = id.value,
           .component = component,
           .type = exprs.type(part.value),
           .shape = {}};
  if (c.is_update())
    t.shape = tensors[updated(c)].shape;
  else
    for (const uint8_t axis : part.axes) t.shape.push_back(c.extents[axis]);
  return tensors.intern(std::move(t));
}

TensorId Arena::base_of(TensorId tensor) const {
  while (tensors[tensor].kind == TensorKind::component) {
    const Comprehension& c = comprehensions[ComprehensionId(size_t{tensors[tensor].source})];
    if (!c.is_update()) break;
    tensor = updated(c);
  }
  return tensor;
}

std::optional<DefId> Program::def_of(TensorId tensor) const {
  const Tensor& t = arena->tensors[tensor];
  if (t.kind != TensorKind::component) return std::nullopt;
  for (size_t i = 0; i < defs.size(); ++i)
    if (defs[i].id.value == t.source) return DefId(i);
  return std::nullopt;
}

DefIndex::DefIndex(const Program& program) : arena_(program.arena.get()) {
  for (size_t i = 0; i < program.defs.size(); ++i)
    by_comprehension_.emplace(program.defs[i].id.value, DefId(i));
}

std::optional<DefId> DefIndex::of(TensorId tensor) const {
  const Tensor& t = arena_->tensors[tensor];
  if (t.kind != TensorKind::component) return std::nullopt;
  const auto found = by_comprehension_.find(t.source);
  if (found == by_comprehension_.end()) return std::nullopt;
  return found->second;
}

std::vector<bool> live_defs(const Program& program, const DefIndex& index) {
  std::vector<bool> live(program.defs.size(), false);
  for (const Output& output : program.outputs)
    if (const auto def = index.of(output.tensor)) live[def->value] = true;
  for (size_t d = program.defs.size(); d-- > 0;) {
    if (!live[d]) continue;
    for (const Read& read : program.arena->comprehensions[program.defs[d].id].reads)
      if (const auto from = index.of(read.tensor)) live[from->value] = true;
  }
  return live;
}

bool Program::is_inout(TensorId tensor) const {
  const Tensor& base = arena->tensors[arena->base_of(tensor)];
  return base.kind == TensorKind::input && inputs[base.source].role == Role::inout;
}

std::string Program::name_of(TensorId tensor) const {
  const Tensor& t = arena->tensors[tensor];
  if (t.kind == TensorKind::input) return inputs[t.source].name;
  const auto def_id = def_of(tensor);
  if (!def_id || t.component >= def(*def_id).names.size()) return "";
  return def(*def_id).names[t.component];
}

}  // namespace tang
