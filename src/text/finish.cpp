// A definition whose text has been read becomes comprehensions, innermost first.
//
// Reads are put into one order that follows from the expressions alone (the domain's condition,
// then the values, each from its leaves up), so that a program and its printed text give equal
// graphs.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "ir/builtin.h"
#include "support/panic.h"
#include "text/resolve.h"
#include "text/safety.h"

namespace tang {

namespace {

constexpr size_t kMaxAxes = 255;
using AxisSet = std::bitset<256>;

// Turns one nest into the parts of a comprehension.
struct Finisher {
  Finisher(Resolver& resolver, size_t which) : r(resolver), nest(resolver.nests[which]) {
    position.resize(nest.slots.size(), kNone);
    axes.resize(r.indices.size());
  }

  Resolver& r;
  Nest& nest;
  std::vector<FormId> axes;      // by index; invalid: no axis of this comprehension
  std::vector<size_t> position;  // of each slot among `reads`
  std::vector<Read> reads;
  std::vector<AxisSet> read_axes;
  Exprs::Memo memo;
  bool has_f64 = false;

  // Numbers the axes: points first, then the reduction's.
  void number_axes() {
    uint32_t next = 0;
    for (const std::vector<uint32_t>* list : {&nest.points, &nest.reduce})
      for (const uint32_t index : *list) axes[index] = r.arena.forms.axis(next++);
  }

  std::vector<FormId> extents() const {
    std::vector<FormId> out;
    for (const std::vector<uint32_t>* list : {&nest.points, &nest.reduce})
      for (const uint32_t index : *list) out.push_back(r.indices[index].extent);
    return out;
  }

  std::vector<std::string> axis_names() const {
    std::vector<std::string> out;
    for (const std::vector<uint32_t>* list : {&nest.points, &nest.reduce})
      for (const uint32_t index : *list) out.push_back(r.indices[index].name);
    return out;
  }

  FormId map_form(FormId form) {
    return r.arena.forms.substitute(
        form, [&](Var v) { return v.kind == VarKind::axis ? axes[v.index] : FormId(); });
  }

  Facts map_facts(const Facts& facts) {
    Facts out;
    for (const Constraint& c : facts)
      out.push_back({.form = map_form(c.form), .modulus = c.modulus});
    return out;
  }

  // The slots that an expression reads, in the order of its leaves.
  void append_slots(ExprId expr, std::vector<size_t>& out) const {
    if (!expr.valid()) return;
    for (const ExprId id : r.arena.exprs.post_order({expr}))
      if (const Expr& e = r.arena.exprs[id]; e.op == Op::read) out.push_back(e.index());
  }

  std::vector<size_t> slots_of(const Slot& slot) const {
    std::vector<size_t> out;
    for (const Coord& c : slot.coords) append_slots(c.data, out);
    append_slots(slot.guard.condition, out);
    append_slots(slot.otherwise, out);
    return out;
  }

  // Places the reads that a read needs, then the read itself. They may form a long chain.
  void place(size_t first) {
    struct Step {
      size_t slot;
      std::vector<size_t> needs;
      size_t next = 0;
    };
    std::vector<Step> stack;
    stack.push_back({first, slots_of(nest.slots[first])});
    while (!stack.empty()) {
      Step& step = stack.back();
      if (step.next < step.needs.size()) {
        const size_t need = step.needs[step.next++];
        if (position[need] == kNone) stack.push_back({need, slots_of(nest.slots[need])});
        continue;
      }
      if (position[step.slot] == kNone) add_read(step.slot);
      stack.pop_back();
    }
  }

