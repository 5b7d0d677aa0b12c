// The program's blocks, laid over the schedule that the rules choose.
#include <fmt/format.h>

#include <algorithm>

#include "ir/scan.h"
#include "schedule/auto.h"
#include "schedule/blocks.h"

namespace tang {

namespace {

using Cells = std::array<int64_t, kLevelCount>;
constexpr Cells kWhole = {};               // a reduce index one by one; a point index in registers
constexpr Cells kOneByOne = {0, 0, 1, 1};  // a point index

constexpr int64_t kWidest = 1 << 30;     // of a tile: far from the end of 64 bits
constexpr int64_t kMostCells = 1 << 16;  // of one running state: they live on a lane's stack

struct Applier {
  const Program& program;
  Diagnostics& diagnostics;
  Schedule schedule;
  DefIndex index;
  std::vector<Span> scheduled;  // by DefId: where a block names it
  bool good = true;

  Applier(const Program& p, Diagnostics& d)
      : program(p),
        diagnostics(d),
        schedule(schedule_auto(p)),
        index(p),
        scheduled(p.defs.size()) {}

  void fail(Span span, std::string message) {
    diagnostics.error("bad-schedule", span, std::move(message));
    good = false;
  }

  std::string name_of(DefId def) const {
    for (const std::string& name : program.def(def).names)
      if (!name.empty()) return name;
    return "_";
  }
  const std::string& name_of(const AxisRef& ref) const {
    return program.def(ref.node).axis_names[ref.axis];
  }
  const Comprehension& comprehension(const AxisRef& ref) const {
    return program.comprehension(ref.node);
  }
  bool is_reduce(const AxisRef& ref) const { return ref.axis >= comprehension(ref).n_points; }

  // ---- places: they decide which kernels there are ----

  bool is_output(DefId def) const {
    return std::any_of(program.outputs.begin(), program.outputs.end(),
                       [&](const Output& o) { return index.of(o.tensor) == def; });
  }

  void place(DefId kernel, const ScheduleWord& word) {
    const DefId node = *index.of(word.tensor);
    Place& p = schedule.places[node.value];
    if (word.value == "root") {
      p = {.node = node, .at = At::root};
    } else if (word.value == "inline") {
      const Comprehension& c = program.comprehension(node);
      if (c.is_update() || (!c.is_map() && program.arena->monoids[c.monoid].keeps_lists()))
        return fail(word.span, fmt::format("{} cannot be computed at each point that reads it: it "
                                           "{}",
                                           word.name,
                                           c.is_map() ? "is an update" : "keeps lists"));
      if (is_output(node))
        return fail(word.span, fmt::format("{} is an output, so it is stored", word.name));
      p = {.node = node, .at = At::inlined};
    } else if (word.value == "register") {
      const std::string why = why_not_epilogue(program, node, kernel);
      if (!why.empty()) return fail(word.span, why);
      p = {.node = node, .at = At::placed, .kernel = kernel, .level = Level::reg};
    } else if (word.value == "group" || word.value == "lane") {
      fail(word.span,
           fmt::format("this version places at root, inline and register, not at {}", word.value));
    } else {
      fail(word.span, fmt::format("place says where: {}=root, inline or register", word.name));
    }
  }

  // Once all places are known: a kernel that others are placed in is one.
  void check_places(const ScheduleBlock& block, DefId kernel) {
    for (const Place& p : schedule.places)
      if (p.at == At::placed && p.kernel == kernel && schedule.place(kernel).at != At::root)
        fail(block.span, fmt::format("{} is placed in {}, which is not stored", name_of(p.node),
                                     name_of(kernel)));
  }

  // ---- splits ----

  // The index of that name in the kernel: of the root, then of what is placed in it.
  std::optional<AxisRef> axis_named(DefId root, const std::string& name) const {
    std::vector<DefId> nodes = {root};
    for (const Place& p : schedule.places)
      if (p.at == At::placed && p.kernel == root) nodes.push_back(p.node);
    for (const DefId node : nodes) {
      const auto& names = program.def(node).axis_names;
      const size_t first = node == root ? 0 : program.comprehension(node).n_points;
      for (size_t a = first; a < names.size(); ++a)
        if (names[a] == name) return AxisRef{node, static_cast<uint8_t>(a)};
    }
    return std::nullopt;
  }

