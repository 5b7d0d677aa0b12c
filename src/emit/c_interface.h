// What a module looks like to a C caller: the names of the entry point, of the argument struct's
// fields and of the statuses, and what the entry point checks. The header and the source print it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "affine/prove.h"
#include "emit/dialect.h"
#include "emit/text.h"
#include "emit/writer.h"

namespace tang::emit::c {

// The statuses of every entry point; their numbers are their places.
struct Status {
  std::string_view name, meaning;
};
inline constexpr Status kStatuses[] = {
    {"OK", "the outputs are written; after any other status, nothing is"},
    {"NULL_ARGS", "args is null"},
    {"BAD_DIM", "a dimension is out of its range or breaks an assumption"},
    {"BAD_SCALAR", "a scalar is out of its range"},
    {"NULL_TENSOR", "the pointer of a tensor that has elements is null"},
    {"NULL_WORKSPACE", "workspace is null and workspace bytes are needed"},
    {"TOO_LARGE", "a tensor or the workspace has more bytes than 63 bits count"},
    {"BAD_ELEMENT", "an element is out of its range or order (where checked)"},
};

struct Interface {
  const kernel::Module& module;
  std::string stem, symbol, upper_symbol;
  Forms forms;  // printing makes forms of its own
  std::vector<kernel::Check> checks;
  Facts facts;  // the checks, as what holds after them
  // Names of the struct's fields, and of locals of the entry point.
  std::vector<std::string> dim_names, scalar_names, tensor_names;
  std::string position_name, element_name;  // locals that none of those hides

  std::string status(std::string_view name) const;
  std::string head(std::string_view type, std::string_view suffix) const;  // of a function
};

Interface interface_of(const kernel::Module& module, const Printed& printed,
                       const std::string& stem);
void banner(Writer& out, const Interface& face, std::string_view suffix);
std::string_view scalar_type(Type type);

// A function's body while it is printed. The dims and scalars that its forms use become locals,
// declared at its top.
struct HostBody {
  Interface& face;
  Needs& needs;
  Writer out = {};
  std::vector<bool> dims = {}, scalars = {};

  HostBody(Interface& f, Needs& n);
  std::string local(Var v);
  FormPrinter forms();
  void declare_locals(Writer& to) const;
};

// Statements that refuse bad arguments, all of them before anything is written.
void refuse_bad_dims(HostBody& body);
void refuse_bad_scalars(HostBody& body);
void refuse_null_tensors(HostBody& body);
void refuse_null_workspace(HostBody& body);
// Those that the module's `checked` tensors may not hold.
void refuse_bad_elements(HostBody& body);

std::string header_text(Interface& face);
std::string source_text(Interface& face, const Printed& printed);

}  // namespace tang::emit::c
