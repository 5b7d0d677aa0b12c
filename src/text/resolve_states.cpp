// Monoids whose states are tensors: `monoid linear(A[N, N], B[N]) { ... }`.
//
// Such a monoid is made where it is used, for the shapes of the values there. Its blocks are read
// as definitions over the tensors of two states; these are then written out cell by cell, so that
// the graph holds a monoid of as many numbers as the state has cells, and each result is put
// together again by a map.
//
//   _, h[t] = linear[u | u <= t](A[u], B[u])
//
//   _, _, _, _, h_4[t], h_5[t] = linear_2x2_2[u | u <= t](A[u,0,0], ..., B[u,1])
//   h[t, n0: 2] = n0 == 0 ? h_4[t] : h_5[t]
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/panic.h"
#include "text/monoid_law.h"
#include "text/resolve.h"
#include "text/unroll.h"

namespace tang {

using syntax::ExprNodeId;

namespace {

constexpr int64_t kMostCells = 512;  // of a state: the combine is written out for each

// The tensors of the two states, while a monoid is read: results of no comprehension.
constexpr uint32_t kLeftState = UINT32_MAX - 1, kRightState = UINT32_MAX;

}  // namespace

// One component of a state where the monoid is used.
struct StatePart {
  Symbol tensor;                       // of the value, when the component has dimensions
  const syntax::Read* read = nullptr;  // of it; absent for a whole tensor
  std::vector<FormId> shape;
  Type type = Type::f64;
  size_t first = 0, n_cells = 1;
};

// True when the right side is such a reduction.
bool Resolver::define_states(const syntax::Definition& definition, Span span) {
  const syntax::ExprNode& value = node(definition.value);
  const auto* reduction = std::get_if<syntax::Reduction>(&value.data);
  if (!reduction || reduction->monoids.size() != 1) return false;
  const MonoidInfo* own = find_monoid(reduction->monoids[0].text);
  if (!own || !own->item) return false;
  begin_definition("");
  const auto parts = match_states(*reduction, *own, definition.lefts.size(), value.span);
  const MonoidId monoid = parts ? state_monoid(*own, *parts) : MonoidId();
  if (!monoid.valid() || !reduce_states(definition, *reduction, *own, *parts, monoid, span))
    mark_faulty(definition);
  return true;
}

// ---- the values and the shapes they give -------------------------------------------------------

// The tensor of a value that is a leading slice, or nothing after an error.
std::optional<StatePart> Resolver::state_value(const std::string& component, ExprNodeId id) {
  const syntax::ExprNode& n = node(id);
  StatePart part;
  const syntax::Name* name = nullptr;
  if (const auto* ref = std::get_if<syntax::NameRef>(&n.data)) name = &ref->name;
  if (const auto* read = std::get_if<syntax::Read>(&n.data); read && !read->member.exists()) {
    name = &read->tensor;
    part.read = read;
  }
  const Symbol* symbol = name ? values.find(name->text, sight) : nullptr;
  if (name && !symbol) {
    fail("undefined", name->span,
         fmt::format("{} is not defined here{}", name->text, suggestion(name->text)));
    return std::nullopt;
  }
  if (symbol && symbol->kind == SymbolKind::faulty) return std::nullopt;
  const bool guarded = part.read && (part.read->guarded || part.read->otherwise.valid() ||
                                     part.read->condition.valid());
  if (!symbol || symbol->kind != SymbolKind::tensor || guarded) {
    fail("argument-not-tensor", n.span,
         fmt::format("component {} has dimensions, so its value is a tensor or a leading slice of "
                     "one, without a guard",
                     component));
    return std::nullopt;
  }
  part.tensor = *symbol;
  part.type = kind_of(arena.tensors[symbol->tensor].type);
  return part;
}

std::optional<std::vector<StatePart>> Resolver::match_states(const syntax::Reduction& reduction,
                                                             const MonoidInfo& own, size_t n_lefts,
                                                             Span span) {
  const std::string& name = reduction.monoids[0].text;
  const size_t n = own.item->components.size();
  std::vector<ExprNodeId> given;
  for (const syntax::Value& v : reduction.values)
    given.insert(given.end(), v.parts.begin(), v.parts.end());
  nest().places.clear();
  if (!check_monoid_argument(reduction, 0)) return std::nullopt;
  if (given.size() != n || n_lefts != n) {
    if (given.size() != n)
      fail("monoid-arity", span,
           fmt::format("{} folds {} values, {} given", name, n, given.size()));
    else
      fail("result-count", span,
           fmt::format("{} gives {} result{}, {} name{} on the left", name, n, n == 1 ? "" : "s",
                       n_lefts, n_lefts == 1 ? " is" : "s are"));
    return std::nullopt;
  }
  std::vector<StatePart> parts(n);
  bool good = true;
  for (size_t k = 0; k < n; ++k) {
    const syntax::Component& component = own.item->components[k];
    if (!component.brackets) continue;
    const auto part = state_value(component.name.text, given[k]);
    good &= part.has_value();
    if (!part) continue;
    parts[k] = *part;
    const std::vector<FormId> shape = shape_of(part->tensor);
    const size_t n_coords = part->read ? part->read->coords.size() : 0;
    if (shape.size() != n_coords + component.shape.size()) {
      fail("shape-mismatch", node(given[k]).span,
           fmt::format("component {} has {} dimension{}, and {} has {}", component.name.text,
                       component.shape.size(), component.shape.size() == 1 ? "" : "s",
                       source_text(node(given[k]).span),
                       static_cast<int64_t>(shape.size()) - static_cast<int64_t>(n_coords)));
      good = false;
      continue;
    }
    parts[k].shape.assign(shape.begin() + static_cast<ptrdiff_t>(n_coords), shape.end());
  }
  if (!good) return std::nullopt;
  size_t first = 0;
  for (size_t k = 0; k < n; ++k) {
    parts[k].type = own.types[k];
    parts[k].first = first;
    int64_t cells = 1;
    for (const FormId extent : parts[k].shape) {
      const auto size = arena.forms.as_constant(extent);
      if (!size) {
        fail("not-constant", node(given[k]).span,
             fmt::format("the size {} of a state is not known; give it by a const or --bind",
                         print_form(extent)));
        return std::nullopt;
      }
      if (*size > kMostCells || __builtin_mul_overflow(cells, *size, &cells))
        cells = kMostCells + 1;
    }
    if (cells == 0) {
      fail("limit", node(given[k]).span,
           fmt::format("component {} of the state has no cells", own.components[k]));
      return std::nullopt;
    }
    parts[k].n_cells = static_cast<size_t>(cells);
    first += parts[k].n_cells;
    if (cells > kMostCells || static_cast<int64_t>(first) > kMostCells) {
      fail("limit", span, fmt::format("a state of {} has more than {} cells", name, kMostCells));
      return std::nullopt;
    }
  }
  return parts;
}

// Gives the sizes in the components' shapes their values. All places of one must agree.
bool Resolver::bind_state_sizes(const MonoidInfo& own, const std::vector<StatePart>& parts) {
  bool good = true;
  const auto mismatch = [&](const std::string& what, FormId a, FormId b, Span span) {
    if (same_extent(a, b)) return;
    good = false;
    fail("shape-mismatch", span,
         fmt::format("{} is {} and {} in this use of {}", what, print_form(a), print_form(b),
                     own.item->name.text));
  };
  std::vector<std::pair<ExprNodeId, FormId>> computed;
  for (size_t k = 0; k < parts.size(); ++k)
    for (size_t d = 0; d < parts[k].shape.size(); ++d) {
      const ExprNodeId id = own.item->components[k].shape[d];
      const auto* name = std::get_if<syntax::NameRef>(&node(id).data);
      const Symbol* known = name ? values.find(name->name.text, sight) : nullptr;
      if (!name)
        computed.emplace_back(id, parts[k].shape[d]);
      else if (known && known->frame == sight.local)
        mismatch(name->name.text, known->meaning.form, parts[k].shape[d], name->name.span);
      else
        values.define(name->name.text,
                      {.kind = SymbolKind::dim,
                       .meaning = of_form(parts[k].shape[d], Type::i32, name->name.span),
                       .frame = sight.local,
                       .span = name->name.span});
    }
  for (const auto& [id, extent] : computed) {
    const auto wanted = resolve_size(id);
    if (!wanted) return false;
    mismatch(source_text(node(id).span), *wanted, extent, node(id).span);
  }
  return good;
}

// ---- the monoid --------------------------------------------------------------------------------

// The monoid for these shapes; invalid after an error.
MonoidId Resolver::state_monoid(const MonoidInfo& own, const std::vector<StatePart>& parts) {
  std::string name = own.item->name.text;
  for (const StatePart& part : parts)
    for (size_t d = 0; d < part.shape.size(); ++d)
      name += fmt::format("{}{}", d == 0 ? "_" : "x", *arena.forms.as_constant(part.shape[d]));
  const auto [made, is_new] = made_monoids.emplace(std::pair(own.item, name), MonoidId());
  MonoidId& monoid = made->second;
  if (!is_new) return monoid;
  const syntax::File* outer_file = std::exchange(file, libraries[own.file].file);
  const Sight outer_sight =
      std::exchange(sight, {.local = next_frame++, .file = static_cast<uint32_t>(own.file)});
  const uint32_t outer_depth = std::exchange(loop_depth, 0);
  const size_t mark = values.mark();
  if (bind_state_sizes(own, parts)) monoid = make_states(own, parts, name);
  values.undo_to(mark);
  loop_depth = outer_depth;
  sight = outer_sight;
  file = outer_file;
  return monoid;
}

MonoidId Resolver::make_states(const MonoidInfo& own, const std::vector<StatePart>& parts,
                               const std::string& name) {
  const syntax::Monoid& item = *own.item;
  Unroller cells(arena);
  for (const Op side : {Op::left, Op::right}) {
    std::vector<TensorId> tensors_of_state;
    const std::string& state = side == Op::left ? item.left.text : item.right.text;
    for (size_t k = 0; k < parts.size(); ++k) {
      const TensorId tensor =
          arena.tensors.intern({.kind = TensorKind::component,
                                .source = side == Op::left ? kLeftState : kRightState,
                                .component = static_cast<uint32_t>(k),
                                .type = parts[k].type,
                                .shape = parts[k].shape});
      std::vector<ExprId> leaves;
      for (size_t c = 0; c < parts[k].n_cells; ++c)
        leaves.push_back(arena.exprs.leaf(side, parts[k].type, parts[k].first + c));
      cells.give(tensor, std::move(leaves));
      tensors_of_state.push_back(tensor);
    }
    state_tensors[state] = std::move(tensors_of_state);
  }
  const auto states_here = std::exchange(state_tensors, {});
  const auto start = state_cells(own, item.identity, "identity", parts, cells);
  state_tensors = states_here;
  states = {{item.left.text, {Op::left, &own}}, {item.right.text, {Op::right, &own}}};
  const auto combine = state_cells(own, item.combine, "combine", parts, cells);
  states.clear();
  state_tensors.clear();
  if (!start || !combine) return {};
  Monoid monoid{.name = name,
                .types = {},
                .identity = *start,
                .combine = *combine,
                .n_hidden = 0,
                .commutative = item.commutative};
  for (const StatePart& part : parts)
    monoid.types.insert(monoid.types.end(), part.n_cells, part.type);
  for (const ExprId cell : monoid.identity)
    if (!arena.exprs.is_constant(cell)) {
      fail("not-constant", item.identity.span,
           fmt::format("the identity of {} is not a constant", item.name.text));
      return {};
    }
  if (const auto broken = broken_law(arena, monoid)) {
    fail("monoid-law", item.name.span, *broken);
    return {};
  }
  return arena.monoids.intern(std::move(monoid));
}

// What a tuple or a block gives, cell by cell. Its definitions are none of the program's.
std::optional<std::vector<ExprId>> Resolver::state_cells(const MonoidInfo& own,
                                                         const syntax::MonoidPart& part,
                                                         const std::string& what,
                                                         const std::vector<StatePart>& parts,
                                                         Unroller& cells) {
  std::vector<Def> outer_defs = std::exchange(program.defs, {});
  auto outer_numbers = std::exchange(def_of_comprehension, {});
  auto outer_generated = std::exchange(generated, {});
  auto outer_returned = std::exchange(returned, std::nullopt);
  std::string outer_prefix = std::exchange(prefix, own.item->name.text + "_");
  const size_t mark = values.mark();
  const size_t errors = diagnostics.n_errors();
  for (const syntax::ItemId id : part.block) {
    const syntax::Item& item = (*file)[id];
    if (std::holds_alternative<syntax::Definition>(item.data) ||
        std::holds_alternative<syntax::Consts>(item.data) ||
        std::holds_alternative<syntax::Loop>(item.data) ||
        std::holds_alternative<syntax::Return>(item.data))
      resolve_item(id);
    else
      fail("misplaced-item", item.span,
           fmt::format("the block of {} holds definitions and what it returns", what));
  }
  if (!part.is_block) {
    std::vector<Symbol> results;
    for (const ExprNodeId id : part.tuple)
      results.push_back(resolve_whole(id, "result").value_or(Symbol{}));
    returned = std::move(results);
  }
  std::optional<std::vector<ExprId>> out;
  if (diagnostics.n_errors() == errors) out = cells_of_results(own, part, what, parts, cells);
  values.undo_to(mark);
  program.defs = std::move(outer_defs);
  def_of_comprehension = std::move(outer_numbers);
  generated = std::move(outer_generated);
  returned = std::move(outer_returned);
  prefix = std::move(outer_prefix);
  return out;
}

std::optional<std::vector<ExprId>> Resolver::cells_of_results(const MonoidInfo& own,
                                                              const syntax::MonoidPart& part,
                                                              const std::string& what,
                                                              const std::vector<StatePart>& parts,
                                                              Unroller& cells) {
  const std::string& name = own.item->name.text;
  for (const Def& def : program.defs) {
    std::string why;
    if (cells.unroll(def.id, why)) continue;
    fail("not-constant", def.span,
         fmt::format("the states of {} are written out cell by cell, and here {}", name, why));
    return std::nullopt;
  }
  const size_t n_given = returned ? returned->size() : 0;
  if (n_given != parts.size()) {
    fail("monoid-arity", part.span,
         fmt::format("{} gives {} value{} for {} component{}", what, n_given,
                     n_given == 1 ? "" : "s", parts.size(), parts.size() == 1 ? "" : "s"));
    return std::nullopt;
  }
  std::vector<ExprId> out;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Symbol& given = (*returned)[k];
    const std::string& component = own.components[k];
    const bool tensor = given.kind == SymbolKind::tensor;
    const Type type = tensor ? kind_of(arena.tensors[given.tensor].type) : given.meaning.type;
    const std::vector<FormId> shape = tensor ? shape_of(given) : parts[k].shape;
    bool same = shape.size() == parts[k].shape.size();
    for (size_t d = 0; same && d < shape.size(); ++d)
      same = same_extent(shape[d], parts[k].shape[d]);
    const bool fits = (type == Type::boolean) == (parts[k].type == Type::boolean) &&
                      wider_kind(type, parts[k].type) == parts[k].type;
    if (!same || !fits) {
      fail(same ? "type" : "shape-mismatch", part.span,
           same ? fmt::format("component {} is {}, and {} gives {}", component,
                              kind_text(parts[k].type), what, kind_text(type))
                : fmt::format("{} gives component {} another shape than its values have", what,
                              component));
      return std::nullopt;
    }
    if (!tensor) {
      begin_definition("");
      out.insert(out.end(), parts[k].n_cells, as_data(given.meaning, parts[k].type));
      continue;
    }
    const std::vector<ExprId>* known = cells.cells(given.tensor);
    if (!known || !given.leading.empty()) {
      fail(
          "not-constant", part.span,
          fmt::format("component {} of {} is not computed from the states alone", component, name));
      return std::nullopt;
    }
    for (const ExprId cell : *known) out.push_back(arena.exprs.cast(parts[k].type, cell));
  }
  return out;
}

