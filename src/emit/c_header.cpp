// The header of emitted C: statuses, the argument struct, two functions. It is valid C++ too.
#include <algorithm>

#include "emit/c_interface.h"
#include "support/panic.h"

namespace tang::emit::c {

namespace {

using kernel::ModuleTensor;
using kernel::TensorRole;

// Forms in the words of the struct's fields.
std::string form_text(const Interface& face, FormId form) {
  return face.forms.print(form, [&](Var v) {
    return v.kind == VarKind::dim ? face.dim_names[v.index] : face.scalar_names[v.index];
  });
}

std::string shape_text(const Interface& face, const ModuleTensor& tensor) {
  std::string text(type_name(tensor.type));
  for (size_t d = 0; d < tensor.shape.size(); ++d)
    text += (d ? ", " : "[") + form_text(face, tensor.shape[d]);
  return tensor.shape.empty() ? text : text + "]";
}

std::string range_text(const Interface& face, FormId lo, FormId hi, const std::string& what) {
  return (lo.valid() ? form_text(face, lo) + " <= " : "") + what +
         (hi.valid() ? " < " + form_text(face, hi) : "");
}

// What is checked of a dim: its bounds, and the conditions whose last dim it is, so that each
// stands once.
std::string dim_comment(Interface& face, uint32_t dim) {
  Needs none;
  HostBody body(face, none);
  const FormId itself = face.forms.var({VarKind::dim, dim});
  std::string low, high, others;
  for (const kernel::Check& check : face.checks) {
    Var last;
    face.forms.for_each_var(check.form, [&](Var v) { last = std::max(last, v); });
    if (last != Var{VarKind::dim, dim}) continue;
    const auto below = face.forms.as_constant(face.forms.sub(itself, check.form));
    const auto above = face.forms.as_constant(face.forms.add(itself, check.form));
    if (check.modulus == 0 && below)
      low = std::to_string(*below);
    else if (check.modulus == 0 && above)
      high = std::to_string(*above);
    else if (check.modulus == 0)
      others += ", " + body.forms().compare(">=", check.form).text;
    else
      others += fmt::format(", {} % {} == 0", form_text(face, check.form), check.modulus);
  }
  const std::string& name = face.dim_names[dim];
  if (high.empty()) return fmt::format("{} >= {}{}", name, low, others);
  return fmt::format("{} <= {} <= {}{}", low, name, high, others);
}

std::string tensor_comment(const Interface& face, const ModuleTensor& tensor) {
  std::string text = shape_text(face, tensor);
  if (tensor.range_lo.valid() || tensor.range_hi.valid())
    text += ", " + range_text(face, tensor.range_lo, tensor.range_hi, "element");
  if (tensor.sorted) text += ", sorted";
  if (tensor.distinct) text += ", distinct";
  if (tensor.role == TensorRole::inout) text += ", updated in place";
  return text;
}

bool needs_workspace(const Interface& face) {
  const FormId bytes = face.module.workspace_bytes;
  return bytes.valid() && !face.forms.is_constant(bytes, 0);
}

struct Field {
  std::string declaration, comment;
};

std::vector<Field> fields_of(Interface& face) {
  const kernel::Module& module = face.module;
  std::vector<Field> fields;
  for (uint32_t d = 0; d < module.dims.size(); ++d)
    fields.push_back({"int64_t " + face.dim_names[d], dim_comment(face, d)});
  for (size_t s = 0; s < module.scalars.size(); ++s) {
    const kernel::ModuleScalar& scalar = module.scalars[s];
    std::string comment(type_name(scalar.type));
    if (scalar.range_lo.valid() || scalar.range_hi.valid())
      comment += ", " + range_text(face, scalar.range_lo, scalar.range_hi, face.scalar_names[s]);
    fields.push_back(
        {fmt::format("{} {}", scalar_type(scalar.type), face.scalar_names[s]), std::move(comment)});
  }
  for (size_t t = 0; t < module.tensors.size(); ++t) {
    const ModuleTensor& tensor = module.tensors[t];
    if (tensor.role == TensorRole::workspace) continue;
    fields.push_back({fmt::format("{}{} *{}", tensor.role == TensorRole::input ? "const " : "",
                                  kC.element_type(tensor.type), face.tensor_names[t]),
                      tensor_comment(face, tensor)});
  }
  fields.push_back(
      {"void *workspace", needs_workspace(face)
                              ? face.symbol + "_workspace() bytes, aligned as malloc aligns"
                              : "none is needed: null will do"});
  return fields;
}

void put_statuses(Writer& out, const Interface& face) {
  out.comment(fmt::format("What {} returns.", face.symbol));
  out.open("enum " + face.symbol + "_status");
  size_t width = 0;
  for (const Status& s : kStatuses) width = std::max(width, face.status(s.name).size());
  for (size_t n = 0; n < std::size(kStatuses); ++n)
    out.line(fmt::format("{} = {},", face.status(kStatuses[n].name), n), width + 5,
             kStatuses[n].meaning);
  out.close(";");
}

void put_struct(Writer& out, Interface& face) {
  const auto& tensors = face.module.tensors;
  const bool checked =
      std::any_of(tensors.begin(), tensors.end(), [](const ModuleTensor& t) { return t.checked; });
  out.comment(
      std::string("Tensors are dense and row-major, and no two overlap; one without elements may "
                  "be null. What is said of sizes and scalars is checked; ") +
      (checked ? "so is what is said of elements, but for 'distinct', which must hold."
               : "what is said of elements is not, and must hold."));
  out.open("struct " + face.symbol + "_args");
  const std::vector<Field> fields = fields_of(face);
  size_t width = 0;
  for (const Field& f : fields) width = std::max(width, f.declaration.size() + 1);
  for (const Field& f : fields) out.line(f.declaration + ";", width, f.comment);
  out.close(";");
}

}  // namespace

std::string header_text(Interface& face) {
  Writer out;
  banner(out, face, ".h");
  out.comment(fmt::format("\nFill in a struct {0}_args{1} and call {0}(&args).", face.symbol,
                          needs_workspace(face)
                              ? ", give its workspace " + face.symbol + "_workspace(&args) bytes,"
                              : ""));
  out.line("#ifndef " + face.upper_symbol + "_H");
  out.line("#define " + face.upper_symbol + "_H");
  out.blank();
  out.line("#include <stdint.h>");
  out.blank();
  out.line("#ifdef __cplusplus");
  out.line("extern \"C\" {");
  out.line("#endif");
  out.blank();
  put_statuses(out, face);
  out.blank();
  put_struct(out, face);
  out.blank();
  out.comment(
      "The bytes of workspace that a call needs. It looks at the dimensions in args alone, "
      "and gives -1 where they are refused.");
  out.line(face.head("int64_t", "_workspace") + ";");
  out.blank();
  out.comment(
      "Computes the outputs. It keeps no state and allocates nothing, so calls may run at "
      "the same time.");
  out.line(face.head("int", "") + ";");
  out.blank();
  out.line("#ifdef __cplusplus");
  out.line("}");
  out.line("#endif");
  out.blank();
  out.line("#endif");
  return out.take();
}

}  // namespace tang::emit::c