  void add_read(size_t slot_number) {
    const Slot& slot = nest.slots[slot_number];
    View view{.coords = {}, .guarded = slot.guarded, .guard = {}};
    Guard guard{.constraints = map_facts(slot.guard.constraints),
                .condition = rewrite(slot.guard.condition)};
    AxisSet own;
    for (const Constraint& c : guard.constraints) own |= axes_of(c.form);
    own |= axes_of_expr(guard.condition);
    for (const Coord& c : slot.coords) {
      if (c.is_gather())
        view.coords.push_back({.form = {}, .data = rewrite(c.data)});
      else
        view.coords.push_back({.form = map_form(c.form), .data = {}});
      own |=
          c.is_gather() ? axes_of_expr(view.coords.back().data) : axes_of(view.coords.back().form);
    }
    view.guard = r.arena.guard(std::move(guard));
    const Read read{.tensor = slot.tensor,
                    .view = r.arena.views.intern(std::move(view)),
                    .otherwise = rewrite(slot.otherwise)};
    own |= axes_of_expr(read.otherwise);
    const auto known = r.tensors.find(slot.tensor);
    has_f64 |= known != r.tensors.end() && known->second.has_f64;
    // Reads that differed only in what was known there may have become equal.
    const auto [same, is_new] = read_index.emplace(
        std::array{read.tensor.value, read.view.value, read.otherwise.value}, reads.size());
    position[slot_number] = same->second;
    if (!is_new) return;
    reads.push_back(read);
    read_axes.push_back(own);
  }

  ExprId map(ExprId expr) {
    if (!expr.valid()) return expr;
    std::vector<size_t> slots;
    append_slots(expr, slots);
    for (const size_t slot : slots)
      if (position[slot] == kNone) place(slot);
    return rewrite(expr);
  }

  ExprId rewrite(ExprId expr) {
    return r.arena.exprs.rewrite(expr, memo, [&](ExprId old, const std::array<ExprId, 3>&) {
      const Expr e = r.arena.exprs[old];
      if (e.op == Op::read) return r.arena.exprs.leaf(Op::read, e.type, position[e.index()]);
      if (e.op == Op::form) return r.arena.exprs.form(r.arena.forms, map_form(e.form()), e.type);
      if (e.op == Op::scalar) has_f64 |= r.program.scalars[e.index()].type == Type::f64;
      return ExprId();
    });
  }

  AxisSet axes_of(FormId form) const {
    AxisSet out;
    r.arena.forms.for_each_var(form, [&](Var v) {
      if (v.kind == VarKind::axis) out.set(v.index);
    });
    return out;
  }

  // Of an expression that has been mapped.
  AxisSet axes_of_expr(ExprId expr) const {
    AxisSet out;
    if (!expr.valid()) return out;
    for (const ExprId id : r.arena.exprs.post_order({expr})) {
      const Expr& e = r.arena.exprs[id];
      if (e.op == Op::form) out |= axes_of(e.form());
      if (e.op == Op::read) out |= read_axes[e.index()];
    }
    return out;
  }

  std::map<std::array<uint32_t, 3>, size_t> read_index;
};

// The results of nested comprehensions are tensors now.
void link_nested(Resolver& r, Nest& nest) {
  for (Slot& slot : nest.slots) {
    if (slot.nested == kNone) continue;
    const Nest& child = r.nests[slot.nested];
    slot.tensor = r.arena.component(child.id, 0);
    slot.coords.clear();
    for (const uint32_t point : child.points)
      slot.coords.push_back({.form = r.arena.forms.axis(point), .data = {}});
  }
}

// Indices of enclosing comprehensions that a nested one depends on.
std::vector<uint32_t> outer_indices(Resolver& r, const Nest& nest) {
  std::vector<bool> used(r.indices.size());
  const auto use = [&](FormId form) {
    r.arena.forms.for_each_var(form, [&](Var v) {
      if (v.kind == VarKind::axis) used[v.index] = true;
    });
  };
  const auto use_facts = [&](const Facts& facts) {
    for (const Constraint& c : facts) use(c.form);
  };
  use_facts(nest.domain.facts);
  std::vector<ExprId> roots = nest.values;
  if (nest.domain.rest.valid()) roots.push_back(nest.domain.rest);
  std::vector<bool> seen(nest.slots.size());
  while (!roots.empty()) {
    const std::vector<ExprId> order = r.arena.exprs.post_order(roots);
    roots.clear();
    for (const ExprId id : order) {
      const Expr& e = r.arena.exprs[id];
      if (e.op == Op::form) use(e.form());
      if (e.op != Op::read || seen[e.index()]) continue;
      seen[e.index()] = true;
      const Slot& slot = nest.slots[e.index()];
      use_facts(slot.guard.constraints);
      for (const Coord& c : slot.coords)
        if (c.is_gather())
          roots.push_back(c.data);
        else
          use(c.form);
      for (const ExprId root : {slot.guard.condition, slot.otherwise})
        if (root.valid()) roots.push_back(root);
    }
  }
  for (const uint32_t own : nest.reduce) used[own] = false;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < used.size(); ++i)
    if (used[i]) out.push_back(i);
  return out;
}

}  // namespace

