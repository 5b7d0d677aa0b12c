// Names of a module's variables, and the small accessors of kernel IR.
#include "kernel/module.h"

#include "kernel/walk.h"
#include "support/panic.h"

namespace tang::kernel {

Type arithmetic_type(Type stored) {
  if (is_real(stored)) return stored == Type::f64 ? Type::f64 : Type::f32;
  return kind_of(stored);
}

std::string Module::name_of(Var v) const {
  switch (v.kind) {
    case VarKind::dim:
      TANG_ASSERT(v.index < dims.size(), "the module has no dim {}", v.index);
      return dims[v.index].name;
    case VarKind::scalar:
      TANG_ASSERT(v.index < scalars.size(), "the module has no scalar {}", v.index);
      return scalars[v.index].name;
    case VarKind::axis:
    case VarKind::local:
      break;
  }
  TANG_PANIC("variable {} of kind {} belongs to no module", v.index, static_cast<int>(v.kind));
}

std::string Module::name_of(const Kernel& kernel, Var v) const {
  if (v.kind != VarKind::local) return name_of(v);
  TANG_ASSERT(v.index < kernel.variables.size(), "{} has no variable {}", kernel.name, v.index);
  return kernel.variables[v.index].name;
}

ExprId expression_of(const Stmt& stmt) {
  return std::visit(Overloaded{
                        [](const For&) { return ExprId(); },
                        [](const If& s) { return s.condition; },
                        [](const Let& s) { return s.value; },
                        [](const Set& s) { return s.value; },
                        [](const Store& s) { return s.value; },
                        [](const Comment&) { return ExprId(); },
                    },
                    stmt.node);
}

void set_expression(Stmt& stmt, ExprId value) {
  std::visit(Overloaded{
                 [&](If& s) { s.condition = value; },
                 [&](Let& s) { s.value = value; },
                 [&](Set& s) { s.value = value; },
                 [&](Store& s) { s.value = value; },
                 [](For&) { TANG_PANIC("a loop has no expression"); },
                 [](Comment&) { TANG_PANIC("a comment has no expression"); },
             },
             stmt.node);
}

}  // namespace tang::kernel
