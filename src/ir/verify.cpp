// Checks the invariants of verify.h one definition at a time. Nothing here trusts an id before it
// has looked at it, and a broken part is reported once, by the place where it stands.
#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <unordered_map>

namespace tang {

namespace {

// Axes are counted by 8-bit numbers.
using AxisSet = std::bitset<256>;

bool is_kind(Type type) {
  return kind_of(type) == type;
}

struct Verifier {
  const Program& program;
  const Arena& arena;
  std::unordered_map<uint32_t, size_t> def_of_comprehension;  // definitions seen so far
  std::string where;                                          // "definition 3 (y)"
  std::vector<std::string> broken;

  void report(const std::string& sentence) { broken.push_back(where + ": " + sentence); }

  // The axes of a form, after a check of all its variables.
  AxisSet form_axes(FormId form, size_t n_axes, const std::string& what) {
    AxisSet axes;
    if (form.value >= arena.forms.size()) {
      report(fmt::format("{} is no form", what));
      return axes;
    }
    arena.forms.for_each_var(form, [&](Var v) {
      switch (v.kind) {
        case VarKind::dim:
          if (v.index >= program.dims.size())
            report(fmt::format("{} names dim {} of {}", what, v.index, program.dims.size()));
          break;
        case VarKind::scalar:
          if (v.index >= program.scalars.size() || !is_integer(program.scalars[v.index].type))
            report(fmt::format("{} names scalar {}, which is no integer", what, v.index));
          break;
        case VarKind::axis:
          if (v.index >= n_axes)
            report(fmt::format("{} names axis {} of {}", what, v.index, n_axes));
          else
            axes.set(v.index);
          break;
        case VarKind::local:
          report(fmt::format("{} names a variable of a kernel", what));
          break;
      }
    });
    return axes;
  }

  void check_extent(FormId form, const std::string& what) {
    form_axes(form, 0, what);
    if (form.value < arena.forms.size() && !arena.forms.is_extent(form))
      report(fmt::format("{} is built of more than dims", what));
  }

  // What an expression may name: reads before `n_reads`, axes, or the states of a combine.
  struct Scope {
    const std::vector<Read>* reads = nullptr;
    size_t n_reads = 0;
    size_t n_axes = 0;
    const std::vector<AxisSet>* read_axes = nullptr;
    const Monoid* monoid = nullptr;
  };

  void check_leaf(const Expr& e, const Scope& scope, const std::string& what, AxisSet& axes) {
    switch (e.op) {
      case Op::constant:
        break;
      case Op::form:
        axes |= form_axes(e.form(), scope.n_axes, what);
        if (e.type != Type::i32 && e.type != Type::i64)
          report(fmt::format("{} has a form of type {}", what, type_name(e.type)));
        break;
      case Op::scalar:
        if (e.index() >= program.scalars.size() || is_integer(program.scalars[e.index()].type) ||
            e.type != kind_of(program.scalars[e.index()].type))
          report(fmt::format("{} names scalar {} as a {}", what, e.index(), type_name(e.type)));
        break;
      case Op::read:
        if (e.index() >= scope.n_reads)
          report(fmt::format("{} uses read {}, and may use {}", what, e.index(), scope.n_reads));
        else if (const TensorId t = (*scope.reads)[e.index()].tensor;
                 t.value < arena.tensors.size() && e.type != kind_of(arena.tensors[t].type))
          report(fmt::format("{} uses read {} as a {}", what, e.index(), type_name(e.type)));
        else
          axes |= (*scope.read_axes)[e.index()];
        break;
      case Op::left:
      case Op::right:
        if (!scope.monoid || e.index() >= scope.monoid->n_components() ||
            e.type != scope.monoid->types[e.index()])
          report(fmt::format("{} names component {} of a state as a {}", what, e.index(),
                             type_name(e.type)));
        break;
      default:
        report(fmt::format("{} contains {}, which belongs to kernels", what, op_info(e.op).name));
    }
  }

