// The solver plugin, loaded when it is first asked for.
#pragma once

#include "check/solver.h"

namespace tang {

// Null where libtang-prove.so is neither beside the executable nor where it is installed.
Solver* loaded_solver();

}  // namespace tang