// ---- the reduction -----------------------------------------------------------------------------

// The cells as results of one reduction, then each tensor from its cells.
bool Resolver::reduce_states(const syntax::Definition& written, const syntax::Reduction& reduction,
                             const MonoidInfo& own, const std::vector<StatePart>& parts,
                             MonoidId monoid, Span span) {
  syntax::Definition cells{.lefts = {}, .value = written.value};
  std::vector<syntax::Left> lefts = written.lefts;
  std::string name;
  for (size_t k = 0; k < parts.size(); ++k) {
    syntax::Left& left = lefts[k];
    const auto indices_of = expand_packs(left.indices);
    if (!indices_of) return false;
    left.indices = *indices_of;
    if (name.empty()) name = left.name.text;
    for (size_t c = 0; c < parts[k].n_cells; ++c) {
      syntax::Left cell = left;
      if (cell.name.exists() && !parts[k].shape.empty())
        cell.name.text = fmt::format("{}_{}", left.name.text, c);
      cells.lefts.push_back(std::move(cell));
    }
  }
  begin_definition(prefix + (name.empty() ? "dropped" : name));
  if (!declare_points(cells)) return false;
  nest().span = span;
  nest().monoid = monoid;
  if (!reduce_into(reduction, [&] { return state_values(reduction, own, parts); })) return false;
  DefId def;
  if (failed || !finish_definition(cells, span, def)) return false;
  const ComprehensionId id = program.def(def).id;
  for (size_t k = 0; k < parts.size(); ++k) {
    const syntax::Left& left = lefts[k];
    if (!left.name.exists()) continue;
    TensorId result = arena.component(id, static_cast<uint32_t>(parts[k].first));
    if (!parts[k].shape.empty()) result = gather_cells(left, id, parts[k]);
    bind(left.name, {.kind = SymbolKind::tensor, .tensor = result});
  }
  return true;
}

