#include "interp/interp.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "interp/fold.h"
#include "support/panic.h"

namespace tang {

using interpreter::Instance;
using interpreter::Machine;
using interpreter::Outcome;
using interpreter::Pass;
using interpreter::point_axes;

namespace {

// One element of a tensor.
struct Cell {
  TensorId tensor;
  int64_t offset = 0;
};

int64_t offset_of(const std::vector<int64_t>& shape, std::span<const int64_t> point) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + point[d];
  return offset;
}

}  // namespace

struct Interpreter::State {
  const Program& program;
  const Bindings& bindings;
  Instance instance;
  std::unordered_map<TensorId, Array> whole;  // tensors that are computed everywhere

  // On demand: the elements known so far, and a plan and a machine for each pass.
  struct Runner {
    Pass pass;
    Machine machine;
  };
  std::unordered_map<TensorId, std::unordered_map<int64_t, Value>> known;
  std::unordered_map<TensorId, Runner*> runner_of;
  std::vector<std::unique_ptr<Runner>> runners;
  std::vector<Cell> missing;  // by the fold that runs

  const Tensor& tensor(TensorId id) const { return program.arena->tensors[id]; }
  ComprehensionId source(TensorId id) const { return ComprehensionId(size_t{tensor(id).source}); }
  const Comprehension& comprehension(TensorId id) const {
    return program.arena->comprehensions[source(id)];
  }

  std::vector<DefId> needed_defs(const std::vector<TensorId>& roots) const;
  void compute(const std::vector<TensorId>& tensors);
  void compute_input(TensorId id);
  void compute_def(ComprehensionId id);
  void run_pass(ComprehensionId id, const Pass& pass);
  void run_update(ComprehensionId id, const Pass& pass);

  Runner& runner(TensorId id);
  bool lookup(TensorId id, int64_t offset, Value& value) const;
  void demand(Cell cell);
  void demand_here(Cell cell);
};

// Which definitions must run before the roots are known, in program order.
std::vector<DefId> Interpreter::State::needed_defs(const std::vector<TensorId>& roots) const {
  std::unordered_set<uint32_t> needed;  // comprehensions
  const auto need = [&](TensorId id) {
    if (tensor(id).kind == TensorKind::component && !whole.contains(id))
      needed.insert(tensor(id).source);
  };
  for (const TensorId root : roots) need(root);
  std::vector<DefId> order;
  for (size_t i = program.defs.size(); i-- > 0;) {
    const ComprehensionId id = program.defs[i].id;
    if (needed.erase(id.value) == 0) continue;
    order.push_back(DefId(i));
    for (const Read& read : program.arena->comprehensions[id].reads) need(read.tensor);
  }
  TANG_ASSERT(needed.empty(), "a tensor is read that no earlier definition computes");
  std::reverse(order.begin(), order.end());
  return order;
}

void Interpreter::State::compute_input(TensorId id) {
  if (whole.contains(id)) return;
  const Array& given = bindings.inputs[tensor(id).source];
  whole.emplace(id, convert(given, kind_of(given.type)));
}

void Interpreter::State::compute(const std::vector<TensorId>& tensors) {
  for (const DefId def : needed_defs(tensors)) compute_def(program.def(def).id);
  for (const TensorId id : tensors)
    if (tensor(id).kind == TensorKind::input) compute_input(id);
}

void Interpreter::State::compute_def(ComprehensionId id) {
  if (whole.contains(program.arena->component(id, 0))) return;  // one node of several names
  const Comprehension& c = program.arena->comprehensions[id];
  for (const Read& read : c.reads)
    if (tensor(read.tensor).kind == TensorKind::input) compute_input(read.tensor);
  for (const Pass& pass : plan_passes(instance, c))
    if (c.is_update())
      run_update(id, pass);
    else
      run_pass(id, pass);
}

// The old version, with the elements replaced that the points name.
void Interpreter::State::run_update(ComprehensionId id, const Pass& pass) {
  const Comprehension& c = program.arena->comprehensions[id];
  Array array = whole.at(program.arena->updated(c));
  Machine machine = make_machine(instance, pass);
  for (size_t i = 0; i < machine.arrays.size(); ++i)
    machine.arrays[i] = &whole.at(pass.code.graph.tensors[i]);
  std::vector<int64_t> axes(c.n_axes()), extents;
  int64_t n_points = 1;
  for (const FormId extent : c.extents) {
    extents.push_back(instance.extent(extent));
    n_points *= extents.back();
  }
  for (int64_t point = 0; point < n_points; ++point) {
    int64_t rest = point;
    for (size_t a = axes.size(); a-- > 0; rest /= extents[a]) axes[a] = rest % extents[a];
    if (run(pass.code, machine, axes.data()) == Outcome::done)
      array.set(machine.registers[*pass.target].integer, machine.registers[pass.results[0][0]]);
  }
  whole.insert_or_assign(program.arena->component(id, 0), std::move(array));
}

