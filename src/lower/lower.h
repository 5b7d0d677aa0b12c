// A program and its schedule to a module: build the tile tree of each kernel, hang the pieces,
// peel, print as kernel IR, and lay out the host program. Knows no preset, no operator and no
// target.
#pragma once

#include <string>

#include "ir/schedule.h"
#include "kernel/module.h"

namespace tang {

struct LowerOptions {
  std::string prefix = "tang";
  bool check_indices = false;  // the entry point checks what is declared of elements
};

kernel::Module lower(const Program& program, const Schedule& schedule, const LowerOptions& options);

}  // namespace tang
