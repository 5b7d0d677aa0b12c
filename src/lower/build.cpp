// The tile tree from a schedule: kernel axes, states with their own dimensions, loops outermost
// level first (point loops, then for each reduction its init, loops, fold and join), then the
// writes.
#include <algorithm>
#include <set>

#include "ir/dependence.h"
#include "lower/import.h"
#include "lower/tile.h"
#include "support/panic.h"

namespace tang::tile {

std::string state_name(const Program& program, DefId node, uint32_t component) {
  const Monoid& monoid = program.arena->monoids[program.comprehension(node).monoid];
  if (monoid.n_components() == 1) return monoid.name;
  const auto& names = program.def(node).names;
  if (component >= monoid.n_visible()) return "seen";
  const bool named = component < names.size() && !names[component].empty();
  return "running_" + (named ? names[component] : fmt::format("{}", component));
}

namespace {

using kernel::Run;

struct Builder {
  const Program& program;
  const Schedule& schedule;
  const KernelSchedule& kernel;
  const Storage& storage;
  kernel::Module& module;
  Tree tree;

  Arena& arena() const { return *program.arena; }
  const Comprehension& comprehension(DefId id) const { return program.comprehension(id); }

  FormId import_extent(FormId extent) {
    return import_form(arena().forms, extent, module.forms, [](Var) { return FormId(); });
  }

  AxisId add_axis(DefId node, uint8_t axis, bool reduce) {
    const Def& def = program.def(node);
    const Comprehension& c = comprehension(node);
    Axis out{.name = axis < def.axis_names.size() ? def.axis_names[axis] : "i",
             .extent = import_extent(c.extents[axis]),
             .reduce = reduce,
             .cells = {0, 0, reduce ? 0 : 1, reduce ? 0 : 1}};
    for (const Split& s : kernel.splits)
      if (s.axis == AxisRef{node, axis}) out.cells = s.cells;
    tree.axes.push_back(out);
    return AxisId(tree.axes.size() - 1);
  }

  // Cells that one unit of the level's loop covers: what the level below covers.
  static int64_t step_of(const Axis& axis, Level level) {
    return level == Level::reg ? 1 : axis.cells[static_cast<size_t>(level) + 1];
  }
  static bool splits(const Axis& axis, Level level) {
    const int64_t step = step_of(axis, level);
    return step != 0 && axis.cells[static_cast<size_t>(level)] != step;
  }

  int64_t constant_extent(const Axis& axis) const {
    const auto extent = module.forms.as_constant(axis.extent);
    TANG_ASSERT(extent.has_value(), "axis {} is held whole in registers, and its size is not known",
                axis.name);
    return *extent;
  }

  // Point parts at register level are dimensions of states, not loops.
  std::optional<OwnAxis> register_part(AxisId id) const {
    const Axis& axis = tree.axes[id.value];
    if (axis.reduce || !splits(axis, Level::reg)) return std::nullopt;
    const int64_t cells = axis.cells[static_cast<size_t>(Level::reg)];
    return OwnAxis{.axis = id, .count = cells ? cells : constant_extent(axis)};
  }

  // Lanes of a split reduction: a reduce axis with a finite number of cells at lane level.
  std::optional<OwnAxis> lane_part(AxisId id) const {
    const Axis& axis = tree.axes[id.value];
    const int64_t lane = axis.cells[static_cast<size_t>(Level::lane)];
    if (!axis.reduce || lane == 0) return std::nullopt;
    const int64_t reg = axis.cells[static_cast<size_t>(Level::reg)];
    TANG_ASSERT(reg > 0 && lane % reg == 0, "lanes of axis {} do not divide", axis.name);
    return OwnAxis{.axis = id, .count = lane / reg, .step = reg, .lanes = true};
  }

  void add_reduction(DefId node, const std::vector<AxisId>& point_axes,
                     const std::vector<uint32_t>& needed) {
    const Comprehension& c = comprehension(node);
    Reduction r{.node = node, .axes = point_axes, .states = {}, .guards = {}, .scan = {}};
    for (const Scan& scan : kernel.scans)
      if (scan.over.node == node) r.scan = scan;
    for (uint8_t a = c.n_points; a < c.n_axes(); ++a) r.axes.push_back(add_axis(node, a, true));
    const Monoid& monoid = arena().monoids[c.monoid];
    r.states.assign(c.components.size(), UINT32_MAX);
    for (const uint32_t k : needed) {
      State s{.type = state_type(node, monoid.types[k]),
              .own = {},
              .name = state_name(program, node, k)};
      for (const uint8_t axis : c.components[k].axes)
        if (auto own = register_part(r.axes[axis])) s.own.push_back(*own);
      if (monoid.keeps_list(k)) {
        const AxisId last = r.axes[c.components[k].axes.back()];
        TANG_ASSERT(
            !s.own.empty() && s.own.back().axis == last && s.own.back().count == monoid.places[k],
            "the places of a list are not held in registers");
        s.own.back().places = true;
      }
      for (uint8_t a = c.n_points; a < c.n_axes(); ++a)
        if (auto own = lane_part(r.axes[a])) {
          TANG_ASSERT(!monoid.keeps_lists(), "a list, which has an order, is split over lanes");
          s.own.push_back(*own);
        }
      r.states[k] = static_cast<uint32_t>(tree.states.size());
      tree.states.push_back(std::move(s));
    }
    tree.reductions.push_back(std::move(r));
  }

