// Kernel IR by hand, in few words, for tests of what prints it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/module.h"

namespace tang::emit {

struct Builder {
  kernel::Module m;
  kernel::Kernel k;  // the one being built
  std::vector<uint32_t> args;

  Builder() {
    m.prefix = "t";
    m.workspace_bytes = m.forms.constant(0);
  }

  // ---- the module ----
  FormId dim(const std::string& name, int64_t low = 0, int64_t high = 4096) {
    m.dims.push_back({.name = name, .low = low, .high = high});
    return m.forms.var({VarKind::dim, static_cast<uint32_t>(m.dims.size() - 1)});
  }
  FormId scalar(const std::string& name, Type type, FormId lo = {}, FormId hi = {}) {
    m.scalars.push_back({.name = name, .type = type, .range_lo = lo, .range_hi = hi});
    return m.forms.var({VarKind::scalar, static_cast<uint32_t>(m.scalars.size() - 1)});
  }
  uint32_t tensor(const std::string& name, Type type, kernel::TensorRole role,
                  std::vector<FormId> shape) {
    FormId elements = c(1);
    for (const FormId extent : shape) elements = m.forms.mul(elements, extent);
    m.tensors.push_back({.name = name,
                         .type = type,
                         .role = role,
                         .shape = std::move(shape),
                         .elements = elements});
    return static_cast<uint32_t>(m.tensors.size() - 1);
  }
  uint32_t input(const std::string& name, Type type, std::vector<FormId> shape) {
    return tensor(name, type, kernel::TensorRole::input, std::move(shape));
  }
  uint32_t output(const std::string& name, Type type, std::vector<FormId> shape) {
    return tensor(name, type, kernel::TensorRole::output, std::move(shape));
  }

  // ---- the kernel ----
  uint32_t param(uint32_t tensor, kernel::Access access = kernel::Access::read) {
    k.buffers.push_back(
        {.name = m.tensors[tensor].name, .type = m.tensors[tensor].type, .access = access});
    k.n_params = static_cast<uint32_t>(k.buffers.size());
    args.push_back(tensor);
    return k.n_params - 1;
  }
  uint32_t local(const std::string& name, Type type, int64_t size) {
    k.buffers.push_back({.name = name, .type = type, .space = kernel::Space::lane, .size = size});
    return static_cast<uint32_t>(k.buffers.size() - 1);
  }
  kernel::VarId var(const std::string& name, Type type = Type::i64, bool assigned = false) {
    k.variables.push_back({.name = name, .type = type, .assigned = assigned});
    return kernel::VarId(k.variables.size() - 1);
  }
  void finish(const std::string& name, kernel::Block body) {
    k.name = name;
    k.body = std::move(body);
    for (uint32_t d = 0; d < m.dims.size(); ++d) k.dims.push_back(d);
    for (uint32_t s = 0; s < m.scalars.size(); ++s) k.scalars.push_back(s);
    m.launches.push_back({.kernel = static_cast<uint32_t>(m.kernels.size()), .args = args});
    m.kernels.push_back(std::move(k));
    k = {};
    args.clear();
  }

  // ---- forms, expressions, statements ----
  FormId c(int64_t value) { return m.forms.constant(value); }
  FormId at(kernel::VarId v) { return m.forms.var({VarKind::local, v.value}); }
  FormId add(FormId a, FormId b) { return m.forms.add(a, b); }
  FormId mul(FormId a, int64_t factor) { return m.forms.scale(a, factor); }

  ExprId load(uint32_t buffer, FormId address) {
    return m.exprs.load(kernel::arithmetic_type(k.buffers[buffer].type), buffer, address);
  }
  ExprId value(kernel::VarId v) {
    return m.exprs.leaf(Op::variable, k.variables[v.value].type, v.value);
  }
  ExprId index(FormId form, Type type = Type::i32) { return m.exprs.form(m.forms, form, type); }
  ExprId real(double v, Type type = Type::f32) { return m.exprs.real(v, type); }
  ExprId integer(int64_t v, Type type = Type::i32) { return m.exprs.integer(v, type); }
  ExprId make(Op op, ExprId a, ExprId b = {}, ExprId d = {}) { return m.exprs.make(op, a, b, d); }

  static kernel::Stmt loop(kernel::VarId var, FormId lo, FormId hi, kernel::Block body,
                           kernel::Run run = kernel::Run::serial, int64_t step = 1) {
    return {kernel::For{
        .var = var, .lo = lo, .hi = hi, .step = step, .run = run, .body = std::move(body)}};
  }
  kernel::Stmt loop(kernel::VarId var, FormId hi, kernel::Block body,
                    kernel::Run run = kernel::Run::serial) {
    return loop(var, c(0), hi, std::move(body), run);
  }
  static kernel::Stmt when(ExprId condition, kernel::Block then_body,
                           kernel::Block else_body = {}) {
    return {kernel::If{condition, std::move(then_body), std::move(else_body)}};
  }
  static kernel::Stmt let(kernel::VarId var, ExprId value) { return {kernel::Let{var, value}}; }
  static kernel::Stmt set(kernel::VarId var, ExprId value) { return {kernel::Set{var, value}}; }
  static kernel::Stmt store(uint32_t buffer, FormId address, ExprId value) {
    return {kernel::Store{kernel::BufferId(buffer), address, value}};
  }
};

}  // namespace tang::emit
