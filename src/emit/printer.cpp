#include "emit/printer.h"

#include <algorithm>
#include <functional>

#include "emit/expression.h"
#include "emit/facts.h"
#include "kernel/walk.h"
#include "support/panic.h"

namespace tang::emit {

namespace {

using kernel::Block;
using kernel::BufferId;
using kernel::For;
using kernel::If;
using kernel::Kernel;
using kernel::Let;
using kernel::Module;
using kernel::Run;
using kernel::Set;
using kernel::Stmt;
using kernel::Store;

// ---- what stands in a statement ----

bool uses_buffer(const Exprs& exprs, const Block& block, BufferId buffer) {
  bool found = false;
  kernel::for_each_statement(block, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<Store>(&stmt.node)) found |= store->buffer == buffer;
    const ExprId root = kernel::expression_of(stmt);
    if (found || !root.valid()) return;
    for (const ExprId id : exprs.post_order({root}))
      found |= exprs[id].op == Op::load && exprs[id].buffer() == buffer.value;
  });
  return found;
}

const For* only_loop(const Block& block) {
  return block.size() == 1 ? std::get_if<For>(&block[0].node) : nullptr;
}

bool has_loop(const Block& block) {
  bool found = false;
  kernel::for_each_statement(
      block, [&](const Stmt& stmt) { found |= std::holds_alternative<For>(stmt.node); });
  return found;
}

// The block at whose start a local array is declared: the body of the innermost parallel loop that
// holds all of its uses, so that iterations do not share it; else the kernel's.
const Block* home_of(const Exprs& exprs, const Block& body, BufferId buffer) {
  const Block* home = &body;
  const Block* at = &body;
  while (true) {
    const Stmt* user = nullptr;
    for (const Stmt& stmt : *at) {
      if (!uses_buffer(exprs, {stmt}, buffer)) continue;
      if (user != nullptr) return home;
      user = &stmt;
    }
    const auto* loop = user != nullptr ? std::get_if<For>(&user->node) : nullptr;
    if (loop == nullptr) return home;
    at = &loop->body;
    if (loop->run == Run::parallel) home = at;
  }
}

// ---- statements ----

class StatementPrinter {
 public:
  StatementPrinter(Body& body, const Kernel& kernel) : body_(body), kernel_(kernel) {
    for (size_t b = kernel.n_params; b < kernel.buffers.size(); ++b)
      homes_.push_back(home_of(body.module.exprs, kernel.body, BufferId(b)));
  }

  void block(const Block& statements) {
    declare_arrays(statements);
    for (const Stmt& stmt : statements) std::visit([&](const auto& s) { print(s); }, stmt.node);
  }

 private:
  void declare_arrays(const Block& block) {
    for (size_t i = 0; i < homes_.size(); ++i) {
      if (homes_[i] != &block) continue;
      const size_t b = kernel_.n_params + i;
      const kernel::Buffer& buffer = kernel_.buffers[b];
      body_.buffer_names[b] = body_.scope.name(buffer.name);
      body_.out.line(
          body_.dialect.array(buffer.type, body_.buffer_names[b], buffer.size, buffer.space) + ";");
    }
  }

  std::string declare(kernel::VarId var) {
    body_.variable_names[var.value] = body_.scope.name(kernel_.variables[var.value].name);
    return body_.variable_names[var.value];
  }

  // What a block declares is gone after it, and its names are free again.
  void nested(const Block& statements) {
    const Scope outside = body_.scope;
    const size_t known = body_.facts.size();
    block(statements);
    body_.facts.resize(known);
    body_.scope = outside;
  }

  void print(const For& loop);
  void print(const If& branch);
  void print(const Let& let);
  void print(const Set& set);
  void print(const Store& store);
  void print(const kernel::Comment& comment) {
    if (!body_.out.at_block_start()) body_.out.blank();
    body_.out.comment(comment.text);
  }
  void assign(const std::string& place, ExprId value,
              const std::function<bool(const Expr&)>& is_place, const Spelling& conversion);
  std::string hint(const For& loop);
  bool stores_packed(const Block& block) const;

  Body& body_;
  const Kernel& kernel_;
  std::vector<const Block*> homes_;  // of local arrays
  int parallel_loops_ = 0;           // around the statement
};

// Neighbours that share a byte must not be written by two threads.
bool StatementPrinter::stores_packed(const Block& block) const {
  bool found = false;
  kernel::for_each_statement(block, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<Store>(&stmt.node))
      found |= type_bits(kernel_.buffer(store->buffer).type) < 8;
  });
  return found;
}