  // The axes an expression depends on, through its reads too, after a check of all its nodes.
  AxisSet expr_axes(ExprId root, std::optional<Type> wanted, const Scope& scope,
                    const std::string& what) {
    AxisSet axes;
    if (root.value >= arena.exprs.size()) {
      report(fmt::format("{} is missing", what));
      return axes;
    }
    const Type type = arena.exprs.type(root);
    if (wanted ? type != *wanted : !is_kind(type))
      report(fmt::format("{} is a {}{}", what, type_name(type),
                         wanted ? fmt::format(", not a {}", type_name(*wanted)) : ""));
    for (const ExprId id : arena.exprs.post_order({root})) {
      const Expr& e = arena.exprs[id];
      if (e.n_args == 0 || e.op == Op::call || e.op == Op::bitcast)
        check_leaf(e, scope, what, axes);
      // A narrower format stands only between a cast to it and the cast back.
      if (!is_kind(e.type) && e.op != Op::cast)
        report(fmt::format("{} computes {} in {}", what, op_info(e.op).name, type_name(e.type)));
      for (size_t i = 0; i < e.n_args; ++i)
        if (const Type from = arena.exprs.type(e.args[i]);
            !is_kind(from) && (e.op != Op::cast || e.type != kind_of(from)))
          report(fmt::format("{} uses a {} as it is", what, type_name(from)));
    }
    return axes;
  }

  AxisSet guard_axes(GuardId id, const Scope& scope, const std::string& what) {
    AxisSet axes;
    if (id.value >= arena.guards.size()) {
      report(fmt::format("{} is missing", what));
      return axes;
    }
    const Guard& guard = arena.guards[id];
    for (const Constraint& c : guard.constraints) {
      axes |= form_axes(c.form, scope.n_axes, what);
      if (c.modulus < 0) report(fmt::format("{} divides by {}", what, c.modulus));
    }
    if (guard.condition.valid())
      axes |= expr_axes(guard.condition, Type::boolean, scope, what + "'s condition");
    return axes;
  }

  // An input of the program, or a visible result of a definition already seen.
  bool check_tensor(TensorId id, const std::string& what) {
    if (id.value >= arena.tensors.size()) {
      report(fmt::format("{} is no tensor", what));
      return false;
    }
    const Tensor& t = arena.tensors[id];
    switch (t.kind) {
      case TensorKind::input:
        if (t.source < program.inputs.size() && program.inputs[t.source].tensor == id) return true;
        report(fmt::format("{} is not input {} of the program", what, t.source));
        return false;
      case TensorKind::component:
        break;
    }
    if (!def_of_comprehension.contains(t.source)) {
      report(fmt::format("{} is not computed by an earlier definition", what));
      return false;
    }
    const Comprehension& c = arena.comprehensions[ComprehensionId(size_t{t.source})];
    const size_t n_visible = c.is_map() ? 1 : arena.monoids[c.monoid].n_visible();
    if (t.component >= n_visible || t.component >= c.components.size()) {
      report(fmt::format("{} is component {} of {}", what, t.component, n_visible));
      return false;
    }
    const Component& part = c.components[t.component];
    std::vector<FormId> shape;
    for (const uint8_t axis : part.axes)
      if (axis < c.n_axes()) shape.push_back(c.extents[axis]);
    if (c.is_update()) shape = arena.tensors[arena.updated(c)].shape;
    if (t.shape == shape && part.value.value < arena.exprs.size() &&
        t.type == arena.exprs.type(part.value))
      return true;
    report(fmt::format("{} differs from the component it names", what));
    return false;
  }

  AxisSet read_axes(const Comprehension& c, size_t k, const std::vector<AxisSet>& earlier) {
    const Read& read = c.reads[k];
    const std::string what = fmt::format("read {}", k);
    const Scope scope{.reads = &c.reads, .n_reads = k, .n_axes = c.n_axes(), .read_axes = &earlier};
    const bool known = check_tensor(read.tensor, what);
    AxisSet axes;
    if (read.view.value >= arena.views.size()) {
      report(what + " has no view");
      return axes;
    }
    const View& view = arena.views[read.view];
    if (known && view.coords.size() != arena.tensors[read.tensor].shape.size())
      report(fmt::format("{} has {} coordinates for {} dimensions", what, view.coords.size(),
                         arena.tensors[read.tensor].shape.size()));
    for (const Coord& coord : view.coords) {
      if (coord.form.valid() == coord.data.valid()) {
        report(what + " has a coordinate that is not one of form and data");
      } else if (coord.is_gather()) {
        axes |= expr_axes(coord.data, std::nullopt, scope, what + "'s data coordinate");
        if (coord.data.value < arena.exprs.size() && !is_integer(arena.exprs.type(coord.data)))
          report(what + " has a data coordinate that is no integer");
      } else {
        axes |= form_axes(coord.form, c.n_axes(), what + "'s coordinate");
        if (coord.form.value < arena.forms.size() && !arena.forms.is_coordinate(coord.form))
          report(what + " has a coordinate that is no integer combination");
      }
    }
    axes |= guard_axes(view.guard, scope, what + "'s guard");
    if (view.guarded)
      axes |=
          expr_axes(read.otherwise,
                    known ? std::optional(kind_of(arena.tensors[read.tensor].type)) : std::nullopt,
                    scope, what + "'s value out of range");
    else if (read.otherwise.valid() ||
             (view.guard.value < arena.guards.size() && !arena.guards[view.guard].empty()))
      report(what + " is plain, and has a guard or a value out of range");
    return axes;
  }