  Split& split_of(KernelSchedule& kernel, const AxisRef& ref) {
    for (Split& s : kernel.splits)
      if (s.axis == ref) return s;
    kernel.splits.push_back({.axis = ref, .cells = {}});
    return kernel.splits.back();
  }

  void set_cells(KernelSchedule& kernel, Level level, const ScheduleWord& word) {
    const auto ref = axis_named(kernel.root, word.name);
    if (!ref)
      return fail(word.span, fmt::format("{} is no index of {}", word.name, name_of(kernel.root)));
    if (!word.number || *word.number < 1 || *word.number > kWidest)
      return fail(word.span,
                  fmt::format("{} takes a number of cells, from 1 to {}", word.name, kWidest));
    if (is_reduce(*ref) && level == Level::group)
      return fail(word.span,
                  fmt::format("{} is reduced, so tasks cannot share it; lane {}=8 shares "
                              "it among lanes",
                              word.name, word.name));
    int64_t& cells = split_of(kernel, *ref).cells[static_cast<size_t>(level)];
    if (cells != 0)
      return fail(word.span, fmt::format("this level of {} is split twice", word.name));
    cells = *word.number;
  }

  // Fills what a block leaves open and says what does not fit.
  void finish_split(KernelSchedule& kernel, Split& s, Span span) {
    const std::string& name = name_of(s.axis);
    const auto extent =
        program.arena->forms.as_constant(comprehension(s.axis).extents[s.axis.axis]);
    auto& [grid, group, lane, reg] = s.cells;
    reg = std::max<int64_t>(reg, 1);
    lane = std::max(lane, reg);
    if (lane % reg != 0)
      return fail(span,
                  fmt::format("register {}={} does not divide lane {}={}", name, reg, name, lane));
    if (group != 0 && group % lane != 0)
      return fail(span,
                  fmt::format("lane {}={} does not divide tile {}={}", name, lane, name, group));
    if (group != 0 && !tasks_store_whole_bytes(program, kernel.root, s.axis.axis, group))
      return fail(span, fmt::format("tile {}={} would share a byte between tasks", name, group));
    if (!is_reduce(s.axis)) {
      if (group == 0 && extent == reg && lane == reg) s.cells = kWhole;
      return;
    }
    if (lane == reg) {
      s.cells = kWhole;
      return;
    }
    const MonoidId monoid = comprehension(s.axis).monoid;
    if (!program.arena->monoids[monoid].commutative)
      return fail(span, fmt::format("the order of {} matters to {}, so lanes cannot share it", name,
                                    program.arena->monoids[monoid].name));
    const auto lanes = lane / reg;
    if ((lanes & (lanes - 1)) != 0)
      return fail(span,
                  fmt::format("{} is shared by {} lanes, which is no power of two", name, lanes));
    for (const Split& t : kernel.splits)
      if (t.axis.node == s.axis.node && t.axis.axis < s.axis.axis && is_reduce(t.axis) &&
          t.cells != kWhole)
        fail(span, fmt::format("lanes share {} and cannot share {} too", name_of(t.axis), name));
  }

  // A lane holds all places of a list, whether a block says so or not.
  void hold_places(KernelSchedule& kernel, Span span) {
    const Comprehension& c = program.comprehension(kernel.root);
    if (c.is_map()) return;
    const Monoid& monoid = program.arena->monoids[c.monoid];
    for (size_t k = 0; k < c.components.size(); ++k) {
      if (!monoid.keeps_list(k)) continue;
      const AxisRef ref{kernel.root, c.components[k].axes.back()};
      Split& s = split_of(kernel, ref);
      const Split held{.axis = ref, .cells = {0, 0, 0, monoid.places[k]}};
      if (s.cells == std::array<int64_t, kLevelCount>{}) s = held;
      if (s.cells != held.cells)
        return fail(span, fmt::format("{0} runs over the places of a list, which one lane holds: "
                                      "register {0}={1}",
                                      name_of(ref), monoid.places[k]));
    }
  }

  // The cells of one running state: what a lane holds of each point index, once a lane of a fold.
  void check_size(const KernelSchedule& kernel, Span span) {
    int64_t cells = 1;
    for (const Split& s : kernel.splits) {
      const auto extent =
          program.arena->forms.as_constant(comprehension(s.axis).extents[s.axis.axis]);
      int64_t own = s.cells == kWhole && !is_reduce(s.axis) ? extent.value_or(1) : s.cells[3];
      if (is_reduce(s.axis)) own = s.cells == kWhole ? 1 : s.cells[2] / s.cells[3];
      if (__builtin_mul_overflow(cells, std::max<int64_t>(own, 1), &cells) || cells > kMostCells)
        return fail(span, fmt::format("a lane would hold more than {} values of {}", kMostCells,
                                      name_of(kernel.root)));
    }
  }

