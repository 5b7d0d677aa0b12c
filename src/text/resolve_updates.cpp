// Updates: `cache?[places | condition] := value` makes a new version of an inout.
//
// The right side and the places see the old version. Whatever reads an old version is computed
// before the update, which writes into the same storage; where that cannot be, it is an error.
#include <fmt/format.h>

#include <algorithm>

#include "support/panic.h"
#include "text/resolve.h"

namespace tang {

namespace {

// The names that stand for values in an expression, in the order of the text.
struct NameWalk {
  const syntax::File& file;
  std::vector<syntax::Name> names;
  std::set<std::string> bound;  // by reductions inside

  void walk(syntax::ExprNodeId root) {
    std::vector<syntax::ExprNodeId> stack = {root};
    while (!stack.empty()) {
      const syntax::ExprNodeId id = stack.back();
      stack.pop_back();
      if (!id.valid()) continue;
      std::vector<syntax::ExprNodeId> parts;
      std::visit([&](const auto& node) { visit(node, parts); }, file[id].data);
      stack.insert(stack.end(), parts.rbegin(), parts.rend());
    }
    std::erase_if(names, [&](const syntax::Name& name) { return bound.contains(name.text); });
  }

  using Parts = std::vector<syntax::ExprNodeId>;
  void visit(const syntax::NameRef& node, Parts&) { names.push_back(node.name); }
  void visit(const syntax::Unary& node, Parts& parts) { parts = {node.operand}; }
  void visit(const syntax::Binary& node, Parts& parts) { parts = {node.left, node.right}; }
  void visit(const syntax::Conditional& node, Parts& parts) {
    parts = {node.condition, node.yes, node.no};
  }
  void visit(const syntax::Call& node, Parts& parts) {
    for (const syntax::Argument& argument : node.arguments) parts.push_back(argument.value);
  }
  void visit(const syntax::Read& node, Parts& parts) {
    for (const syntax::Coord& coord : node.coords) parts.push_back(coord.value);
    parts.push_back(node.condition);
    parts.push_back(node.otherwise);
  }
  void visit(const syntax::Reduction& node, Parts& parts) {
    for (const syntax::Binder& binder : node.binders) bound.insert(binder.name.text);
    parts.push_back(node.condition);
    for (const syntax::Value& value : node.values)
      parts.insert(parts.end(), value.parts.begin(), value.parts.end());
  }
  template <typename Leaf>
  void visit(const Leaf&, Parts&) {}
};

// What a map's axes range over, twice: `second` maps an axis of a point to that of the other.
struct TwoPoints {
  Facts facts;
  size_t n_axes = 0;

