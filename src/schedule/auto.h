// A schedule by rule, with no measurement and no device: which definitions are kernels, which are
// computed inside their readers, and how each kernel's axes split.
#pragma once

#include "ir/schedule.h"

namespace tang {

Schedule schedule_auto(const Program& program);
// One line for each kernel, in words: "point: rows i in parallel, ...". For banners and --emit=ir.
std::string describe(const Program& program, const Schedule& schedule, DefId root);

}  // namespace tang
