// The invariants of a module, checked by one walk over each kernel and function.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernel/module.h"
#include "kernel/walk.h"
#include "support/panic.h"

namespace tang::kernel {

namespace {

bool is_arithmetic(Type type) {
  return arithmetic_type(type) == type;
}

// The checks that kernels and functions share: names, variables in scope, expressions.
class Verifier {
 public:
  Verifier(const Module& module, std::vector<std::string>& problems)
      : module_(module), problems_(problems) {}

  void kernel(const Kernel& k);
  void function(size_t number);

 private:
  template <class... A>
  void problem(fmt::format_string<A...> pattern, A&&... args) {
    problems_.push_back(where_ + ": " + fmt::format(pattern, std::forward<A>(args)...));
  }
  std::string name(VarId var) const {
    return var.value < variables_->size() ? (*variables_)[var.value].name
                                          : fmt::format("variable {}", var.value);
  }
  bool in_scope(uint32_t var) const { return var < visible_.size() && visible_[var]; }
  void begin(std::string where, const std::vector<Variable>& variables);
  void declare(VarId var);
  void form(FormId id, const char* what);
  void expression(ExprId root);
  void leaf(const Expr& e);
  void call(const Expr& e);
  void access(uint32_t buffer, Type type, bool store);
  void block(const Block& body);
  void statement(const Stmt& stmt);
  void loop(const For& s);
  void assign(VarId var, ExprId value);

