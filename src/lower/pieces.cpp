// The tile tree as kernel IR: loops with their bounds, and each piece with its own loops.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lower/import.h"
#include "lower/writer.h"
#include "support/panic.h"

namespace tang::tile {

using kernel::Run;
using kernel::Stmt;
using kernel::VarId;

void Writer::items(const std::vector<Item>& list) {
  for (const Item& i : list) std::visit([&](const auto& piece) { item(piece); }, i);
}

VarId Writer::variable(const std::string& name, Type type) {
  kernel_.variables.push_back({.name = unique(name), .type = type, .assigned = false});
  return VarId(kernel_.variables.size() - 1);
}

void Writer::let(VarId var, ExprId value) {
  block_->push_back({kernel::Let{.var = var, .value = value}});
}

// The least (Op::min) or greatest (Op::max) of forms, bound to a variable when there are several.
FormId Writer::let_form(const std::string& name, Op op, const std::vector<FormId>& list) {
  if (list.size() == 1) return list[0];
  Exprs& out = module_.exprs;
  ExprId value = out.form(module_.forms, list[0], Type::i64);
  for (size_t i = 1; i < list.size(); ++i)
    value = out.make(op, value, out.form(module_.forms, list[i], Type::i64));
  if (out.is_constant(value)) return module_.forms.constant(out[value].value().integer);
  const VarId var = variable(name, Type::i64);
  let(var, value);
  return module_.forms.var({VarKind::local, var.value});
}

// Names declared in a block are free again after it.
void Writer::nested(kernel::Block& block, const std::function<void()>& body) {
  kernel::Block* outer = block_;
  const std::set<std::string> names = names_;
  block_ = &block;
  body();
  block_ = outer;
  names_ = names;
}

void Writer::in_loop(const std::string& name, FormId lo, FormId hi, int64_t step, Run run,
                     const std::function<void(FormId)>& body) {
  const auto cells = module_.forms.as_constant(module_.forms.sub(hi, lo));
  if (cells && *cells > 0 && *cells <= step) return body(lo);
  const std::set<std::string> names = names_;
  const VarId var = variable(name, Type::i64);
  kernel::For loop{.var = var, .lo = lo, .hi = hi, .step = step, .run = run, .body = {}};
  nested(loop.body, [&] { body(module_.forms.var({VarKind::local, var.value})); });
  names_ = names;  // the loop's variable is not visible after it
  block_->push_back({std::move(loop)});
}

void Writer::when(ExprId condition, const std::function<void()>& body) {
  if (!condition.valid()) return body();
  kernel::If branch{.condition = condition, .then_body = {}, .else_body = {}};
  nested(branch.then_body, body);
  block_->push_back({std::move(branch)});
}

void Writer::item(const Loop& loop) {
  const Axis& axis = tree_.axes[loop.axis.value];
  Forms& forms = module_.forms;
  Position& position = positions_[loop.axis.value];
  const Position outer = position;
  FormId lo, hi;
  if (loop.lo.empty()) {  // a unit of the loop above
    lo = outer.at;
    const int64_t cells = axis.cells[static_cast<size_t>(loop.level)];
    hi = forms.add(lo, cells);
    if (outer.clipped) hi = let_form(axis.name + "_end", Op::min, {hi, outer.end});
    position.clipped = outer.clipped && loop.step > 1;
  } else {
    const auto in_kernel = [&](FormId f) {
      return forms.substitute(
          f, [&](Var v) { return v.kind == VarKind::axis ? positions_[v.index].at : FormId(); });
    };
    std::vector<FormId> los, his;
    for (const FormId f : loop.lo) los.push_back(in_kernel(f));
    for (const FormId f : loop.hi) his.push_back(in_kernel(f));
    lo = let_form(axis.name + "_begin", Op::max, los);
    hi = let_form(axis.name + "_end", Op::min, his);
    position.end = hi;
    position.clipped = loop.step > 1 && !loop.whole;
    const auto trips = forms.as_constant(forms.sub(hi, lo));
    if (trips && *trips <= 0) {  // its domain leaves nothing
      position = outer;
      return;
    }
    if (loop.step > 1 && (loop.whole || loop.edge) && !trips) {
      // Bounds that cross make an empty loop; the count of full units must not be negative.
      const bool natural = forms.is_constant(lo, 0) && hi == axis.extent;
      if (!natural) hi = let_form(axis.name + "_end", Op::max, {hi, lo});
      position.end = hi;
    }
    const FormId full =
        forms.add(lo, forms.scale(forms.quotient(forms.sub(hi, lo), loop.step), loop.step));
    if (loop.step > 1 && loop.whole) hi = full;
    if (loop.edge) lo = full;
  }
  if (lo == hi) {
    position = outer;
    return;
  }
  in_loop(axis.name, lo, hi, loop.step, loop.run, [&](FormId at) {
    position.at = at;
    items(loop.body);
  });
  position = outer;
}

// Iterates dimensions of a state: own_index_ gets the index, positions_ the coordinate.
void Writer::over(const std::vector<OwnAxis>& axes, bool clip, const std::function<void()>& body) {
  if (axes.empty()) return body();
  const OwnAxis own = axes.front();
  const std::vector<OwnAxis> rest(axes.begin() + 1, axes.end());
  Forms& forms = module_.forms;
  Position& position = positions_[own.axis.value];
  const Position outer = position;
  const bool clipped = clip && outer.clipped;
  FormId count = forms.constant(own.count);
  if (clipped)
    count = let_form(tree_.axes[own.axis.value].name + "_count", Op::min,
                     {count, forms.ceil_quotient(forms.sub(outer.end, outer.at), own.step)});
  const std::string& name = tree_.axes[own.axis.value].name;
  const bool from_zero = forms.is_constant(outer.at, 0);
  const Run run = own.lanes ? Run::vector : Run::serial;
  in_loop(own.lanes   ? "lane"
          : from_zero ? name
                      : name + "_cell",
          forms.constant(0), count, 1, run, [&](FormId index) {
            position.at = forms.add(outer.at, forms.scale(index, own.step));
            position.clipped = clipped && own.step > 1;
            own_index_[own.axis.value] = index;
            over(rest, clip, body);
            own_index_.erase(own.axis.value);
          });
  position = outer;
}

FormId Writer::state_address(uint32_t state) {
  FormId address = module_.forms.constant(0);
  for (const OwnAxis& own : tree_.states[state].own)
    address =
        module_.forms.add(module_.forms.scale(address, own.count), own_index_.at(own.axis.value));
  return address;
}

ExprId Writer::read_state(uint32_t state) {
  const State& s = tree_.states[state];
  if (s.own.empty()) return module_.exprs.leaf(Op::variable, s.type, scalars_[state].value);
  // After Join the first lane holds the whole.
  std::vector<uint32_t> held;
  for (const OwnAxis& own : s.own)
    if (own.lanes && !own_index_.contains(own.axis.value)) {
      own_index_[own.axis.value] = module_.forms.constant(0);
      held.push_back(own.axis.value);
    }
  const ExprId value = module_.exprs.load(s.type, arrays_[state].value, state_address(state));
  for (const uint32_t axis : held) own_index_.erase(axis);
  return value;
}

void Writer::write_state(uint32_t state, ExprId value) {
  const State& s = tree_.states[state];
  if (s.own.empty())
    block_->push_back({kernel::Set{.var = scalars_[state], .value = value}});
  else
    block_->push_back(
        {kernel::Store{.buffer = arrays_[state], .address = state_address(state), .value = value}});
}

void Writer::item(const Init& init) {
  const Reduction& r = tree_.reductions[init.reduction];
  const Comprehension& c = program_.comprehension(r.node);
  const Monoid& monoid = program_.arena->monoids[c.monoid];
  for (uint32_t k = 0; k < r.states.size(); ++k) {
    const uint32_t state = r.states[k];
    if (state == UINT32_MAX) continue;
    const Value identity = program_.arena->exprs[monoid.identity[k]].value();
    const ExprId value = module_.exprs.constant(tree_.states[state].type, identity);
    if (tree_.states[state].own.empty()) {
      // A variable for each place: peeled loops hold the same pieces twice.
      scalars_[state] = variable(tree_.states[state].name, tree_.states[state].type);
      kernel_.variables.back().assigned = true;
      let(scalars_[state], value);
    } else {
      over(tree_.states[state].own, false, [&] { write_state(state, value); });
    }
  }
}

std::vector<FormId> Writer::axes_of(const Reduction& r) const {
  std::vector<FormId> out(r.axes.size());
  for (size_t a = 0; a < r.axes.size(); ++a)
    if (r.axes[a].valid()) out[a] = positions_[r.axes[a].value].at;
  return out;
}

// Own axes that every state of the reduction has.
std::vector<OwnAxis> Writer::shared_own(const Reduction& r) const {
  std::vector<OwnAxis> shared;
  bool first = true;
  for (const uint32_t state : r.states) {
    if (state == UINT32_MAX) continue;
    std::vector<OwnAxis> own = tree_.states[state].own;
    std::erase_if(own, [](const OwnAxis& a) { return a.places; });
    if (first) shared = own;
    first = false;
    std::erase_if(shared, [&](const OwnAxis& a) {
      return std::none_of(own.begin(), own.end(),
                          [&](const OwnAxis& b) { return a.axis == b.axis; });
    });
  }
  return shared;
}

// Own axes of a state that are not being iterated, the places of a list aside.
std::vector<OwnAxis> Writer::further_own(uint32_t state) const {
  std::vector<OwnAxis> further;
  for (const OwnAxis& own : tree_.states[state].own)
    if (!own.places && !own_index_.contains(own.axis.value)) further.push_back(own);
  return further;
}

// Binds what several components' combines share, and what a component with further axes needs but
// does not vary over them: computed once, before those axes are iterated.
void Writer::bind_shared(const Reduction& r, Frame& f,
                         const std::function<ExprId(const Expr&)>& state) {
  const Exprs& graph = program_.arena->exprs;
  const Monoid& monoid = program_.arena->monoids[program_.comprehension(r.node).monoid];
  std::vector<ExprId> roots, further_roots;
  for (uint32_t k = 0; k < r.states.size(); ++k) {
    if (r.states[k] == UINT32_MAX || monoid.keeps_list(k)) continue;
    roots.push_back(monoid.combine[k]);
    if (!further_own(r.states[k]).empty()) further_roots.push_back(monoid.combine[k]);
  }
  const std::vector<ExprId> order = graph.post_order(roots);
  std::unordered_map<ExprId, int> uses;
  std::unordered_set<ExprId> varies;  // over further axes
  for (const ExprId root : roots) ++uses[root];
  for (const ExprId id : order) {
    const Expr& e = graph[id];
    if (e.op == Op::left || e.op == Op::right) {
      if (!further_own(r.states[e.index()]).empty()) varies.insert(id);
      continue;
    }
    for (size_t i = 0; i < e.n_args; ++i) {
      ++uses[e.args[i]];
      if (varies.contains(e.args[i])) varies.insert(id);
    }
  }
  std::unordered_set<ExprId> invariant;  // used by an expression that varies
  for (const ExprId id : graph.post_order(further_roots))
    for (size_t i = 0; i < graph[id].n_args; ++i)
      if (varies.contains(id)) invariant.insert(graph[id].args[i]);
  for (const ExprId id : order) {
    const Expr& e = graph[id];
    if (e.n_args == 0 || varies.contains(id) || (uses[id] < 2 && !invariant.contains(id))) continue;
    const ExprId value = translate(f, id, state);
    if (module_.exprs[value].n_args == 0) continue;
    const auto root = std::find(monoid.combine.begin(), monoid.combine.end(), id);
    const auto k = static_cast<size_t>(root - monoid.combine.begin());
    const bool is_new = root != monoid.combine.end() && r.states[k] != UINT32_MAX;
    f.memo[id] = bind(
        is_new ? "new_" + tree_.states[r.states[k]].name : std::string(op_info(e.op).name), value);
  }
}

ExprId Writer::bind(const std::string& name, ExprId value) {
  if (module_.exprs[value].n_args == 0 && module_.exprs[value].op != Op::load) return value;
  const Type type = module_.exprs.type(value);
  const VarId var = variable(name, type);
  let(var, value);
  return module_.exprs.leaf(Op::variable, type, var.value);
}

// state = combine(left, right), where the states' old values may be among the operands, of what
// keeps no list. States with further own axes go first, each in its own loops, and see the others'
// old values; then the rest: all new values before the first is written.
void Writer::update(const Reduction& r, const std::function<ExprId(uint32_t)>& left,
                    const std::function<ExprId(uint32_t)>& right) {
  const Monoid& monoid = program_.arena->monoids[program_.comprehension(r.node).monoid];
  const auto state = [&](const Expr& e) {
    return e.op == Op::left ? left(e.index()) : right(e.index());
  };
  Frame shared = frame(r.node, {}, {});
  bind_shared(r, shared, state);
  // Most further axes first: a state is read by those that have its axes and more.
  std::map<std::pair<int, std::vector<uint32_t>>, std::vector<uint32_t>> groups;
  for (uint32_t k = 0; k < r.states.size(); ++k) {
    if (r.states[k] == UINT32_MAX || monoid.keeps_list(k)) continue;
    std::vector<uint32_t> axes;
    for (const OwnAxis& own : further_own(r.states[k])) axes.push_back(own.axis.value);
    groups[{-static_cast<int>(axes.size()), axes}].push_back(k);
  }
  for (const auto& [key, components] : groups)
    over(further_own(r.states[components[0]]), true, [&] {
      Frame f = shared;
      std::vector<ExprId> values;
      for (const uint32_t k : components) {
        const ExprId value = translate(f, monoid.combine[k], state);
        values.push_back(
            components.size() == 1 ? value : bind("new_" + tree_.states[r.states[k]].name, value));
      }
      for (size_t n = 0; n < components.size(); ++n)
        write_state(r.states[components[n]], values[n]);
    });
}

// Puts a point's values into the lists where they go: what stands there and after it moves on by a
// place, and what was last is dropped. Most points do not go in, not even at the last place.
void Writer::insert(const Reduction& r, const std::function<ExprId(uint32_t)>& value) {
  const Monoid& monoid = program_.arena->monoids[program_.comprehension(r.node).monoid];
  const Exprs& graph = program_.arena->exprs;
  std::map<ExprId, std::vector<uint32_t>> lists;  // components that move together
  for (uint32_t k = 0; k < r.states.size(); ++k)
    if (monoid.keeps_list(k) && r.states[k] != UINT32_MAX)
      lists[graph[monoid.combine[k]].args[0]].push_back(k);
  for (const auto& [goes_before, components] : lists) {
    const OwnAxis places = tree_.states[r.states[components[0]]].own.back();
    FormId& place = own_index_[places.axis.value];
    const auto goes_before_place = [&, condition = goes_before] {
      Frame f = frame(r.node, {}, {});
      return translate(f, condition, [&](const Expr& e) {
        return e.op == Op::left ? read_state(r.states[e.index()]) : value(e.index());
      });
    };
    place = module_.forms.constant(places.count - 1);
    when(goes_before_place(), [&] {
      const FormId found = first_place(places, goes_before_place);
      for (const uint32_t k : components)
        over(further_own(r.states[k]), true, [&] {
          const auto name = tree_.axes[places.axis.value].name;
          const FormId last = module_.forms.constant(places.count - 1);
          in_loop(name, module_.forms.constant(0), module_.forms.sub(last, found), 1, Run::serial,
                  [&](FormId n) {
                    place = module_.forms.sub(module_.forms.add(last, -1), n);
                    const ExprId before = read_state(r.states[k]);
                    place = module_.forms.add(place, 1);
                    write_state(r.states[k], before);
                  });
          place = found;
          write_state(r.states[k], value(k));
        });
    });
    own_index_.erase(places.axis.value);
  }
}

// The first place of a list before whose element a point goes, where it goes before the last one.
FormId Writer::first_place(const OwnAxis& places, const std::function<ExprId()>& goes_before) {
  Exprs& out = module_.exprs;
  const std::string& name = tree_.axes[places.axis.value].name;
  const VarId count = variable(name + "_count", Type::i64);
  kernel_.variables.back().assigned = true;
  let(count, out.integer(0, Type::i64));
  const ExprId counted = out.leaf(Op::variable, Type::i64, count.value);
  in_loop(
      name, module_.forms.constant(0), module_.forms.constant(places.count - 1), 1, Run::serial,
      [&](FormId n) {
        own_index_[places.axis.value] = n;
        const ExprId stays = out.make(Op::logic_not, goes_before());
        const ExprId more = out.make(Op::add, counted, out.integer(1, Type::i64));
        block_->push_back({kernel::Set{.var = count, .value = out.select(stays, more, counted)}});
      });
  const VarId found = variable(name + "_at", Type::i64);
  let(found, counted);
  return module_.forms.var({VarKind::local, found.value});
}

void Writer::item(const Fold& fold) {
  const Reduction& r = tree_.reductions[fold.reduction];
  const Comprehension& c = program_.comprehension(r.node);
  const Guard& domain = program_.arena->guards[c.domain];
  const auto point = [&] {
    Frame f = frame(r.node, axes_of(r), {});
    ExprId affine;
    for (const Constraint& guard : r.guards)
      affine = module_.exprs.logical_and(affine, constraint(guard, f));
    when(affine, [&] {
      const ExprId data = domain.condition.valid() ? value(f, domain.condition) : ExprId();
      when(data, [&] {
        const auto lifted = [&](uint32_t k) {
          // A frame of its own: the component's further axes are bound by now.
          Frame here = frame(r.node, axes_of(r), {});
          return module_.exprs.cast(tree_.states[r.states[k]].type,
                                    value(here, c.components[k].value));
        };
        std::map<uint32_t, ExprId> bound;  // several expressions use the value of one point
        if (r.states.size() > 1)
          for (uint32_t k = 0; k < r.states.size(); ++k)
            if (r.states[k] != UINT32_MAX && further_own(r.states[k]).empty())
              bound[k] = bind("value", lifted(k));
        const auto folded = [&](uint32_t k) { return bound.contains(k) ? bound[k] : lifted(k); };
        update(
            r, [&](uint32_t k) { return read_state(r.states[k]); }, folded);
        insert(r, folded);
      });
    });
  };
  over(shared_own(r), true, [&] {
    // A lane that holds several cells folds them one after the other.
    const auto lanes = std::find_if(own_index_.begin(), own_index_.end(), [&](const auto& entry) {
      for (const OwnAxis& own : shared_own(r))
        if (own.axis.value == entry.first && own.lanes && own.step > 1) return true;
      return false;
    });
    if (lanes == own_index_.end()) return point();
    Position& position = positions_[lanes->first];
    const Position unit = position;
    const int64_t cells = tree_.axes[lanes->first].cells[static_cast<size_t>(Level::reg)];
    FormId end = module_.forms.add(unit.at, cells);
    const std::string& name = tree_.axes[lanes->first].name;
    if (unit.clipped) end = let_form(name + "_end", Op::min, {end, unit.end});
    in_loop(name, unit.at, end, 1, Run::serial, [&](FormId at) {
      position.at = at;
      position.clipped = false;
      point();
    });
    position = unit;
  });
}

// Lanes n/2, n/4, ... 1: the state of lane l joins that of lane l + stride.
void Writer::item(const Join& join) {
  const Reduction& r = tree_.reductions[join.reduction];
  OwnAxis lanes;
  std::vector<OwnAxis> points;
  for (const OwnAxis& own : shared_own(r)) {
    if (own.lanes)
      lanes = own;
    else
      points.push_back(own);
  }
  over(points, true, [&] {
    for (int64_t stride = lanes.count / 2; stride > 0; stride /= 2)
      in_loop("lane", module_.forms.constant(0), module_.forms.constant(stride), 1, Run::vector,
              [&](FormId lane) {
                const auto at = [&](FormId index, uint32_t k) {
                  own_index_[lanes.axis.value] = index;
                  const ExprId value = read_state(r.states[k]);
                  own_index_[lanes.axis.value] = lane;
                  return value;
                };
                own_index_[lanes.axis.value] = lane;
                update(
                    r, [&](uint32_t k) { return at(lane, k); },
                    [&](uint32_t k) { return at(module_.forms.add(lane, stride), k); });
                own_index_.erase(lanes.axis.value);
              });
  });
}

void Writer::item(const Write& write) {
  const Comprehension& c = program_.comprehension(tree_.root);
  const Component& component = c.components[write.component];
  const TensorId tensor = program_.arena->component(program_.def(tree_.root).id, write.component);
  std::vector<OwnAxis> own;
  for (const uint8_t a : component.axes) {
    const Axis& axis = tree_.axes[tree_.root_axes[a].value];
    const int64_t cells = axis.cells[static_cast<size_t>(Level::reg)];
    if (cells == 1) continue;
    const auto extent = module_.forms.as_constant(axis.extent);
    own.push_back({.axis = tree_.root_axes[a], .count = cells ? cells : extent.value_or(1)});
  }
  over(own, true, [&] {
    std::vector<FormId> axes(c.n_axes());
    for (size_t a = 0; a < c.n_points; ++a)
      if (tree_.root_axes[a].valid()) axes[a] = positions_[tree_.root_axes[a].value].at;
    if (c.is_update()) return store_update(c, axes);
    ExprId result;
    if (c.is_map()) {
      Frame f = frame(tree_.root, axes, {});
      result = value(f, component.value);
    } else {
      result = read_state(tree_.reductions[0].states[write.component]);
    }
    for (const uint32_t place : storage_.write.at(tensor)) {
      std::vector<FormId> coords;
      for (const uint8_t axis : component.axes) coords.push_back(axes[axis]);
      store(place, coords, result);
    }
  });
}

// The element that the update's read sees gets the value; where it is out of range, nothing does.
void Writer::store_update(const Comprehension& c, const std::vector<FormId>& axes) {
  Frame f = frame(tree_.root, axes, {});
  const Read& into = c.reads[*c.into];
  const View& view = program_.arena->views[into.view];
  std::vector<FormId> coords;
  for (const Coord& coord : view.coords)
    coords.push_back(coordinate(f, coord, f.path, program_.name_of(into.tensor) + "_at"));
  const ExprId inside = view.guarded ? guard_of(f, into, coords) : ExprId();
  when(inside, [&] {
    Frame here = frame(tree_.root, axes, {});
    store(storage_.read.at(into.tensor), coords, value(here, c.components[0].value));
  });
}

void Writer::store(uint32_t place, const std::vector<FormId>& coords, ExprId result) {
  const kernel::ModuleTensor& to = module_.tensors[place];
  FormId address = module_.forms.constant(0);
  for (size_t d = 0; d < coords.size(); ++d)
    address = module_.forms.add(module_.forms.mul(address, to.shape[d]), coords[d]);
  // By way of the format itself where f32 on the way would round twice.
  const Type held = kernel::arithmetic_type(to.type);
  const bool twice = is_real(to.type) && held != to.type && module_.exprs.type(result) != held;
  const ExprId rounded = twice ? module_.exprs.cast(to.type, result) : result;
  block_->push_back({kernel::Store{.buffer = parameters_.at(place),
                                   .address = address,
                                   .value = module_.exprs.cast(held, rounded)}});
}

}  // namespace tang::tile
