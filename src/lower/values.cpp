// Graph expressions as kernel expressions: forms become addresses, reals take the definition's
// arithmetic type, reads become loads, states, or the reader's own copy of an inlined definition.
#include <algorithm>
#include <set>

#include "ir/dependence.h"
#include "lower/import.h"
#include "lower/writer.h"
#include "support/panic.h"

namespace tang::tile {

using kernel::arithmetic_type;

Frame Writer::frame(DefId node, std::vector<FormId> axes, ExprId path) const {
  return {.node = node,
          .axes = std::move(axes),
          .compute = schedule_.format(node).accumulate,
          .path = path,
          .conditions = {},
          .asked = {},
          .analysed = false,
          .memo = {},
          .reads = {}};
}

FormId Writer::import(const Frame& f, FormId form) {
  return import_form(program_.arena->forms, form, module_.forms,
                     [&](Var v) { return v.kind == VarKind::axis ? f.axes[v.index] : FormId(); });
}

ExprId Writer::compare(Op op, FormId a, FormId b) {
  return module_.exprs.make(op, module_.exprs.form(module_.forms, a, Type::i64),
                            module_.exprs.form(module_.forms, b, Type::i64));
}

// form >= 0 with the negative terms on the other side: i + r >= 1, not i + r - 1 >= 0.
ExprId Writer::constraint(const Constraint& c, const Frame& f) {
  const FormId form = import(f, c.form);
  Forms& forms = module_.forms;
  if (c.modulus != 0) return compare(Op::eq, forms.remainder(form, c.modulus), forms.constant(0));
  const auto [positive, negative] = split_by_sign(forms, form);
  return compare(Op::ge, positive, negative);
}

// Walks from the root to what it needs, through reads, users before what they use: a node is
// evaluated where one of its users is and takes the branch in which it stands.
void Writer::find_conditions(Frame& f, ExprId root) const {
  Exprs& graph = program_.arena->exprs;
  const Comprehension& c = program_.comprehension(f.node);
  struct Use {
    ExprId node, condition;  // invalid: wherever the user is evaluated
  };
  const auto uses = [&](ExprId id) {
    const Expr e = graph[id];
    std::vector<Use> all;
    for (size_t i = 0; i < e.n_args; ++i) all.push_back({e.args[i], {}});
    if (e.op == Op::select) {
      all[1].condition = e.args[0];
      all[2].condition = graph.make(Op::logic_not, e.args[0]);
    }
    if (e.op == Op::logic_and) all[1].condition = e.args[0];
    if (e.op == Op::logic_or) all[1].condition = graph.make(Op::logic_not, e.args[0]);
    if (e.op != Op::read) return all;
    const Read& read = c.reads[e.index()];
    const View& view = program_.arena->views[read.view];
    for (const Coord& coord : view.coords)
      if (coord.is_gather()) all.push_back({coord.data, {}});
    const ExprId guard = program_.arena->guards[view.guard].condition;
    if (guard.valid()) all.push_back({guard, {}});
    if (read.otherwise.valid()) all.push_back({read.otherwise, {}});
    return all;
  };
  std::vector<ExprId> order;  // what is used before its users
  std::set<ExprId> seen;
  struct Visit {
    ExprId node;
    std::vector<Use> uses;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  seen.insert(root);
  stack.push_back({root, uses(root)});
  bool lazy = false;
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next == top.uses.size()) {
      order.push_back(top.node);
      stack.pop_back();
      continue;
    }
    const Use use = top.uses[top.next++];
    lazy |= use.condition.valid();
    if (seen.insert(use.node).second) stack.push_back({use.node, uses(use.node)});
  }
  f.analysed = true;
  if (!lazy) return;
  std::set<ExprId> always = {root};
  // One more place where a node is evaluated; those within others say nothing.
  const auto add = [](std::vector<std::set<ExprId>>& places, const std::set<ExprId>& place) {
    const auto within = [](const std::set<ExprId>& a, const std::set<ExprId>& b) {
      return std::includes(a.begin(), a.end(), b.begin(), b.end());
    };
    for (const auto& known : places)
      if (within(place, known)) return;
    std::erase_if(places, [&](const auto& known) { return within(known, place); });
    places.push_back(place);
  };
  for (size_t n = order.size(); n-- > 0;) {
    const ExprId user = order[n];
    std::vector<std::set<ExprId>> where = {{}};
    if (!always.contains(user)) where = f.conditions.at(user);
    for (const Use& use : uses(user)) {
      if (always.contains(use.node)) continue;
      if (always.contains(user) && !use.condition.valid()) {
        always.insert(use.node);
        f.conditions.erase(use.node);
        continue;
      }
      for (std::set<ExprId> place : where) {
        if (use.condition.valid()) place.insert(use.condition);
        add(f.conditions[use.node], place);
      }
    }
  }
}

