// The blocks that say what a schedule is.
#include <algorithm>

#include "schedule/auto.h"
#include "schedule/blocks.h"

namespace tang {

namespace {

constexpr std::array<int64_t, kLevelCount> kWhole = {};

struct Writer {
  const Program& program;
  const Schedule& schedule;
  DefIndex index;
  std::vector<bool> is_output, said;  // by DefId

  TensorId tensor_of(DefId def) const {
    const auto& names = program.def(def).names;
    const auto named = std::find_if(names.begin(), names.end(),
                                    [](const std::string& name) { return !name.empty(); });
    const auto k = named == names.end() ? 0 : named - names.begin();
    return program.arena->component(program.def(def).id, static_cast<uint32_t>(k));
  }

  static ScheduleWord word(std::string name, int64_t number) {
    return {.name = std::move(name), .value = {}, .number = number, .tensor = {}, .span = {}};
  }
  static ScheduleWord word(std::string name) {
    return {.name = std::move(name), .value = {}, .number = {}, .tensor = {}, .span = {}};
  }
  std::string name_of(const AxisRef& ref) const {
    return program.def(ref.node).axis_names[ref.axis];
  }

  // What this kernel reads, unless a block before it said so.
  void write_places(const KernelSchedule& kernel, ScheduleBlock& block) {
    std::vector<ScheduleWord> clause = {word("place")};
    std::vector<DefId> stack = {kernel.root};
    while (!stack.empty()) {
      const DefId reader = stack.back();
      stack.pop_back();
      for (const Read& read : program.comprehension(reader).reads) {
        const auto from = index.of(read.tensor);
        if (!from || is_output[from->value] || said[from->value]) continue;
        said[from->value] = true;
        const At at = schedule.place(*from).at;
        if (at != At::root) stack.push_back(*from);
        const char* where = at == At::root ? "root" : at == At::inlined ? "inline" : "register";
        clause.push_back(word(""));
        clause.back().value = where;
        clause.back().tensor = tensor_of(*from);
      }
    }
    if (clause.size() > 1) block.clauses.push_back(std::move(clause));
  }

  void write_splits(const KernelSchedule& kernel, ScheduleBlock& block) const {
    std::vector<ScheduleWord> tile = {word("tile")}, lane = {word("lane")},
                              reg = {word("register")};
    for (const Split& s : kernel.splits) {
      const Comprehension& c = program.comprehension(s.axis.node);
      const std::string name = name_of(s.axis);
      const auto [grid, group, lanes, cells] = s.cells;
      if (s.cells == kWhole) {
        if (s.axis.axis < c.n_points)
          reg.push_back(word(name, *program.arena->forms.as_constant(c.extents[s.axis.axis])));
        continue;
      }
      if (group != 0) tile.push_back(word(name, group));
      if (lanes != cells) lane.push_back(word(name, lanes));
      if (cells != 1) reg.push_back(word(name, cells));
    }
    // A kernel without splits says so with one that does nothing.
    const Comprehension& root = program.comprehension(kernel.root);
    if (tile.size() + lane.size() + reg.size() == 3 && root.n_axes() > 0)
      lane.push_back(word(name_of({kernel.root, 0}), 1));
    for (auto* clause : {&tile, &lane, &reg})
      if (clause->size() > 1) block.clauses.push_back(std::move(*clause));
    if (!kernel.scans.empty()) {
      block.clauses.push_back({word("scan")});
      for (const Scan& scan : kernel.scans) {
        block.clauses.back().push_back(word(name_of(scan.over)));
        block.clauses.back().back().value = name_of({scan.over.node, scan.along});
      }
    }
    if (kernel.order.empty()) return;
    block.clauses.push_back({word("order")});
    for (const AxisRef& ref : kernel.order) block.clauses.back().push_back(word(name_of(ref)));
  }

  // Formats that the rules would not choose.
  void write_formats(const Precision& mine, const Precision& rules, ScheduleBlock& block) const {
    if (mine.store != rules.store)
      block.clauses.push_back({word("store"), word(std::string(type_name(mine.store)))});
    if (mine.accumulate != rules.accumulate)
      block.clauses.push_back({word("accumulate"), word(std::string(type_name(mine.accumulate)))});
  }
};

}  // namespace

std::vector<ScheduleBlock> blocks_of(const Program& program, const Schedule& schedule) {
  const size_t n = program.defs.size();
  Writer writer{program, schedule, DefIndex(program), std::vector<bool>(n), std::vector<bool>(n)};
  for (const Output& output : program.outputs)
    if (const auto def = writer.index.of(output.tensor)) writer.is_output[def->value] = true;
  const Schedule rules = schedule_auto(program);
  std::vector<ScheduleBlock> blocks;
  for (const KernelSchedule& kernel : schedule.kernels) {
    ScheduleBlock block{.tensor = writer.tensor_of(kernel.root), .clauses = {}, .span = {}};
    writer.write_splits(kernel, block);
    writer.write_places(kernel, block);
    writer.write_formats(schedule.format(kernel.root), rules.format(kernel.root), block);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace tang
