// By rule, from axes and dependence:
//
//   inlined  a map that is cheap, or a map or reduction that one reader reads at most once for each
//            point; what nobody needs
//   placed   a reduction whose only reader is a stored map that reads it point for point: the map
//            is its epilogue and runs where the sum is in a register. Points that not all of its
//            results have are held in registers
//   root     everything else
//
// The presets of a kernel: `point` gives each point its own serial fold; `split` gives the lanes of
// a group a share of the fold each, where there are few points and the fold is long.
#include "schedule/auto.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/cost.h"
#include "ir/scan.h"
#include "support/panic.h"

namespace tang {

namespace {

constexpr int64_t kMostInlined = 256;   // operations that one read may bring into a kernel
constexpr int64_t kTaskWork = 1 << 15;  // operations below which a second thread does not pay
constexpr int64_t kSplitExtent = 256;   // a fold at least this long is worth splitting
constexpr int64_t kSplitPoints = 64;    // among at most so many points
constexpr int64_t kLanes = 8;
constexpr int64_t kCarried = 256;  // cells of a state that a lane may hold

struct Reader {
  DefId node;
  Read read;
};

struct Graph {
  const Program& program;
  const Arena& arena;
  DefIndex index;
  std::vector<std::vector<Reader>> readers;  // by definition; one entry a read
  std::vector<bool> is_output;
  std::vector<bool> live;
  std::vector<int64_t> cost;  // of one point, inlined definitions included
  // The update that overwrites what the definition reads, itself or by what is computed inside of
  // it: its kernel comes before. SIZE_MAX: none does.
  std::vector<size_t> deadline;

  explicit Graph(const Program& p)
      : program(p),
        arena(*p.arena),
        index(p),
        readers(p.defs.size()),
        is_output(p.defs.size()),
        cost(p.defs.size()),
        deadline(p.defs.size(), SIZE_MAX) {
    for (const Output& o : p.outputs)
      if (const auto node = index.of(o.tensor)) is_output[node->value] = true;
    live = live_defs(p, index);
    for (size_t d = p.defs.size(); d-- > 0;) {
      if (!live[d]) continue;
      for (const Read& read : arena.comprehensions[p.defs[d].id].reads)
        if (const auto from = index.of(read.tensor))
          readers[from->value].push_back({DefId(d), read});
    }
    std::unordered_map<TensorId, size_t> overwritten;
    for (size_t d = 0; d < p.defs.size(); ++d)
      if (of(d).is_update()) overwritten.emplace(arena.updated(of(d)), d);
    for (size_t d = 0; d < p.defs.size(); ++d)
      for (const Read& read : of(d).reads)
        if (const auto found = overwritten.find(read.tensor);
            found != overwritten.end() && found->second != d)
          deadline[d] = std::min(deadline[d], found->second);
  }

  // All that reads it is computed before what it reads is overwritten.
  bool is_read_in_time(size_t d) const {
    return std::all_of(readers[d].begin(), readers[d].end(),
                       [&](const Reader& r) { return r.node.value < deadline[d]; });
  }
  // Computed inside of its readers, it is under their deadlines, and they under its.
  void pass_on(size_t d) {
    for (const Reader& r : readers[d])
      deadline[r.node.value] = std::min(deadline[r.node.value], deadline[d]);
  }

  const Comprehension& of(size_t d) const { return arena.comprehensions[program.defs[d].id]; }

  // The coordinates that are axes by themselves, each axis once; nothing where another stands.
  std::optional<std::vector<uint32_t>> plain_axes(const View& view) const {
    std::vector<uint32_t> axes;
    for (const Coord& coord : view.coords) {
      const auto v = coord.is_gather() ? std::nullopt : arena.forms.as_var(coord.form);
      if (!v || v->kind != VarKind::axis ||
          std::find(axes.begin(), axes.end(), v->index) != axes.end())
        return std::nullopt;
      axes.push_back(v->index);
    }
    return axes;
  }

  // A point axis that only some results have can be held in registers.
  bool can_be_held(FormId extent) const {
    const auto n = arena.forms.as_constant(extent);
    return n && *n > 0 && *n <= kCarried;
  }