bool Resolver::state_values(const syntax::Reduction& reduction, const MonoidInfo& own,
                            const std::vector<StatePart>& parts) {
  std::vector<ExprNodeId> given;
  for (const syntax::Value& v : reduction.values)
    given.insert(given.end(), v.parts.begin(), v.parts.end());
  for (size_t k = 0; k < parts.size(); ++k) {
    const StatePart& part = parts[k];
    const Span span = node(given[k]).span;
    if (!own.item->components[k].brackets) {
      const Meaning m = resolve(given[k]);
      if (!fits_component(own.components[k], part.type, m)) return false;
      nest().values.push_back(as_data(m, part.type));
      continue;
    }
    Slot slot{.tensor = part.tensor.tensor, .must_hold = true, .name = source_text(span)};
    for (const FormId form : part.tensor.leading) {
      slot.coords.push_back({.form = form, .data = {}});
      slot.spans.push_back(span);
    }
    if (part.read)
      for (const syntax::Coord& coord : part.read->coords)
        if (!resolve_coord(coord, slot)) return false;
    cast_votes(slot, part.tensor);
    const size_t n_coords = slot.coords.size();
    const Type kind = kind_of(arena.tensors[part.tensor.tensor].type);
    for (size_t c = 0; c < part.n_cells; ++c) {
      Slot cell = slot;
      cell.coords.resize(n_coords + part.shape.size());
      cell.spans.resize(cell.coords.size(), span);
      auto rest = static_cast<int64_t>(c);
      for (size_t d = part.shape.size(); d-- > 0;) {
        const int64_t extent = *arena.forms.as_constant(part.shape[d]);
        cell.coords[n_coords + d].form = arena.forms.constant(rest % extent);
        rest /= extent;
      }
      const Meaning m = add_slot(std::move(cell), kind, span);
      if (!fits_component(own.components[k], part.type, m)) return false;
      nest().values.push_back(as_data(m, part.type));
    }
  }
  return true;
}

