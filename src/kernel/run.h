// Executes a module directly: the definition of kernel IR, and the cheapest debugging tool.
// f32 arithmetic rounds as f32, stores round to the buffer's type. Every load and store is checked
// for range, and loads for having been written.
#pragma once

#include <string>
#include <vector>

#include "kernel/module.h"
#include "scalar/array.h"

namespace tang::kernel {

struct Counts {  // of one launch
  std::string kernel;
  int64_t statements = 0;              // executed
  std::vector<int64_t> loads, stores;  // elements, by the kernel's buffers
};

struct RunResult {
  std::string fault;  // empty when all went well: kernel, buffer, address, what was wrong
  std::vector<Counts> counts;
};

// `tensors` holds an array for each input, inout and output of module.tensors, in that order;
// outputs and inouts are overwritten. Dims and scalars by number.
RunResult run(const Module& module, const std::vector<int64_t>& dims,
              const std::vector<Value>& scalars, std::vector<Array>& tensors);

}  // namespace tang::kernel