  void check_monoid(const Monoid& m) {
    const size_t n = m.n_components();
    if (m.identity.size() != n || m.combine.size() != n || m.n_hidden >= n ||
        (m.keeps_lists() && m.places.size() != n)) {
      report(fmt::format("monoid {} has {} types, {} identities, {} combines, {} hidden", m.name, n,
                         m.identity.size(), m.combine.size(), m.n_hidden));
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      expr_axes(m.identity[i], m.types[i], {}, fmt::format("identity {} of {}", i, m.name));
      if (m.identity[i].value < arena.exprs.size() && !arena.exprs.is_constant(m.identity[i]))
        report(fmt::format("identity {} of {} is not constant", i, m.name));
      Scope states;
      states.monoid = &m;
      expr_axes(m.combine[i], m.types[i], states, fmt::format("combine {} of {}", i, m.name));
      if (m.keeps_list(i)) check_list(m, i);
    }
  }

  void check_list(const Monoid& m, size_t i) {
    const auto is = [&](ExprId id, Op op) {
      return id.value < arena.exprs.size() && arena.exprs[id].op == op &&
             (op == Op::select || arena.exprs[id].index() == i);
    };
    const ExprId combine = m.combine[i];
    if (m.places[i] < 0 || !is(combine, Op::select) ||
        !is(arena.exprs[combine].args[1], Op::right) || !is(arena.exprs[combine].args[2], Op::left))
      report(
          fmt::format("component {} of {} is a list that its combine does not order", i, m.name));
  }

  // A list has its places along the last axis.
  void check_places(const Comprehension& c, size_t k, AxisSet of_value) {
    const Monoid& m = arena.monoids[c.monoid];
    if (!m.keeps_list(k)) return;
    const std::vector<uint8_t>& axes = c.components[k].axes;
    if (axes.empty() || axes.back() >= c.n_points ||
        arena.forms.as_constant(c.extents[axes.back()]) != m.places[k])
      report(fmt::format("component {} has no axis for its {} places", k, m.places[k]));
    else if (of_value.test(axes.back()))
      report(fmt::format("the value of component {} depends on its place", k));
  }

  // Component axes: points, none twice, and all that the value, the domain and the components that
  // its combine reads depend on.
  void check_component(const Comprehension& c, size_t k, AxisSet needed) {
    AxisSet own;
    for (const uint8_t axis : c.components[k].axes) {
      if (axis >= c.n_points) report(fmt::format("component {} lists axis {}, no point", k, axis));
      if (own.test(axis)) report(fmt::format("component {} lists axis {} twice", k, axis));
      own.set(axis);
    }
    if (c.monoid.valid() && k < arena.monoids[c.monoid].combine.size()) {
      const ExprId combine = arena.monoids[c.monoid].combine[k];
      for (const ExprId id : arena.exprs.post_order({combine})) {
        const Expr& e = arena.exprs[id];
        if ((e.op != Op::left && e.op != Op::right) || e.index() >= c.components.size()) continue;
        for (const uint8_t axis : c.components[e.index()].axes) needed.set(axis);
      }
    }
    for (size_t axis = 0; axis < c.n_points; ++axis)
      if (needed.test(axis) && !own.test(axis))
        report(fmt::format("component {} depends on axis {}, which it does not list", k, axis));
  }