  const Module& module_;
  std::vector<std::string>& problems_;
  std::string where_;
  const Kernel* kernel_ = nullptr;
  const std::vector<Variable>* variables_ = nullptr;
  size_t n_callable_ = 0;        // functions that may be called here
  std::vector<bool> visible_;    // by variable
  std::vector<bool> declared_;   // ever: a variable is declared once
  std::vector<uint32_t> scope_;  // visible variables in order of declaration
};

void Verifier::begin(std::string where, const std::vector<Variable>& variables) {
  where_ = std::move(where);
  variables_ = &variables;
  visible_.assign(variables.size(), false);
  declared_.assign(variables.size(), false);
  scope_.clear();
  for (const Variable& v : variables) {
    if (!is_arithmetic(v.type))
      problem("{} is a {}, no type of arithmetic", v.name, type_name(v.type));
  }
}

void Verifier::declare(VarId var) {
  if (var.value >= declared_.size()) {
    problem("there is no variable {}", var.value);
    return;
  }
  if (declared_[var.value]) problem("{} is declared twice", name(var));
  for (const uint32_t other : scope_)
    if (other != var.value && (*variables_)[other].name == (*variables_)[var.value].name)
      problem("{} hides a variable of that name", name(var));
  declared_[var.value] = visible_[var.value] = true;
  scope_.push_back(var.value);
}

void Verifier::form(FormId id, const char* what) {
  if (!id.valid() || id.value >= module_.forms.size()) {
    problem("{} is no form", what);
    return;
  }
  module_.forms.for_each_var(id, [&](Var v) {
    switch (v.kind) {
      case VarKind::dim: {
        const bool listed =
            kernel_ && std::count(kernel_->dims.begin(), kernel_->dims.end(), v.index);
        if (v.index >= module_.dims.size())
          problem("{} uses dim {}, which does not exist", what, v.index);
        else if (!listed)
          problem("{} uses dim {}, which is not listed", what, module_.dims[v.index].name);
        break;
      }
      case VarKind::scalar: {
        const bool listed =
            kernel_ && std::count(kernel_->scalars.begin(), kernel_->scalars.end(), v.index);
        if (v.index >= module_.scalars.size())
          problem("{} uses scalar {}, which does not exist", what, v.index);
        else if (!listed || !is_integer(module_.scalars[v.index].type))
          problem("{} uses scalar {}, which is not listed or no integer", what,
                  module_.scalars[v.index].name);
        break;
      }
      case VarKind::axis:
        problem("{} uses an axis", what);
        break;
      case VarKind::local:
        if (!in_scope(v.index))
          problem("{} uses {} out of its scope", what, name(VarId(size_t{v.index})));
        else if (!is_integer((*variables_)[v.index].type))
          problem("{} uses {}, which is no integer", what, name(VarId(size_t{v.index})));
        break;
    }
  });
}

void Verifier::access(uint32_t buffer, Type type, bool store) {
  const char* verb = store ? "store to" : "load of";
  if (!kernel_ || buffer >= kernel_->buffers.size()) {
    problem("{} buffer {}, which does not exist", verb, buffer);
    return;
  }
  const Buffer& b = kernel_->buffers[buffer];
  const bool bits = is_real(b.type) && type_bits(b.type) <= 16 && type == Type::i32;
  if (type != arithmetic_type(b.type) && !bits)
    problem("{} {}, a buffer of {}, as {}", verb, b.name, type_name(b.type), type_name(type));
  if (buffer >= kernel_->n_params) return;
  if (store && b.access == Access::read) problem("store to {}, which is read only", b.name);
  if (!store && b.access == Access::write) problem("load of {}, which is write only", b.name);
}

void Verifier::call(const Expr& e) {
  if (e.index() >= n_callable_) {
    problem("function {} is called before it stands", e.index());
    return;
  }
  const Function& f = module_.functions[e.index()];
  bool fits = f.n_params == e.n_args && f.type == e.type;
  for (uint32_t i = 0; fits && i < e.n_args; ++i)
    fits = f.variables[i].type == module_.exprs.type(e.args[i]);
  if (!fits) problem("a call does not fit {}", f.name);
}

void Verifier::leaf(const Expr& e) {
  switch (e.op) {
    case Op::constant:
      break;
    case Op::form:
      form(e.form(), "an expression");
      if (!is_integer(e.type)) problem("a form is a {}", type_name(e.type));
      break;
    case Op::scalar: {
      const bool listed =
          kernel_ && std::count(kernel_->scalars.begin(), kernel_->scalars.end(), e.index());
      if (e.index() >= module_.scalars.size() || !listed)
        problem("scalar {} does not exist or is not listed", e.index());
      break;
    }
    case Op::variable:
      if (!in_scope(e.index()))
        problem("{} is used out of its scope", name(VarId(size_t{e.index()})));
      else if ((*variables_)[e.index()].type != e.type)
        problem("{} is used as a {}", name(VarId(size_t{e.index()})), type_name(e.type));
      break;
    case Op::load:
      access(e.buffer(), e.type, false);
      form(e.form(), "an address");
      break;
    default:
      problem("a {} has no meaning in a kernel", op_info(e.op).name);
      break;
  }
}

void Verifier::expression(ExprId root) {
  if (!root.valid() || root.value >= module_.exprs.size()) {
    problem("an expression is missing");
    return;
  }
  for (const ExprId id : module_.exprs.post_order({root})) {
    const Expr& e = module_.exprs[id];
    if (e.op == Op::call)
      call(e);
    else if (e.n_args == 0)
      leaf(e);
  }
}

void Verifier::loop(const For& s) {
  form(s.lo, "a loop");
  form(s.hi, "a loop");
  if (s.step <= 0) problem("a loop steps by {}", s.step);
  const size_t outside = scope_.size();
  declare(s.var);
  if (s.var.value < variables_->size()) {
    const Variable& v = (*variables_)[s.var.value];
    if (!is_integer(v.type) || v.assigned)
      problem("loop variable {} is no integer or is assigned", v.name);
  }
  block(s.body);
  for (; scope_.size() > outside; scope_.pop_back()) visible_[scope_.back()] = false;
}

void Verifier::assign(VarId var, ExprId value) {
  if (var.value >= variables_->size()) {
    problem("there is no variable {}", var.value);
    return;
  }
  if (value.valid() && value.value < module_.exprs.size() &&
      module_.exprs.type(value) != (*variables_)[var.value].type)
    problem("{} takes a {}", name(var), type_name(module_.exprs.type(value)));
}

void Verifier::block(const Block& body) {
  const size_t outside = scope_.size();
  for (const Stmt& stmt : body) statement(stmt);
  for (; scope_.size() > outside; scope_.pop_back()) visible_[scope_.back()] = false;
}

void Verifier::statement(const Stmt& stmt) {
  std::visit(Overloaded{
                 [&](const For& s) { loop(s); },
                 [&](const If& s) {
                   expression(s.condition);
                   if (s.condition.valid() && s.condition.value < module_.exprs.size() &&
                       module_.exprs.type(s.condition) != Type::boolean)
                     problem("a condition is no bool");
                   block(s.then_body);
                   block(s.else_body);
                 },
                 [&](const Let& s) {
                   expression(s.value);
                   assign(s.var, s.value);
                   declare(s.var);
                 },
                 [&](const Set& s) {
                   expression(s.value);
                   assign(s.var, s.value);
                   if (!in_scope(s.var.value))
                     problem("{} is set out of its scope", name(s.var));
                   else if (!(*variables_)[s.var.value].assigned)
                     problem("{} is set but not marked as assigned", name(s.var));
                 },
                 [&](const Store& s) {
                   expression(s.value);
                   form(s.address, "an address");
                   if (s.value.valid() && s.value.value < module_.exprs.size())
                     access(s.buffer.value, module_.exprs.type(s.value), true);
                 },
                 [](const Comment&) {},
             },
             stmt.node);
}

void Verifier::kernel(const Kernel& k) {
  kernel_ = &k;
  n_callable_ = module_.functions.size();
  begin("kernel " + k.name, k.variables);
  if (k.n_params > k.buffers.size())
    problem("{} parameters of {} buffers", k.n_params, k.buffers.size());
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const Buffer& b = k.buffers[i];
    if (!names.insert(b.name).second) problem("two buffers are named {}", b.name);
    if (i < k.n_params && b.space != Space::device) problem("{} is a local parameter", b.name);
    if (i >= k.n_params && (b.space == Space::device || b.size <= 0))
      problem("{} is no local array of a positive size", b.name);
  }
  if (!std::is_sorted(k.dims.begin(), k.dims.end()) ||
      !std::is_sorted(k.scalars.begin(), k.scalars.end()))
    problem("dims or scalars are not in order");
  block(k.body);
}

void Verifier::function(size_t number) {
  const Function& f = module_.functions[number];
  kernel_ = nullptr;
  n_callable_ = number;
  begin("function " + f.name, f.variables);
  for (size_t i = 0; i < f.n_params; ++i) declare(VarId(i));
  for (const Let& let : f.lets) {
    expression(let.value);
    assign(let.var, let.value);
    declare(let.var);
  }
  expression(f.result);
  if (f.result.valid() && f.result.value < module_.exprs.size() &&
      module_.exprs.type(f.result) != f.type)
    problem("the result is a {}", type_name(module_.exprs.type(f.result)));
}

bool is_host_form(const Module& module, FormId id) {
  if (!id.valid() || id.value >= module.forms.size()) return false;
  bool fine = true;
  module.forms.for_each_var(id, [&](Var v) {
    fine &= (v.kind == VarKind::dim && v.index < module.dims.size()) ||
            (v.kind == VarKind::scalar && v.index < module.scalars.size());
  });
  return fine;
}

void verify_tensors(const Module& module, std::vector<std::string>& problems) {
  bool workspace = false;
  for (const ModuleTensor& t : module.tensors) {
    const auto problem = [&](const char* what) { problems.push_back(t.name + ": " + what); };
    if (!is_host_form(module, t.elements)) problem("its element count is no form of dims");
    for (const FormId extent : t.shape)
      if (!is_host_form(module, extent)) problem("an extent is no form of dims");
    if (t.role == TensorRole::workspace) {
      workspace = true;
      if (!is_host_form(module, t.workspace_offset)) problem("it has no place in the workspace");
    } else if (workspace) {
      problem("it stands after workspace tensors");
    }
  }
  if (workspace && !is_host_form(module, module.workspace_bytes))
    problems.push_back("the size of the workspace is no form of dims");
}

void verify_launch(const Module& module, const Launch& launch, std::vector<std::string>& problems) {
  if (launch.kernel >= module.kernels.size()) {
    problems.push_back(fmt::format("a launch of kernel {}, which does not exist", launch.kernel));
    return;
  }
  const Kernel& k = module.kernels[launch.kernel];
  const auto problem = [&](const std::string& what) {
    problems.push_back(fmt::format("launch of {}: {}", k.name, what));
  };
  if (launch.args.size() != k.n_params) {
    problem(fmt::format("{} arguments for {} parameters", launch.args.size(), k.n_params));
    return;
  }
  if (!launch.offsets.empty() && launch.offsets.size() != launch.args.size())
    problem(fmt::format("{} offsets for {} arguments", launch.offsets.size(), launch.args.size()));
  for (size_t i = 0; i < launch.args.size(); ++i) {
    if (launch.args[i] >= module.tensors.size()) {
      problem(fmt::format("there is no tensor {}", launch.args[i]));
      continue;
    }
    const ModuleTensor& t = module.tensors[launch.args[i]];
    const Buffer& b = k.buffers[i];
    if (t.type != b.type)
      problem(fmt::format("{} is {}, parameter {} is {}", t.name, type_name(t.type), b.name,
                          type_name(b.type)));
    if (t.role == TensorRole::input && b.access != Access::read)
      problem(fmt::format("input {} would be written", t.name));
  }
}

}  // namespace

std::vector<std::string> verify(const Module& module) {
  std::vector<std::string> problems;
  verify_tensors(module, problems);
  for (const Check& check : module.checks)
    if (!is_host_form(module, check.form))
      problems.push_back(fmt::format("check '{}' is no form of dims and scalars", check.message));
  Verifier verifier(module, problems);
  for (size_t i = 0; i < module.functions.size(); ++i) verifier.function(i);
  for (const Kernel& k : module.kernels) verifier.kernel(k);
  for (const Launch& launch : module.launches) verify_launch(module, launch, problems);
  return problems;
}

}  // namespace tang::kernel
