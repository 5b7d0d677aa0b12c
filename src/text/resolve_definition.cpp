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
  begin_definition("");
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
  if (define_whole(definition) || define_call(definition) || define_states(definition, span))
    return;
  const auto def = make_definition(definition, span);
  if (!def) {
    mark_faulty(definition);
    return;
  }
  const ComprehensionId id = program.def(*def).id;
  for (size_t k = 0; k < definition.lefts.size(); ++k)
    if (const syntax::Name& name = definition.lefts[k].name; name.exists())
      bind(name,
           {.kind = SymbolKind::tensor, .tensor = arena.component(id, static_cast<uint32_t>(k))});
}

// Names of a definition that failed stay known, and their uses are silent.
void Resolver::mark_faulty(const syntax::Definition& definition) {
  for (const syntax::Left& left : definition.lefts) {
    if (!left.name.exists()) continue;
    const Symbol* known = values.find(left.name.text, sight);
    const bool is_new = !known || known->frame != sight.local;
    const bool rebinds = !is_new && known->loop_depth < loop_depth &&
                         known->kind == SymbolKind::tensor &&
                         !is_input(left.name.text, known->tensor);
    if (is_new || rebinds) bind(left.name, {.kind = SymbolKind::faulty});
  }
}

// What a checked name means from here on: a loop's round replaces a meaning from outside of it.
void Resolver::bind(const syntax::Name& name, Symbol symbol) {
  symbol.frame = sight.local;
  symbol.loop_depth = loop_depth;
  symbol.span = name.span;
  const Symbol* known = values.find(name.text, sight);
  if (!known || known->frame != sight.local) {
    values.define(name.text, std::move(symbol));
    return;
  }
  symbol.loop_depth = known->loop_depth;
  if (known->kind == SymbolKind::tensor && symbol.kind == SymbolKind::tensor) {
    const std::vector<FormId> before = shape_of(*known), after = shape_of(symbol);
    bool same = before.size() == after.size();
    for (size_t d = 0; same && d < before.size(); ++d) same = same_extent(before[d], after[d]);
    const auto shape_text = [&](const std::vector<FormId>& shape) {
      std::string text;
      for (const FormId extent : shape) text += (text.empty() ? "" : ", ") + print_form(extent);
      return "[" + text + "]";
    };
    if (!same) {
      report("rebound-shape", name.span,
             fmt::format("{} is {}, and the loop gives it the shape {}", name.text,
                         shape_text(before), shape_text(after)))
          .notes.push_back({known->span, "defined here"});
      symbol.kind = SymbolKind::faulty;
    }
  }
  if (known->kind == SymbolKind::faulty) symbol.kind = SymbolKind::faulty;
  values.replace(name.text, sight, std::move(symbol));
}

// y = x and y = w[l]: the name of a tensor, or of a leading slice of one.
bool Resolver::define_whole(const syntax::Definition& definition) {
  if (definition.lefts.size() != 1 || definition.lefts[0].brackets) return false;
  const syntax::Name& name = definition.lefts[0].name;
  const syntax::ExprNode& value = node(definition.value);
  if (!name.exists()) return false;
  if (const auto* whole = std::get_if<syntax::NameRef>(&value.data)) {
    const Symbol* found = values.find(whole->name.text, sight);
    if (!found || found->kind != SymbolKind::tensor) return false;
    bind(name, *found);
    return true;
  }
  const auto* read = std::get_if<syntax::Read>(&value.data);
  if (!read) return false;
  bool good = true;
  const auto slice = resolve_slice(*read, value.span, good);
  if (slice)
    bind(name, *slice);
  else if (!good)
    mark_faulty(definition);
  return slice || !good;
}