// Whether evaluating an expression may evaluate the read.
bool Writer::needs(const Comprehension& c, ExprId root, ExprId read) const {
  const Arena& arena = *program_.arena;
  std::vector<ExprId> roots = {root};
  std::set<uint32_t> seen;
  for (size_t n = 0; n < roots.size(); ++n) {
    if (!roots[n].valid()) continue;
    for (const ExprId id : arena.exprs.post_order({roots[n]})) {
      if (id == read) return true;
      if (arena.exprs[id].op != Op::read || !seen.insert(arena.exprs[id].index()).second) continue;
      const Read& inner = c.reads[arena.exprs[id].index()];
      const View& view = arena.views[inner.view];
      for (const Coord& coord : view.coords) roots.push_back(coord.data);
      roots.push_back(arena.guards[view.guard].condition);
      roots.push_back(inner.otherwise);
    }
  }
  return false;
}

// Where a read is evaluated; invalid: wherever the frame is. A condition may need the read itself:
// it is evaluated apart, with the read only where that is needed without it.
ExprId Writer::path_of(Frame& f, ExprId read) {
  const auto found = f.conditions.find(read);
  if (found == f.conditions.end()) return f.path;
  const Comprehension& c = program_.comprehension(f.node);
  std::set<ExprId> asked = f.asked;
  asked.insert(read);
  const auto needs_asked = [&](const std::set<ExprId>& place) {
    for (const ExprId condition : place)
      for (const ExprId other : asked)
        if (needs(c, condition, other)) return true;
    return false;
  };
  std::vector<std::set<ExprId>> places = found->second;
  const bool apart = std::any_of(places.begin(), places.end(), needs_asked);
  if (f.asked.contains(read)) std::erase_if(places, needs_asked);
  Frame copy;
  if (apart) copy = f;
  Frame& at = apart ? copy : f;
  at.asked.insert(read);
  Exprs& out = module_.exprs;
  ExprId any;
  for (const std::set<ExprId>& place : places) {
    ExprId all;
    for (const ExprId condition : place) all = out.logical_and(all, value(at, condition));
    any = any.valid() ? out.make(Op::logic_or, any, all) : all;
  }
  at.asked.erase(read);
  return out.logical_and(f.path, any.valid() ? any : out.boolean(false));
}

ExprId Writer::value(Frame& f, ExprId root) {
  if (!f.analysed) find_conditions(f, root);
  return translate(f, root, [](const Expr& e) -> ExprId {
    TANG_PANIC("{} outside of a monoid", op_info(e.op).name);
  });
}

ExprId Writer::translate(Frame& f, ExprId root, const std::function<ExprId(const Expr&)>& state) {
  const Exprs& graph = program_.arena->exprs;
  for (const ExprId id : graph.post_order({root})) {
    if (f.memo.contains(id)) continue;
    const Expr& e = graph[id];
    std::array<ExprId, 3> args{};
    for (size_t i = 0; i < e.n_args; ++i) args[i] = f.memo.at(e.args[i]);
    const bool is_state = e.op == Op::left || e.op == Op::right;
    f.memo.emplace(id, is_state            ? state(e)
                       : e.op == Op::read ? module_.exprs.cast(retag(e.type, f.compute),
                                                               read_value(f, id))
                                          : node_value(f, e, args));
  }
  return f.memo.at(root);
}

ExprId Writer::node_value(Frame& f, const Expr& e, const std::array<ExprId, 3>& args) {
  Exprs& out = module_.exprs;
  const Type type = retag(e.type, f.compute);
  switch (e.op) {
    case Op::constant:
      return out.constant(type, e.value());
    case Op::form:
      return out.form(module_.forms, import(f, e.form()), type);
    case Op::scalar: {
      const Type stored = arithmetic_type(program_.scalars[e.index()].type);
      return out.cast(type, out.leaf(Op::scalar, stored, e.index()));
    }
    case Op::cast:
      return out.cast(type, args[0]);
    case Op::select:
      return out.select(args[0], args[1], args[2]);
    case Op::read:
    case Op::left:
    case Op::right:
    case Op::variable:
    case Op::load:
    case Op::call:
    case Op::bitcast:
      TANG_PANIC("{} in a graph", op_info(e.op).name);
    default:
      return out.make(e.op, args[0], args[1], args[2]);
  }
}

// A data coordinate is bound to a variable, since addresses are forms. Under a condition it is
// evaluated only where the condition holds.
FormId Writer::coordinate(Frame& f, const Coord& coord, ExprId path, const std::string& hint) {
  if (!coord.is_gather()) return import(f, coord.form);
  Exprs& out = module_.exprs;
  ExprId data = out.cast(Type::i64, value(f, coord.data));
  if (path.valid()) data = out.select(path, data, out.integer(0, Type::i64));
  const kernel::VarId var = variable(hint, Type::i64);
  let(var, data);
  return module_.forms.var({VarKind::local, var.value});
}