  // Axes over which the reader evaluates a read: those of the one component that uses it, when the
  // others are held in registers, and the reduce axes; else all.
  std::vector<uint32_t> axes_around(const Comprehension& c, const Read& read) const {
    std::vector<uint32_t> axes;
    for (uint32_t a = c.n_points; a < c.n_axes(); ++a) axes.push_back(a);
    const Component* user = nullptr;
    for (const Component& k : c.components) {
      bool uses = false;
      for (const ExprId id : arena.exprs.post_order({k.value}))
        uses |= arena.exprs[id].op == Op::read && c.reads[arena.exprs[id].index()] == read;
      if (uses && user && user->axes != k.axes) user = nullptr;
      if (uses) user = user ? user : &k;
    }
    for (uint32_t a = 0; a < c.n_points; ++a) {
      const bool places = user && !c.is_map() &&
                          arena.monoids[c.monoid].keeps_list(size_t(user - c.components.data())) &&
                          user->axes.back() == a;
      const bool lacks = user && std::find(user->axes.begin(), user->axes.end(), a) ==
                                     user->axes.end();
      const bool skipped = places || (lacks && can_be_held(c.extents[a]));
      if (!skipped) axes.push_back(a);
    }
    return axes;
  }

  // How many components of the reader evaluate the read, its domain counting as one more.
  size_t uses_of(const Comprehension& c, const Read& read) const {
    size_t n = 0;
    std::vector<ExprId> roots;
    for (const Component& k : c.components) roots.push_back(k.value);
    roots.push_back(arena.guards[c.domain].condition);
    for (const Read& other : c.reads) {
      roots.push_back(other.otherwise);
      roots.push_back(arena.guards[arena.views[other.view].guard].condition);
      for (const Coord& coord : arena.views[other.view].coords) roots.push_back(coord.data);
    }
    for (const ExprId root : roots) {
      if (!root.valid()) continue;
      for (const ExprId id : arena.exprs.post_order({root}))
        if (arena.exprs[id].op == Op::read && c.reads[arena.exprs[id].index()] == read) {
          ++n;
          break;
        }
    }
    return n;
  }

  // The reader evaluates the read at most once for each point of the definition.
  bool reads_once(const Reader& reader) const {
    const Comprehension& c = program.comprehension(reader.node);
    std::unordered_set<uint32_t> axes;
    for (const Coord& coord : arena.views[reader.read.view].coords) {
      const auto v = coord.is_gather() ? std::nullopt : arena.forms.as_var(coord.form);
      if (v && v->kind == VarKind::axis) axes.insert(v->index);
    }
    const std::vector<uint32_t> around = axes_around(c, reader.read);
    return uses_of(c, reader.read) == 1 &&
           std::all_of(around.begin(), around.end(),
                       [&](uint32_t axis) { return axes.contains(axis); });
  }

  // Enough of them to keep a machine busy without those of what they read. A symbolic size is.
  bool has_many_points(DefId node) const {
    const Comprehension& c = program.comprehension(node);
    int64_t n = 1;
    for (size_t a = 0; a < c.n_points && n <= kSplitPoints; ++a) {
      const int64_t extent = is_common(c, static_cast<uint32_t>(a))
                                 ? arena.forms.as_constant(c.extents[a]).value_or(kSplitPoints + 1)
                                 : 1;
      n *= std::max<int64_t>(extent, 1);
    }
    return n > kSplitPoints;
  }

  bool inlines(size_t d) const {
    if (!live[d]) return true;
    if (is_output[d] || of(d).is_update() || !is_read_in_time(d)) return false;
    if (cost[d] > kMostInlined) return false;
    const bool once = readers[d].size() == 1 && reads_once(readers[d][0]);
    if (of(d).is_map()) return cost[d] <= kCheap || once;
    // Where a map reads a reduction, the map is its epilogue. A scan has to run on its own.
    return once && !scan_of(program, DefId(d)) && has_many_points(readers[d][0].node) &&
           !arena.monoids[of(d).monoid].keeps_lists() &&
           !program.comprehension(readers[d][0].node).is_map();
  }

  // Reads by a map whose axes are the reduction's points: the kernel's axis for each point axis;
  // nothing where that is not so.
  std::optional<std::vector<uint32_t>> epilogue_axes(size_t d, DefId reader) const {
    constexpr uint32_t kNone = UINT32_MAX;
    const Comprehension& c = of(d);
    const Comprehension& map = program.comprehension(reader);
    if (c.is_map() || arena.monoids[c.monoid].keeps_lists() || !map.is_map() ||
        c.n_points != map.n_points || !is_read_in_time(d))
      return std::nullopt;
    std::vector<uint32_t> axes(c.n_points, kNone);
    for (const Read& read : map.reads) {
      if (index.of(read.tensor) != DefId(d)) continue;
      const View& view = arena.views[read.view];
      const auto plain = plain_axes(view);
      if (view.guarded || !plain) return std::nullopt;
      const auto& own = c.components[arena.tensors[read.tensor].component].axes;
      for (size_t k = 0; k < own.size(); ++k) {
        uint32_t& axis = axes[own[k]];
        if (axis != kNone && axis != (*plain)[k]) return std::nullopt;
        axis = (*plain)[k];
      }
    }
    std::vector<uint32_t> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() ||
        std::count(sorted.begin(), sorted.end(), kNone) > 0)
      return std::nullopt;
    for (uint32_t a = 0; a < c.n_points; ++a)
      if (!is_common(c, a) && !can_be_held(c.extents[a])) return std::nullopt;
    return axes;
  }