  Type state_type(DefId node, Type kind) const {
    return kind == Type::f64 ? schedule.format(node).accumulate : kind;
  }

  // Loops of the given axes at the given levels around `body`, outermost level first.
  std::vector<Item> wrap(const std::vector<AxisId>& axes, Level from, Level to,
                         std::vector<Item> body) {
    for (int level = static_cast<int>(to); level >= static_cast<int>(from); --level)
      for (size_t n = axes.size(); n-- > 0;) {
        const Axis& axis = tree.axes[axes[n].value];
        const auto at = static_cast<Level>(level);
        if (!splits(axis, at)) continue;
        Loop loop{.axis = axes[n],
                  .level = at,
                  .run = Run::serial,
                  .lo = {},
                  .hi = {},
                  .step = step_of(axis, at),
                  .whole = false,
                  .edge = false,
                  .body = {}};
        loop.body = std::move(body);
        body.clear();
        body.emplace_back(std::move(loop));
      }
    return body;
  }

  // Gives the outermost loop of each axis its bounds: the axis' range and, for a reduction, those
  // of its domain's constraints that bound the axis by axes of loops further out.
  void set_bounds(std::vector<Item>& items, std::vector<AxisId> outer) {
    for (Item& item : items) {
      auto* loop = std::get_if<Loop>(&item);
      if (!loop) continue;
      const bool outermost = std::find(outer.begin(), outer.end(), loop->axis) == outer.end();
      std::vector<AxisId> inside = outer;
      if (outermost) {
        loop->lo = {module.forms.constant(0)};
        loop->hi = {tree.axes[loop->axis.value].extent};
        inside.push_back(loop->axis);
        for (Reduction& r : tree.reductions) bound_by_domain(*loop, r, inside);
      }
      set_bounds(loop->body, inside);
    }
  }

  void bound_by_domain(Loop& loop, Reduction& r, const std::vector<AxisId>& bound_axes) {
    const Comprehension& c = comprehension(r.node);
    const auto position = std::find(r.axes.begin(), r.axes.end(), loop.axis) - r.axes.begin();
    if (position < c.n_points || position >= static_cast<ptrdiff_t>(c.n_axes())) return;
    Forms& forms = arena().forms;
    const Var axis{VarKind::axis, static_cast<uint32_t>(position)};
    std::erase_if(r.guards, [&](const Constraint& constraint) {
      if (constraint.modulus != 0 || !forms.depends_on(constraint.form, axis)) return false;
      if (!only_loops(r, constraint.form, axis, bound_axes)) return false;
      const auto linear = forms.linear_in(constraint.form, axis);
      const auto factor = linear ? forms.as_constant(linear->coefficient) : std::nullopt;
      if (!factor) return false;
      // factor*k + rest >= 0: k >= ceil(-rest/factor), or k <= floor(rest/-factor).
      FormId bound = *factor > 0 ? forms.ceil_quotient(forms.scale(linear->rest, -1), *factor)
                                 : forms.add(forms.quotient(linear->rest, -*factor), 1);
      add_bound(loop, r, bound, *factor > 0, bound_axes);
      // A scan folded what lies below before: at the point before this one.
      if (r.scan && r.scan->over.axis == position &&
          forms.depends_on(constraint.form, {VarKind::axis, r.scan->along}))
        add_bound(loop, r, linear->rest, true, bound_axes);
      return true;
    });
  }

  // The constraint's other axes all have loops further out, which fix their whole coordinate.
  bool only_loops(const Reduction& r, FormId form, Var self,
                  const std::vector<AxisId>& bound_axes) const {
    bool ok = true;
    arena().forms.for_each_var(form, [&](Var v) {
      if (v.kind != VarKind::axis || v == self) return;
      const AxisId id = r.axes[v.index];
      const Axis& axis = tree.axes[id.value];
      ok &= std::find(bound_axes.begin(), bound_axes.end(), id) != bound_axes.end();
      ok &= !register_part(id) && (!axis.reduce || axis.cells == std::array<int64_t, 4>{});
    });
    return ok;
  }

