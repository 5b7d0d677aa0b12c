// Definitions: the indices on the left, the value on the right, and what a name then stands for.
#include <fmt/format.h>

#include <algorithm>

#include "support/panic.h"
#include "text/resolve.h"
#include "text/safety.h"

namespace tang {

namespace {

constexpr size_t kMaxRank = 16;

}  // namespace

void Resolver::begin_definition(const std::string& name) {
  nests.clear();
  nests.emplace_back();
  finish_order.clear();
  now = 0;
  indices.clear();
  index_names.clear();
  definition_name = name;
  reported.clear();
  place = Place::value;
  identity = {};
  failed = false;
}

void Resolver::define(const syntax::Definition& definition, Span span) {
  std::string name;
  for (const syntax::Left& left : definition.lefts)
    if (name.empty()) name = left.name.text;
  begin_definition(name.empty() ? "dropped" : name);
  bool good = true;
  for (const syntax::Left& left : definition.lefts)
    if (left.name.exists()) good &= check_new_name(left.name);
  for (size_t i = 0; i < definition.lefts.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (const syntax::Name& later = definition.lefts[i].name;
          later.exists() && definition.lefts[j].name.text == later.text && good) {
        fail("redefinition", later.span, fmt::format("{} is defined twice here", later.text));
        good = false;
      }
  if (!good) {
    mark_faulty(definition);
    return;
  }
  if (define_whole(definition)) return;
  define_comprehension(definition, span);
}

// Names of a definition that failed stay known, and their uses are silent.
void Resolver::mark_faulty(const syntax::Definition& definition) {
  for (const syntax::Left& left : definition.lefts)
    if (left.name.exists() && !values.find(left.name.text, sight))
      values.define(left.name.text,
                    {.kind = SymbolKind::faulty, .frame = sight.local, .span = left.name.span});
}

// y = x and y = w[l]: the name of a tensor, or of a leading slice of one.
bool Resolver::define_whole(const syntax::Definition& definition) {
  if (definition.lefts.size() != 1 || definition.lefts[0].brackets) return false;
  const syntax::Name& name = definition.lefts[0].name;
  const syntax::ExprNode& value = node(definition.value);
  const auto* read = std::get_if<syntax::Read>(&value.data);
  const auto* whole = std::get_if<syntax::NameRef>(&value.data);
  if (!name.exists() || (!read && !whole)) return false;
  const Symbol* found = values.find(whole ? whole->name.text : read->tensor.text, sight);
  if (!found || found->kind != SymbolKind::tensor) return false;
  Symbol symbol = *found;
  symbol.frame = sight.local;
  symbol.span = name.span;
  if (whole) {
    values.define(name.text, std::move(symbol));
    return true;
  }
  const size_t rank = arena.tensors[symbol.tensor].shape.size() - symbol.leading.size();
  const bool plain = !read->guarded && !read->otherwise.valid() && !read->member.exists();
  if (!plain || read->coords.size() >= rank) return false;
  Slot slot{.tensor = symbol.tensor, .must_hold = true, .name = read->tensor.text};
  for (const FormId form : symbol.leading) {
    slot.coords.push_back({.form = form, .data = {}});
    slot.spans.push_back(value.span);
  }
  bool good = !read->condition.valid();
  for (const syntax::Coord& coord : read->coords) good &= resolve_coord(coord, slot);
  if (!good) {
    if (!failed)
      fail("condition-without-guard", node(read->condition).span,
           "a leading slice has no condition");
    mark_faulty(definition);
    return true;
  }
  for (const Coord& coord : slot.coords)
    if (coord.is_gather()) {
      fail("type", value.span,
           fmt::format("a leading slice is taken at sizes, constants and scalars; write {}[i] = "
                       "{} with its indices",
                       name.text, source_text(value.span)));
      mark_faulty(definition);
      return true;
    }
  symbol.leading.clear();
  for (const Coord& coord : slot.coords) symbol.leading.push_back(coord.form);
  nest().slots.push_back(std::move(slot));
  collect_obligations(*this, 0, {}, {});
  values.define(name.text, std::move(symbol));
  return true;
}

// A number for an index, or nothing when its name cannot be one here. `siblings` are the indices of
// its own comprehension so far.
std::optional<uint32_t> Resolver::declare_index(const syntax::Binder& binder,
                                                const std::vector<uint32_t>& siblings) {
  const syntax::Name& name = binder.name;
  const auto refuse = [&](const char* error, const std::string& message, Span other,
                          const std::string& note) {
    failed = true;
    diagnostics.error(error, name.span, message).notes.push_back({other, note});
    return std::optional<uint32_t>();
  };
  if (binder.rest) {
    fail("pack-unknown", name.span, fmt::format("{} is not a pack of indices", name.text));
    return std::nullopt;
  }
  for (const uint32_t sibling : siblings)
    if (indices[sibling].name == name.text)
      return refuse("duplicate-index", fmt::format("{} stands twice", name.text),
                    indices[sibling].span, "first here");
  if (const auto outer = index_names.find(name.text);
      outer != index_names.end() && !outer->second.empty())
    return refuse("index-rebound",
                  fmt::format("{} is already an index of the enclosing comprehension", name.text),
                  indices[outer->second.back()].span, "bound here");
  if (const Symbol* symbol = values.find(name.text, sight)) {
    const bool rank0 = symbol->kind == SymbolKind::tensor &&
                       arena.tensors[symbol->tensor].shape.size() == symbol->leading.size();
    if (rank0 || (symbol->kind != SymbolKind::tensor && symbol->kind != SymbolKind::faulty))
      return refuse("index-hides-name",
                    fmt::format("the index {} would hide the {} {}", name.text,
                                symbol_kind_name(symbol->kind), name.text),
                    symbol->span, "defined here");
  }
  IndexInfo index{.name = name.text, .span = name.span};
  if (binder.range.valid()) {
    const auto extent = resolve_extent(binder.range);
    if (extent)
      index.extent = *extent;
    else
      index.faulty = failed = true;
  }
  const auto number = static_cast<uint32_t>(indices.size());
  indices.push_back(std::move(index));
  index_names[name.text].push_back(number);
  return number;
}

// The points are the union of the index lists, in the order of the text.
bool Resolver::declare_points(const syntax::Definition& definition) {
  bool good = true;
  for (const syntax::Left& left : definition.lefts) {
    std::vector<uint32_t> own;
    for (const syntax::Binder& binder : left.indices) {
      const auto known = index_names.find(binder.name.text);
      const bool listed_before = known != index_names.end() && !known->second.empty();
      const bool here = std::any_of(
          own.begin(), own.end(), [&](uint32_t i) { return indices[i].name == binder.name.text; });
      if (!listed_before || here || binder.rest) {
        const auto index = declare_index(binder, own);
        good &= index.has_value();
        if (!index) continue;
        nest().points.push_back(*index);
        own.push_back(*index);
        continue;
      }
      const uint32_t index = known->second.back();
      own.push_back(index);
      if (!binder.range.valid()) continue;
      const auto extent = resolve_extent(binder.range);
      if (extent && !indices[index].extent.valid()) indices[index].extent = *extent;
      if (!extent || same_extent(*extent, indices[index].extent)) continue;
      Diagnostic& d =
          diagnostics.error("range-conflict", node(binder.range).span,
                            fmt::format("{} runs over {} and over {}", binder.name.text,
                                        print_form(indices[index].extent), print_form(*extent)));
      d.notes.push_back({indices[index].span, "first given here"});
      good = false;
    }
    if (own.size() > kMaxRank) {
      fail("limit", left.span,
           fmt::format("{} has {} dimensions, and {} is the most", left.name.text, own.size(),
                       kMaxRank));
      good = false;
    }
  }
  return good;
}

void Resolver::define_comprehension(const syntax::Definition& definition, Span span) {
  bool good = declare_points(definition);
  const auto* reduction = std::get_if<syntax::Reduction>(&node(definition.value).data);
  if (reduction) {
    nest().span = node(definition.value).span;
    good &= reduce_into(*reduction, node(definition.value).span);
  } else {
    const Meaning m = resolve(definition.value);
    good &= !m.faulty;
    if (good) nest().values.push_back(as_data(m, m.type));
  }
  const size_t n_results = nest().values.size();
  if (good && n_results != definition.lefts.size()) {
    fail("result-count", node(definition.value).span,
         fmt::format("{} gives {} result{}, {} name{} on the left",
                     reduction ? arena.monoids[nest().monoid].name : "an expression", n_results,
                     n_results == 1 ? "" : "s", definition.lefts.size(),
                     definition.lefts.size() == 1 ? " is" : "s are"));
    good = false;
  }
  DefId def;
  if (!good || failed || !finish_definition(definition, span, def)) {
    mark_faulty(definition);
    return;
  }
  bind_results(definition, def);
}

void Resolver::bind_results(const syntax::Definition& definition, DefId def) {
  const ComprehensionId id = program.def(def).id;
  for (size_t k = 0; k < definition.lefts.size(); ++k) {
    const syntax::Name& name = definition.lefts[k].name;
    if (!name.exists()) continue;
    const TensorId tensor = arena.component(id, static_cast<uint32_t>(k));
    values.define(
        name.text,
        {.kind = SymbolKind::tensor, .tensor = tensor, .frame = sight.local, .span = name.span});
  }
}

}  // namespace tang