bool Resolver::fix_ranges() {
  bool good = true;
  for (const size_t nested : finish_order)
    for (const uint32_t index : nests[nested].reduce) good &= fix_range(index);
  for (const uint32_t index : nests[0].reduce) good &= fix_range(index);
  for (const uint32_t index : nests[0].points) good &= fix_range(index);
  return good;
}

// All but the outermost comprehension, which is then ready.
bool Resolver::finish_inner(Span span) {
  if (!fix_ranges()) return false;
  if (indices.size() > kMaxAxes) {
    fail("limit", span,
         fmt::format("a definition has {} indices, and {} is the most", indices.size(), kMaxAxes));
    return false;
  }
  for (const size_t nested : finish_order) finish_nested(nested);
  link_nested(*this, nests[0]);
  decide_guards(*this, 0);
  return true;
}

bool Resolver::forms_fit(Span span) {
  if (!arena.forms.overflowed()) return true;
  arena.forms.clear_overflow();
  fail("limit", span, "a coordinate or size here does not fit 64 bits");
  return false;
}

bool Resolver::finish_update(const std::string& name, size_t target, Span span, DefId& out) {
  if (!finish_inner(span)) return false;
  Nest& nest = nests[0];
  Finisher f(*this, 0);
  f.number_axes();
  Comprehension c{.extents = f.extents(),
                  .n_points = static_cast<uint8_t>(nest.points.size()),
                  .reads = {},
                  .domain = arena.no_guard(),
                  .monoid = {},
                  .components = {{.value = f.map(nest.values[0]), .axes = {}}},
                  .into = {}};
  for (uint8_t a = 0; a < c.n_points; ++a) c.components[0].axes.push_back(a);
  const Type kind = kind_of(arena.tensors[nest.slots[target].tensor].type);
  c.into = arena.exprs[f.map(arena.exprs.leaf(Op::read, kind, target))].index();
  c.reads = std::move(f.reads);
  if (!forms_fit(span)) return false;
  Def def{.id = arena.comprehensions.intern(std::move(c)),
          .names = {name},
          .axis_names = f.axis_names(),
          .span = span};
  collect_obligations(*this, 0, f.axes, def.axis_names);
  nest.id = def.id;
  out = add_def(std::move(def), false);
  return true;
}

bool Resolver::finish_definition(const syntax::Definition& definition, Span span, DefId& out) {
  if (!finish_inner(span)) return false;
  Nest& nest = nests[0];
  Finisher f(*this, 0);
  f.number_axes();
  Comprehension c{.extents = f.extents(),
                  .n_points = static_cast<uint8_t>(nest.points.size()),
                  .reads = {},
                  .domain = {},
                  .monoid = nest.monoid,
                  .components = {}};
  Guard domain{.constraints = f.map_facts(nest.domain.facts), .condition = f.map(nest.domain.rest)};
  AxisSet of_domain = f.axes_of_expr(domain.condition);
  for (const Constraint& fact : domain.constraints) of_domain |= f.axes_of(fact.form);
  std::vector<AxisSet> needs;
  for (const ExprId value : nest.values) {
    c.components.push_back({.value = f.map(value), .axes = {}});
    needs.push_back(f.axes_of_expr(c.components.back().value) | of_domain);
  }
  c.domain = arena.guard(std::move(domain));
  c.reads = std::move(f.reads);
  if (!fill_component_axes(definition, c, needs)) return false;
  if (!forms_fit(span)) return false;
  Def def{.id = arena.comprehensions.intern(std::move(c)),
          .names = {},
          .axis_names = f.axis_names(),
          .span = span};
  for (const syntax::Left& left : definition.lefts)
    def.names.push_back(left.name.exists() ? program_name(prefix + left.name.text) : "");
  collect_obligations(*this, 0, f.axes, def.axis_names);
  nest.id = def.id;
  note_results(0, f.has_f64);
  out = add_def(std::move(def), false);
  return true;
}

