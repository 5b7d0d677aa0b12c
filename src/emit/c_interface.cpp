#include "emit/c_interface.h"

#include <cctype>

#include "emit/c.h"
#include "emit/facts.h"
#include "emit/names.h"
#include "support/panic.h"

namespace tang::emit::c {

std::string Interface::status(std::string_view name) const {
  return fmt::format("{}_{}", upper_symbol, name);
}

std::string Interface::head(std::string_view type, std::string_view suffix) const {
  return fmt::format("{0} {1}{2}(const struct {1}_args *args)", type, symbol, suffix);
}

Interface interface_of(const kernel::Module& module, const Printed& printed,
                       const std::string& stem) {
  Interface face{.module = module,
                 .stem = stem,
                 .symbol = module.prefix + "_" + module.entry,
                 .forms = module.forms};
  for (const char c : face.symbol)
    face.upper_symbol += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  face.checks = entry_checks(module, face.forms);
  face.facts = facts_of(face.checks);
  Scope scope(kC);
  scope.reserve("workspace");
  scope.reserve("status");
  for (const Printed::Piece& kernel : printed.kernels) scope.reserve(kernel.name);
  for (const auto& dim : module.dims) face.dim_names.push_back(scope.name(dim.name));
  for (const auto& scalar : module.scalars) face.scalar_names.push_back(scope.name(scalar.name));
  for (const auto& tensor : module.tensors) face.tensor_names.push_back(scope.name(tensor.name));
  face.position_name = scope.name("i");
  face.element_name = scope.name("element");
  return face;
}

void banner(Writer& out, const Interface& face, std::string_view suffix) {
  out.comment(
      fmt::format("{}{}: made by tangc, whose output belongs to its user without conditions.",
                  face.stem, suffix));
}

// The type of a field; i4 has a byte of its own there.
std::string_view scalar_type(Type type) {
  return type == Type::i4 ? "int8_t" : kC.element_type(type);
}

HostBody::HostBody(Interface& f, Needs& n) : face(f), needs(n) {
  dims.resize(face.module.dims.size());
  scalars.resize(face.module.scalars.size());
  out.indent();
}

std::string HostBody::local(Var v) {
  if (v.kind == VarKind::dim) {
    dims[v.index] = true;
    return face.dim_names[v.index];
  }
  TANG_ASSERT(v.kind == VarKind::scalar, "a variable of a kernel in the host program");
  scalars[v.index] = true;
  return face.scalar_names[v.index];
}

FormPrinter HostBody::forms() {
  return {kC, face.forms, face.facts, [this](Var v) { return local(v); }, needs};
}

void HostBody::declare_locals(Writer& to) const {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d]) to.line(fmt::format("const int64_t {0} = args->{0};", face.dim_names[d]));
  for (size_t s = 0; s < scalars.size(); ++s)
    if (scalars[s]) to.line(fmt::format("const int64_t {0} = args->{0};", face.scalar_names[s]));
}

std::vector<Artifact> files(const kernel::Module& module, const Printed& printed,
                            const std::string& stem) {
  Interface face = interface_of(module, printed, stem);
  std::string source = source_text(face, printed);
  return {{".c", std::move(source)}, {".h", header_text(face)}};
}

}  // namespace tang::emit::c
