// The interpreter of machine.h's code, and the host: memory, checks, launches in order.
#include "kernel/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernel/machine.h"
#include "kernel/walk.h"
#include "support/panic.h"

namespace tang::kernel {

namespace {

// One stretch of memory. `owners` has an entry for each unit of it: the number of the tensor whose
// value it holds, 0 where nothing was written. Workspace is one stretch for all of its tensors, by
// bytes, so that a slot that is reused too early is noticed; others are one tensor each.
struct Memory {
  std::vector<std::byte> bytes;  // not of arrays, which have their own
  std::vector<uint32_t> owners;
};

struct Binding {  // a kernel's buffer
  Type type = Type::f32;
  std::byte* bytes = nullptr;
  uint32_t* owners = nullptr;
  uint32_t owner = 0;  // what a store leaves
  int64_t units = 1;   // owners of one element
  int64_t size = 0;    // elements
};

constexpr std::byte kPoison{0xFF};  // a NaN in every real format

// A buffer of real storage may be accessed by its bits: the value is then an i32.
bool by_bits(Type buffer, Type value) {
  return is_real(buffer) && value == Type::i32;
}

Value load(Type buffer, Type value, const std::byte* bytes, int64_t index) {
  if (buffer == Type::f32 && value == Type::f32) {
    float v;
    std::memcpy(&v, bytes + index * 4, 4);
    return real_value(static_cast<double>(v));
  }
  if (by_bits(buffer, value)) {
    uint32_t bits = 0;
    const auto width = static_cast<size_t>(type_bits(buffer) / 8);
    std::memcpy(&bits, bytes + index * static_cast<int64_t>(width), width);
    return integer_value(static_cast<int32_t>(bits));
  }
  return load_element(buffer, bytes, index);
}

void store(Type buffer, Type type, std::byte* bytes, int64_t index, Value value) {
  if (by_bits(buffer, type)) {
    const auto width = static_cast<size_t>(type_bits(buffer) / 8);
    const auto bits = static_cast<uint32_t>(value.integer);
    std::memcpy(bytes + index * static_cast<int64_t>(width), &bits, width);
    return;
  }
  store_element(buffer, bytes, index, convert(type, buffer, value));
}

class Execution {
 public:
  Execution(const Kernel& kernel, const Machine& machine, std::vector<Binding> buffers,
            Counts& counts)
      : kernel_(kernel),
        machine_(machine),
        buffers_(std::move(buffers)),
        counts_(counts),
        registers_(machine.n_registers) {
    for (const auto& [index, value] : machine.presets) registers_[index] = value;
  }

  std::string run();  // gives the fault

 private:
  int64_t form(uint32_t index) const {
    return evaluate(machine_.forms, machine_.forms[index], registers_);
  }
  bool load_into(const Instruction& i, uint32_t at);
  bool store_from(const Instruction& i, uint32_t at);
  std::string fault(uint32_t at, const std::string& what) const;

