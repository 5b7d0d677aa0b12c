// Expressions of kernel IR as text. Parts that nest or run too long for a reader or a compiler
// become constants of their own before the statement, unless they need a load that stands in a
// branch: other values are pure, and safe to compute wherever the statement stands.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "emit/names.h"
#include "emit/text.h"
#include "emit/writer.h"

namespace tang::emit {

// The kernel or function whose statements are being printed, and its names.
struct Body {
  const Dialect& dialect;
  const kernel::Module& module;
  Forms& forms;
  Needs& needs;
  const std::vector<std::string>& functions;  // names, by number in the module
  Scope scope;                                // names taken so far
  Facts facts;                                // what holds where the next statement stands
  Writer out;

  const std::vector<kernel::Buffer>* buffers = nullptr;  // none in a function
  std::vector<std::string> buffer_names, variable_names, dim_names, scalar_names;
  std::vector<bool> buffer_used, dim_used, scalar_used;

  std::string name_of(Var v);
  FormPrinter form_printer() {
    return {dialect, forms, facts, [this](Var v) { return name_of(v); }, needs};
  }
};

// The type of the parameter that carries a run-time scalar into a kernel: indices are 64 bits wide.
Type scalar_parameter_type(Type scalar);

// Prints `root`; constants that it needs are declared in body.out first.
Text print_expression(Body& body, ExprId root);

}  // namespace tang::emit
