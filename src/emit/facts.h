// What a module promises about its dims and scalars: what the entry point checks before a kernel
// runs, and so what every kernel may count on.
#pragma once

#include <vector>

#include "affine/prove.h"
#include "kernel/module.h"

namespace tang::emit {

// Bounds of each dim (at least 0), ranges of the integer scalars, then the module's own checks; no
// two alike, and none that an earlier one states.
std::vector<kernel::Check> entry_checks(const kernel::Module& module, Forms& forms);
Facts facts_of(const std::vector<kernel::Check>& checks);

// Bytes of a tensor's elements.
FormId tensor_bytes(const kernel::ModuleTensor& tensor, Forms& forms);

}  // namespace tang::emit
