#include "driver/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/files.h"
#include "driver/native.h"
#include "driver/pipeline.h"
#include "driver/process.h"
#include "driver/worker.h"
#include "kernel/run.h"
#include "support/panic.h"

namespace tang {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string always_available() {
  return {};
}

Executed execute_interp(const Scheduled& scheduled, const Bindings& bindings, const Execution&) {
  const Clock::time_point start = Clock::now();
  Executed result{.outputs = Interpreter(scheduled.program, bindings).outputs(), .remark = {}};
  result.remark = fmt::format("evaluated in f64 in {:.3g} s", seconds_since(start));
  return result;
}

// The arrays that a module's entry point takes: inputs and inouts filled, outputs poisoned.
std::vector<Array> module_arrays(const kernel::Module& module, const Bindings& bindings) {
  const auto value = [&](Var v) -> int64_t {
    return v.kind == VarKind::dim ? bindings.dims[v.index] : bindings.scalars[v.index].integer;
  };
  std::vector<Array> arrays;
  size_t next_input = 0;
  for (const kernel::ModuleTensor& tensor : module.tensors) {
    switch (tensor.role) {
      case kernel::TensorRole::input:
      case kernel::TensorRole::inout:
        TANG_ASSERT(next_input < bindings.inputs.size(),
                    "the module has more inputs than the "
                    "program: {}",
                    tensor.name);
        arrays.push_back(bindings.inputs[next_input++]);
        break;
      case kernel::TensorRole::output: {
        std::vector<int64_t> shape;
        for (const FormId extent : tensor.shape)
          shape.push_back(module.forms.evaluate(extent, value));
        arrays.emplace_back(tensor.type, std::move(shape));
        std::fill(arrays.back().data.begin(), arrays.back().data.end(), std::byte{0xFF});
        break;
      }
      case kernel::TensorRole::workspace:
        break;
    }
  }
  return arrays;
}

// The outputs among a module's arrays, inouts at their place among them.
std::vector<Array> outputs_of(const kernel::Module& module, std::vector<Array> arrays) {
  std::vector<Array> outputs;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (module.tensors[i].role != kernel::TensorRole::input)
      outputs.push_back(std::move(arrays[i]));
  return outputs;
}

const emit::Target& c_target() {
  const emit::Target* target = emit::find_target("c");
  TANG_ASSERT(target != nullptr, "the target c is gone");
  return *target;
}

Executed execute_kernel(const Scheduled& scheduled, const Bindings& bindings,
                        const Execution& execution) {
  const Compiled compiled = back_end(scheduled, c_target(), {.verify_each = execution.verify_each});
  std::vector<Array> arrays = module_arrays(compiled.module, bindings);
  const Clock::time_point start = Clock::now();
  const kernel::RunResult result =
      kernel::run(compiled.module, bindings.dims, bindings.scalars, arrays);
  if (!result.fault.empty()) TANG_PANIC("kernel IR: {}", result.fault);
  return {.outputs = outputs_of(compiled.module, std::move(arrays)),
          .remark = fmt::format("kernel IR executed in {:.3g} s", seconds_since(start))};
}

std::string c_unavailable() {
  return c_compiler() ? "" : "there is no C compiler: neither $CC nor cc can be run";
}

Executed execute_c(const Scheduled& scheduled, const Bindings& bindings,
                   const Execution& execution) {
  const Compiled compiled = back_end(scheduled, c_target(), {.verify_each = execution.verify_each});
  const InterruptGuard interrupts;
  const TemporaryFolder folder;
  const Clock::time_point start = Clock::now();
  const Built built = build_library(emit::emit(c_target(), compiled.module, "program"), "program",
                                    folder.path(), execution.time_limit);
  const double build_seconds = seconds_since(start);
  std::vector<Array> arrays = module_arrays(compiled.module, bindings);
  const double run_seconds = call_in_worker({.module = &compiled.module,
                                             .library = built.library,
                                             .dims = bindings.dims,
                                             .scalars = bindings.scalars,
                                             .time_limit = execution.time_limit},
                                            arrays);
  return {.outputs = outputs_of(compiled.module, std::move(arrays)),
          .remark = fmt::format("built with {} in {:.2f} s, ran in {:.3g} ms", built.command,
                                build_seconds, 1000 * run_seconds)};
}

}  // namespace

const std::vector<Device>& devices() {
  static const std::vector<Device> all = {
      {.name = "c",
       .description = "the emitted C, built by $CC or cc and $CFLAGS, run in a process of its own",
       .unavailable = c_unavailable,
       .execute = execute_c},
      {.name = "kernel",
       .description = "kernel IR, each access checked",
       .unavailable = always_available,
       .execute = execute_kernel},
      {.name = "interp",
       .description = "the meaning of the program, in f64",
       .unavailable = always_available,
       .execute = execute_interp},
  };
  return all;
}

const Device* find_device(std::string_view name) {
  for (const Device& device : devices())
    if (device.name == name) return &device;
  return nullptr;
}

}  // namespace tang
