// Compiled kernels run in a process of their own, so that a crash or a hang is a result.
//
// The parent lays out one shared memory: the entry point's argument struct, then each tensor and
// the workspace on pages of their own, unreadable ones between them. It starts `tangc --worker`,
// sends what to load and call as JSON on its standard input, and reads the outcome from its
// standard output. Outputs and workspace are poisoned beforehand (every byte 0xFF: NaN in each real
// format), and inputs and the rest of each last page are compared afterwards.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "kernel/module.h"
#include "scalar/array.h"

namespace tang {

struct WorkerCall {
  const kernel::Module* module = nullptr;
  std::string library;  // path of the shared object that holds the module's entry point
  std::vector<int64_t> dims;
  std::vector<Value> scalars;
  std::chrono::milliseconds time_limit{60'000};
};

// Calls the entry point once. `tensors`: an array for each input, inout and output of the module in
// order; outputs and inouts are overwritten. Gives the seconds that the call took. Throws
// InternalError when the kernels crash or misbehave, CommandError when they take too long or the
// worker cannot be started.
double call_in_worker(const WorkerCall& call, std::vector<Array>& tensors);

// The other side: what `tangc --worker` does. Returns its exit status.
int serve_worker();

}  // namespace tang
