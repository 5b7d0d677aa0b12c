// The canonical formatting of a program, which `tangc fmt` prints (language reference, section 11):
// one item a line, blocks indented by two, comments kept. It means what the program means, and
// formatting it again changes nothing.
#pragma once

#include <string>

#include "support/diagnostics.h"
#include "text/ast.h"

namespace tang::syntax {

// The file is as parse_syntax read it from `sources`.
std::string format(const Sources& sources, const File& file);

}  // namespace tang::syntax