  void set_order(KernelSchedule& kernel, const ScheduleWord& word) {
    const auto ref = axis_named(kernel.root, word.name);
    if (!ref || word.number || !word.value.empty())
      return fail(word.span, fmt::format("order lists indices of {}", name_of(kernel.root)));
    if (std::find(kernel.order.begin(), kernel.order.end(), *ref) != kernel.order.end())
      return fail(word.span, fmt::format("{} stands twice", word.name));
    kernel.order.push_back(*ref);
  }

  // ---- scans ----

  void set_scan(KernelSchedule& kernel, const ScheduleWord& word) {
    const auto ref = axis_named(kernel.root, word.name);
    const auto prefix = ref ? scan_of(program, ref->node) : std::nullopt;
    if (!prefix || prefix->over != *ref ||
        name_of(AxisRef{ref->node, prefix->along}) != word.value)
      return fail(word.span, fmt::format("{0} reduces no prefix of {1}: a scan is over {0} <= {1}, "
                                         "and nothing else depends on {1}",
                                         word.name, word.value.empty() ? "an index" : word.value));
    for (const Scan& scan : kernel.scans)
      if (scan.over == prefix->over) return;
    kernel.scans.push_back(*prefix);
  }

  // A scan takes the points of its indices one after the other.
  void check_scans(KernelSchedule& kernel, const ScheduleBlock& block) {
    const size_t before = kernel.scans.size();
    keep_legal_scans(program, kernel);
    if (kernel.scans.size() == before) return;
    for (const auto& clause : block.clauses)
      if (clause.front().name == "scan")
        fail(clause.front().span, "what is scanned cannot be split");
  }

  // An order that a reduction's result depends on stays as it is.
  void check_order(const KernelSchedule& kernel, Span span) {
    std::vector<AxisRef> reduced;
    for (const AxisRef& ref : kernel.order)
      if (is_reduce(ref)) reduced.push_back(ref);
    for (const AxisRef& first : reduced) {
      const Comprehension& c = comprehension(first);
      const Monoid& monoid = program.arena->monoids[c.monoid];
      // Indices of the node that are not listed, or listed later, run inside of this one.
      for (uint8_t a = c.n_points; a < first.axis && !monoid.commutative; ++a) {
        const auto end = std::find(reduced.begin(), reduced.end(), first);
        if (std::find(reduced.begin(), end, AxisRef{first.node, a}) == end)
          return fail(span, fmt::format("the order of {} and {} matters to {}",
                                        name_of({first.node, a}), name_of(first), monoid.name));
      }
    }
  }

  // ---- formats ----

  bool is_real(DefId def) const {
    const Comprehension& c = program.comprehension(def);
    return std::all_of(c.components.begin(), c.components.end(), [&](const Component& k) {
      return program.arena->exprs.type(k.value) == Type::f64;
    });
  }

  void set_format(DefId root, const ScheduleWord& verb, const ScheduleWord& word) {
    const auto type = type_from_name(word.name);
    if (!type || kind_of(*type) != Type::f64 || !word.value.empty() || word.number)
      return fail(word.span, fmt::format("{} takes a real format such as f32", verb.name));
    if (!is_real(root))
      return fail(word.span, fmt::format("{} holds integers or bools", name_of(root)));
    if (verb.name == "store") {
      for (const Output& output : program.outputs)
        if (index.of(output.tensor) == root && output.type != *type)
          return fail(word.span, fmt::format("{} is an output and stored in its own format; write "
                                             "output {}: {}",
                                             output.name, output.name, word.name));
      schedule.formats[root.value].store = *type;
      return;
    }
    if (*type != Type::f32 && *type != Type::f64)
      return fail(word.span,
                  fmt::format("this version accumulates in f32 and f64, not in {}", word.name));
    schedule.formats[root.value].accumulate = *type;
    for (const Place& placed : schedule.places)
      if (placed.at == At::placed && placed.kernel == root)
        schedule.formats[placed.node.value].accumulate = *type;
  }

  // ---- blocks ----

