// Builds small modules for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "kernel/module.h"
#include "kernel/run.h"

namespace tang::kernel {

// A module with one kernel, each tensor of which is a parameter of the same name.
struct Builder {
  Module m;

  Builder() {
    m.kernels.push_back({.name = "k"});
    m.launches.push_back({.kernel = 0});
    m.workspace_bytes = m.forms.constant(0);
  }
  Kernel& k() { return m.kernels[0]; }
  Block& body() { return k().body; }

  // Tensors in the order of roles; all before local arrays.
  BufferId tensor(const std::string& name, Type type, TensorRole role, int64_t n) {
    const FormId size = m.forms.constant(n);
    m.tensors.push_back(
        {.name = name, .type = type, .role = role, .shape = {size}, .elements = size});
    const Access access = role == TensorRole::input    ? Access::read
                          : role == TensorRole::output ? Access::write
                                                       : Access::read_write;
    k().buffers.push_back({.name = name, .type = type, .access = access});
    m.launches[0].args.push_back(static_cast<uint32_t>(m.tensors.size() - 1));
    ++k().n_params;
    return BufferId(k().buffers.size() - 1);
  }
  BufferId input(const std::string& name, Type type, int64_t n) {
    return tensor(name, type, TensorRole::input, n);
  }
  BufferId output(const std::string& name, Type type, int64_t n) {
    return tensor(name, type, TensorRole::output, n);
  }
  BufferId local(const std::string& name, Type type, int64_t n) {
    k().buffers.push_back({.name = name, .type = type, .space = Space::lane, .size = n});
    return BufferId(k().buffers.size() - 1);
  }
  VarId variable(const std::string& name, Type type = Type::i64, bool assigned = false) {
    k().variables.push_back({.name = name, .type = type, .assigned = assigned});
    return VarId(k().variables.size() - 1);
  }
  FormId at(VarId v) { return m.forms.var({VarKind::local, v.value}); }
  FormId number(int64_t v) { return m.forms.constant(v); }
  ExprId value(VarId v) { return m.exprs.leaf(Op::variable, k().variables[v.value].type, v.value); }
  ExprId load(BufferId b, FormId address) {
    return m.exprs.load(arithmetic_type(k().buffer(b).type), b.value, address);
  }
  ExprId load(BufferId b, int64_t address) { return load(b, number(address)); }
  ExprId make(Op op, ExprId a, ExprId b = {}, ExprId c = {}) { return m.exprs.make(op, a, b, c); }
  ExprId f32(double v) { return m.exprs.real(v, Type::f32); }
  ExprId i32(int64_t v) { return m.exprs.integer(v); }

  Stmt store(BufferId b, FormId address, ExprId value) { return {Store{b, address, value}}; }
  Stmt store(BufferId b, int64_t address, ExprId value) { return store(b, number(address), value); }
  Stmt loop(VarId v, int64_t lo, int64_t hi, Block inner, Run run = Run::serial) {
    return {
        For{.var = v, .lo = number(lo), .hi = number(hi), .run = run, .body = std::move(inner)}};
  }
  RunResult run(std::vector<Array>& tensors) { return kernel::run(m, {}, {}, tensors); }
};

inline Array array_of(Type type, const std::vector<double>& values) {
  Array a(type, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    a.set(static_cast<int64_t>(i),
          is_real(type) ? real_value(values[i]) : integer_value(static_cast<int64_t>(values[i])));
  return a;
}

}  // namespace tang::kernel
