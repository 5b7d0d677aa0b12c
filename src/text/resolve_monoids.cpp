// Monoids of the program's own: the identity as constants, the combine as expressions over the
// components of two states.
#include <fmt/format.h>

#include <algorithm>

#include "ir/builtin.h"
#include "support/panic.h"
#include "text/habits.h"
#include "text/monoid_law.h"
#include "text/resolve.h"

namespace tang {

using syntax::ExprNodeId;

const MonoidInfo* Resolver::find_monoid(const std::string& name) const {
  for (const size_t number : visible_files()) {
    const auto& monoids = libraries[number].monoids;
    if (const auto found = monoids.find(name); found != monoids.end()) return &found->second;
  }
  return nullptr;
}

std::string Resolver::monoid_suggestion(const std::string& name) const {
  if (const std::string_view meant = monoid_of_habit(name); !meant.empty())
    return fmt::format("; {}", meant);
  Suggestion suggestion(name);
  for (const size_t number : visible_files())
    for (const auto& [known, info] : libraries[number].monoids) suggestion.consider(known);
  for (const std::string_view known : builtin_monoid_names()) suggestion.consider(known);
  return suggestion.text();
}

// The number of x.c, where x is a state of the monoid whose combine is being read.
std::optional<size_t> Resolver::state_component(const syntax::Name& base,
                                                const syntax::Name& member) {
  const auto state = states.find(base.text);
  if (state == states.end()) {
    fail("not-a-state", base.span,
         fmt::format("{} is not a state of a monoid, and only those have components", base.text));
    return std::nullopt;
  }
  const std::vector<std::string>& components = state->second.second->components;
  const auto found = std::find(components.begin(), components.end(), member.text);
  if (found != components.end()) return static_cast<size_t>(found - components.begin());
  Suggestion suggestion(member.text);
  for (const std::string& known : components) suggestion.consider(known);
  fail("undefined", member.span,
       fmt::format("{} has no component {}{}", base.text, member.text, suggestion.text()));
  return std::nullopt;
}

Meaning Resolver::resolve_member(const syntax::Name& base, const syntax::Name& member, Span span) {
  const auto number = state_component(base, member);
  if (!number) return {.span = span};
  if (const auto tensor = state_tensors.find(base.text); tensor != state_tensors.end())
    return read_symbol(base.text + "." + member.text,
                       {.kind = SymbolKind::tensor, .tensor = tensor->second[*number]}, nullptr,
                       span);
  const Op side = states.at(base.text).first;
  return of_data(arena.exprs.leaf(side, state_types[*number], *number), span);
}

void Resolver::declare_monoid(const syntax::Monoid& item) {
  begin_definition("");
  auto& known = libraries[sight.file].monoids;
  if (const auto old = known.find(item.name.text); old != known.end()) {
    report("redefinition", item.name.span,
           fmt::format("the monoid {} is already defined", item.name.text))
        .notes.push_back({old->second.span, "first defined here"});
    return;
  }
  MonoidInfo info{.monoid = {}, .components = {}, .span = item.name.span};
  std::vector<Type> types;
  bool good = true;
  for (const syntax::Component& c : item.components) {
    if (c.brackets) info.item = &item;
    if (std::find(info.components.begin(), info.components.end(), c.name.text) !=
        info.components.end()) {
      fail("redefinition", c.name.span, fmt::format("{} is already a component", c.name.text));
      good = false;
    }
    const auto type = c.type.exists() ? resolve_type(c.type) : Type::f64;
    good &= type.has_value();
    types.push_back(kind_of(type.value_or(Type::f64)));
    info.components.push_back(c.name.text);
  }
  for (const auto& [part, name] :
       {std::pair(&item.identity, "identity"), std::pair(&item.combine, "combine")})
    if (!part->span.valid()) {
      fail("monoid-incomplete", item.name.span, fmt::format("{} has no {}", item.name.text, name));
      good = false;
    }
  if (good && !info.item) info.monoid = make_monoid(item, info, types);
  info.file = sight.file;
  info.types = std::move(types);
  if (!good) info.item = nullptr;
  known.emplace(item.name.text, std::move(info));
}

// Invalid after an error.
MonoidId Resolver::make_monoid(const syntax::Monoid& item, const MonoidInfo& info,
                               const std::vector<Type>& types) {
  Monoid monoid{.name = item.name.text,
                .types = types,
                .identity = {},
                .combine = {},
                .n_hidden = 0,
                .commutative = item.commutative};
  place = Place::constant;
  const auto identity_values = resolve_part(item.identity, types, "identity");
  place = Place::value;
  bool good = identity_values.has_value();
  for (size_t k = 0; good && k < types.size(); ++k)
    if (!arena.exprs.is_constant((*identity_values)[k])) {
      fail("not-constant", item.identity.span,
           fmt::format("the identity of {} is not a constant", info.components[k]));
      good = false;
    }
  states = {{item.left.text, {Op::left, &info}}, {item.right.text, {Op::right, &info}}};
  state_types = types;
  const auto combine = resolve_part(item.combine, types, "combine");
  states.clear();
  if (!good || !combine) return {};
  monoid.identity = *identity_values;
  monoid.combine = *combine;
  if (const auto broken = broken_law(arena, monoid)) {
    fail("monoid-law", item.name.span, *broken);
    return {};
  }
  return arena.monoids.intern(std::move(monoid));
}

// The values of a tuple, or those that a block returns, in the kinds of the components.
std::optional<std::vector<ExprId>> Resolver::resolve_part(const syntax::MonoidPart& part,
                                                          const std::vector<Type>& types,
                                                          const std::string& what) {
  const size_t mark = values.mark();
  const Sight outer = sight;
  sight.local = next_frame++;
  std::vector<ExprNodeId> tuple = part.tuple;
  bool good = true;
  for (const syntax::ItemId id : part.block) {
    const syntax::Item& item = (*file)[id];
    if (const auto* r = std::get_if<syntax::Return>(&item.data)) {
      tuple = r->values.parts;
      break;
    }
    const auto* d = std::get_if<syntax::Definition>(&item.data);
    if (!d || d->lefts.size() != 1 || d->lefts[0].brackets || !d->lefts[0].name.exists()) {
      fail("misplaced-item", item.span, fmt::format("the block of {} defines scalars", what));
      good = false;
      continue;
    }
    if (!check_new_name(d->lefts[0].name)) good = false;
    const Meaning m = resolve(d->value);
    values.define(d->lefts[0].name.text,
                  {.kind = m.faulty ? SymbolKind::faulty : SymbolKind::constant,
                   .meaning = m,
                   .frame = sight.local,
                   .span = d->lefts[0].name.span});
  }
  std::vector<ExprId> out;
  if (good && tuple.size() != types.size()) {
    fail("monoid-arity", part.span,
         fmt::format("{} gives {} value{} for {} component{}", what, tuple.size(),
                     tuple.size() == 1 ? "" : "s", types.size(), types.size() == 1 ? "" : "s"));
    good = false;
  }
  for (size_t k = 0; good && k < tuple.size(); ++k) {
    const Meaning m = resolve(tuple[k]);
    const bool fits = !m.faulty && (m.type == Type::boolean) == (types[k] == Type::boolean) &&
                      wider_kind(m.type, types[k]) == types[k];
    if (!m.faulty && !fits)
      fail("type", m.span,
           fmt::format("this component is {}, and {} is {}", kind_text(types[k]),
                       source_text(m.span), kind_text(m.type)));
    if (fits)
      out.push_back(as_data(m, types[k]));
    else
      good = false;
  }
  values.undo_to(mark);
  sight = outer;
  return good && !failed ? std::optional(out) : std::nullopt;
}

}  // namespace tang
