// Building of functions: parameters and named values are variables, numbered as they come.
#include "kernel/term.h"

#include <algorithm>

#include "support/panic.h"

namespace tang::kernel {

Term polynomial(Term x, std::initializer_list<double> coefficients) {
  const double* c = coefficients.end();
  Term sum = same_type(x, *--c);
  while (c != coefficients.begin()) sum = *--c + x * sum;
  return sum;
}

Term call(Module& module, uint32_t function, const std::vector<Term>& args) {
  std::vector<ExprId> ids;
  for (const Term& arg : args) ids.push_back(arg.id);
  return {&module.exprs, module.exprs.call(module.functions.at(function).type, function, ids)};
}

FunctionBuilder::FunctionBuilder(Module& module, std::string name, std::string comment)
    : module_(module) {
  function_.name = std::move(name);
  function_.comment = std::move(comment);
}

Term FunctionBuilder::variable(std::string name, Type type) {
  const auto taken = [&](const std::string& n) {
    return std::any_of(function_.variables.begin(), function_.variables.end(),
                       [&](const Variable& v) { return v.name == n; });
  };
  std::string unique = name;
  for (int i = 2; taken(unique); ++i) unique = name + std::to_string(i);
  function_.variables.push_back({.name = std::move(unique), .type = type});
  return {&module_.exprs, module_.exprs.leaf(Op::variable, type, function_.variables.size() - 1)};
}

Term FunctionBuilder::parameter(const std::string& name, Type type) {
  TANG_ASSERT(function_.lets.empty(), "{}: a parameter after a value", function_.name);
  ++function_.n_params;
  return variable(name, type);
}

Term FunctionBuilder::let(const std::string& name, Term value) {
  const Term v = variable(name, value.type());
  function_.lets.push_back({.var = VarId(function_.variables.size() - 1), .value = value.id});
  return v;
}

uint32_t FunctionBuilder::finish(Term result) {
  function_.type = result.type();
  function_.result = result.id;
  module_.functions.push_back(std::move(function_));
  return static_cast<uint32_t>(module_.functions.size() - 1);
}

}  // namespace tang::kernel
