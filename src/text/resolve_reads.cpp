// Reads: a view of a tensor, its guard, what it gives out of range, and the votes of its
// coordinates for the ranges of indices.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/builtin.h"
#include "support/panic.h"
#include "text/resolve.h"

namespace tang {

Meaning Resolver::resolve_read(const syntax::Read& read, Span span) {
  const std::string& name = read.tensor.text;
  if (read.member.exists()) {
    const auto number = state_component(read.tensor, read.member);
    if (!number) return {.span = span};
    const std::string component = name + "." + read.member.text;
    const auto tensor = state_tensors.find(name);
    if (tensor == state_tensors.end())
      return fail("rank", span,
                  fmt::format("{} has 0 dimensions, {} coordinate{} given", component,
                              read.coords.size(), read.coords.size() == 1 ? " is" : "s are"));
    return read_symbol(component, {.kind = SymbolKind::tensor, .tensor = tensor->second[*number]},
                       &read, span);
  }
  const Symbol* symbol = values.find(name, sight);
  if (!symbol) {
    return undefined(read.tensor, span);
  }
  if (symbol->kind == SymbolKind::faulty) failed = true;
  if (symbol->kind == SymbolKind::faulty || symbol->kind == SymbolKind::tensor)
    return read_symbol(name, *symbol, &read, span);
  return fail("not-a-tensor", read.tensor.span,
              fmt::format("{} is a {}, not a tensor", name, symbol_kind_name(symbol->kind)));
}

// `read` is absent for a name without brackets.
// The symbol is a copy: a call within a coordinate may define names.
Meaning Resolver::read_symbol(const std::string& name, Symbol symbol, const syntax::Read* read,
                              Span span) {
  if (constants_only())
    return fail("not-constant", span,
                fmt::format("{} is not known from constants and dimensions", name));
  const size_t known = nest().now_known;
  std::optional<Slot> slot = read_slot(name, symbol, read, span);
  nest().now_known = known;
  if (!slot) return {.span = span};
  const Type kind = kind_of(arena.tensors[symbol.tensor].type);
  if (slot->guarded) {
    slot->otherwise = read->otherwise.valid() ? resolve_otherwise(*read, kind) : identity_in(kind);
    if (!slot->otherwise.valid()) {
      if (!read->otherwise.valid())
        fail("guard-needs-else", read->tensor.span,
             fmt::format("outside of a reduction's value {}?[...] has no identity to give; write "
                         "{}[...] else and a value",
                         name, name));
      return {.span = span};
    }
  }
  cast_votes(*slot, symbol);
  return add_slot(std::move(*slot), kind, span);
}

// The tensor, coordinates and guard of a read, not yet what it gives out of range; nothing after an
// error. Its condition is known from here on.
std::optional<Slot> Resolver::read_slot(const std::string& name, const Symbol& symbol,
                                        const syntax::Read* read, Span span) {
  Slot slot{.tensor = symbol.tensor, .name = name};
  for (const FormId form : symbol.leading) {
    slot.coords.push_back({.form = form, .data = {}});
    slot.spans.push_back(span);
  }
  const bool faulty = symbol.kind == SymbolKind::faulty;
  const size_t rank =
      faulty ? 0 : arena.tensors[symbol.tensor].shape.size() - symbol.leading.size();
  if (!read && rank > 0) {
    fail("missing-coordinates", span,
         fmt::format("{} has {} dimension{}, write {}[...]", name, rank, rank == 1 ? "" : "s",
                     name));
    return std::nullopt;
  }
  bool good = !faulty;
  if (read) {
    slot.guarded = read->guarded || read->otherwise.valid();
    if (read->condition.valid() && !slot.guarded) {
      fail("condition-without-guard", node(read->condition).span,
           fmt::format("a condition on a read needs a guard: write {}?[...] or else", name));
      good = false;
    } else if (read->condition.valid()) {
      const Meaning p = resolve_in(Place::condition, read->condition);
      if (is_condition(p, "the condition of a read")) {
        const Truth truth = truth_of(p, true);
        slot.guard = {.constraints = truth.facts, .condition = truth.rest};
        push_known(truth);
      } else {
        good = false;
      }
    }
    for (const syntax::Coord& coord : read->coords) good &= resolve_coord(coord, slot);
    const size_t n_coords = slot.coords.size() - symbol.leading.size();
    if (good && n_coords != rank) {
      fail("rank", span,
           fmt::format("{} has {} dimension{}, {} coordinate{} given", name, rank,
                       rank == 1 ? "" : "s", n_coords, n_coords == 1 ? " is" : "s are"));
      good = false;
    }
  }
  if (!good) return std::nullopt;
  slot.must_hold = !slot.guarded;
  return slot;
}

bool Resolver::resolve_coord(const syntax::Coord& coord, Slot& slot) {
  if (!coord.value.valid()) return resolve_pack_coord(coord, slot);
  if (coord.exact) return resolve_exact(coord, slot);
  const Meaning m = resolve_in(Place::coordinate, coord.value);
  return add_coord(m, coord.span, slot);
}

// b...: the indices b_0, b_1 ... of a pack.
bool Resolver::resolve_pack_coord(const syntax::Coord& coord, Slot& slot) {
  const auto n = pack_size(coord.rest);
  bool good = n.has_value();
  for (size_t k = 0; k < n.value_or(0); ++k) {
    const syntax::Name index{.text = fmt::format("{}_{}", coord.rest.text, k), .span = coord.span};
    good &= add_coord(resolve_name(index), coord.span, slot);
  }
  return good;
}

bool Resolver::add_coord(const Meaning& m, Span span, Slot& slot) {
  if (m.faulty) return false;
  if (!is_integer(m.type)) {
    fail("type", span,
         fmt::format("a coordinate is an integer, and {} is a {}", source_text(span),
                     is_real(m.type) ? "real" : "bool"));
    return false;
  }
  slot.spans.push_back(span);
  if (!m.is_form())
    slot.coords.push_back({.form = {}, .data = m.expr});
  else if (arena.forms.is_coordinate(m.form))
    slot.coords.push_back({.form = m.form, .data = {}});
  else
    slot.coords.push_back({.form = {}, .data = form_as_data(m.form, Type::i64)});
  return true;
}

// a/b exact: also out of range where b does not divide a.
bool Resolver::resolve_exact(const syntax::Coord& coord, Slot& slot) {
  const auto* quotient = std::get_if<syntax::Binary>(&node(coord.value).data);
  if (!quotient || quotient->op != syntax::BinaryOp::div) {
    fail("exact-without-division", coord.span,
         fmt::format("exact belongs to a quotient, and {} is none",
                     source_text(node(coord.value).span)));
    return false;
  }
  if (!slot.guarded) {
    fail("exact-without-guard", coord.span,
         "exact needs a guarded read: write ? before the bracket, or else behind it");
    return false;
  }
  const Meaning a = resolve_in(Place::coordinate, quotient->left);
  const Meaning b = resolve_in(Place::coordinate, quotient->right);
  const Span span = node(coord.value).span;
  if (!add_coord(apply(syntax::BinaryOp::div, a, b, span), span, slot)) return false;
  const Meaning rest = apply(syntax::BinaryOp::mod, a, b, span);
  const Meaning zero = of_form(arena.forms.constant(0), Type::i32, span);
  const Truth divides = truth_of(compare(syntax::BinaryOp::eq, rest, zero, span), true);
  for (const Constraint& c : divides.facts) slot.guard.constraints.push_back(c);
  slot.guard.condition = arena.exprs.logical_and(slot.guard.condition, divides.rest);
  return true;
}

ExprId Resolver::resolve_otherwise(const syntax::Read& read, Type kind) {
  const Meaning m = resolve(read.otherwise);
  if (m.faulty) return {};
  const bool bool_meets_number = (m.type == Type::boolean) != (kind == Type::boolean);
  if (bool_meets_number || wider_kind(m.type, kind) != kind) {
    fail("type", m.span,
         fmt::format("{} holds {}s, and the value out of range is {}", read.tensor.text,
                     is_real(kind) ? "real" : type_name(kind),
                     is_real(m.type)           ? "a real"
                     : m.type == Type::boolean ? "a bool"
                                               : "an integer"));
    return {};
  }
  return as_data(m, kind);
}

// The identity at this place in the kind of the tensor that is read; invalid where there is none.
ExprId Resolver::identity_in(Type kind) {
  if (identity.name.empty() || place != Place::value) return {};
  // Monoids that take any kind are asked for this one; the others' identity is converted.
  const MonoidInfo* own = find_monoid(identity.name);
  const bool any_kind = identity.name == "sum" || identity.name == "prod" ||
                        identity.name == "max" || identity.name == "min" ||
                        identity.name == "argmax" || identity.name == "argmin" ||
                        identity.name == "topk";
  const bool logic = identity.name == "any" || identity.name == "all";
  const bool payload = identity.component > 0;
  std::vector<Type> types(identity.n_components, logic ? Type::boolean : Type::f64);
  if (any_kind) types[identity.component] = kind == Type::boolean && !payload ? Type::i32 : kind;
  const Monoid& monoid =
      arena.monoids[own ? own->monoid : builtin_monoid(arena, identity.name, types)];
  const ExprId value = monoid.identity[identity.component];
  if (monoid.types[identity.component] == kind) return value;
  const Value v = arena.exprs[value].value();
  // The least of one kind is the least of another, not a number between its values.
  const Type from = monoid.types[identity.component];
  if (kind == Type::boolean) {
    const bool least = is_real(from) ? v.real == -INFINITY : v.integer == integer_min(from);
    return arena.exprs.boolean(!least && (is_real(from) ? v.real != 0 : v.integer != 0));
  }
  if (is_integer(kind) && is_real(from) && std::isinf(v.real))
    return arena.exprs.integer(v.real < 0 ? integer_min(kind) : integer_max(kind), kind);
  return arena.exprs.cast(kind, value);
}

// Each coordinate that is exactly an index votes for the dimension's extent.
void Resolver::cast_votes(const Slot& slot, const Symbol& symbol) {
  const Tensor& tensor = arena.tensors[symbol.tensor];
  for (size_t d = symbol.leading.size(); d < slot.coords.size(); ++d) {
    if (slot.coords[d].is_gather()) continue;
    const auto var = arena.forms.as_var(slot.coords[d].form);
    if (!var || var->kind != VarKind::axis) continue;
    IndexInfo& index = indices[var->index];
    std::vector<Vote>& votes = slot.guarded ? index.weak : index.strong;
    votes.push_back({.extent = tensor.shape[d],
                     .span = slot.spans[d],
                     .tensor = slot.name,
                     .declared = symbol.span});
  }
}

namespace {

uint64_t hash_of(const Slot& slot) {
  uint64_t seed = slot.tensor.value;
  hash_mix(seed, slot.nested);
  hash_mix(seed, slot.known);
  hash_mix(seed, slot.otherwise.value);
  hash_mix(seed, slot.guarded);
  for (const Coord& c : slot.coords) {
    hash_mix(seed, c.form.value);
    hash_mix(seed, c.data.value);
  }
  return seed;
}

}  // namespace

// Equal reads under the same conditions are one read.
Meaning Resolver::add_slot(Slot slot, Type kind, Span span) {
  Nest& n = nest();
  slot.known = n.now_known;
  slot.in_domain = n.in_domain;
  const uint64_t hash = hash_of(slot);
  const auto [first, last] = n.slots_by_hash.equal_range(hash);
  for (auto same = first; same != last; ++same)
    if (n.slots[same->second] == slot) {
      n.slots[same->second].must_hold |= slot.must_hold;
      return of_data(arena.exprs.leaf(Op::read, kind, same->second), span);
    }
  const size_t position = n.slots.size();
  n.slots_by_hash.emplace(hash, position);
  n.slots.push_back(std::move(slot));
  return of_data(arena.exprs.leaf(Op::read, kind, position), span);
}

void Resolver::push_known(Truth truth) {
  if (truth.facts.empty() && !truth.rest.valid()) return;
  Nest& n = nest();
  n.known.push_back({.outer = n.now_known, .truth = std::move(truth), .in_domain = n.in_domain});
  n.now_known = n.known.size() - 1;
}

}  // namespace tang
