// The C11 dialect's functions, from which the other dialects take what they share.
#pragma once

#include "emit/dialect.h"
#include "emit/helpers.h"

namespace tang::emit::c {

// Words of C and C++, and names that their headers define; and the helpers' names.
bool is_reserved(std::string_view name);
const std::vector<Helper>& helpers();

std::vector<Artifact> files(const kernel::Module& module, const Printed& printed,
                            const std::string& stem);

}  // namespace tang::emit::c