  // What holds where the loop begins: the assumptions, and the ranges of the loops around it. The
  // loop's own range may be empty, so it says nothing.
  Facts facts_around(const Loop& loop, const Reduction& r,
                     const std::vector<AxisId>& bound_axes) const {
    Forms& forms = arena().forms;
    const Comprehension& c = comprehension(r.node);
    Facts facts = program.assumptions;
    for (uint32_t a = 0; a < c.n_axes(); ++a) {
      const bool around =
          std::find(bound_axes.begin(), bound_axes.end(), r.axes[a]) != bound_axes.end();
      if (!around || r.axes[a] == loop.axis) continue;
      facts.push_back({.form = forms.axis(a)});
      facts.push_back({.form = forms.add(forms.sub(c.extents[a], forms.axis(a)), -1)});
    }
    return facts;
  }

  void add_bound(Loop& loop, const Reduction& r, FormId bound, bool low,
                 const std::vector<AxisId>& bound_axes) {
    Forms& forms = arena().forms;
    const auto position = std::find(r.axes.begin(), r.axes.end(), loop.axis) - r.axes.begin();
    const Facts facts = facts_around(loop, r, bound_axes);
    const FormId extent = comprehension(r.node).extents[static_cast<size_t>(position)];
    const FormId imported = import_form(forms, bound, module.forms, [&](Var v) {
      return v.kind == VarKind::axis ? module.forms.axis(r.axes[v.index].value) : FormId();
    });
    const FormId natural = low ? module.forms.constant(0) : tree.axes[loop.axis.value].extent;
    std::vector<FormId>& bounds = low ? loop.lo : loop.hi;
    const FormId tighter = low ? bound : forms.sub(extent, bound);
    if (proves(forms, facts, {.form = forms.scale(tighter, -1)})) return;
    // The range's own bound goes where the new one is always at least as tight.
    if (proves(forms, facts, {.form = tighter})) std::erase(bounds, natural);
    bounds.push_back(imported);
  }

  std::vector<AxisId> order(std::vector<AxisId> axes, const std::vector<AxisRef>& refs) const {
    std::vector<AxisId> out;
    for (const AxisRef& wanted : kernel.order)
      for (size_t i = 0; i < axes.size(); ++i)
        if (refs[i] == wanted) out.push_back(axes[i]);
    for (const AxisId id : axes)
      if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
    return out;
  }

  std::vector<Item> reduction_items(uint32_t number) {
    const Reduction& r = tree.reductions[number];
    const Comprehension& c = comprehension(r.node);
    std::vector<AxisId> loops, split;
    std::vector<AxisRef> refs;
    bool joins = false;
    for (uint8_t a = c.n_points; a < c.n_axes(); ++a) {
      const bool lanes = lane_part(r.axes[a]).has_value();
      TANG_ASSERT(!(lanes && joins), "two axes of one reduction are split over lanes");
      joins |= lanes;
      (lanes ? split : loops).push_back(r.axes[a]);
      if (!lanes) refs.push_back({r.node, a});
    }
    // The lanes' axis goes innermost: its units are iterated by the fold itself.
    std::vector<Item> body = wrap(split, Level::group, Level::group, {Fold{number}});
    body = wrap(order(loops, refs), Level::group, Level::reg, std::move(body));
    std::vector<Item> out;
    out.emplace_back(Init{number});
    for (Item& item : body) out.push_back(std::move(item));
    if (joins) out.emplace_back(Join{number});
    return out;
  }

  void build(const std::vector<uint32_t>& components, const std::set<uint8_t>& points) {
    tree.root = kernel.root;
    tree.components = components;
    const Comprehension& root = comprehension(kernel.root);
    tree.root_axes.assign(root.n_axes(), AxisId());
    std::vector<AxisId> loops;
    std::vector<AxisRef> refs;
    for (uint8_t a = 0; a < root.n_points; ++a) {
      if (!points.contains(a)) continue;
      tree.root_axes[a] = add_axis(kernel.root, a, false);
      loops.push_back(tree.root_axes[a]);
      refs.push_back({kernel.root, a});
    }
    if (root.is_map()) {
      add_placed();
    } else {
      std::vector<AxisId> point_axes(tree.root_axes.begin(),
                                     tree.root_axes.begin() + root.n_points);
      add_reduction(kernel.root, point_axes, components_needed(arena(), arena().monoids[root.monoid], components));
    }
    for (Reduction& r : tree.reductions)
      r.guards = arena().guards[comprehension(r.node).domain].constraints;
    // Scans start outside of the loop along which they run; all else is inside.
    std::vector<Item> outside, body;
    AxisId along;
    for (uint32_t n = 0; n < tree.reductions.size(); ++n) {
      const Reduction& r = tree.reductions[n];
      std::vector<Item> items = reduction_items(n);
      if (r.scan) {
        along = r.axes[r.scan->along];
        outside.push_back(std::move(items.front()));
        items.erase(items.begin());
      }
      for (Item& item : items) body.push_back(std::move(item));
    }
    for (const uint32_t k : components) body.emplace_back(Write{k});
    loops = order(loops, refs);
    if (along.valid()) {
      std::erase(loops, along);
      body = wrap({along}, Level::grid, Level::lane, std::move(body));
      for (Item& item : body) outside.push_back(std::move(item));
      body = std::move(outside);
    }
    tree.body = wrap(loops, Level::grid, Level::lane, std::move(body));
    set_bounds(tree.body, {});
    // Tasks are independent: the outermost grid loop runs them in parallel.
    if (auto* outer = tree.body.size() == 1 ? std::get_if<Loop>(&tree.body[0]) : nullptr)
      if (outer->level == Level::grid) outer->run = Run::parallel;
  }