  TwoPoints(const Program& program, const Comprehension& c) : n_axes(c.n_axes()) {
    Forms& forms = program.arena->forms;
    for (uint32_t a = 0; a < 2 * n_axes; ++a) {
      facts.push_back({.form = forms.axis(a)});
      const FormId extent = c.extents[a % n_axes];
      facts.push_back({.form = forms.add(forms.sub(extent, forms.axis(a)), -1)});
    }
  }
  FormId second(Forms& forms, FormId form) const {
    return forms.substitute(form, [&](Var v) {
      return v.kind == VarKind::axis ? forms.axis(v.index + static_cast<uint32_t>(n_axes))
                                     : FormId();
    });
  }
};

void add_equal(Forms& forms, Facts& facts, FormId a, FormId b) {
  facts.push_back({.form = forms.sub(a, b)});
  facts.push_back({.form = forms.sub(b, a)});
}

// The read of a tensor of distinct indices that data is, if it is one.
const Read* distinct_read(const Program& program, const Comprehension& c, ExprId data) {
  const Arena& arena = *program.arena;
  while (arena.exprs[data].op == Op::cast && is_integer(arena.exprs[data].type) &&
         type_bits(arena.exprs[data].type) >= 32)
    data = arena.exprs[data].args[0];
  if (arena.exprs[data].op != Op::read) return nullptr;
  const Read& read = c.reads[arena.exprs[data].index()];
  const Tensor& from = arena.tensors[read.tensor];
  const bool promised = from.kind == TensorKind::input && program.inputs[from.source].distinct;
  return promised && !arena.views[read.view].guarded ? &read : nullptr;
}

// What follows where the first point's `a` and the second point's `b` are one element. Data that
// comes from a `distinct` tensor is equal only where it is one element of that.
void same_element(const Program& program, const Comprehension& c, TwoPoints& two,
                  const std::vector<Coord>& a, const std::vector<Coord>& b) {
  Arena& arena = *program.arena;
  for (size_t d = 0; d < a.size(); ++d) {
    if (!a[d].is_gather() && !b[d].is_gather()) {
      add_equal(arena.forms, two.facts, a[d].form, two.second(arena.forms, b[d].form));
      continue;
    }
    if (a[d].data != b[d].data || !a[d].is_gather()) continue;
    const Read* read = distinct_read(program, c, a[d].data);
    if (!read) continue;
    for (const Coord& inner : arena.views[read->view].coords)
      if (!inner.is_gather())
        add_equal(arena.forms, two.facts, inner.form, two.second(arena.forms, inner.form));
  }
}

void both_hold(Forms& forms, TwoPoints& two, const Guard& guard) {
  for (const Constraint& fact : guard.constraints) {
    two.facts.push_back(fact);
    two.facts.push_back({.form = two.second(forms, fact.form), .modulus = fact.modulus});
  }
}

}  // namespace

void Resolver::update(const syntax::Update& item, Span span) {
  begin_definition("");
  const std::string& name = item.tensor.text;
  const Symbol* found = values.find(name, sight);
  if (!found) {
    fail("undefined", item.tensor.span,
         fmt::format("{} is not defined here{}", name, suggestion(name)));
    return;
  }
  if (found->kind == SymbolKind::faulty) return;
  const bool parameter = !calls.empty() && found->frame == sight.local;
  if (found->kind != SymbolKind::tensor || parameter || !found->leading.empty() ||
      !program.is_inout(found->tensor) ||
      program.inputs[inout_number(found->tensor)].name != name) {
    const std::string_view what = found->kind != SymbolKind::tensor ? symbol_kind_name(found->kind)
                                  : parameter                       ? "parameter"
                                  : is_input(name, found->tensor)   ? "input"
                                                                    : "definition";
    report("update-of-value", item.tensor.span,
           fmt::format("{} is {} {}, and only an inout can be updated", name,
                       what == "input" ? "an" : "a", what))
        .notes.push_back({found->span, "defined here"});
    return;
  }
  Symbol symbol = *found;
  const auto def = make_update(item, symbol, span);
  if (def) {
    const TensorId version = arena.component(program.def(*def).id, 0);
    tensors[version] = {.range = {},
                        .has_f64 = tensors[symbol.tensor].has_f64,
                        .name = name,
                        .span = item.tensor.span};
    symbol.tensor = version;
  } else {
    symbol.kind = SymbolKind::faulty;
  }
  values.replace(name, sight, std::move(symbol));
}

uint32_t Resolver::inout_number(TensorId tensor) const {
  return arena.tensors[arena.base_of(tensor)].source;
}

// Names in the places that mean nothing yet are indices. A range is that of the one index which is
// new in its place.
bool Resolver::declare_places(const syntax::Update& item) {
  bool good = true;
  const auto is_new = [&](const std::string& name) {
    const Symbol* symbol = values.find(name, sight);
    if (!symbol) return name != "pi";
    return symbol->kind == SymbolKind::tensor &&
           arena.tensors[symbol->tensor].shape.size() > symbol->leading.size();
  };
  const auto declare = [&](const syntax::Name& name, syntax::ExprNodeId range) {
    const auto index = declare_index({.name = name, .rest = false, .range = range}, nest().points);
    good &= index.has_value();
    if (index) nest().points.push_back(*index);
  };
  for (const syntax::Place& at : item.places) {
    std::vector<syntax::Name> fresh;
    if (at.coord.rest.exists()) {
      const auto n = pack_size(at.coord.rest);
      good &= n.has_value();
      for (size_t k = 0; k < n.value_or(0); ++k)
        fresh.push_back(
            {.text = fmt::format("{}_{}", at.coord.rest.text, k), .span = at.coord.span});
    } else {
      NameWalk walk{.file = *file, .names = {}, .bound = {}};
      walk.walk(at.coord.value);
      fresh = std::move(walk.names);
    }
    std::set<std::string> seen;
    std::erase_if(fresh, [&](const syntax::Name& name) {
      const auto known = index_names.find(name.text);
      const bool is_index = known != index_names.end() && !known->second.empty();
      return is_index || !is_new(name.text) || !seen.insert(name.text).second;
    });
    if (at.range.valid() && fresh.size() != 1) {
      fail("lhs-not-index", at.coord.span,
           fmt::format("a range belongs to one new index, and {} has {}",
                       source_text(at.coord.span), fresh.empty() ? "none" : "several"));
      good = false;
      continue;
    }
    for (const syntax::Name& name : fresh) declare(name, at.range);
  }
  return good;
}

std::optional<DefId> Resolver::make_update(const syntax::Update& item, const Symbol& symbol,
                                           Span span) {
  begin_definition(prefix + item.tensor.text);
  if (!declare_places(item)) return std::nullopt;
  syntax::Read read{.tensor = item.tensor,
                    .member = {},
                    .guarded = item.guarded,
                    .coords_span = {},
                    .coords = {},
                    .condition = item.condition,
                    .otherwise = {}};
  for (const syntax::Place& at : item.places) read.coords.push_back(at.coord);
  Nest& n = nest();
  auto slot = read_slot(item.tensor.text, symbol, &read, item.tensor.span);
  if (!slot) return std::nullopt;
  const Tensor old = arena.tensors[symbol.tensor];
  const Type kind = kind_of(old.type);
  if (slot->guarded) slot->otherwise = zero_of(arena.exprs, kind);
  // Skipped points evaluate nothing, so what keeps a point is known to the value.
  Truth in_range;
  for (size_t d = 0; slot->guarded && d < slot->coords.size(); ++d) {
    const Coord& coord = slot->coords[d];
    if (coord.is_gather()) continue;
    in_range.facts.push_back({.form = coord.form});
    in_range.facts.push_back(
        {.form = arena.forms.add(arena.forms.sub(old.shape[d], coord.form), -1)});
  }
  Slot weak = *slot;  // votes for ranges that the right side leaves open
  const size_t kept = n.now_known;
  n.now_known = kNone;
  const ExprId target = add_slot(std::move(*slot), kind, span).expr;
  n.now_known = kept;
  push_known(std::move(in_range));
  const Meaning m = resolve(item.value);
  n.now_known = kNone;
  if (m.faulty) return std::nullopt;
  if ((m.type == Type::boolean) != (kind == Type::boolean) || wider_kind(m.type, kind) != kind) {
    fail("type", m.span,
         fmt::format("{} holds {}s, and the value is {}", item.tensor.text,
                     is_real(kind) ? "real" : type_name(kind), kind_text(m.type)));
    return std::nullopt;
  }
  ExprId value = as_data(m, kind);
  // Elements of narrow integers are narrow: they wrap where they are written.
  const Type stored = arena.tensors[arena.base_of(symbol.tensor)].type;
  if (is_integer(stored) && type_bits(stored) < 32) {
    const Expr& outer = arena.exprs[value];
    const bool wrapped = outer.op == Op::cast && arena.exprs.type(outer.args[0]) == stored;
    if (!wrapped) value = arena.exprs.cast(kind, arena.exprs.cast(stored, value));
  }
  n.values.push_back(value);
  // The tensor's own extents are asked last.
  for (size_t d = 0; d < weak.coords.size(); ++d) {
    const auto var =
        weak.coords[d].is_gather() ? std::nullopt : arena.forms.as_var(weak.coords[d].form);
    if (var && var->kind == VarKind::axis &&
        (!indices[var->index].strong.empty() || !indices[var->index].weak.empty()))
      weak.coords[d] = {.form = arena.forms.constant(0), .data = {}};
  }
  weak.guarded = false;
  cast_votes(weak, symbol);
  DefId def;
  if (failed) return std::nullopt;
  const size_t number = arena.exprs[target].index();
  if (!finish_update(item.tensor.text, number, span, def)) return std::nullopt;
  ask_injective(def, number, item.tensor.span);
  ask_apart(def, item.tensor.span);
  return def;
}

// Distinct points write distinct elements: of two that write one, no coordinate is less.
void Resolver::ask_injective(DefId def, size_t target, Span span) {
  const Comprehension c = program.comprehension(def);
  const Read& into = c.reads[*c.into];
  const View view = arena.views[into.view];
  TwoPoints two(program, c);
  same_element(program, c, two, view.coords, view.coords);
  both_hold(arena.forms, two, arena.guards[view.guard]);
  // A coordinate that is data tells nothing, unless it comes from distinct indices.
  std::string data;
  for (size_t d = 0; d < view.coords.size(); ++d)
    if (view.coords[d].is_gather() && !distinct_read(program, c, view.coords[d].data))
      data = source_text(nests[0].slots[target].spans[d]);
  std::vector<std::string> names = program.def(def).axis_names;
  const std::vector<std::string> first = names;
  names.insert(names.end(), first.begin(), first.end());
  for (uint32_t a = 0; a < c.n_axes(); ++a) {
    if (arena.forms.as_constant(c.extents[a]) == 1) continue;
    const auto other = static_cast<uint32_t>(a + c.n_axes());
    obligations.push_back({.kind = ObligationKind::injective,
                           .form = arena.forms.sub(arena.forms.axis(a), arena.forms.axis(other)),
                           .low = arena.forms.constant(0),
                           .high = {},
                           .facts = two.facts,
                           .span = span,
                           .text = data,
                           .tensor = program.def(def).names[0],
                           .dimension = a,
                           .axis_names = names});
  }
}

// The value reads the old version at no element that the update writes, but its own.
void Resolver::ask_apart(DefId def, Span span) {
  const Comprehension c = program.comprehension(def);
  const View into = arena.views[c.reads[*c.into].view];
  for (uint32_t k = 0; k < c.reads.size(); ++k) {
    if (k == *c.into || c.reads[k].tensor != arena.updated(c)) continue;
    const View view = arena.views[c.reads[k].view];
    if (view.coords == into.coords) continue;
    TwoPoints two(program, c);
    same_element(program, c, two, into.coords, view.coords);
    obligations.push_back({.kind = ObligationKind::apart,
                           .form = {},
                           .low = {},
                           .high = {},
                           .facts = two.facts,
                           .span = span,
                           .text = "",
                           .tensor = program.def(def).names[0],
                           .dimension = 0,
                           .axis_names = {}});
  }
}

// What reads an old version stands before the update that overwrites it.
void Resolver::check_overwritten() {
  std::unordered_map<TensorId, size_t> overwritten;  // by which definition
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const Comprehension& c = arena.comprehensions[program.defs[d].id];
    for (const Read& read : c.reads) {
      const auto found = overwritten.find(read.tensor);
      if (found == overwritten.end()) continue;
      const Def& update = program.defs[found->second];
      report("update-overwrites", update.span,
             fmt::format("this update overwrites {}, which is read later as it was before; write "
                         "a definition before it that holds what is needed",
                         update.names[0]))
          .notes.push_back({program.defs[d].span, "read here"});
      return;
    }
    if (c.is_update()) overwritten.emplace(arena.updated(c), d);
  }
}

}  // namespace tang