std::optional<Symbol> Resolver::resolve_slice(const syntax::Read& read, Span span, bool& good) {
  const Symbol* found = values.find(read.tensor.text, sight);
  if (!found || found->kind != SymbolKind::tensor || read.guarded || read.otherwise.valid() ||
      read.member.exists() || read.coords.size() >= shape_of(*found).size())
    return std::nullopt;
  Symbol symbol = *found;
  begin_definition("");
  good = false;
  if (read.condition.valid()) {
    fail("condition-without-guard", node(read.condition).span, "a leading slice has no condition");
    return std::nullopt;
  }
  Slot slot{.tensor = symbol.tensor, .must_hold = true, .name = read.tensor.text};
  for (const FormId form : symbol.leading) {
    slot.coords.push_back({.form = form, .data = {}});
    slot.spans.push_back(span);
  }
  for (const syntax::Coord& coord : read.coords)
    if (!resolve_coord(coord, slot)) return std::nullopt;
  symbol.leading.clear();
  for (const Coord& coord : slot.coords) {
    if (coord.is_gather()) {
      fail("type", span, "a leading slice is taken at sizes, constants and integer scalars");
      return std::nullopt;
    }
    symbol.leading.push_back(coord.form);
  }
  nest().slots.push_back(std::move(slot));
  collect_obligations(*this, 0, {}, {});
  good = true;
  return symbol;
}

// A number for an index, or nothing when its name cannot be one here. `siblings` are the indices of
// its own comprehension so far.
std::optional<uint32_t> Resolver::declare_index(const syntax::Binder& binder,
                                                const std::vector<uint32_t>& siblings) {
  const syntax::Name& name = binder.name;
  const auto refuse = [&](const char* error, const std::string& message, Span other,
                          const std::string& note) {
    report(error, name.span, message).notes.push_back({other, note});
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
  bool hides = false;
  if (const Symbol* symbol = values.find(name.text, sight)) {
    const bool rank0 = symbol->kind == SymbolKind::tensor &&
                       arena.tensors[symbol->tensor].shape.size() == symbol->leading.size();
    hides = rank0 || (symbol->kind != SymbolKind::tensor && symbol->kind != SymbolKind::faulty);
    if (hides)
      refuse("index-hides-name",
             fmt::format("the index {} would hide the {} {}", name.text,
                         symbol_kind_name(symbol->kind), name.text),
             symbol->span, "defined here");
  }
  // One that was refused is an index all the same, so that its uses are silent.
  IndexInfo index{.name = name.text, .span = name.span, .faulty = hides};
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

// The definition of what stands on the right; nothing after an error.
std::optional<DefId> Resolver::make_definition(const syntax::Definition& written, Span span) {
  syntax::Definition definition = written;
  std::string name;
  for (syntax::Left& left : definition.lefts) {
    if (name.empty()) name = left.name.text;
    auto indices_of = expand_packs(left.indices);
    if (!indices_of) return std::nullopt;
    left.indices = std::move(*indices_of);
  }
  begin_definition(prefix + (name.empty() ? "dropped" : name));
  bool good = declare_points(definition);
  const syntax::ExprNode& value = node(definition.value);
  const auto* reduction = std::get_if<syntax::Reduction>(&value.data);
  if (reduction) {
    nest().span = value.span;
    if (!check_monoid(*reduction, value.span)) return std::nullopt;
    good &= declare_places(definition, *reduction);
    good &= reduce_into(*reduction, [&] { return resolve_values(*reduction); });
  } else {
    const Meaning m = resolve(definition.value);
    good &= !m.faulty;
    if (good) nest().values.push_back(as_data(m, m.type));
  }
  if (!good) return std::nullopt;
  const size_t n_results = nest().values.size();
  if (n_results != definition.lefts.size()) {
    fail("result-count", value.span,
         fmt::format("{} gives {} result{}, {} name{} on the left",
                     reduction ? arena.monoids[nest().monoid].name : "an expression", n_results,
                     n_results == 1 ? "" : "s", definition.lefts.size(),
                     definition.lefts.size() == 1 ? " is" : "s are"));
    return std::nullopt;
  }
  DefId def;
  if (failed || !finish_definition(definition, span, def)) return std::nullopt;
  return def;
}

}  // namespace tang
