// A reduction computed where it is read: its states as variables, its reduce axes as loops at the
// place of the read, which runs only where the read is evaluated.
#include <algorithm>

#include "ir/dependence.h"
#include "lower/import.h"
#include "lower/writer.h"
#include "support/panic.h"

namespace tang::tile {

using kernel::VarId;

// Loops over the reduce axes from `axis` on, each bounded by what the domain says of it in axes
// that are known by then; the innermost runs `body` where the rest of the domain holds.
void Writer::over_domain(Frame& f, uint32_t axis, std::vector<Constraint> open,
                         const std::function<void()>& body) {
  const Comprehension& c = program_.comprehension(f.node);
  Forms& graph = program_.arena->forms;
  if (axis == c.n_axes()) {
    ExprId rest;
    for (const Constraint& k : open) rest = module_.exprs.logical_and(rest, constraint(k, f));
    return when(rest, body);
  }
  std::vector<FormId> lo = {module_.forms.constant(0)};
  std::vector<FormId> hi = {import(f, c.extents[axis])};
  const Var self{VarKind::axis, axis};
  std::erase_if(open, [&](const Constraint& k) {
    if (k.modulus != 0 || !graph.depends_on(k.form, self)) return false;
    for (uint32_t later = axis + 1; later < c.n_axes(); ++later)
      if (graph.depends_on(k.form, {VarKind::axis, later})) return false;
    const auto linear = graph.linear_in(k.form, self);
    const auto factor = linear ? graph.as_constant(linear->coefficient) : std::nullopt;
    if (!factor) return false;
    if (*factor > 0)
      lo.push_back(import(f, graph.ceil_quotient(graph.scale(linear->rest, -1), *factor)));
    else
      hi.push_back(import(f, graph.add(graph.quotient(linear->rest, -*factor), 1)));
    return true;
  });
  const auto& names = program_.def(f.node).axis_names;
  const std::string name = axis < names.size() ? names[axis] : "r";
  const FormId first = let_form(name + "_begin", Op::max, lo);
  const FormId end = let_form(name + "_end", Op::min, hi);
  in_loop(name, first, end, 1, kernel::Run::serial, [&](FormId at) {
    f.axes[axis] = at;
    over_domain(f, axis + 1, open, body);
  });
}

ExprId Writer::nested_fold(DefId node, uint32_t component, const std::vector<FormId>& coords,
                           ExprId path) {
  const Comprehension& c = program_.comprehension(node);
  const Monoid& monoid = program_.arena->monoids[c.monoid];
  const Guard& domain = program_.arena->guards[c.domain];
  Exprs& out = module_.exprs;
  Frame f = frame(node, std::vector<FormId>(c.n_axes()), {});
  for (size_t d = 0; d < coords.size(); ++d) f.axes[c.components[component].axes[d]] = coords[d];
  const std::vector<uint32_t> needed = components_needed(*program_.arena, monoid, {component});
  std::map<uint32_t, ExprId> states;
  std::map<uint32_t, VarId> variables;
  for (const uint32_t k : needed) {
    const Type type = retag(monoid.types[k], f.compute);
    const VarId var = variable(state_name(program_, node, k), type);
    kernel_.variables[var.value].assigned = true;
    let(var, value(f, monoid.identity[k]));
    variables[k] = var;
    states[k] = out.leaf(Op::variable, type, var.value);
  }
  const auto fold = [&] {
    std::map<uint32_t, ExprId> elements;
    Frame here = frame(node, f.axes, {});
    for (const uint32_t k : needed) {
      const ExprId element = out.cast(out.type(states[k]), value(here, c.components[k].value));
      elements[k] = needed.size() == 1 ? element : bind("value", element);
    }
    Frame combine = frame(node, {}, {});
    std::vector<ExprId> results;
    for (const uint32_t k : needed) {
      const ExprId result = translate(combine, monoid.combine[k], [&](const Expr& e) {
        return e.op == Op::left ? states.at(e.index()) : elements.at(e.index());
      });
      results.push_back(needed.size() == 1 ? result : bind("new_value", result));
    }
    for (size_t i = 0; i < needed.size(); ++i)
      block_->push_back({kernel::Set{.var = variables[needed[i]], .value = results[i]}});
  };
  when(path, [&] {
    over_domain(f, c.n_points, domain.constraints, [&] {
      Frame test = frame(node, f.axes, {});
      when(domain.condition.valid() ? value(test, domain.condition) : ExprId(), fold);
    });
  });
  return states.at(component);
}

}  // namespace tang::tile
