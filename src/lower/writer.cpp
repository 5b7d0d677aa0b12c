// The frame of a kernel: its name, parameters and states, then the body from the tile tree.
#include "lower/writer.h"

#include <algorithm>

#include "support/panic.h"

namespace tang::tile {

using kernel::Access;
using kernel::BufferId;
using kernel::Space;

Writer::Writer(const Program& program, const Schedule& schedule, const Tree& tree,
               const Storage& storage, kernel::Module& module)
    : program_(program),
      schedule_(schedule),
      tree_(tree),
      storage_(storage),
      module_(module),
      index_(storage.index) {}

std::string Writer::unique(const std::string& name) {
  std::string out = name;
  for (int n = 2; !names_.insert(out).second; ++n) out = fmt::format("{}_{}", name, n);
  return out;
}

// Module tensors that evaluating a definition reads, through inlined definitions.
void Writer::collect_reads(DefId node, std::set<uint32_t>& tensors) const {
  std::set<uint32_t> seen;
  std::vector<DefId> stack = {node};
  while (!stack.empty()) {
    const DefId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id.value).second) continue;
    for (const Read& read : program_.comprehension(id).reads) {
      const auto from = index_.of(read.tensor);
      const At at = from ? schedule_.place(*from).at : At::root;
      if (at == At::root)
        tensors.insert(storage_.read.at(read.tensor));
      else
        stack.push_back(*from);
    }
  }
}

void Writer::declare_parameters() {
  std::set<uint32_t> reads, writes;
  collect_reads(tree_.root, reads);
  const ComprehensionId root = program_.def(tree_.root).id;
  for (const uint32_t k : tree_.components)
    for (const uint32_t place : storage_.write.at(program_.arena->component(root, k)))
      writes.insert(place);
  std::set<uint32_t> all = reads;
  all.insert(writes.begin(), writes.end());
  for (const uint32_t place : all) {
    args_.push_back(place);
    const kernel::ModuleTensor& t = module_.tensors[place];
    const Access access = !writes.contains(place) ? Access::read
                          : reads.contains(place) ? Access::read_write
                                                  : Access::write;
    parameters_.emplace(place, BufferId(kernel_.buffers.size()));
    kernel_.buffers.push_back({.name = unique(t.name),
                               .type = t.type,
                               .space = Space::device,
                               .access = access,
                               .size = 0});
  }
  kernel_.n_params = static_cast<uint32_t>(kernel_.buffers.size());
}

void Writer::declare_states() {
  for (const State& s : tree_.states) {
    int64_t size = 1;
    for (const OwnAxis& own : s.own) size *= own.count;
    scalars_.emplace_back();
    arrays_.emplace_back();
    if (!s.own.empty()) {
      kernel_.buffers.push_back({.name = unique(s.name),
                                 .type = s.type,
                                 .space = Space::lane,
                                 .access = Access::read_write,
                                 .size = size});
      arrays_.back() = BufferId(kernel_.buffers.size() - 1);
    }
  }
}

Written Writer::write() {
  const Def& def = program_.def(tree_.root);
  for (const uint32_t k : tree_.components)
    if (kernel_.name.empty() && k < def.names.size()) kernel_.name = def.names[k];
  if (kernel_.name.empty()) kernel_.name = "kernel";
  for (const Dim& d : program_.dims) names_.insert(d.name);
  for (const Scalar& s : program_.scalars) names_.insert(s.name);
  declare_parameters();
  declare_states();
  for (const Axis& axis : tree_.axes)
    positions_.push_back({.at = module_.forms.constant(0), .end = axis.extent, .clipped = false});
  block_ = &kernel_.body;
  items(tree_.body);
  drop_unused(kernel_, module_);
  kernel_.origin = tree_.root.value;
  return {.kernel = std::move(kernel_), .args = std::move(args_)};
}

Written write_kernel(const Program& program, const Schedule& schedule, const Tree& tree,
                     const Storage& storage, kernel::Module& module) {
  return Writer(program, schedule, tree, storage, module).write();
}

}  // namespace tang::tile
