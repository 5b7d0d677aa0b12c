#include "interp/fold.h"

#include <algorithm>

#include "ir/scan.h"
#include "support/integer.h"
#include "support/panic.h"

namespace tang::interpreter {

namespace {

// `component` and all that its combine reads, directly or not.
std::vector<uint32_t> with_dependencies(const Arena& arena, const Comprehension& c,
                                        std::vector<uint32_t> components) {
  if (c.is_map()) return components;
  std::vector<bool> seen(c.components.size());
  for (const uint32_t k : components) seen[k] = true;
  for (size_t next = 0; next < components.size(); ++next) {
    const ExprId combine = arena.monoids[c.monoid].combine[components[next]];
    for (const ExprId id : arena.exprs.post_order({combine})) {
      const Expr& e = arena.exprs[id];
      if ((e.op != Op::left && e.op != Op::right) || seen[e.index()]) continue;
      seen[e.index()] = true;
      components.push_back(e.index());
    }
  }
  return components;
}

// Each constraint goes to its last reduce axis, where all it depends on is known: as a bound of
// the loop where it is linear in that axis, else as a test.
void plan_domain(Pass& pass, const Guard& domain) {
  BoundForms& forms = pass.code.graph.forms;
  for (const Constraint& c : domain.constraints) {
    const Test test{.form = forms.add(c.form), .modulus = c.modulus};
    const auto last = forms.last_axis(test.form);
    const auto reduce = std::find_if(pass.reduce.begin(), pass.reduce.end(),
                                     [&](const ReduceAxis& r) { return r.axis == last; });
    if (reduce == pass.reduce.end()) {
      pass.tests.push_back(test);
      continue;
    }
    const auto coefficient = forms.coefficient(test.form, *last);
    if (c.modulus == 0 && coefficient)
      reduce->bounds.push_back({.form = test.form, .coefficient = *coefficient});
    else
      reduce->tests.push_back(test);
  }
}

// Only where the first reduce axis runs over the prefix: the fold's order is then the same.
void plan_scan(Pass& pass, const Instance& instance, const Comprehension& c) {
  const auto prefix = prefix_of(*instance.program.arena, c);
  if (!prefix || prefix->reduce != c.n_points) return;
  pass.scan = true;
  const auto along = std::find(pass.points.begin(), pass.points.end(), prefix->point);
  std::rotate(along, along + 1, pass.points.end());
}

// Components whose lists move together.
struct Lists {
  ExprId goes_before;
  std::vector<uint32_t> components;
};

std::vector<Lists> lists_of(const Arena& arena, const Monoid& monoid,
                            const std::vector<uint32_t>& components) {
  std::vector<Lists> out;
  for (const uint32_t k : components) {
    if (!monoid.keeps_list(k)) continue;
    const ExprId goes_before = arena.exprs[monoid.combine[k]].args[0];
    const auto same = std::find_if(out.begin(), out.end(), [&](const Lists& lists) {
      return lists.goes_before == goes_before;
    });
    if (same != out.end())
      same->components.push_back(k);
    else
      out.push_back({.goes_before = goes_before, .components = {k}});
  }
  return out;
}

// Values first, since a fold takes all values of its points; then the combine, lazily inside.
void plan_reduction(Pass& pass, const Instance& instance, const Comprehension& c) {
  const Arena& arena = instance.arena();
  const Monoid& monoid = arena.monoids[c.monoid];
  Graph& graph = pass.code.graph;
  const std::vector<uint32_t> folded = with_dependencies(arena, c, pass.stored);
  std::vector<uint32_t> left(c.components.size()), right(c.components.size()), values, combined;
  std::vector<std::vector<uint32_t>> states(c.components.size());
  for (const uint32_t k : folded) {
    right[k] = graph.lower(c.components[k].value);
    values.push_back(right[k]);
    for (int64_t n = monoid.keeps_list(k) ? monoid.places[k] : 1; n > 0; --n)
      states[k].push_back(graph.state(monoid.types[k]));
    left[k] = states[k][0];
  }
  const auto becomes = [&](uint32_t k, uint32_t state, uint32_t value) {
    pass.states.push_back(state);
    pass.identities.push_back(arena.exprs[monoid.identity[k]].value());
    combined.push_back(value);
  };
  graph.set_states(left, right);
  for (const uint32_t k : folded)
    if (!monoid.keeps_list(k)) becomes(k, left[k], graph.lower(monoid.combine[k]));
  for (const Lists& lists : lists_of(arena, monoid, folded)) {
    uint32_t moved = 0;  // whether the element at the place before moves on
    for (size_t place = 0; place < states[lists.components[0]].size(); ++place) {
      for (const uint32_t k : lists.components) left[k] = states[k][place];
      graph.set_states(left, right);
      const uint32_t moves = graph.lower(lists.goes_before);
      for (const uint32_t k : lists.components) {
        const Type type = monoid.types[k];
        const uint32_t in =
            place == 0 ? right[k] : graph.select(type, moved, states[k][place - 1], right[k]);
        becomes(k, left[k], graph.select(type, moves, in, left[k]));
      }
      moved = moves;
    }
  }
  for (const uint32_t k : pass.stored) pass.results.push_back(states[k]);

  const ExprId condition = arena.guards[c.domain].condition;
  const uint32_t holds = condition.valid() ? graph.lower(condition) : 0;
  pass.code = start_code(std::move(graph));
  if (condition.valid()) {
    emit_values(pass.code, {holds});
    emit_stop_unless(pass.code, holds);
  }
  values.insert(values.end(), combined.begin(), combined.end());
  emit_values(pass.code, values);
  emit_moves(pass.code, pass.states, combined);
}

// Where an update writes, then, if anywhere, what.
void plan_update(Pass& pass, const Instance& instance, const Comprehension& c) {
  Graph& graph = pass.code.graph;
  const Read& into = c.reads[*c.into];
  const uint32_t offset = graph.locate(into);
  const uint32_t inside = graph.is_inside(offset);
  pass.target = offset;
  pass.results.push_back({graph.lower(c.components[0].value)});
  pass.code = start_code(std::move(graph));
  emit_values(pass.code, {offset, inside});
  if (instance.arena().views[into.view].guarded) emit_stop_unless(pass.code, inside);
  emit_values(pass.code, pass.results[0]);
}

Pass plan_pass(const Instance& instance, const Comprehension& c,
               const std::vector<int64_t>& extents, std::vector<uint8_t> points,
               std::vector<uint32_t> stored) {
  Pass pass{.points = std::move(points),
            .stored = std::move(stored),
            .tests = {},
            .reduce = {},
            .code = start_code(Graph(instance, c, extents)),
            .states = {},
            .identities = {},
            .results = {},
            .target = {}};
  for (uint32_t a = c.n_points; a < c.n_axes(); ++a)
    pass.reduce.push_back({.axis = a, .extent = extents[a], .bounds = {}, .tests = {}});
  if (c.is_update()) {
    plan_update(pass, instance, c);
  } else if (c.is_map()) {
    pass.results.push_back({pass.code.graph.lower(c.components[0].value)});
    pass.code = start_code(std::move(pass.code.graph));
    emit_values(pass.code, pass.results[0]);
  } else {
    plan_reduction(pass, instance, c);
    plan_domain(pass, instance.arena().guards[c.domain]);
    plan_scan(pass, instance, c);
  }
  return pass;
}

bool all_hold(const std::vector<Test>& tests, const BoundForms& forms, const int64_t* axes) {
  return std::all_of(tests.begin(), tests.end(),
                     [&](const Test& t) { return t.holds(forms.at(t.form, axes)); });
}

// The places of a reduce axis that its bounds leave, where the axes before it are set.
struct Places {
  int64_t begin = 0, end = 0;
};

Places places(const ReduceAxis& reduce, const BoundForms& forms, std::vector<int64_t>& axes) {
  Places p{.begin = 0, .end = reduce.extent};
  axes[reduce.axis] = 0;
  for (const AxisBound& b : reduce.bounds) {
    const int64_t rest = forms.at(b.form, axes.data());
    if (b.coefficient > 0)
      p.begin = std::max(p.begin, -floor_div(rest, b.coefficient));
    else
      p.end = std::min(p.end, floor_div(rest, -b.coefficient) + 1);
  }
  return p;
}

bool fold_axes(const Pass& pass, Machine& machine, std::vector<int64_t>& axes, size_t depth);

// Folds over some places of reduce axis number `depth`, and over the axes after it.
bool fold_places(const Pass& pass, Machine& machine, std::vector<int64_t>& axes, size_t depth,
                 Places p) {
  const ReduceAxis& reduce = pass.reduce[depth];
  bool complete = true;
  for (int64_t i = p.begin; i < p.end; ++i) {
    axes[reduce.axis] = i;
    if (!reduce.tests.empty() && !all_hold(reduce.tests, pass.code.graph.forms, axes.data()))
      continue;
    complete &= fold_axes(pass, machine, axes, depth + 1);
  }
  axes[reduce.axis] = 0;
  return complete;
}

// Folds over the reduce axes from number `depth` on; false when a value was missing.
bool fold_axes(const Pass& pass, Machine& machine, std::vector<int64_t>& axes, size_t depth) {
  if (depth == pass.reduce.size()) return run(pass.code, machine, axes.data()) != Outcome::missing;
  return fold_places(pass, machine, axes, depth,
                     places(pass.reduce[depth], pass.code.graph.forms, axes));
}

void start_states(const Pass& pass, Machine& machine) {
  for (size_t k = 0; k < pass.identities.size(); ++k)
    machine.registers[pass.states[k]] = pass.identities[k];
}

}  // namespace

std::vector<uint8_t> point_axes(const Arena& arena, const Comprehension& c, size_t component) {
  std::vector<uint8_t> axes = c.components[component].axes;
  if (!c.is_map() && arena.monoids[c.monoid].keeps_list(component)) axes.pop_back();
  return axes;
}

std::vector<Pass> plan_passes(const Instance& instance, const Comprehension& c) {
  std::vector<int64_t> extents;
  for (const FormId form : c.extents) extents.push_back(instance.extent(form));
  std::vector<std::pair<std::vector<uint8_t>, std::vector<uint32_t>>> groups;
  for (uint32_t k = 0; k < c.components.size(); ++k) {
    std::vector<uint8_t> points = point_axes(instance.arena(), c, k);
    std::sort(points.begin(), points.end());
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == points; });
    if (same != groups.end())
      same->second.push_back(k);
    else
      groups.push_back({std::move(points), {k}});
  }
  std::vector<Pass> passes;
  for (auto& [points, stored] : groups)
    passes.push_back(plan_pass(instance, c, extents, std::move(points), std::move(stored)));
  return passes;
}

Machine make_machine(const Instance& instance, const Pass& pass) {
  return {.program = &instance.program,
          .registers = pass.code.registers,
          .arrays = std::vector<const Array*>(pass.code.graph.tensors.size()),
          .lookup = {}};
}

Outcome fold(const Pass& pass, Machine& machine, std::vector<int64_t>& axes) {
  start_states(pass, machine);
  if (!all_hold(pass.tests, pass.code.graph.forms, axes.data())) return Outcome::done;
  return fold_axes(pass, machine, axes, 0) ? Outcome::done : Outcome::missing;
}

void fold_on(const Pass& pass, Machine& machine, std::vector<int64_t>& axes, int64_t& begin) {
  if (axes[pass.points.back()] == 0) {
    start_states(pass, machine);
    begin = 0;
  }
  if (!all_hold(pass.tests, pass.code.graph.forms, axes.data())) return;
  Places gained = places(pass.reduce[0], pass.code.graph.forms, axes);
  gained.begin = std::max(gained.begin, begin);
  fold_places(pass, machine, axes, 0, gained);
  begin = std::max(begin, gained.end);
}

}  // namespace tang::interpreter
