// Which buffers a module has, and where in the workspace the intermediate ones lie.
#pragma once

#include "lower/tile.h"

namespace tang {

// Declares the module's tensors and says where each tensor of the program is read and written.
tile::Storage lay_out(const Program& program, const Schedule& schedule, kernel::Module& module);

// Offsets by liveness over the launches, first fit.
void assign_workspace(kernel::Module& module);

}  // namespace tang