ExprId Writer::read_value(Frame& f, ExprId leaf) {
  const uint32_t number = program_.arena->exprs[leaf].index();
  if (const auto known = f.reads.find(number); known != f.reads.end()) return known->second;
  const Comprehension& c = program_.comprehension(f.node);
  const Read& read = c.reads[number];
  const View& view = program_.arena->views[read.view];
  const auto node = index_.of(read.tensor);
  // Only what takes statements of its own needs to know where it is evaluated.
  const bool gathers = std::any_of(view.coords.begin(), view.coords.end(),
                                   [](const Coord& coord) { return coord.is_gather(); });
  const bool inlined = node && schedule_.place(*node).at == At::inlined;
  const ExprId here = gathers || inlined ? path_of(f, leaf) : f.path;
  std::vector<FormId> coords;
  for (const Coord& coord : view.coords)
    coords.push_back(coordinate(f, coord, here, program_.name_of(read.tensor) + "_at"));
  ExprId result;
  if (view.guarded) {
    const ExprId inside = guard_of(f, read, coords);
    Exprs& out = module_.exprs;
    const ExprId path = inside.valid() ? out.logical_and(here, inside) : here;
    const ExprId loaded = load(read.tensor, coords, path);
    const Type type = retag(kind_of(program_.arena->tensors[read.tensor].type), f.compute);
    result = out.cast(type, loaded);
    // The condition right around the load suffices for it, whatever stands further out.
    if (inside.valid())
      result = out.select(out.logical_and(f.path, inside), result, value(f, read.otherwise));
  } else {
    result = load(read.tensor, coords, here);
  }
  f.reads.emplace(number, result);
  return result;
}

// Where the read is in range; invalid when it always is.
ExprId Writer::guard_of(Frame& f, const Read& read, const std::vector<FormId>& coords) {
  const Comprehension& c = program_.comprehension(f.node);
  const View& view = program_.arena->views[read.view];
  const Tensor& tensor = program_.arena->tensors[read.tensor];
  Forms& graph = program_.arena->forms;
  const auto number = static_cast<uint32_t>(&read - c.reads.data());
  const Facts facts = facts_of(program_, c, axes_around(*program_.arena, c, number), true);
  ExprId inside;
  const auto require = [&](ExprId condition) {
    inside = module_.exprs.logical_and(inside, condition);
  };
  for (size_t d = 0; d < coords.size(); ++d) {
    const Coord& coord = view.coords[d];
    const FormId extent = tensor.shape[d];
    const Constraint low{.form = coord.form};
    if (coord.is_gather())
      require(compare(Op::ge, coords[d], module_.forms.constant(0)));
    else if (!proves(graph, facts, low))
      require(constraint(low, f));
    if (coord.is_gather())
      require(compare(Op::lt, coords[d], import(f, extent)));
    else if (!proves(graph, facts, {.form = graph.add(graph.sub(extent, coord.form), -1)}))
      require(compare(Op::lt, coords[d], import(f, extent)));
  }
  const Guard& guard = program_.arena->guards[view.guard];
  for (const Constraint& extra : guard.constraints)
    if (!proves(graph, facts, extra)) require(constraint(extra, f));
  if (guard.condition.valid()) require(value(f, guard.condition));
  return inside;
}

// The value of a tensor at coordinates, in its arithmetic type.
ExprId Writer::load(TensorId id, const std::vector<FormId>& coords, ExprId path) {
  const Tensor& tensor = program_.arena->tensors[id];
  if (const auto node = index_.of(id)) {
    const Comprehension& c = program_.comprehension(*node);
    const auto& axes = c.components[tensor.component].axes;
    if (schedule_.place(*node).at == At::inlined && !c.is_map())
      return nested_fold(*node, tensor.component, coords, path);
    if (schedule_.place(*node).at == At::inlined) {
      Frame f = frame(*node, std::vector<FormId>(c.n_axes()), path);
      for (size_t d = 0; d < coords.size(); ++d) f.axes[axes[d]] = coords[d];
      return value(f, c.components[0].value);
    }
    for (const Reduction& r : tree_.reductions)
      if (r.node == *node) return read_state(r.states[tensor.component]);
  }
  const uint32_t place = storage_.read.at(id);
  const kernel::BufferId buffer = parameters_.at(place);
  FormId address = module_.forms.constant(0);
  for (size_t d = 0; d < coords.size(); ++d)
    address =
        module_.forms.add(module_.forms.mul(address, module_.tensors[place].shape[d]), coords[d]);
  return module_.exprs.load(arithmetic_type(module_.tensors[place].type), buffer.value, address);
}

}  // namespace tang::tile