  const Kernel& kernel_;
  const Machine& machine_;
  std::vector<Binding> buffers_;
  Counts& counts_;
  std::vector<Value> registers_;
  std::vector<uint32_t> returns_;
  std::string fault_;
};

std::string Execution::fault(uint32_t at, const std::string& what) const {
  std::string where;
  for (const LoopRange& loop : machine_.loops)
    if (loop.begin <= at && at < loop.end)
      where +=
          fmt::format("{}{} = {}", where.empty() ? " (" : ", ",
                      kernel_.variables[loop.var.value].name, registers_[loop.var.value].integer);
  return fmt::format("kernel {}: {}{}", kernel_.name, what, where.empty() ? "" : where + ")");
}

bool Execution::load_into(const Instruction& i, uint32_t at) {
  const Binding& b = buffers_[i.a];
  const int64_t address = form(i.b);
  if (address < 0 || address >= b.size) {
    fault_ = fault(at, fmt::format("load of {} at {}, which has {} elements",
                                   kernel_.buffers[i.a].name, address, b.size));
    return false;
  }
  for (int64_t u = address * b.units; u < (address + 1) * b.units; ++u) {
    if (b.owners[u] == b.owner) continue;
    fault_ = fault(at, fmt::format("load of {} at {}, which {}", kernel_.buffers[i.a].name, address,
                                   b.owners[u] == 0 ? "was never written"
                                                    : "holds a value of another tensor"));
    return false;
  }
  ++counts_.loads[i.a];
  registers_[i.dst] = load(b.type, i.type, b.bytes, address);
  return true;
}

bool Execution::store_from(const Instruction& i, uint32_t at) {
  const Binding& b = buffers_[i.a];
  const int64_t address = form(i.b);
  if (address < 0 || address >= b.size) {
    fault_ = fault(at, fmt::format("store to {} at {}, which has {} elements",
                                   kernel_.buffers[i.a].name, address, b.size));
    return false;
  }
  for (int64_t u = address * b.units; u < (address + 1) * b.units; ++u) b.owners[u] = b.owner;
  ++counts_.stores[i.a];
  ++counts_.statements;
  store(b.type, i.type, b.bytes, address, registers_[i.c]);
  return true;
}

std::string Execution::run() {
  std::vector<Value>& r = registers_;
  for (uint32_t at = machine_.entry;; ++at) {
    const Instruction& i = machine_.code[at];
    switch (i.code) {
      case Code::evaluate: {
        const Value args[3] = {r[i.a], r[i.b], r[i.c]};
        r[i.dst] = evaluate_op(i.op, i.operand, i.type, args);
        break;
      }
      case Code::add_f32:
        r[i.dst].real = static_cast<double>(static_cast<float>(r[i.a].real + r[i.b].real));
        break;
      case Code::sub_f32:
        r[i.dst].real = static_cast<double>(static_cast<float>(r[i.a].real - r[i.b].real));
        break;
      case Code::mul_f32:
        r[i.dst].real = static_cast<double>(static_cast<float>(r[i.a].real * r[i.b].real));
        break;
      case Code::add_f64:
        r[i.dst].real = r[i.a].real + r[i.b].real;
        break;
      case Code::sub_f64:
        r[i.dst].real = r[i.a].real - r[i.b].real;
        break;
      case Code::mul_f64:
        r[i.dst].real = r[i.a].real * r[i.b].real;
        break;
      case Code::move:
        r[i.dst] = r[i.a];
        counts_.statements += i.target;
        break;
      case Code::form:
        r[i.dst] = integer_value(wrap_to(i.type, form(i.a)));
        break;
      case Code::load:
        if (!load_into(i, at)) return fault_;
        break;
      case Code::store:
        if (!store_from(i, at)) return fault_;
        break;
      case Code::branch:
        ++counts_.statements;
        if (!r[i.a].integer) at = i.target - 1;
        break;
      case Code::jump_false:
        if (!r[i.a].integer) at = i.target - 1;
        break;
      case Code::jump_true:
        if (r[i.a].integer) at = i.target - 1;
        break;
      case Code::jump:
        at = i.target - 1;
        break;
      case Code::call:
        returns_.push_back(at);
        at = i.target - 1;
        break;
      case Code::once:
        if (!r[i.a].integer) {
          r[i.a].integer = 1;
          break;
        }
        [[fallthrough]];
      case Code::ret:
        at = returns_.back();
        returns_.pop_back();
        break;
      case Code::reset:
        r[i.a].integer = 0;
        break;
      case Code::loop_enter:
        ++counts_.statements;
        r[i.b].integer = form(i.c);
        r[i.dst].integer = form(i.a);
        break;
      case Code::loop_test:
        if (r[i.dst].integer >= r[i.b].integer) at = i.target - 1;
        break;
      case Code::loop_next:
        r[i.dst].integer += r[i.b].integer;
        at = i.target - 1;
        break;
      case Code::task_begin:
        for (const BufferId b : machine_.local_sets[i.a])
          std::fill_n(buffers_[b.value].owners, buffers_[b.value].size, 0u);
        break;
      case Code::halt:
        return {};
    }
  }
}

// The memory of a call of the entry point, and its launches in order.
class Host {
 public:
  Host(const Module& module, const std::vector<int64_t>& dims, const std::vector<Value>& scalars,
       std::vector<Array>& tensors)
      : module_(module), dims_(dims), scalars_(scalars), tensors_(tensors) {}