// A map that gives each cell of a component its place in a tensor.
TensorId Resolver::gather_cells(const syntax::Left& left, ComprehensionId cells,
                                const StatePart& part) {
  begin_definition(prefix + left.name.text);
  syntax::Definition definition;
  definition.lefts.push_back({.span = left.span, .name = left.name, .brackets = true});
  const auto add_point = [&](const std::string& name, FormId extent) {
    const FormId axis = arena.forms.axis(static_cast<uint32_t>(indices.size()));
    nest().points.push_back(static_cast<uint32_t>(indices.size()));
    indices.push_back({.name = name, .span = left.span, .extent = extent});
    definition.lefts[0].indices.push_back({.name = {.text = name, .span = left.span}});
    return axis;
  };
  const TensorId first = arena.component(cells, static_cast<uint32_t>(part.first));
  const std::vector<FormId> shape = arena.tensors[first].shape;
  std::vector<Coord> coords;
  for (size_t d = 0; d < shape.size(); ++d)
    coords.push_back({.form = add_point(left.indices[d].name.text, shape[d]), .data = {}});
  FormId position = arena.forms.constant(0);
  for (size_t d = 0; d < part.shape.size(); ++d)
    position = arena.forms.add(arena.forms.mul(position, part.shape[d]),
                               add_point(fmt::format("n{}", d), part.shape[d]));
  std::vector<Meaning> conditions;
  for (size_t c = 0; c + 1 < part.n_cells; ++c) {
    const Meaning number = of_form(arena.forms.constant(static_cast<int64_t>(c)), Type::i32, {});
    conditions.push_back(
        compare(syntax::BinaryOp::eq, of_form(position, Type::i32, {}), number, left.span));
  }
  ExprId value;
  std::vector<ExprId> read(part.n_cells);
  for (size_t c = 0; c < part.n_cells; ++c) {
    Slot slot{.tensor = arena.component(cells, static_cast<uint32_t>(part.first + c))};
    slot.coords = coords;
    slot.spans.resize(coords.size(), left.span);
    read[c] = add_slot(std::move(slot), part.type, left.span).expr;
  }
  value = part.n_cells == 0 ? zero_of(arena.exprs, part.type) : read.back();
  for (size_t c = conditions.size(); c-- > 0;)
    value = arena.exprs.select(conditions[c].expr, read[c], value);
  nest().values.push_back(value);
  DefId def;
  const bool good = finish_definition(definition, left.span, def);
  TANG_ASSERT(good, "the cells of a state make no tensor");
  return arena.component(program.def(def).id, 0);
}

}  // namespace tang