  void check_shape_of_reduction(const Comprehension& c) {
    const Guard no_guard;
    const bool no_domain =
        c.domain.value < arena.guards.size() && arena.guards[c.domain] == no_guard;
    if (c.n_points > c.n_axes())
      report(fmt::format("{} of {} axes are points", c.n_points, c.n_axes()));
    if (c.is_map()) {
      if (c.n_points != c.n_axes()) report("a map has reduce axes");
      if (!no_domain) report("a map has a domain");
      if (c.components.size() != 1)
        report(fmt::format("a map has {} components", c.components.size()));
    } else if (c.components.size() != arena.monoids[c.monoid].n_components()) {
      report(fmt::format("{} values for {} components of {}", c.components.size(),
                         arena.monoids[c.monoid].n_components(), arena.monoids[c.monoid].name));
    }
  }

  // An update is a map over an inout's old version, in whose kind its value is.
  void check_update(const Comprehension& c) {
    if (!c.is_map() || *c.into >= c.reads.size()) {
      report("an update is no map, or has no such read");
      return;
    }
    const Tensor& old = arena.tensors[arena.updated(c)];
    if (!program.is_inout(arena.updated(c))) report("an update of what is no inout");
    if (arena.exprs.type(c.components[0].value) != kind_of(old.type))
      report(fmt::format("an update of {} by {}", type_name(old.type),
                         type_name(arena.exprs.type(c.components[0].value))));
  }

  void check_comprehension(const Comprehension& c) {
    for (size_t a = 0; a < c.n_axes(); ++a)
      check_extent(c.extents[a], fmt::format("the extent of axis {}", a));
    if (c.monoid.valid()) check_monoid(arena.monoids[c.monoid]);
    check_shape_of_reduction(c);
    std::vector<AxisSet> of_reads;
    for (size_t k = 0; k < c.reads.size(); ++k) of_reads.push_back(read_axes(c, k, of_reads));
    const Scope scope{
        .reads = &c.reads, .n_reads = c.reads.size(), .n_axes = c.n_axes(), .read_axes = &of_reads};
    const AxisSet of_domain = guard_axes(c.domain, scope, "the domain");
    for (size_t k = 0; k < c.components.size(); ++k) {
      std::optional<Type> type;
      if (c.monoid.valid() && k < arena.monoids[c.monoid].n_components())
        type = arena.monoids[c.monoid].types[k];
      const AxisSet of_value =
          expr_axes(c.components[k].value, type, scope, fmt::format("value {}", k));
      check_component(c, k, of_value | of_domain);
      if (c.monoid.valid()) check_places(c, k, of_value | of_domain);
    }
    if (c.is_update()) check_update(c);
  }

  void check_def(size_t position) {
    const Def& def = program.defs[position];
    where = fmt::format("definition {} ({})", position, fmt::join(def.names, ", "));
    if (def.id.value >= arena.comprehensions.size()) {
      report("is no comprehension");
      return;
    }
    const Comprehension& c = arena.comprehensions[def.id];
    if (c.monoid.valid() && c.monoid.value >= arena.monoids.size()) {
      report("has no such monoid");
      return;
    }
    const size_t n_visible = c.is_map() ? 1 : arena.monoids[c.monoid].n_visible();
    if (def.names.size() != n_visible || def.axis_names.size() != c.n_axes())
      report(fmt::format("{} names for {} results, {} for {} axes", def.names.size(), n_visible,
                         def.axis_names.size(), c.n_axes()));
    check_comprehension(c);
    def_of_comprehension.emplace(def.id.value, position);
  }

  void check_program() {
    where = "program";
    for (const Constraint& c : program.assumptions) form_axes(c.form, 0, "an assumption");
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const TensorId t = program.inputs[i].tensor;
      where = fmt::format("input {} ({})", i, program.inputs[i].name);
      if (!check_tensor(t, "it")) continue;
      if (arena.tensors[t].kind != TensorKind::input || arena.tensors[t].source != i)
        report("it is another tensor");
      for (const FormId extent : arena.tensors[t].shape) check_extent(extent, "an extent");
    }
    for (size_t i = 0; i < program.defs.size(); ++i) check_def(i);
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      where = fmt::format("output {} ({})", i, program.outputs[i].name);
      check_tensor(program.outputs[i].tensor, "it");
    }
  }
};

}  // namespace

std::vector<std::string> verify(const Program& program) {
  Verifier v{.program = program,
             .arena = *program.arena,
             .def_of_comprehension = {},
             .where = "",
             .broken = {}};
  v.check_program();
  return v.broken;
}

}  // namespace tang