  RunResult run();

 private:
  int64_t value(FormId form) const {
    return module_.forms.evaluate(form, [&](Var v) {
      if (v.kind == VarKind::dim) return dims_.at(v.index);
      TANG_ASSERT(v.kind == VarKind::scalar, "a host form has a kernel's variable");
      return scalars_.at(v.index).integer;
    });
  }
  std::string check() const;
  std::string allocate();
  std::string check_elements() const;
  std::string launch(const Launch& launch, Counts& counts);
  std::string unwritten_output() const;
  Binding bind(uint32_t tensor);

  const Module& module_;
  const std::vector<int64_t>& dims_;
  const std::vector<Value>& scalars_;
  std::vector<Array>& tensors_;
  std::vector<Memory> memories_;  // by module tensor; workspace tensors share workspace_
  Memory workspace_;
};

std::string Host::check() const {
  if (dims_.size() != module_.dims.size() || scalars_.size() != module_.scalars.size())
    return fmt::format("{} dims and {} scalars are given, {} and {} are needed", dims_.size(),
                       scalars_.size(), module_.dims.size(), module_.scalars.size());
  for (const Check& c : module_.checks) {
    const int64_t v = value(c.form);
    if (c.modulus == 0 ? v < 0 : v % c.modulus != 0) return "check failed: " + c.message;
  }
  return {};
}

std::string Host::allocate() {
  size_t n_arrays = 0;
  memories_.resize(module_.tensors.size());
  for (size_t t = 0; t < module_.tensors.size(); ++t) {
    const ModuleTensor& tensor = module_.tensors[t];
    if (tensor.role == TensorRole::workspace) continue;
    if (n_arrays == tensors_.size()) return fmt::format("no array is given for {}", tensor.name);
    Array& array = tensors_[n_arrays++];
    const int64_t n = value(tensor.elements);
    const bool output = tensor.role == TensorRole::output;
    if (output) {
      array.type = tensor.type;
      array.shape.clear();
      for (const FormId extent : tensor.shape) array.shape.push_back(value(extent));
      array.data.assign(static_cast<size_t>(bytes_of(tensor.type, n)), kPoison);
    }
    if (array.type != tensor.type || array.size() != n)
      return fmt::format("{} is {}[{}], an array of {}[{}] is given", tensor.name,
                         type_name(tensor.type), n, type_name(array.type), array.size());
    memories_[t].owners.assign(static_cast<size_t>(n), output ? 0 : static_cast<uint32_t>(t + 1));
  }
  if (n_arrays != tensors_.size())
    return fmt::format("{} arrays are given, {} are needed", tensors_.size(), n_arrays);
  if (module_.workspace_bytes.valid()) {
    const auto bytes = static_cast<size_t>(value(module_.workspace_bytes));
    workspace_.bytes.assign(bytes, kPoison);
    workspace_.owners.assign(bytes, 0);
  }
  for (size_t t = n_arrays; t < module_.tensors.size(); ++t) {
    const ModuleTensor& tensor = module_.tensors[t];
    const int64_t begin = value(tensor.workspace_offset);
    const int64_t end = begin + bytes_of(tensor.type, value(tensor.elements));
    if (begin < 0 || end > static_cast<int64_t>(workspace_.bytes.size()))
      return fmt::format("{} takes the bytes {} to {} of a workspace of {}", tensor.name, begin,
                         end, workspace_.bytes.size());
  }
  return {};
}

std::string Host::check_elements() const {
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const ModuleTensor& tensor = module_.tensors[t];
    if (!tensor.checked) continue;
    const int64_t low = tensor.range_lo.valid() ? value(tensor.range_lo) : INT64_MIN;
    const int64_t end = tensor.range_hi.valid() ? value(tensor.range_hi) : INT64_MAX;
    for (int64_t i = 0; i < tensors_[t].size(); ++i) {
      const int64_t element = tensors_[t].get(i).integer;
      if (element < low || (tensor.range_hi.valid() && element >= end))
        return fmt::format("check failed: element {} of {} is {}, out of its range", i, tensor.name,
                           element);
      if (tensor.sorted && i > 0 && element < tensors_[t].get(i - 1).integer)
        return fmt::format("check failed: element {} of {} is not sorted", i, tensor.name);
    }
  }
  return {};
}

Binding Host::bind(uint32_t t) {
  const ModuleTensor& tensor = module_.tensors[t];
  Binding b{.type = tensor.type, .owner = t + 1, .size = value(tensor.elements)};
  if (tensor.role == TensorRole::workspace) {
    TANG_ASSERT(tensor.type != Type::i4, "{}: no workspace is packed", tensor.name);
    const int64_t offset = value(tensor.workspace_offset);
    b.units = type_bits(tensor.type) / 8;
    b.bytes = workspace_.bytes.data() + offset;
    b.owners = workspace_.owners.data() + offset;
  } else {
    b.bytes = tensors_[t].data.data();
    b.owners = memories_[t].owners.data();
  }
  return b;
}

// The rest of an argument from an element on.
Binding moved(Binding b, int64_t elements) {
  if (elements == 0) return b;
  TANG_ASSERT(b.type != Type::i4 && elements > 0 && elements <= b.size, "an offset of {} of {}",
              elements, b.size);
  b.bytes += bytes_of(b.type, elements);
  b.owners += elements * b.units;
  b.size -= elements;
  return b;
}

std::string Host::launch(const Launch& launch, Counts& counts) {
  const Kernel& kernel = module_.kernels[launch.kernel];
  counts = {.kernel = kernel.name,
            .loads = std::vector<int64_t>(kernel.buffers.size()),
            .stores = std::vector<int64_t>(kernel.buffers.size())};
  std::vector<Binding> bindings;
  for (size_t p = 0; p < launch.args.size(); ++p) {
    Binding b = bind(launch.args[p]);
    if (p < launch.offsets.size()) b = moved(b, value(launch.offsets[p]));
    bindings.push_back(b);
  }
  std::vector<Memory> locals(kernel.buffers.size());
  for (size_t i = kernel.n_params; i < kernel.buffers.size(); ++i) {
    const Buffer& b = kernel.buffers[i];
    locals[i].bytes.assign(static_cast<size_t>(bytes_of(b.type, b.size)), kPoison);
    locals[i].owners.assign(static_cast<size_t>(b.size), 0);
    bindings.push_back({.type = b.type,
                        .bytes = locals[i].bytes.data(),
                        .owners = locals[i].owners.data(),
                        .owner = 1,
                        .units = 1,
                        .size = b.size});
  }
  const Machine machine = translate(module_, kernel, dims_, scalars_);
  return Execution(kernel, machine, std::move(bindings), counts).run();
}

std::string Host::unwritten_output() const {
  for (size_t t = 0; t < module_.tensors.size(); ++t) {
    if (module_.tensors[t].role != TensorRole::output) continue;
    const std::vector<uint32_t>& owners = memories_[t].owners;
    const auto hole = std::find(owners.begin(), owners.end(), 0u);
    if (hole != owners.end())
      return fmt::format("element {} of output {} was never written", hole - owners.begin(),
                         module_.tensors[t].name);
  }
  return {};
}

RunResult Host::run() {
  RunResult result;
  result.fault = check();
  if (result.fault.empty()) result.fault = allocate();
  if (result.fault.empty()) result.fault = check_elements();
  for (const Launch& l : module_.launches) {
    if (!result.fault.empty()) return result;
    result.fault = launch(l, result.counts.emplace_back());
  }
  if (result.fault.empty()) result.fault = unwritten_output();
  return result;
}

}  // namespace

RunResult run(const Module& module, const std::vector<int64_t>& dims,
              const std::vector<Value>& scalars, std::vector<Array>& tensors) {
  return Host(module, dims, scalars, tensors).run();
}

}  // namespace tang::kernel