std::string StatementPrinter::hint(const For& loop) {
  if (stores_packed(loop.body)) return "";
  LoopHint hint{.run = loop.run};
  switch (loop.run) {
    case Run::serial:
    case Run::unroll:
      break;
    case Run::vector:
      if (has_loop(loop.body)) return "";
      break;
    case Run::parallel: {
      if (parallel_loops_ > 0) return "";
      // Loops directly inside whose bounds do not depend on those around are one space.
      std::vector<kernel::VarId> vars = {loop.var};
      for (const For* inner = only_loop(loop.body); inner != nullptr && inner->run == Run::parallel;
           inner = only_loop(inner->body)) {
        const bool rectangular = std::none_of(vars.begin(), vars.end(), [&](kernel::VarId v) {
          const Var var{VarKind::local, v.value};
          return body_.forms.depends_on(inner->lo, var) || body_.forms.depends_on(inner->hi, var);
        });
        const bool declares_array =
            std::find(homes_.begin(), homes_.end(), &loop.body) != homes_.end();
        if (!rectangular || declares_array) break;
        vars.push_back(inner->var);
      }
      hint.collapse = static_cast<int>(vars.size());
      break;
    }
  }
  const std::string text = body_.dialect.hint(hint);
  body_.needs.hints |= !text.empty();
  return text;
}

void StatementPrinter::print(const For& loop) {
  const FormPrinter forms = body_.form_printer();
  // j < i + 1 reads better as j <= i.
  const Form& hi = body_.forms[loop.hi];
  const bool inclusive = hi.constant == 1 && !hi.terms.empty();
  const FormId last = inclusive ? body_.forms.add(loop.hi, -1) : loop.hi;
  LoopText text{.lo = forms.print(loop.lo).text,
                .hi = forms.print(last).text,
                .inclusive = inclusive,
                .step = loop.step};
  const std::string before = hint(loop);
  const Scope outside = body_.scope;
  text.var = declare(loop.var);
  if (!before.empty()) body_.out.line(before);
  body_.out.open(body_.dialect.loop(text));

  const size_t known = body_.facts.size();
  const FormId var = body_.forms.var({VarKind::local, loop.var.value});
  body_.facts.push_back({.form = body_.forms.sub(var, loop.lo)});
  body_.facts.push_back({.form = body_.forms.sub(body_.forms.add(loop.hi, -1), var)});
  parallel_loops_ += loop.run == Run::parallel;
  nested(loop.body);
  parallel_loops_ -= loop.run == Run::parallel;
  body_.facts.resize(known);
  body_.scope = outside;
  body_.out.close();
}

void StatementPrinter::print(const If& branch) {
  body_.out.open("if (" + print_expression(body_, branch.condition).text + ")");
  nested(branch.then_body);
  if (!branch.else_body.empty()) {
    body_.out.close_and_open("else");
    nested(branch.else_body);
  }
  body_.out.close();
}

void StatementPrinter::print(const Let& let) {
  const Text value = print_expression(body_, let.value);
  const kernel::Variable& variable = kernel_.variables[let.var.value];
  const std::string name = declare(let.var);
  body_.out.line(body_.dialect.variable(variable.type, name, !variable.assigned) + " = " +
                 value.text + ";");
  const Expr& e = body_.module.exprs[let.value];
  if (e.op != Op::form || variable.assigned) return;
  const FormId var = body_.forms.var({VarKind::local, let.var.value});
  body_.facts.push_back({.form = body_.forms.sub(var, e.form())});
  body_.facts.push_back({.form = body_.forms.sub(e.form(), var)});
}

// `place = place + b` of reals is `place += b`.
void StatementPrinter::assign(const std::string& place, ExprId value,
                              const std::function<bool(const Expr&)>& is_place,
                              const Spelling& conversion) {
  const Exprs& exprs = body_.module.exprs;
  const Expr& e = exprs[value];
  const bool steps = is_real(e.type) && op_info(e.op).cls == OpClass::arith && e.n_args == 2 &&
                     conversion.kind == Spelling::Kind::same && is_place(exprs[e.args[0]]);
  const Spelling spelling = steps ? body_.dialect.operation(e.op, e.type) : Spelling{};
  if (spelling.kind == Spelling::Kind::infix) {
    const Text step = print_expression(body_, e.args[1]);
    body_.out.line(place + " " + std::string(spelling.text) + "= " + step.text + ";");
  } else {
    const Text text = apply(conversion, {print_expression(body_, value)});
    body_.out.line(place + " = " + text.text + ";");
  }
}

