// Prints the kernels and functions of a module through a dialect: the part that targets share.
#pragma once

#include "affine/prove.h"
#include "emit/dialect.h"

namespace tang::emit {

// The module is legalized for the dialect; an operation that it cannot spell is a broken invariant.
Printed print_module(const kernel::Module& module, const Dialect& dialect);

// Whether two parameters of a kernel may share memory in some launch, one of them being written.
// `forms` are the module's, `facts` what its entry point checks.
bool may_alias(const kernel::Module& module, Forms& forms, const Facts& facts, uint32_t kernel,
               uint32_t parameter);

// Parameters of a kernel stand in this order: buffers, dims, scalars.

}  // namespace tang::emit