void Resolver::finish_nested(size_t which) {
  Nest& nest = nests[which];
  link_nested(*this, nest);
  decide_guards(*this, which);
  link_nested(*this, nest);  // conditions that it took over may read others
  nest.points = outer_indices(*this, nest);
  Finisher f(*this, which);
  f.number_axes();
  Comprehension c{.extents = f.extents(),
                  .n_points = static_cast<uint8_t>(nest.points.size()),
                  .reads = {},
                  .domain = {},
                  .monoid = nest.monoid,
                  .components = {}};
  Guard domain{.constraints = f.map_facts(nest.domain.facts), .condition = f.map(nest.domain.rest)};
  std::vector<uint8_t> all;
  for (uint8_t a = 0; a < c.n_points; ++a) all.push_back(a);
  for (const ExprId value : nest.values)
    c.components.push_back({.value = f.map(value), .axes = all});
  const Monoid monoid = arena.monoids[nest.monoid];
  for (size_t k = c.components.size(); k < monoid.n_components(); ++k)
    c.components.push_back({.value = hidden_value(arena, monoid, k), .axes = all});
  c.domain = arena.guard(std::move(domain));
  c.reads = std::move(f.reads);
  nest.id = arena.comprehensions.intern(std::move(c));
  collect_obligations(*this, which, f.axes, f.axis_names());
  note_results(which, f.has_f64);
  if (def_of_comprehension.contains(nest.id.value)) return;
  add_def({.id = nest.id,
           .names = {numbered_name(definition_name, 1)},
           .axis_names = f.axis_names(),
           .span = nest.span},
          true);
}

// Each component's axes: those its name lists, which must hold all that it depends on; for a
// dropped one, those; for a hidden one, those of the component that reads it.
bool Resolver::fill_component_axes(const syntax::Definition& definition, Comprehension& c,
                                   std::vector<std::bitset<256>>& needs) {
  const size_t n_visible = definition.lefts.size();
  std::vector<AxisSet> listed(n_visible);
  const auto number = [&](const std::string& name) {
    for (size_t p = 0; p < nests[0].points.size(); ++p)
      if (indices[nests[0].points[p]].name == name) return p;
    TANG_PANIC("{} is no point", name);
  };
  for (size_t k = 0; k < n_visible; ++k)
    for (const syntax::Binder& binder : definition.lefts[k].indices) {
      const size_t axis = number(binder.name.text);
      listed[k].set(axis);
      c.components[k].axes.push_back(static_cast<uint8_t>(axis));
    }
  const Monoid* monoid = c.monoid.valid() ? &arena.monoids[c.monoid] : nullptr;
  const size_t n = monoid ? monoid->n_components() : 1;
  needs.resize(n);
  std::vector<std::vector<size_t>> uses(n);  // components that each one's combine reads
  for (size_t k = 0; monoid && k < n; ++k)
    for (const ExprId id : arena.exprs.post_order({monoid->combine[k]}))
      if (const Expr& e = arena.exprs[id]; e.op == Op::left || e.op == Op::right)
        uses[k].push_back(e.index());
  const auto is_listed = [&](size_t k) {
    return k < n_visible && definition.lefts[k].name.exists();
  };
  AxisSet points;
  for (size_t p = 0; p < c.n_points; ++p) points.set(p);
  for (AxisSet& need : needs) need &= points;
  // Hidden components depend on the condition only, so they need nothing before their readers do.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t k = 0; k < n; ++k)
      for (const size_t used : uses[k]) {
        const AxisSet more = needs[k] | needs[used] | (is_listed(used) ? listed[used] : AxisSet());
        changed |= more != needs[k];
        needs[k] = more;
      }
  }
  const auto places_of = [&](size_t k) {
    return k < nests[0].places_of.size() ? nests[0].places_of[k] : kNone;
  };
  for (size_t k = 0; k < n_visible; ++k) {
    if (!is_listed(k)) {
      c.components[k].axes = own_axes(needs[k], c.n_points, places_of(k));
      continue;
    }
    const AxisSet missing = needs[k] & ~listed[k];
    if (missing.none()) continue;
    const size_t first = missing._Find_first();
    fail("component-needs-index", definition.lefts[k].span,
         fmt::format("{} depends on {}, which its indices do not list",
                     definition.lefts[k].name.text, indices[nests[0].points[first]].name));
    return false;
  }
  for (size_t k = n_visible; k < n; ++k) {
    AxisSet axes = needs[k];
    size_t places = kNone, fewest = kNone;
    for (size_t reader = 0; reader < n_visible; ++reader)
      if (std::find(uses[reader].begin(), uses[reader].end(), k) != uses[reader].end() &&
          c.components[reader].axes.size() < fewest) {
        fewest = c.components[reader].axes.size();
        axes.reset();
        for (const uint8_t axis : c.components[reader].axes) axes.set(axis);
        places = places_of(reader);
      }
    c.components.push_back(
        {.value = hidden_value(arena, *monoid, k), .axes = own_axes(axes, c.n_points, places)});
  }
  return true;
}