void StatementPrinter::print(const Set& set) {
  const auto is_place = [&](const Expr& e) {
    return e.op == Op::variable && e.index() == set.var.value;
  };
  assign(body_.variable_names[set.var.value], set.value, is_place, {.kind = Spelling::Kind::same});
}

void StatementPrinter::print(const Store& store) {
  const uint32_t b = store.buffer.value;
  body_.buffer_used[b] = true;
  const ElementSpelling element =
      body_.dialect.element(kernel_.buffers[b].type, body_.module.exprs.type(store.value));
  body_.needs.add(element.write);
  const Text address = body_.form_printer().print(store.address);
  if (element.packed) {
    Text value = print_expression(body_, store.value);
    const Text text =
        apply(element.write, {{.text = body_.buffer_names[b]}, address, std::move(value)});
    body_.out.line(text.text + ";");
    return;
  }
  const auto is_place = [&](const Expr& e) {
    return e.op == Op::load && e.buffer() == b && e.form() == store.address;
  };
  assign(body_.buffer_names[b] + "[" + address.text + "]", store.value, is_place, element.write);
}

// ---- kernels, functions ----

std::vector<uint32_t> reached_functions(const Module& module) {
  std::vector<bool> reached(module.functions.size());
  const auto visit = [&](const std::vector<ExprId>& roots) {
    for (const ExprId id : module.exprs.post_order(roots))
      if (module.exprs[id].op == Op::call) reached[module.exprs[id].index()] = true;
  };
  for (const Kernel& kernel : module.kernels) {
    std::vector<ExprId> roots;
    kernel::for_each_statement(
        kernel.body, [&](const Stmt& stmt) { roots.push_back(kernel::expression_of(stmt)); });
    visit(roots);
  }
  // Callees stand before callers.
  for (size_t f = module.functions.size(); f-- > 0;) {
    if (!reached[f]) continue;
    std::vector<ExprId> roots = {module.functions[f].result};
    for (const Let& let : module.functions[f].lets) roots.push_back(let.value);
    visit(roots);
  }
  std::vector<uint32_t> list;
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    if (reached[f]) list.push_back(f);
  return list;
}

class ModulePrinter {
 public:
  ModulePrinter(const Module& module, const Dialect& dialect)
      : module_(module), dialect_(dialect), file_scope_(dialect), forms_(module.forms) {}

  Printed run();

 private:
  std::string function(uint32_t number);
  std::string kernel(uint32_t number, const std::string& name);
  std::string parameters(Body& body, const Kernel& kernel, uint32_t number);
  Body body() {
    return Body{.dialect = dialect_,
                .module = module_,
                .forms = forms_,
                .needs = needs_,
                .functions = function_names_,
                .scope = file_scope_,
                .facts = facts_};
  }

  const Module& module_;
  const Dialect& dialect_;
  Scope file_scope_;
  Forms forms_;  // printing makes forms of its own
  Facts facts_;
  Needs needs_;
  std::vector<std::string> function_names_;
};

std::string ModulePrinter::function(uint32_t number) {
  const kernel::Function& f = module_.functions[number];
  Body b = body();
  std::string parameters;
  for (size_t v = 0; v < f.variables.size(); ++v) {
    b.variable_names.push_back(b.scope.name(f.variables[v].name));
    if (v >= f.n_params) continue;
    parameters += (v ? ", " : "") +
                  dialect_.parameter({.name = b.variable_names[v], .type = f.variables[v].type});
  }
  b.out.comment(f.comment);
  b.out.open(dialect_.function_head(f.type, function_names_[number], parameters));
  for (const Let& let : f.lets) {
    const Text value = print_expression(b, let.value);
    const kernel::Variable& v = f.variables[let.var.value];
    b.out.line(dialect_.variable(v.type, b.variable_names[let.var.value], true) + " = " +
               value.text + ";");
  }
  const Text result = print_expression(b, f.result);
  b.out.line("return " + result.text + ";");
  b.out.close();
  return b.out.take();
}

std::string ModulePrinter::parameters(Body& b, const Kernel& k, uint32_t number) {
  std::string out;
  const auto add = [&](const Parameter& p) {
    out += (out.empty() ? "" : ", ") + dialect_.parameter(p);
  };
  for (uint32_t p = 0; p < k.n_params; ++p)
    add({.name = b.buffer_names[p],
         .type = k.buffers[p].type,
         .pointer = true,
         .writable = k.buffers[p].access != kernel::Access::read,
         .may_alias = may_alias(module_, forms_, facts_, number, p)});
  for (const uint32_t d : k.dims) add({.name = b.dim_names[d], .type = Type::i64});
  for (const uint32_t s : k.scalars)
    add({.name = b.scalar_names[s], .type = scalar_parameter_type(module_.scalars[s].type)});
  return out;
}

