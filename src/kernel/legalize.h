// Legalizations: kernel IR to kernel IR that a target can say. Each is a row of one table; a
// dialect states the capabilities that decide which rows it needs, and a check asserts the result.
#pragma once

#include <string_view>
#include <vector>

#include "kernel/module.h"

namespace tang::kernel {

struct Capabilities {
  bool libm_f64 = true;  // the target has f64 math functions of its own
  bool fma = true;       // fused multiply-add as an operation
  int max_unroll = 16;   // trips of an unrolled loop
};

struct Legalization {
  std::string_view name;
  std::string_view purpose;
  bool (*needed)(const Capabilities&);
  void (*apply)(Module&, const Capabilities&);
};

const std::vector<Legalization>& legalizations();  // in the order in which they run
void legalize(Module& module, const Capabilities& capabilities);

}  // namespace tang::kernel