  // The reductions placed in the root map, each read point for point through plain axes.
  void add_placed() {
    struct Placed {
      DefId node;
      std::vector<AxisId> axes;  // by point axis
      std::vector<uint32_t> components;
    };
    std::vector<Placed> all;
    for (const Read& read : comprehension(kernel.root).reads) {
      const auto node = storage.index.of(read.tensor);
      if (!node || schedule.place(*node).at != At::placed) continue;
      auto placed = std::find_if(all.begin(), all.end(),
                                 [&](const Placed& p) { return p.node == *node; });
      const Comprehension& c = comprehension(*node);
      if (placed == all.end())
        placed = all.insert(all.end(), {.node = *node,
                                        .axes = std::vector<AxisId>(c.n_points, AxisId()),
                                        .components = {}});
      const View& view = arena().views[read.view];
      const uint32_t component = arena().tensors[read.tensor].component;
      placed->components.push_back(component);
      for (size_t d = 0; d < view.coords.size(); ++d) {
        const auto v = arena().forms.as_var(view.coords[d].form);
        TANG_ASSERT(v && v->kind == VarKind::axis, "a placed node is read through a moved view");
        placed->axes[c.components[component].axes[d]] = tree.root_axes[v->index];
      }
    }
    for (const Placed& p : all)
      add_reduction(p.node, p.axes,
                    components_needed(arena(), arena().monoids[comprehension(p.node).monoid],
                                      p.components));
  }
};

// Which of the root's components one kernel can store together: all, when every point axis that
// some component lacks is held whole in registers; else those with the same axes.
std::vector<std::vector<uint32_t>> component_groups(const Program& program,
                                                    const KernelSchedule& kernel,
                                                    const Storage& storage) {
  const Comprehension& c = program.comprehension(kernel.root);
  std::vector<uint32_t> visible;
  for (uint32_t k = 0; k < c.components.size(); ++k)
    if (storage.write.contains(program.arena->component(program.def(kernel.root).id, k)))
      visible.push_back(k);
  std::set<uint8_t> common, all;
  for (const uint32_t k : visible) {
    const auto& axes = c.components[k].axes;
    all.insert(axes.begin(), axes.end());
  }
  for (const uint8_t a : all)
    if (std::all_of(visible.begin(), visible.end(), [&](uint32_t k) {
          const auto& axes = c.components[k].axes;
          return std::find(axes.begin(), axes.end(), a) != axes.end();
        }))
      common.insert(a);
  const bool together = std::all_of(all.begin(), all.end(), [&](uint8_t a) {
    if (common.contains(a)) return true;
    for (const Split& s : kernel.splits)
      if (s.axis == AxisRef{kernel.root, a}) return s.cells == std::array<int64_t, 4>{0, 0, 0, 0};
    return false;
  });
  if (together) return {visible};
  std::vector<std::pair<std::set<uint8_t>, std::vector<uint32_t>>> groups;
  for (const uint32_t k : visible) {
    const auto& axes = c.components[k].axes;
    std::set<uint8_t> key(axes.begin(), axes.end());
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == key; });
    if (found == groups.end())
      groups.push_back({key, {k}});
    else
      found->second.push_back(k);
  }
  std::vector<std::vector<uint32_t>> out;
  for (auto& group : groups) out.push_back(group.second);
  return out;
}

}  // namespace

std::vector<Tree> build_trees(const Program& program, const Schedule& schedule,
                              const KernelSchedule& kernel, const Storage& storage,
                              kernel::Module& module) {
  const Comprehension& c = program.comprehension(kernel.root);
  std::vector<Tree> trees;
  for (const std::vector<uint32_t>& components : component_groups(program, kernel, storage)) {
    std::set<uint8_t> points;
    for (const uint32_t k : components)
      points.insert(c.components[k].axes.begin(), c.components[k].axes.end());
    Builder builder{program, schedule, kernel, storage, module, {}};
    builder.build(components, points);
    peel(builder.tree, module.forms);
    trees.push_back(std::move(builder.tree));
  }
  return trees;
}

}  // namespace tang::tile