std::string ModulePrinter::kernel(uint32_t number, const std::string& name) {
  const Kernel& k = module_.kernels[number];
  Body b = body();
  b.buffers = &k.buffers;
  b.buffer_names.resize(k.buffers.size());
  b.buffer_used.resize(k.buffers.size());
  b.variable_names.resize(k.variables.size());
  b.dim_names.resize(module_.dims.size());
  b.dim_used.resize(module_.dims.size());
  b.scalar_names.resize(module_.scalars.size());
  b.scalar_used.resize(module_.scalars.size());
  for (uint32_t p = 0; p < k.n_params; ++p) b.buffer_names[p] = b.scope.name(k.buffers[p].name);
  for (const uint32_t d : k.dims) b.dim_names[d] = b.scope.name(module_.dims[d].name);
  for (const uint32_t s : k.scalars) b.scalar_names[s] = b.scope.name(module_.scalars[s].name);

  Writer head;
  if (!k.computes.empty()) head.comment(k.computes);
  if (!k.schedule.empty()) head.comment(k.schedule);
  head.open(dialect_.kernel_head(name, parameters(b, k, number)));

  b.out.indent();
  StatementPrinter(b, k).block(k.body);
  for (uint32_t p = 0; p < k.n_params; ++p)
    if (!b.buffer_used[p]) b.out.line(dialect_.unused(b.buffer_names[p]));
  for (const uint32_t d : k.dims)
    if (!b.dim_used[d]) b.out.line(dialect_.unused(b.dim_names[d]));
  for (const uint32_t s : k.scalars)
    if (!b.scalar_used[s]) b.out.line(dialect_.unused(b.scalar_names[s]));
  head.raw(b.out.take());
  head.close();
  return head.take();
}

Printed ModulePrinter::run() {
  facts_ = facts_of(entry_checks(module_, forms_));
  for (const kernel::Function& f : module_.functions)
    function_names_.push_back(file_scope_.name(f.name));
  std::vector<std::string> kernel_names;
  file_scope_.reserve(dialect_.kernel_name(module_, module_.entry));
  for (const Kernel& k : module_.kernels)
    kernel_names.push_back(file_scope_.name(dialect_.kernel_name(module_, k.name)));

  Printed out;
  for (const uint32_t f : reached_functions(module_))
    out.functions.push_back({function_names_[f], function(f)});
  for (uint32_t k = 0; k < module_.kernels.size(); ++k)
    out.kernels.push_back({kernel_names[k], kernel(k, kernel_names[k])});
  out.helpers.assign(needs_.helpers.begin(), needs_.helpers.end());
  out.has_hints = needs_.hints;
  return out;
}

// The bytes of workspace tensors a and b do not meet.
bool disjoint(Forms& forms, const Facts& facts, const kernel::ModuleTensor& a,
              const kernel::ModuleTensor& b) {
  const auto before = [&](const kernel::ModuleTensor& x, const kernel::ModuleTensor& y) {
    const FormId end = forms.add(x.workspace_offset, tensor_bytes(x, forms));
    return proves(forms, facts, {.form = forms.sub(y.workspace_offset, end)});
  };
  return before(a, b) || before(b, a);
}

}  // namespace

bool may_alias(const Module& module, Forms& forms, const Facts& facts, uint32_t kernel,
               uint32_t parameter) {
  using kernel::TensorRole;
  const Kernel& k = module.kernels[kernel];
  const auto written = [&](uint32_t p) { return k.buffers[p].access != kernel::Access::read; };
  for (const kernel::Launch& launch : module.launches) {
    if (launch.kernel != kernel) continue;
    for (uint32_t other = 0; other < k.n_params; ++other) {
      if (other == parameter || !(written(other) || written(parameter))) continue;
      const uint32_t a = launch.args[parameter], b = launch.args[other];
      if (a == b) return true;
      const bool both_workspace = module.tensors[a].role == TensorRole::workspace &&
                                  module.tensors[b].role == TensorRole::workspace;
      if (both_workspace && !disjoint(forms, facts, module.tensors[a], module.tensors[b]))
        return true;
    }
  }
  return false;
}

Printed print_module(const Module& module, const Dialect& dialect) {
  return ModulePrinter(module, dialect).run();
}

}  // namespace tang::emit
