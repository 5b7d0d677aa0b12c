// Which buffers a module has, where in the workspace the intermediate ones lie, and which kernels
// share their code.
#pragma once

#include "lower/tile.h"

namespace tang {

// Declares the module's tensors and says where each tensor of the program is read and written.
tile::Storage lay_out(const Program& program, const Schedule& schedule, kernel::Module& module);

// Parameters in the order in which the kernel first uses them, and the launch's arguments with
// them.
void order_parameters(kernel::Module& module, kernel::Kernel& kernel, std::vector<uint32_t>& args);

// Makes one kernel of those that differ only in names, arguments and constant offsets.
void share_kernels(kernel::Module& module);

// Offsets by liveness over the launches, first fit.
void assign_workspace(kernel::Module& module);

}  // namespace tang