// Every point of the pass's axes, the last the fastest; each result goes where its component's own
// order of the axes puts it.
void Interpreter::State::run_pass(ComprehensionId id, const Pass& pass) {
  const Comprehension& c = program.arena->comprehensions[id];
  struct Target {
    Array* array;
    std::vector<int64_t> strides;   // by pass.points
    std::vector<uint32_t> results;  // of consecutive elements
  };
  std::vector<Target> targets;
  for (size_t i = 0; i < pass.stored.size(); ++i) {
    const TensorId t = program.arena->component(id, pass.stored[i]);
    Array& array =
        whole.insert_or_assign(t, Array(tensor(t).type, instance.shape(t))).first->second;
    Target target{.array = &array,
                  .strides = std::vector<int64_t>(pass.points.size()),
                  .results = pass.results[i]};
    int64_t stride = 1;
    const std::vector<uint8_t>& axes = c.components[pass.stored[i]].axes;
    for (size_t d = axes.size(); d-- > 0;) {
      const auto place = std::find(pass.points.begin(), pass.points.end(), axes[d]);
      if (place != pass.points.end())
        target.strides[static_cast<size_t>(place - pass.points.begin())] = stride;
      stride *= array.shape[d];
    }
    targets.push_back(std::move(target));
  }
  Machine machine = make_machine(instance, pass);
  for (size_t i = 0; i < machine.arrays.size(); ++i)
    machine.arrays[i] = &whole.at(pass.code.graph.tensors[i]);

  std::vector<int64_t> axes(c.n_axes()), extents;
  for (const uint8_t axis : pass.points) extents.push_back(instance.extent(c.extents[axis]));
  int64_t n_points = 1;
  for (const int64_t extent : extents) n_points *= extent;
  int64_t begin = 0;  // of what a scan has not folded
  for (int64_t point = 0; point < n_points; ++point) {
    int64_t rest = point;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d])
      axes[pass.points[d]] = rest % extents[d];
    if (pass.scan)
      fold_on(pass, machine, axes, begin);
    else
      fold(pass, machine, axes);
    for (const Target& target : targets) {
      int64_t offset = 0;
      for (size_t d = 0; d < extents.size(); ++d)
        offset += axes[pass.points[d]] * target.strides[d];
      for (const uint32_t result : target.results)
        target.array->set(offset++, machine.registers[result]);
    }
  }
}

bool Interpreter::State::lookup(TensorId id, int64_t offset, Value& value) const {
  if (const auto found = whole.find(id); found != whole.end()) {
    value = found->second.get(offset);
    return true;
  }
  const auto cells = known.find(id);
  if (cells == known.end()) return false;
  const auto found = cells->second.find(offset);
  if (found == cells->second.end()) return false;
  value = found->second;
  return true;
}

// The pass that computes a component. Inputs are read as they are; all else is looked up.
Interpreter::State::Runner& Interpreter::State::runner(TensorId id) {
  if (const auto found = runner_of.find(id); found != runner_of.end()) return *found->second;
  for (Pass& pass : plan_passes(instance, comprehension(id))) {
    runners.push_back(std::make_unique<Runner>(Runner{.pass = std::move(pass), .machine = {}}));
    Runner& made = *runners.back();
    made.machine = make_machine(instance, made.pass);
    for (size_t i = 0; i < made.machine.arrays.size(); ++i) {
      const TensorId t = made.pass.code.graph.tensors[i];
      if (tensor(t).kind == TensorKind::input)
        made.machine.arrays[i] = &bindings.inputs[tensor(t).source];
    }
    made.machine.lookup = [this](TensorId t, int64_t offset, Value& value) {
      if (lookup(t, offset, value)) return true;
      missing.push_back({.tensor = t, .offset = offset});
      return false;
    };
    for (const uint32_t k : made.pass.stored)
      runner_of.emplace(program.arena->component(source(id), k), &made);
  }
  return *runner_of.at(id);
}