  // All components have the point axis.
  static bool is_common(const Comprehension& c, uint32_t axis) {
    return std::all_of(c.components.begin(), c.components.end(), [&](const Component& k) {
      return std::find(k.axes.begin(), k.axes.end(), axis) != k.axes.end();
    });
  }
};

void count_cost(Graph& graph, size_t d, const std::vector<Place>& places) {
  graph.cost[d] = cost_again(graph.arena, graph.of(d));
  for (const Read& read : graph.of(d).reads) {
    const auto from = graph.index.of(read.tensor);
    if (from && places[from->value].at == At::inlined) graph.cost[d] += graph.cost[from->value];
  }
}

void count_costs(Graph& graph, const std::vector<Place>& places) {
  for (size_t d = 0; d < places.size(); ++d) count_cost(graph, d, places);
}

std::vector<Place> choose_places(Graph& graph) {
  const size_t n = graph.program.defs.size();
  std::vector<Place> places(n);
  for (size_t d = 0; d < n; ++d) {
    places[d].node = DefId(d);
    count_cost(graph, d, places);
    if (!graph.inlines(d)) continue;
    places[d].at = At::inlined;
    graph.pass_on(d);
  }
  for (size_t d = 0; d < n; ++d) {
    if (places[d].at != At::root || graph.is_output[d] || graph.readers[d].empty()) continue;
    const DefId reader = graph.readers[d][0].node;
    const bool alone =
        std::all_of(graph.readers[d].begin(), graph.readers[d].end(),
                    [&](const Reader& r) { return r.node == reader; });
    if (!alone || places[reader.value].at != At::root || !graph.epilogue_axes(d, reader)) continue;
    places[d] = {.node = DefId(d), .at = At::placed, .kernel = reader, .level = Level::reg};
    graph.pass_on(d);
  }
  return places;
}

// f64 for what depends on an f64 input or scalar, and for what an f64 output depends on.
std::vector<Precision> choose_formats(const Graph& graph) {
  std::vector<Precision> formats(graph.program.defs.size());
  for (size_t d = 0; d < formats.size(); ++d) {
    formats[d].node = DefId(d);
    bool wide = false;
    for (const Read& read : graph.of(d).reads) {
      const auto from = graph.index.of(read.tensor);
      wide |= from ? formats[from->value].store == Type::f64
                   : graph.arena.tensors[read.tensor].type == Type::f64;
    }
    for (const Component& k : graph.of(d).components)
      for (const ExprId id : graph.arena.exprs.post_order({k.value})) {
        const Expr& e = graph.arena.exprs[id];
        wide |= e.op == Op::scalar && graph.program.scalars[e.index()].type == Type::f64;
      }
    if (wide) formats[d].store = formats[d].accumulate = Type::f64;
  }
  for (const Output& output : graph.program.outputs)
    if (const auto def = graph.index.of(output.tensor); def && output.type == Type::f64)
      formats[def->value].store = formats[def->value].accumulate = Type::f64;
  for (size_t d = formats.size(); d-- > 0;)
    for (const Read& read : graph.of(d).reads)
      if (const auto from = graph.index.of(read.tensor); from && formats[d].store == Type::f64)
        formats[from->value].store = formats[from->value].accumulate = Type::f64;
  return formats;
}

// The constant product of extents, a symbolic size counting as `unknown`.
int64_t points(const Graph& graph, const Comprehension& c, size_t from, size_t to,
               int64_t unknown) {
  int64_t total = 1;
  for (size_t a = from; a < to; ++a) {
    const int64_t extent = graph.arena.forms.as_constant(c.extents[a]).value_or(unknown);
    if (__builtin_mul_overflow(total, extent, &total)) return INT64_MAX;
  }
  return total;
}

void split_axis(KernelSchedule& kernel, DefId node, size_t axis,
                std::array<int64_t, kLevelCount> cells) {
  kernel.splits.push_back({.axis = {node, static_cast<uint8_t>(axis)}, .cells = cells});
}

// Tasks of `cells` cells of a point axis store whole bytes: where elements are smaller than a byte,
// the elements between two tasks' first ones fill bytes.
bool store_whole_bytes(const Graph& graph, DefId root, size_t axis, int64_t cells) {
  const Comprehension& c = graph.of(root.value);
  for (uint32_t k = 0; k < c.components.size(); ++k) {
    const TensorId tensor = graph.program.arena->component(graph.program.def(root).id, k);
    const TensorId base = graph.arena.base_of(tensor);
    bool packed = base != tensor && type_bits(graph.arena.tensors[base].type) < 8;
    for (const Output& output : graph.program.outputs)
      packed |= output.tensor == tensor && type_bits(output.type) < 8;
    if (!packed) continue;
    if (c.is_update()) return false;
    const std::vector<uint8_t>& axes = c.components[k].axes;
    const auto own = std::find(axes.begin(), axes.end(), axis);
    if (own == axes.end()) continue;
    int64_t parity = cells % 2;  // of the elements: a factor of unknown size may be odd
    for (auto inner = own + 1; inner != axes.end(); ++inner)
      parity *= graph.arena.forms.as_constant(c.extents[*inner]).value_or(1) % 2;
    if (parity != 0) return false;
  }
  return true;
}

// The kernel's axis along which a scan of it runs.
uint32_t axis_along(const Graph& graph, DefId root, const Scan& scan) {
  if (scan.over.node == root) return scan.along;
  return graph.epilogue_axes(scan.over.node.value, root).value()[scan.along];
}

std::optional<uint32_t> scan_axis(const Graph& graph, const KernelSchedule& kernel) {
  if (kernel.scans.empty()) return std::nullopt;
  return axis_along(graph, kernel.root, kernel.scans[0]);
}

// The kernel's prefix reductions, along the first one's axis.
void add_scans(const Graph& graph, const std::vector<DefId>& folds, KernelSchedule& kernel) {
  for (const DefId fold : folds) {
    const auto scan = scan_of(graph.program, fold);
    if (!scan) continue;
    const uint32_t axis = axis_along(graph, kernel.root, *scan);
    if (kernel.scans.empty() || scan_axis(graph, kernel) == axis) kernel.scans.push_back(*scan);
  }
}

KernelSchedule choose_kernel(const Graph& graph, DefId root, const std::vector<DefId>& placed) {
  constexpr int64_t kUnknown = 1024;  // what a symbolic size is taken for
  KernelSchedule kernel{.root = root, .splits = {}, .order = {}, .scans = {}};
  const Comprehension& c = graph.program.comprehension(root);
  const int64_t n_points = points(graph, c, 0, c.n_points, kUnknown);
  std::vector<DefId> folds = placed;
  if (!c.is_map()) folds.push_back(root);
  int64_t work = graph.cost[root.value];
  add_scans(graph, folds, kernel);
  const auto along = scan_axis(graph, kernel);
  for (const DefId fold : folds) {
    const Comprehension& f = graph.program.comprehension(fold);
    const int64_t length = points(graph, f, f.n_points, f.n_axes(), kUnknown);
    work += length * std::max<int64_t>(1, graph.cost[fold.value]);
    const bool commutes = graph.arena.monoids[f.monoid].commutative;
    if (commutes && !along && n_points <= kSplitPoints && f.n_axes() > f.n_points) {
      const size_t last = f.n_axes() - 1;
      if (points(graph, f, last, last + 1, kUnknown) >= kSplitExtent) {
        split_axis(kernel, fold, last, {0, 0, kLanes, 1});
      }
    }
  }
  // The places of lists are held in registers. Point axes that only some results have are too, so
  // that the others are computed once for each of their own points, but those of lists.
  std::vector<bool> held(c.n_points, false);
  const Monoid* monoid = c.is_map() ? nullptr : &graph.arena.monoids[c.monoid];
  const bool lists = monoid && monoid->keeps_lists();
  for (size_t k = 0; lists && k < c.components.size(); ++k)
    if (monoid->keeps_list(k)) held[c.components[k].axes.back()] = true;
  for (const DefId fold : folds) {
    const Comprehension& f = graph.program.comprehension(fold);
    std::vector<uint32_t> axes;
    for (uint32_t a = 0; a < f.n_points; ++a) axes.push_back(a);
    if (fold != root) axes = graph.epilogue_axes(fold.value, root).value_or(axes);
    for (uint32_t a = 0; a < f.n_points && !lists; ++a)
      if (!Graph::is_common(f, a) && graph.can_be_held(f.extents[a])) held[axes[a]] = true;
  }
  for (size_t a = 0; a < c.n_points; ++a) {
    if (along == a) held[a] = false;
    if (held[a]) split_axis(kernel, root, a, {0, 0, 0, 0});
  }
  if (n_points == 0 || work < kTaskWork / std::max<int64_t>(1, n_points)) return kernel;
  // Tasks: the first axis with enough cells to share, else the longest.
  size_t task = c.n_points;
  int64_t longest = 1;
  for (size_t a = 0; a < c.n_points; ++a) {
    const int64_t extent = points(graph, c, a, a + 1, kUnknown);
    if (held[a] || extent <= longest || along == a) continue;
    task = a;
    longest = extent;
    if (extent >= 16) break;
  }
  if (task == c.n_points) return kernel;
  for (const int64_t cells : {1, 2})
    if (store_whole_bytes(graph, root, task, cells)) {
      split_axis(kernel, root, task, {0, cells, 1, 1});
      break;
    }
  return kernel;
}

std::vector<KernelSchedule> kernels_of(const Graph& graph, const std::vector<Place>& places) {
  std::vector<std::vector<DefId>> placed(places.size());  // by kernel
  for (const Place& p : places)
    if (p.at == At::placed) placed[p.kernel.value].push_back(p.node);
  std::vector<KernelSchedule> kernels;
  for (const Place& p : places)
    if (p.at == At::root) kernels.push_back(choose_kernel(graph, p.node, placed[p.node.value]));
  return kernels;
}

}  // namespace