// The needed points in order, and then the axis of `places`, an index, where there is one.
std::vector<uint8_t> Resolver::own_axes(const std::bitset<256>& needed, size_t n_points,
                                        size_t places) {
  std::vector<uint8_t> axes;
  size_t last = kNone;
  for (size_t a = 0; a < n_points; ++a) {
    if (nests[0].points[a] == places)
      last = a;
    else if (needed.test(a))
      axes.push_back(static_cast<uint8_t>(a));
  }
  if (last != kNone) axes.push_back(static_cast<uint8_t>(last));
  return axes;
}

// The definition of a comprehension; an equal one that stands before it serves both.
DefId Resolver::add_def(Def def, bool made_up) {
  const auto [known, is_new] =
      def_of_comprehension.emplace(def.id.value, DefId(program.defs.size()));
  if (is_new) {
    if (made_up) generated.insert(known->second.value);
    program.defs.push_back(std::move(def));
    return known->second;
  }
  Def& first = program.defs[known->second.value];
  if (generated.erase(known->second.value) > 0) {
    def.id = first.id;
    first = std::move(def);
  } else {
    for (size_t k = 0; k < first.names.size(); ++k)
      if (first.names[k].empty()) first.names[k] = def.names[k];
  }
  return known->second;
}

// A name for a definition of the program, which has each name once.
std::string Resolver::program_name(const std::string& wanted) {
  return program_names.insert(wanted).second ? wanted : numbered_name(wanted, 2);
}

// o_1, o_2 ...: the first from `first` on that is free, and stands nowhere in the text.
std::string Resolver::numbered_name(const std::string& stem, size_t first) {
  for (size_t& n = name_numbers.try_emplace(stem, first).first->second;; ++n) {
    const std::string name = fmt::format("{}_{}", stem, n);
    if (!written_names.contains(name) && program_names.insert(name).second) return name;
  }
}

void Resolver::note_results(size_t which, bool has_f64) {
  const Nest& nest = nests[which];
  for (size_t k = 0; k < nest.values.size(); ++k) {
    const TensorId tensor = arena.component(nest.id, static_cast<uint32_t>(k));
    TensorInfo& info = tensors[tensor];
    info.has_f64 = has_f64;
    if (is_integer(arena.tensors[tensor].type)) info.range = range_of_values(*this, which, k);
  }
}

}  // namespace tang
