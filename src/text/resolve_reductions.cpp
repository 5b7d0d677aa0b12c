// Reductions: their indices, their condition, and the values they fold. One that stands inside an
// expression becomes a comprehension of its own, which the expression reads.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/builtin.h"
#include "support/panic.h"
#include "text/resolve.h"
#include "text/safety.h"

namespace tang {

using syntax::BinaryOp;
using syntax::ExprNodeId;

namespace {

constexpr int64_t kMostPlaces = 1024;  // that topk keeps: a list is an array on the stack

}  // namespace

Meaning Resolver::resolve_reduction(const syntax::Reduction& reduction, Span span) {
  if (constants_only())
    return fail("not-constant", span, "a reduction is not known from constants and dimensions");
  const size_t parent = now;
  nests.push_back({.parent = parent, .outer_known = nest().now_known, .span = span});
  now = nests.size() - 1;
  const size_t child = now;
  const bool good = check_monoid(reduction, span) &&
                    reduce_into(reduction, [&] { return resolve_values(reduction); });
  now = parent;
  if (!good) return {.span = span};
  finish_order.push_back(child);
  const Nest& made = nests[child];
  const size_t n_results = made.values.size();
  if (n_results != 1)
    return fail("tuple-in-expression", span,
                fmt::format("{} gives {} results; only a definition of {} names can take them",
                            arena.monoids[made.monoid].name, n_results, n_results));
  return add_slot({.nested = child}, arena.monoids[made.monoid].types[0], span);
}

// Reads the reduction, whose monoids are checked, into the current comprehension.
bool Resolver::reduce_into(const syntax::Reduction& reduction,
                           const std::function<bool()>& read_values) {
  const Place outer_place = std::exchange(place, Place::value);
  const auto binders = expand_packs(reduction.binders);
  bool good = binders.has_value();
  for (const syntax::Binder& binder : binders.value_or(std::vector<syntax::Binder>())) {
    const auto index = declare_index(binder, nest().reduce);
    good &= index.has_value();
    if (index) nest().reduce.push_back(*index);
  }
  if (reduction.condition.valid()) good &= resolve_domain(reduction.condition);
  const IdentityPlace outer_identity = identity;
  good &= read_values();
  identity = outer_identity;
  for (const uint32_t index : nest().reduce) index_names[indices[index].name].pop_back();
  place = outer_place;
  return good;
}

// The conjuncts of the condition, in order: each is evaluated where those before it hold.
bool Resolver::resolve_domain(ExprNodeId condition) {
  std::vector<ExprNodeId> conjuncts, stack{condition};
  while (!stack.empty()) {
    const ExprNodeId id = stack.back();
    stack.pop_back();
    const auto* binary = std::get_if<syntax::Binary>(&node(id).data);
    if (binary && binary->op == BinaryOp::logical_and) {
      stack.push_back(binary->right);
      stack.push_back(binary->left);
    } else {
      conjuncts.push_back(id);
    }
  }
  nest().in_domain = true;
  bool good = true;
  for (const ExprNodeId id : conjuncts) {
    const Meaning m = resolve_in(Place::condition, id);
    if (!is_condition(m, "the condition of a reduction")) {
      good = false;
      continue;
    }
    vote_by_prefix(id);
    Truth truth = truth_of(m, true);
    Truth& domain = nest().domain;
    domain.facts.insert(domain.facts.end(), truth.facts.begin(), truth.facts.end());
    domain.rest = arena.exprs.logical_and(domain.rest, truth.rest);
    push_known(std::move(truth));
  }
  nest().in_domain = false;
  return good;
}

// s < i or s <= i between a reduce index s and another index i: i may run over what s runs over.
void Resolver::vote_by_prefix(ExprNodeId id) {
  const auto* binary = std::get_if<syntax::Binary>(&node(id).data);
  if (!binary) return;
  const bool less = binary->op == BinaryOp::lt || binary->op == BinaryOp::le;
  if (!less && binary->op != BinaryOp::gt && binary->op != BinaryOp::ge) return;
  const auto index_of = [&](ExprNodeId side) -> std::optional<uint32_t> {
    const auto* name = std::get_if<syntax::NameRef>(&node(side).data);
    if (!name) return std::nullopt;
    const auto found = index_names.find(name->name.text);
    if (found == index_names.end() || found->second.empty()) return std::nullopt;
    return found->second.back();
  };
  const auto small = index_of(less ? binary->left : binary->right);
  const auto large = index_of(less ? binary->right : binary->left);
  const std::vector<uint32_t>& reduce = nest().reduce;
  if (small && large && *small != *large &&
      std::find(reduce.begin(), reduce.end(), *small) != reduce.end())
    indices[*large].prefix.push_back(*small);
}

namespace {

// "2", "2 or more", "3".
std::string arity_text(MonoidArity arity) {
  if (arity.most == arity.least) return fmt::format("{}", arity.least);
  return fmt::format("{} or more", arity.least);
}

}  // namespace

// k of topk(k), which no other monoid has.
bool Resolver::check_monoid_argument(const syntax::Reduction& reduction, size_t monoid) {
  const syntax::Name& name = reduction.monoids[monoid];
  const ExprNodeId argument = reduction.arguments[monoid];
  nest().places.push_back(0);
  if (name.text != "topk" || find_monoid(name.text)) {
    if (!argument.valid()) return true;
    fail("bad-argument", node(argument).span,
         fmt::format("{} takes no argument before its indices", name.text));
    return false;
  }
  if (!argument.valid()) {
    fail("bad-argument", name.span, "topk is told how many it keeps: topk(2)[...]");
    return false;
  }
  const auto size = resolve_size(argument);
  if (!size) return false;
  const auto k = arena.forms.as_constant(*size);
  const Span span = node(argument).span;
  if (!k || *k < 1) {
    fail("bad-argument", span,
         k ? fmt::format("topk keeps 1 or more, {} given", *k)
           : fmt::format("how many topk keeps is a constant, and {} is not known before run time",
                         source_text(span)));
    return false;
  }
  if (*k > kMostPlaces) {
    fail("limit", span, fmt::format("topk keeps {}, and {} is the most", *k, kMostPlaces));
    return false;
  }
  nest().places.back() = *k;
  return true;
}

// The index of the places of topk: the last one that each of its results lists. Nothing after an
// error, kNone when no result has a name.
std::optional<size_t> Resolver::index_of_places(const std::vector<syntax::Left>& lefts, int64_t k) {
  size_t places = kNone;
  bool good = true;
  for (const syntax::Left& left : lefts) {
    if (!left.name.exists()) continue;
    if (left.indices.empty()) {
      fail("component-needs-index", left.span,
           fmt::format("{} lists no index for the {} places of topk", left.name.text, k));
      good = false;
      continue;
    }
    const syntax::Name& last = left.indices.back().name;
    const auto known = index_names.find(last.text);
    if (known == index_names.end() || known->second.empty()) return std::nullopt;  // reported
    const size_t index = known->second.back();
    if (places == kNone) places = index;
    if (places == index) continue;
    fail("component-needs-index", last.span,
         fmt::format("{} is the index of the places of topk, and stands last in every list",
                     indices[places].name));
    good = false;
  }
  return good ? std::optional(places) : std::nullopt;
}

// Gives the places of each topk their index. It is no index within the reduction, whose values are
// the same at all places.
bool Resolver::declare_places(const syntax::Definition& definition,
                              const syntax::Reduction& reduction) {
  bool good = true;
  const bool only = reduction.monoids.size() == 1;
  const std::vector<syntax::Left>& lefts = definition.lefts;
  for (size_t m = 0, first = 0, end = 0; m < reduction.monoids.size(); ++m, first = end) {
    end = std::min(lefts.size(), only ? lefts.size() : first + reduction.values[m].parts.size());
    const int64_t k = nest().places[m];
    nest().places_of.resize(end, kNone);
    if (k == 0) continue;
    auto places = index_of_places({lefts.begin() + static_cast<ptrdiff_t>(first),
                                   lefts.begin() + static_cast<ptrdiff_t>(end)},
                                  k);
    good &= places.has_value();
    if (!places) continue;
    if (*places == kNone) {
      places = indices.size();
      indices.push_back({.name = "place", .span = definition.lefts[0].span});
      nest().points.push_back(static_cast<uint32_t>(*places));
    }
    std::fill(nest().places_of.begin() + static_cast<ptrdiff_t>(first), nest().places_of.end(),
              *places);
    IndexInfo& index = indices[*places];
    const FormId extent = arena.forms.constant(k);
    if (!index.extent.valid()) index.extent = extent;
    if (index.faulty || same_extent(index.extent, extent)) continue;
    fail(
        "range-conflict", index.span,
        fmt::format("{} runs over {}, and topk keeps {}", index.name, print_form(index.extent), k));
    good = false;
  }
  for (const size_t places : nest().places_of)
    if (places != kNone) std::erase(index_names[indices[places].name], places);
  return good;
}

// That the monoids exist and get as many values as they fold.
bool Resolver::check_monoid(const syntax::Reduction& reduction, Span span) {
  const size_t n_monoids = reduction.monoids.size();
  for (const syntax::Name& name : reduction.monoids) {
    const MonoidInfo* own = find_monoid(name.text);
    if (own && own->item) {
      fail("tuple-in-expression", name.span,
           fmt::format("{} folds tensors; only a definition of its results can take them",
                       name.text));
      return false;
    }
    if (own && !own->monoid.valid()) failed = true;  // its declaration has an error
    if (own && !own->monoid.valid()) return false;
    if (own || builtin_monoid_arity(name.text)) continue;
    fail("unknown-monoid", name.span,
         fmt::format("there is no monoid {}{}", name.text, monoid_suggestion(name.text)));
    return false;
  }
  for (size_t i = 0; i < n_monoids; ++i)
    if (!check_monoid_argument(reduction, i)) return false;
  if (n_monoids > 1 && reduction.values.size() != n_monoids) {
    fail("monoid-arity", span,
         fmt::format("{} monoids fold {} values, {} given", n_monoids, n_monoids,
                     reduction.values.size()));
    return false;
  }
  for (size_t i = 0; i < n_monoids; ++i) {
    const MonoidInfo* own = find_monoid(reduction.monoids[i].text);
    const MonoidArity arity = own ? MonoidArity{own->components.size(), own->components.size()}
                                  : *builtin_monoid_arity(reduction.monoids[i].text);
    size_t given = 0;
    if (n_monoids > 1 || reduction.values.size() == 1)
      given = reduction.values[i].parts.size();
    else
      given = reduction.values.size();
    const bool tuple_in_list = n_monoids == 1 && given > 1 && reduction.values.size() > 1 &&
                               std::any_of(reduction.values.begin(), reduction.values.end(),
                                           [](const syntax::Value& v) { return v.tuple; });
    if (given >= arity.least && given <= arity.most && !tuple_in_list) continue;
    fail("monoid-arity", n_monoids > 1 ? reduction.values[i].span : span,
         tuple_in_list
             ? fmt::format("{} folds numbers, and one of its values is a tuple",
                           reduction.monoids[i].text)
             : fmt::format(
                   "{} folds {}, {} given", reduction.monoids[i].text,
                   arity.least == 1 ? "1 value" : fmt::format("a tuple of {}", arity_text(arity)),
                   given));
    return false;
  }
  return true;
}

// The values, in the kinds that the monoids take.
bool Resolver::resolve_values(const syntax::Reduction& reduction) {
  std::vector<std::vector<ExprNodeId>> parts(reduction.monoids.size());
  for (size_t v = 0; v < reduction.values.size(); ++v) {
    std::vector<ExprNodeId>& to = parts[parts.size() == 1 ? 0 : v];
    to.insert(to.end(), reduction.values[v].parts.begin(), reduction.values[v].parts.end());
  }
  std::vector<MonoidId> monoids;
  bool good = true;
  for (size_t m = 0; m < parts.size(); ++m) {
    const std::string& name = reduction.monoids[m].text;
    const MonoidInfo* own = find_monoid(name);
    std::vector<Type> types;
    for (size_t c = 0; c < parts[m].size(); ++c) {
      identity = {.name = name, .component = c, .n_components = parts[m].size()};
      const Meaning value = resolve(parts[m][c]);
      std::optional<Type> kind;
      if (!own)
        kind = builtin_kind(name, c, value);
      else if (fits_component(own->components[c], own->types[c], value))
        kind = own->types[c];
      good &= kind.has_value();
      if (!kind) continue;
      types.push_back(*kind);
      nest().values.push_back(as_data(value, *kind));
    }
    if (good)
      monoids.push_back(own ? own->monoid : builtin_monoid(arena, name, types, nest().places[m]));
  }
  if (good) nest().monoid = product_monoid(arena, monoids);
  return good;
}

// The kind in which a built-in monoid folds a value.
std::optional<Type> Resolver::builtin_kind(const std::string& name, size_t component,
                                           const Meaning& value) {
  if (value.faulty) return std::nullopt;
  const bool arg = name == "argmax" || name == "argmin" || name == "topk";
  if (name == "any" || name == "all") {
    if (!is_condition(value, "what any and all fold")) return std::nullopt;
    return Type::boolean;
  }
  if (arg && component > 0) return value.type;
  if (arg || name == "sum" || name == "prod" || name == "max" || name == "min")
    return wider_kind(Type::i32, value.type);
  return Type::f64;
}

// A component of the program's own has the kind that it was declared with.
bool Resolver::fits_component(const std::string& name, Type kind, const Meaning& value) {
  if (value.faulty) return false;
  const bool bools = kind == Type::boolean && value.type == Type::boolean;
  if (bools || (kind != Type::boolean && wider_kind(kind, value.type) == kind)) return true;
  fail("type", value.span,
       fmt::format("component {} is {}, and {} is {}", name, kind_text(kind),
                   source_text(value.span), kind_text(value.type)));
  return false;
}

// The same value over the reads of the current comprehension: reads of the enclosing one `from` are
// copied. A copy is evaluated at points where the original may not be, so one that stood under a
// condition is guarded.
ExprId Resolver::import_expr(size_t from, ExprId expr) {
  if (from == now || !expr.valid()) return expr;
  Exprs::Memo memo;
  return arena.exprs.rewrite(expr, memo, [&](ExprId old, const std::array<ExprId, 3>&) {
    const Expr e = arena.exprs[old];
    if (e.op != Op::read) return ExprId();
    Slot slot = nests[from].slots[e.index()];
    slot.must_hold = false;
    const bool conditional = slot.known != kNone || nests[from].outer_known != kNone;
    if (conditional && !slot.guarded && slot.nested == kNone && !plainly_in_range(*this, slot)) {
      slot.guarded = slot.early = true;
      slot.otherwise = zero_of(arena.exprs, e.type);
    }
    for (Coord& coord : slot.coords) coord.data = import_expr(from, coord.data);
    slot.guard.condition = import_expr(from, slot.guard.condition);
    slot.otherwise = import_expr(from, slot.otherwise);
    return add_slot(std::move(slot), e.type, {}).expr;
  });
}

}  // namespace tang