Schedule schedule_auto(const Program& program) {
  Graph graph(program);
  Schedule schedule;
  schedule.places = choose_places(graph);
  schedule.formats = choose_formats(graph);
  schedule.kernels = kernels_of(graph, schedule.places);
  return schedule;
}

std::vector<KernelSchedule> choose_kernels(const Program& program,
                                           const std::vector<Place>& places) {
  Graph graph(program);
  count_costs(graph, places);
  return kernels_of(graph, places);
}

bool tasks_store_whole_bytes(const Program& program, DefId root, size_t axis, int64_t cells) {
  return store_whole_bytes(Graph(program), root, axis, cells);
}

std::optional<DefId> read_too_late(const Program& program, const std::vector<Place>& places) {
  Graph graph(program);
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d].at == At::root || !graph.live[d]) continue;
    if (!graph.is_read_in_time(d)) return DefId(d);
    graph.pass_on(d);
  }
  return std::nullopt;
}

void keep_legal_scans(const Program& program, KernelSchedule& kernel) {
  if (kernel.scans.empty()) return;
  const uint32_t along = *scan_axis(Graph(program), kernel);
  for (const Split& s : kernel.splits) {
    const bool point = s.axis.axis < program.comprehension(s.axis.node).n_points;
    const bool one_by_one =
        s.cells == std::array<int64_t, kLevelCount>{0, 0, point ? 1 : 0, point ? 1 : 0};
    bool scanned = s.axis == AxisRef{kernel.root, static_cast<uint8_t>(along)};
    // Lanes that joined once would join again at the next point.
    for (const Scan& scan : kernel.scans) scanned |= !point && s.axis.node == scan.over.node;
    if (scanned && !one_by_one) return kernel.scans.clear();
  }
}

std::string why_not_epilogue(const Program& program, DefId node, DefId kernel) {
  const Graph graph(program);
  const auto name = [&](DefId def) {
    for (const std::string& n : program.def(def).names)
      if (!n.empty()) return n;
    return std::string("_");
  };
  if (graph.is_output[node.value]) return name(node) + " is an output, so it is stored";
  if (program.comprehension(node).is_map()) return name(node) + " is a map; inline it";
  if (!program.comprehension(kernel).is_map())
    return fmt::format("{} is a reduction, and only a map runs after another", name(kernel));
  const std::vector<Reader>& readers = graph.readers[node.value];
  if (readers.empty()) return name(node) + " is read by nothing";
  if (!graph.is_read_in_time(node.value))
    return name(node) + " reads what an update overwrites before";
  for (const Reader& r : readers)
    if (r.node != kernel) return fmt::format("{} is read by {} too", name(node), name(r.node));
  if (!graph.epilogue_axes(node.value, kernel))
    return fmt::format("{} does not read {} point for point", name(kernel), name(node));
  return "";
}

}  // namespace tang