// Computes a cell from known cells, or leaves those that are still unknown in `missing`.
void Interpreter::State::demand_here(Cell cell) {
  Runner& r = runner(cell.tensor);
  const Comprehension& c = comprehension(cell.tensor);
  const std::vector<int64_t> shape = instance.shape(cell.tensor);
  const std::vector<uint8_t>& own = c.components[tensor(cell.tensor).component].axes;
  std::vector<int64_t> axes(c.n_axes());
  int64_t rest = cell.offset;
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) axes[own[d]] = rest % shape[d];
  missing.clear();
  if (fold(r.pass, r.machine, axes) == Outcome::missing) return;
  for (size_t i = 0; i < r.pass.stored.size(); ++i) {
    const uint32_t k = r.pass.stored[i];
    const TensorId t = program.arena->component(source(cell.tensor), k);
    int64_t offset = 0;
    for (const uint8_t axis : point_axes(*program.arena, c, k))
      offset = offset * instance.extent(c.extents[axis]) + axes[axis];
    offset *= static_cast<int64_t>(r.pass.results[i].size());
    for (const uint32_t result : r.pass.results[i])
      known[t].emplace(offset++, r.machine.registers[result]);
  }
}

// A cell is tried again after the cells it lacked; the stack holds what is still to be known.
void Interpreter::State::demand(Cell cell) {
  std::vector<Cell> stack = {cell};
  while (!stack.empty()) {
    const Cell top = stack.back();
    Value value;
    if (lookup(top.tensor, top.offset, value)) {
      stack.pop_back();
      continue;
    }
    if (comprehension(top.tensor).is_update()) {  // which point writes a cell is not asked
      compute({top.tensor});
      continue;
    }
    demand_here(top);
    stack.insert(stack.end(), missing.begin(), missing.end());
    missing.clear();
  }
}

Interpreter::Interpreter(const Program& program, const Bindings& bindings)
    : state_(new State{
          .program = program,
          .bindings = bindings,
          .instance = {.program = program, .dims = bindings.dims, .scalars = bindings.scalars},
          .whole = {},
          .known = {},
          .runner_of = {},
          .runners = {},
          .missing = {}}) {
  TANG_ASSERT(bindings.dims.size() == program.dims.size() &&
                  bindings.scalars.size() == program.scalars.size() &&
                  bindings.inputs.size() == program.inputs.size(),
              "{} dims, {} scalars, {} inputs are bound of {}, {}, {}", bindings.dims.size(),
              bindings.scalars.size(), bindings.inputs.size(), program.dims.size(),
              program.scalars.size(), program.inputs.size());
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const Input& input = program.inputs[i];
    TANG_ASSERT(bindings.inputs[i].type == state_->tensor(input.tensor).type &&
                    bindings.inputs[i].shape == shape(input.tensor),
                "input {} is bound to an array of another type or shape", input.name);
  }
}

Interpreter::~Interpreter() = default;

std::vector<int64_t> Interpreter::shape(TensorId tensor) const {
  return state_->instance.shape(tensor);
}

const Array& Interpreter::eval(TensorId tensor) {
  state_->compute({tensor});
  return state_->whole.at(tensor);
}

Value Interpreter::eval_at(TensorId tensor, std::span<const int64_t> point) {
  const std::vector<int64_t> extents = shape(tensor);
  TANG_ASSERT(point.size() == extents.size(), "a point of {} coordinates for {} dimensions",
              point.size(), extents.size());
  for (size_t d = 0; d < extents.size(); ++d)
    TANG_ASSERT(point[d] >= 0 && point[d] < extents[d], "coordinate {} of a point is {} of {}", d,
                point[d], extents[d]);
  const int64_t offset = offset_of(extents, point);
  if (const auto found = state_->whole.find(tensor); found != state_->whole.end())
    return found->second.get(offset);
  const Tensor& t = state_->tensor(tensor);
  if (t.kind == TensorKind::input) return state_->bindings.inputs[t.source].get(offset);
  Value value = {};
  state_->demand({.tensor = tensor, .offset = offset});
  TANG_ASSERT(state_->lookup(tensor, offset, value), "a demanded value is not known");
  return value;
}

std::vector<Array> Interpreter::outputs() {
  std::vector<TensorId> tensors;
  for (const Output& output : state_->program.outputs) tensors.push_back(output.tensor);
  state_->compute(tensors);
  std::vector<Array> arrays;
  for (const Output& output : state_->program.outputs)
    arrays.push_back(convert(state_->whole.at(output.tensor), output.type));
  return arrays;
}

}  // namespace tang