  void read_places(const ScheduleBlock& block) {
    const DefId def = *index.of(block.tensor);
    if (const Span first = scheduled[def.value]; first.valid()) {
      good = false;
      diagnostics
          .error("bad-schedule", block.span, fmt::format("{} has a schedule already", name_of(def)))
          .notes.push_back({first, "the first is here"});
      return;
    }
    scheduled[def.value] = block.span;
    for (const auto& clause : block.clauses)
      if (clause.front().name == "place")
        for (size_t w = 1; w < clause.size(); ++w) place(def, clause[w]);
  }

  std::string kernels() const {
    std::vector<std::string> names;
    for (const KernelSchedule& k : schedule.kernels) names.push_back(name_of(k.root));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void read_rest(const ScheduleBlock& block) {
    const DefId def = *index.of(block.tensor);
    const auto kernel = std::find_if(schedule.kernels.begin(), schedule.kernels.end(),
                                     [&](const KernelSchedule& k) { return k.root == def; });
    if (kernel == schedule.kernels.end()) {
      const char* why = schedule.place(def).at == At::placed ? "computed inside another kernel"
                                                             : "computed where it is read";
      return fail(block.span, fmt::format("{} is {}, so it has no kernel of its own; say place "
                                          "{}=root in a block that reads it, or schedule one of {}",
                                          name_of(def), why, name_of(def), kernels()));
    }
    const bool splits = std::any_of(block.clauses.begin(), block.clauses.end(),
                                    [](const std::vector<ScheduleWord>& clause) {
                                      const std::string& verb = clause.front().name;
                                      return verb == "tile" || verb == "lane" || verb == "register";
                                    });
    if (splits) kernel->splits.clear();
    for (const auto& clause : block.clauses) read_clause(*kernel, clause);
    if (!good) return;
    if (splits) hold_places(*kernel, block.span);
    if (splits)
      for (Split& s : kernel->splits) finish_split(*kernel, s, block.span);
    std::erase_if(kernel->splits, [&](const Split& s) {
      return s.cells == (is_reduce(s.axis) ? kWhole : kOneByOne);
    });
    check_scans(*kernel, block);
    check_size(*kernel, block.span);
    check_order(*kernel, block.span);
  }

  void read_clause(KernelSchedule& kernel, const std::vector<ScheduleWord>& clause) {
    const ScheduleWord& verb = clause.front();
    for (const char* later : {"stage", "stages", "split", "pack", "multiply", "threads", "vector"})
      if (verb.name == later)
        return fail(verb.span, fmt::format("this version has no clause {}", verb.name));
    constexpr std::array known = {"place", "tile",  "lane",      "register",
                                  "order", "scan",  "store",     "accumulate"};
    if (verb.number || !verb.value.empty() ||
        std::find(known.begin(), known.end(), verb.name) == known.end())
      return fail(verb.span, fmt::format("a clause begins with one of {}", fmt::join(known, ", ")));
    if (clause.size() == 1)
      return fail(verb.span, fmt::format("{} needs something to say what", verb.name));
    for (size_t w = 1; w < clause.size(); ++w) {
      if (verb.name == "tile") set_cells(kernel, Level::group, clause[w]);
      if (verb.name == "lane") set_cells(kernel, Level::lane, clause[w]);
      if (verb.name == "register") set_cells(kernel, Level::reg, clause[w]);
      if (verb.name == "order") set_order(kernel, clause[w]);
      if (verb.name == "scan") set_scan(kernel, clause[w]);
      if (verb.name == "store" || verb.name == "accumulate")
        set_format(kernel.root, verb, clause[w]);
    }
  }
};

}  // namespace

std::optional<Schedule> schedule_program(const Program& program, Diagnostics& diagnostics) {
  Applier a(program, diagnostics);
  if (program.schedules.empty()) return std::move(a.schedule);
  for (const ScheduleBlock& block : program.schedules) a.read_places(block);
  if (a.good)
    for (const ScheduleBlock& block : program.schedules)
      a.check_places(block, *a.index.of(block.tensor));
  if (!a.good) return std::nullopt;
  if (const auto late = read_too_late(program, a.schedule.places)) {
    a.fail(program.schedules.front().span,
           fmt::format("{} reads a tensor as it was before an update; say place {}=root",
                       a.name_of(*late), a.name_of(*late)));
    return std::nullopt;
  }
  a.schedule.kernels = choose_kernels(program, a.schedule.places);
  for (const ScheduleBlock& block : program.schedules) a.read_rest(block);
  if (!a.good) return std::nullopt;
  return std::move(a.schedule);
}

}  // namespace tang
