#include "text/safety.h"

#include <algorithm>
#include <set>
#include <utility>

#include "text/data_forms.h"

namespace tang {

namespace {

Constraint at_least(Forms& forms, FormId a, FormId b) {
  return {.form = forms.sub(a, b)};
}

}  // namespace

Facts index_facts(const Resolver& resolver, size_t nest) {
  Forms& forms = resolver.arena.forms;
  Facts facts = resolver.program.assumptions;
  const auto add = [&](const std::vector<uint32_t>& indices) {
    for (const uint32_t i : indices) {
      const FormId axis = forms.axis(i);
      const FormId extent = resolver.indices[i].extent;
      facts.push_back({.form = axis});
      if (extent.valid()) facts.push_back({.form = forms.add(forms.sub(extent, axis), -1)});
    }
  };
  for (size_t n = nest; n != kNone; n = resolver.nests[n].parent) {
    add(resolver.nests[n].reduce);
    // Points of an inner comprehension are indices of the enclosing ones.
    if (resolver.nests[n].parent == kNone) add(resolver.nests[n].points);
  }
  return facts;
}

// ---- reads -------------------------------------------------------------------------------------

namespace {

// True where the coordinate needs no proof: an index over the dimension, or a constant inside.
bool plainly_in_range(const Resolver& r, const Coord& coord, FormId extent) {
  if (coord.is_gather()) return false;
  const Forms& forms = r.arena.forms;
  if (const auto var = forms.as_var(coord.form); var && var->kind == VarKind::axis)
    return r.indices[var->index].extent == extent;
  const auto c = forms.as_constant(coord.form), n = forms.as_constant(extent);
  return c && n && *c >= 0 && *c < *n;
}

}  // namespace

bool plainly_in_range(const Resolver& r, const Slot& slot) {
  const std::vector<FormId>& shape = r.arena.tensors[slot.tensor].shape;
  for (size_t d = 0; d < slot.coords.size(); ++d)
    if (!plainly_in_range(r, slot.coords[d], shape[d])) return false;
  return true;
}

namespace {

void extend(Facts& to, const Facts& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void join(Resolver& r, Truth& to, const Truth& from) {
  extend(to.facts, from.facts);
  to.rest = r.arena.exprs.logical_and(to.rest, from.rest);
}

// Axes on which forms, expressions and reads depend, as sorted numbers of indices.
struct AxisSets {
  Resolver& r;
  size_t nest;

  void add_form(FormId form, std::vector<bool>& axes) const {
    r.arena.forms.for_each_var(form, [&](Var v) {
      if (v.kind == VarKind::axis) axes[v.index] = true;
    });
  }
  void add_facts(const Facts& facts, std::vector<bool>& axes) const {
    for (const Constraint& c : facts) add_form(c.form, axes);
  }
  void add_expr(ExprId expr, std::vector<bool>& axes) const {
    if (!expr.valid()) return;
    std::vector<ExprId> roots{expr};
    std::vector<bool> seen(r.nests[nest].slots.size());
    while (!roots.empty()) {
      const std::vector<ExprId> order = r.arena.exprs.post_order(roots);
      roots.clear();
      for (const ExprId id : order) {
        const Expr& e = r.arena.exprs[id];
        if (e.op == Op::form) add_form(e.form(), axes);
        if (e.op != Op::read || seen[e.index()]) continue;
        seen[e.index()] = true;
        const Slot& slot = r.nests[nest].slots[e.index()];
        add_facts(slot.guard.constraints, axes);
        for (const Coord& c : slot.coords)
          c.is_gather() ? roots.push_back(c.data) : add_form(c.form, axes);
        for (const ExprId root : {slot.guard.condition, slot.otherwise})
          if (root.valid()) roots.push_back(root);
      }
    }
  }
};

// Conditions beyond this many innermost ones are forgotten, so that a chain of thousands takes no
// quadratic time; a read that needed them is reported.
constexpr size_t kMostConditions = 64;

// What is known where something stands: of its own domain, or of the selects, && and || around it.
Truth known_at(Resolver& r, const Nest& nest, size_t known, bool of_domain) {
  std::vector<const Known*> chain;
  for (size_t k = known; k != kNone && chain.size() < kMostConditions; k = nest.known[k].outer)
    if (nest.known[k].in_domain == of_domain) chain.push_back(&nest.known[k]);
  // Outermost first, so that conditions keep the order of the text.
  std::reverse(chain.begin(), chain.end());
  Truth out;
  for (const Known* k : chain) join(r, out, k->truth);
  return out;
}

struct Outer {
  size_t nest;
  Truth truth;
};

// The conditions of enclosing comprehensions where this one stands, outermost first.
std::vector<Outer> outer_conditions(const Resolver& r, size_t nest) {
  std::vector<Outer> out;
  for (size_t n = nest; r.nests[n].parent != kNone; n = r.nests[n].parent) {
    const Nest& parent = r.nests[r.nests[n].parent];
    for (size_t k = r.nests[n].outer_known; k != kNone; k = parent.known[k].outer)
      out.push_back({.nest = r.nests[n].parent, .truth = parent.known[k].truth});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

struct GuardDecision {
  Resolver& r;
  size_t nest;
  DataForms data;
  std::vector<Outer> outer;

  bool in_range(const Slot& slot, const Truth& known) {
    Forms& forms = r.arena.forms;
    const std::vector<FormId>& shape = r.arena.tensors[slot.tensor].shape;
    for (size_t d = 0; d < slot.coords.size(); ++d) {
      if (plainly_in_range(r, slot.coords[d], shape[d])) continue;
      const Coord& c = slot.coords[d];
      const FormId form = c.is_gather() ? data.of(c.data) : c.form;
      for (Case& possible : data.cases(form, known)) {
        Facts& facts = possible.facts;
        extend(facts, data.base);
        extend(facts, data.facts_about(facts, possible.form));
        if (!proves(forms, facts, {.form = possible.form}) ||
            !proves(forms, facts, at_least(forms, shape[d], forms.add(possible.form, 1))))
          return false;
      }
    }
    return true;
  }

  // Takes conditions of enclosing comprehensions into the domain: those over axes that are needed
  // anyway when they suffice, else all.
  bool carry(const Slot& slot, const Truth& known) {
    const AxisSets sets{r, nest};
    std::vector<bool> needed(r.indices.size());
    const Nest& n = r.nests[nest];
    for (const ExprId value : n.values) sets.add_expr(value, needed);
    sets.add_facts(n.domain.facts, needed);
    sets.add_expr(n.domain.rest, needed);
    for (const bool all : {false, true}) {
      Truth truth = known;
      std::vector<Outer> taken;
      for (const Outer& o : outer) {
        std::vector<bool> axes(r.indices.size());
        sets.add_facts(o.truth.facts, axes);
        AxisSets{r, o.nest}.add_expr(o.truth.rest, axes);
        bool within = true;
        for (size_t i = 0; i < axes.size(); ++i) within &= !axes[i] || needed[i];
        if (!all && !within) continue;
        taken.push_back(o);
        taken.back().truth.rest = imported(o);
        join(r, truth, taken.back().truth);
      }
      const bool good = in_range(slot, truth);
      if (!good && !all) continue;
      for (const Outer& o : taken) {
        join(r, r.nests[nest].domain, o.truth);
        join(r, r.nests[nest].carried, o.truth);
      }
      outer.clear();
      return good;
    }
    return false;
  }

  ExprId imported(const Outer& o) {
    const size_t now = std::exchange(r.now, nest);
    const ExprId rest = r.import_expr(o.nest, o.truth.rest);
    r.now = now;
    return rest;
  }

  void decide(size_t position) {
    const Slot slot = r.nests[nest].slots[position];
    if (slot.guarded || slot.nested != kNone || !slot.must_hold || plainly_in_range(r, slot))
      return;
    if (slot.known == kNone && outer.empty()) return;
    // Known when the read is evaluated wherever the domain holds.
    const Truth domain = known_at(r, r.nests[nest], slot.known, true);
    Truth truth = r.nests[nest].carried;
    join(r, truth, {.facts = domain.facts, .rest = slot.in_domain ? ExprId() : domain.rest});
    if (in_range(slot, truth)) {
      r.nests[nest].slots[position].by_domain = true;
      return;
    }
    Truth selects = known_at(r, r.nests[nest], slot.known, false);
    if (slot.in_domain) selects.rest = r.arena.exprs.logical_and(domain.rest, selects.rest);
    join(r, truth, selects);
    const bool selected = in_range(slot, truth);
    if (!selected && !outer.empty()) carry(slot, truth);
    if (selects.facts.empty() && !selects.rest.valid()) return;
    Slot& guarded = r.nests[nest].slots[position];
    guarded.guarded = guarded.early = true;
    guarded.guard = {.constraints = selects.facts, .condition = selects.rest};
    guarded.otherwise = zero_of(r.arena.exprs, kind_of(r.arena.tensors[slot.tensor].type));
  }
};

}  // namespace

void decide_guards(Resolver& resolver, size_t nest) {
  GuardDecision decision{.r = resolver,
                         .nest = nest,
                         .data = DataForms(resolver, nest, index_facts(resolver, nest)),
                         .outer = outer_conditions(resolver, nest)};
  // Carrying conditions adds reads, which are copies and need no decision.
  const size_t n_slots = resolver.nests[nest].slots.size();
  for (size_t s = 0; s < n_slots; ++s) decision.decide(s);
}

// ---- obligations -------------------------------------------------------------------------------

namespace {

// The axes of a comprehension as its obligations see them.
struct ObligationAxes {
  Resolver& r;
  std::vector<FormId> axes;  // by index
  std::vector<std::string> names;

  bool mentions_others(FormId form) const {
    bool others = false;
    r.arena.forms.for_each_var(
        form, [&](Var v) { others |= v.kind == VarKind::axis && !axes[v.index].valid(); });
    return others;
  }
  // A read that was folded away may stand at indices that nothing else needs.
  void add_others(FormId form) {
    r.arena.forms.for_each_var(form, [&](Var v) {
      if (v.kind != VarKind::axis || axes[v.index].valid()) return;
      axes[v.index] = r.arena.forms.axis(static_cast<uint32_t>(names.size()));
      names.push_back(r.indices[v.index].name);
    });
  }
  Facts ranges() const {
    Forms& forms = r.arena.forms;
    Facts out;
    for (uint32_t i = 0; i < axes.size(); ++i) {
      if (!axes[i].valid()) continue;
      out.push_back({.form = forms.axis(i)});
      out.push_back({.form = forms.add(forms.sub(r.indices[i].extent, out.back().form), -1)});
    }
    return out;
  }
  FormId rename(FormId form) const {
    return r.arena.forms.substitute(
        form, [&](Var v) { return v.kind == VarKind::axis ? axes[v.index] : FormId(); });
  }
};

}  // namespace

void collect_obligations(Resolver& r, size_t nest_id, const std::vector<FormId>& axes,
                         const std::vector<std::string>& axis_names) {
  Forms& forms = r.arena.forms;
  const Nest& nest = r.nests[nest_id];
  DataForms data(r, nest_id, index_facts(r, nest_id));
  const auto add_case = [&](Obligation o, Case possible) {
    ObligationAxes own{.r = r, .axes = axes, .names = axis_names};
    own.add_others(possible.form);
    o.facts = own.ranges();
    extend(o.facts, possible.facts);
    extend(o.facts, data.facts_about(o.facts, possible.form));
    // Other indices that are no axes here tell nothing.
    std::erase_if(o.facts, [&](const Constraint& c) { return own.mentions_others(c.form); });
    for (Constraint& c : o.facts) c.form = own.rename(c.form);
    o.form = own.rename(possible.form);
    o.axis_names = std::move(own.names);
    o.calls = r.call_notes(o.span);
    r.obligations.push_back(std::move(o));
  };
  const auto add = [&](const Obligation& o, size_t known, bool by_domain) {
    Truth truth = nest.carried;
    join(r, truth, known_at(r, nest, known, true));
    if (!by_domain) join(r, truth, known_at(r, nest, known, false));
    for (Case& possible : data.cases(o.form, truth)) add_case(o, std::move(possible));
  };
  for (size_t s = 0; s < nest.slots.size(); ++s) {
    const Slot& slot = nest.slots[s];
    if (!slot.must_hold) continue;
    const std::vector<FormId>& shape = r.arena.tensors[slot.tensor].shape;
    for (size_t d = 0; d < slot.coords.size(); ++d) {
      if (plainly_in_range(r, slot.coords[d], shape[d])) continue;
      const bool gather = slot.coords[d].is_gather();
      add({.kind = gather ? ObligationKind::gather_range : ObligationKind::in_range,
           .form = gather ? data.of(slot.coords[d].data) : slot.coords[d].form,
           .low = forms.constant(0),
           .high = shape[d],
           .facts = {},
           .span = slot.spans[d],
           .text = r.source_text(slot.spans[d]),
           .tensor = slot.name,
           .dimension = static_cast<uint32_t>(d),
           .axis_names = {}},
          slot.known, slot.by_domain);
    }
  }
  for (const Width& width : nest.widths)
    add({.kind = ObligationKind::width,
         .form = width.form,
         .low = forms.constant(INT32_MIN),
         .high = forms.constant(int64_t{INT32_MAX} + 1),
         .facts = {},
         .span = width.span,
         .text = r.source_text(width.span),
         .tensor = "",
         .dimension = 0,
         .axis_names = {}},
        width.known, false);
}

// ---- ranges of results -------------------------------------------------------------------------

namespace {

// True when every point folds at least one element: the first one satisfies the domain.
bool never_empty(Resolver& r, size_t nest_id) {
  Forms& forms = r.arena.forms;
  const Nest& nest = r.nests[nest_id];
  if (nest.domain.rest.valid()) return false;
  const Facts facts = index_facts(r, nest_id);
  // index_facts takes for granted that the reduction's own indices have values.
  Facts outside = r.program.assumptions;
  for (const uint32_t i : nest.reduce)
    if (!proves(forms, outside, {.form = forms.add(r.indices[i].extent, -1)})) return false;
  for (const Constraint& c : nest.domain.facts) {
    const FormId first = forms.substitute(c.form, [&](Var v) {
      const bool reduced =
          v.kind == VarKind::axis &&
          std::find(nest.reduce.begin(), nest.reduce.end(), v.index) != nest.reduce.end();
      return reduced ? forms.constant(0) : FormId();
    });
    if (!proves(forms, facts, {.form = first, .modulus = c.modulus})) return false;
  }
  return true;
}

// True when every point folds at least n elements.
bool has_points(Resolver& r, size_t nest_id, int64_t n) {
  Forms& forms = r.arena.forms;
  const Nest& nest = r.nests[nest_id];
  if (n == 1) return never_empty(r, nest_id);
  if (nest.domain.rest.valid() || !nest.domain.facts.empty()) return false;
  FormId points = forms.constant(1);
  for (const uint32_t i : nest.reduce) points = forms.mul(points, r.indices[i].extent);
  return proves(forms, r.program.assumptions, {.form = forms.add(points, -n)});
}

// A size that is more than every case's value, of those that its facts mention.
FormId size_above(Resolver& r, const std::vector<Case>& cases) {
  Forms& forms = r.arena.forms;
  if (cases.empty()) return {};
  std::set<Var> sizes;
  for (const Constraint& c : cases[0].facts)
    forms.for_each_var(c.form, [&](Var v) {
      if (v.kind == VarKind::dim) sizes.insert(v);
    });
  for (const Var v : sizes) {
    const FormId size = forms.var(v);
    if (std::all_of(cases.begin(), cases.end(), [&](const Case& possible) {
          return proves(forms, possible.facts, at_least(forms, size, forms.add(possible.form, 1)));
        }))
      return size;
  }
  return {};
}

Range range_of_expr(Resolver& r, size_t nest_id, ExprId value) {
  Forms& forms = r.arena.forms;
  const Expr e = r.arena.exprs[value];
  if (e.op == Op::form) {
    const auto var = forms.as_var(e.form());
    if (var && var->kind == VarKind::axis)
      return {.lo = forms.constant(0), .hi = r.indices[var->index].extent};
  }
  if (e.op == Op::read) {
    const Slot& slot = r.nests[nest_id].slots[e.index()];
    const auto found = r.tensors.find(slot.tensor);
    if (!slot.guarded && found != r.tensors.end() && found->second.range.present())
      return found->second.range;
  }
  DataForms data(r, nest_id, index_facts(r, nest_id));
  std::optional<Bounds> all;
  std::vector<Case> cases = data.cases(data.of(value), r.nests[nest_id].domain);
  for (Case& possible : cases) {
    all = hull(all, data.bounds_of(possible.form, possible.facts));
    extend(possible.facts, data.base);
    extend(possible.facts, data.facts_about(possible.facts, possible.form));
  }
  Range range;
  if (all && all->low && *all->low > INT32_MIN) range.lo = forms.constant(*all->low);
  if (all && all->high && *all->high < INT32_MAX) range.hi = forms.constant(*all->high + 1);
  if (const FormId size = size_above(r, cases); size.valid()) range.hi = size;
  return range;
}

}  // namespace

Range range_of_values(Resolver& r, size_t nest_id, size_t component) {
  Forms& forms = r.arena.forms;
  const Nest& nest = r.nests[nest_id];
  if (!nest.monoid.valid()) return range_of_expr(r, nest_id, nest.values[component]);
  const std::string& name = r.arena.monoids[nest.monoid].name;
  const bool lists = nest.places.size() == 1 && nest.places[0] > 0;
  const bool arg = name == "argmax" || name == "argmin" || lists;
  if (!arg && name != "max" && name != "min") return {};
  Range range = range_of_expr(r, nest_id, nest.values[component]);
  if (lists ? has_points(r, nest_id, nest.places[0]) : never_empty(r, nest_id)) return range;
  if (!arg || component == 0) return {};
  // A payload of nothing is -1.
  if (range.lo.valid()) {
    const auto low = forms.as_constant(range.lo);
    range.lo = low ? forms.constant(std::min<int64_t>(*low, -1)) : FormId();
  }
  if (range.hi.valid() && !proves(forms, r.program.assumptions, {.form = range.hi})) range.hi = {};
  return range;
}

}  // namespace tang
