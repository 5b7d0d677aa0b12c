// Runs a function of a module on many arguments at once: one loop of native arithmetic for each
// operation, so that tests may look at millions of floats. All branches are evaluated, as a
// vectorizing compiler may do; a conversion of a real that does not fit its integer throws.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/module.h"

namespace tang::kernel {

union Lane {
  float f32;
  double f64;
  int32_t i32;
  int64_t i64;
  bool boolean;
};
using Lanes = std::vector<Lane>;

Lanes run_function(const Module& module, uint32_t function, const std::vector<Lanes>& args);

}  // namespace tang::kernel
