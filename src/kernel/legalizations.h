// The rows of the table in legalize.cpp, a file each, and what they share.
#pragma once

#include <array>
#include <functional>

#include "kernel/legalize.h"

namespace tang::kernel {

void expand_small_floats(Module& module, const Capabilities& capabilities);
void expand_numbers(Module& module, const Capabilities& capabilities);
void expand_math(Module& module, const Capabilities& capabilities);
void split_fma(Module& module, const Capabilities& capabilities);
void limit_unroll(Module& module, const Capabilities& capabilities);
void bind_shared(Module& module, const Capabilities& capabilities);

// Rebuilds every expression of the module's kernels bottom up. `visit` gets a node with its new
// arguments and gives the new node, or an invalid id to rebuild it as it was.
using Visit =
    std::function<ExprId(const Kernel&, const Expr& old, const std::array<ExprId, 3>& args)>;
void rewrite_expressions(Module& module, const Visit& visit);

}  // namespace tang::kernel
