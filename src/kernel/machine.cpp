// From statements and expressions to linear code: machine.h says what the code means.
#include "kernel/machine.h"

#include <unordered_map>
#include <unordered_set>

#include "kernel/branches.h"
#include "kernel/walk.h"
#include "support/integer.h"
#include "support/panic.h"

namespace tang::kernel {

namespace {

struct FunctionCode {
  uint32_t entry = 0, first_variable = 0, result = 0;
};

class Translator {
 public:
  Translator(const Module& module, const Kernel& kernel, const std::vector<int64_t>& dims,
             const std::vector<Value>& scalars)
      : module_(module), kernel_(&kernel), dims_(dims), scalars_(scalars) {}

  Machine translate() {
    out_.n_registers = static_cast<uint32_t>(kernel_->variables.size());
    for (const Function& f : module_.functions) function(f);
    out_.entry = here();
    frame_first_variable_ = 0;
    reuse_temporaries_ = true;
    block(kernel_->body);
    emit({.code = Code::halt});
    return std::move(out_);
  }

 private:
  // One step of the translation of an expression, on an explicit stack: expressions may be deep.
  enum class Step : uint8_t { visit, body, finish, condition_done, then_done, else_done };
  struct Task {
    Step step;
    ExprId id;
    uint32_t patch = 0;  // the jump that ends here
  };

  uint32_t here() const { return static_cast<uint32_t>(out_.code.size()); }
  uint32_t emit(Instruction i) {
    out_.code.push_back(i);
    return here() - 1;
  }
  uint32_t new_register() { return out_.n_registers++; }

  uint32_t temporary() {
    if (!reuse_temporaries_) return new_register();
    if (next_temporary_ == temporaries_.size()) temporaries_.push_back(new_register());
    return temporaries_[next_temporary_++];
  }

  uint32_t preset(ExprId id, Value value) {
    const auto [it, added] = presets_.try_emplace(id, 0);
    if (added) {
      it->second = new_register();
      out_.presets.emplace_back(it->second, value);
    }
    return it->second;
  }

  uint32_t register_of(ExprId id) {
    const Expr& e = module_.exprs[id];
    if (e.op == Op::constant) return preset(id, e.value());
    if (e.op == Op::scalar) return preset(id, scalars_.at(e.index()));
    if (e.op == Op::variable) return frame_first_variable_ + e.index();
    const auto [it, added] = registers_.try_emplace(id, 0);
    if (added) it->second = temporary();
    return it->second;
  }

  uint32_t form(FormId id);
  uint32_t expression(ExprId root);
  void steps(Task first);
  void subroutines();
  void visit(ExprId id);
  void ordinary(ExprId id);
  void call(const Expr& e, uint32_t dst);
  void function(const Function& f);
  void block(const Block& body);
  void statement(const Stmt& stmt);
  void loop(const For& s);
  void branch(const If& s);
  uint32_t step(int64_t value);
  std::vector<int64_t> accesses(const Block& body) const;
  std::vector<BufferId> private_arrays(const Block& body) const;

  const Module& module_;
  const Kernel* kernel_;
  const std::vector<int64_t>& dims_;
  const std::vector<Value>& scalars_;
  Machine out_;
  uint32_t frame_first_variable_ = 0;
  std::vector<FunctionCode> functions_;
  std::unordered_map<ExprId, uint32_t> presets_;
  bool reuse_temporaries_ = false;  // functions run within statements: their registers are theirs
  std::vector<uint32_t> temporaries_;
  size_t next_temporary_ = 0;

  // Of the expression being translated.
  std::unordered_map<ExprId, uint32_t> registers_;
  std::unordered_map<ExprId, uint32_t> uses_;
  std::unordered_set<ExprId> strict_;  // evaluated whatever the conditions are
  std::vector<Task> tasks_;
  std::unordered_map<ExprId, uint32_t> shared_;  // flags of subroutines
  std::vector<ExprId> subroutines_;
  std::vector<std::pair<uint32_t, ExprId>> calls_;
};

uint32_t Translator::form(FormId id) {
  const Form& f = module_.forms[id];
  LinearForm out{.constant = f.constant, .terms = {}, .products = {}};
  for (const Term& term : f.terms) {
    auto coefficient = static_cast<uint64_t>(term.coefficient);
    std::vector<LinearForm::Factor> factors;
    for (const Atom& atom : term.atoms) {
      if (atom.is_quotient()) {
        const uint32_t inner = form(atom.numerator);
        const LinearForm& n = out_.forms[inner];
        if (n.terms.empty() && n.products.empty())
          coefficient *= static_cast<uint64_t>(floor_div(n.constant, atom.divisor));
        else
          factors.push_back({.index = inner, .divisor = atom.divisor});
      } else if (atom.var.kind == VarKind::dim) {
        coefficient *= static_cast<uint64_t>(dims_.at(atom.var.index));
      } else if (atom.var.kind == VarKind::scalar) {
        coefficient *= static_cast<uint64_t>(scalars_.at(atom.var.index).integer);
      } else {
        TANG_ASSERT(atom.var.kind == VarKind::local, "a kernel's form has an axis");
        factors.push_back({.index = frame_first_variable_ + atom.var.index, .divisor = 0});
      }
    }
    const auto c = static_cast<int64_t>(coefficient);
    if (factors.empty())
      out.constant = static_cast<int64_t>(static_cast<uint64_t>(out.constant) + coefficient);
    else if (factors.size() == 1 && factors[0].divisor == 0)
      out.terms.emplace_back(c, factors[0].index);
    else
      out.products.push_back({.coefficient = c, .factors = std::move(factors)});
  }
  out_.forms.push_back(std::move(out));
  return static_cast<uint32_t>(out_.forms.size() - 1);
}

// Strict nodes come first, in an order in which branches find the strict nodes that they use.
uint32_t Translator::expression(ExprId root) {
  registers_.clear();
  uses_.clear();
  strict_.clear();
  shared_.clear();
  next_temporary_ = 0;
  const std::vector<ExprId> order = module_.exprs.post_order({root});
  for (const ExprId id : order) {
    const Expr& e = module_.exprs[id];
    for (size_t i = 0; i < e.n_args; ++i) ++uses_[e.args[i]];
  }
  strict_.insert(root);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!strict_.contains(*it)) continue;
    const Expr& e = module_.exprs[*it];
    const size_t n_strict = is_lazy(e.op) ? 1 : e.n_args;
    for (size_t i = 0; i < n_strict; ++i) strict_.insert(e.args[i]);
  }
  for (const ExprId id : order) {
    if (strict_.contains(id) || uses_[id] < 2 || module_.exprs[id].n_args == 0) continue;
    shared_[id] = temporary();
    emit({.code = Code::reset, .a = shared_[id]});
  }
  for (const ExprId id : order) {
    if (!strict_.contains(id)) continue;
    if (is_lazy(module_.exprs[id].op))
      steps({.step = Step::condition_done, .id = id});
    else
      ordinary(id);
  }
  if (!subroutines_.empty()) subroutines();
  return register_of(root);
}

void Translator::subroutines() {
  const uint32_t skip = emit({.code = Code::jump});
  std::unordered_map<ExprId, uint32_t> entries;
  for (size_t i = 0; i < subroutines_.size(); ++i) {  // a subroutine may ask for more
    const ExprId id = subroutines_[i];
    if (entries.contains(id)) continue;
    entries[id] = emit({.code = Code::once, .a = shared_.at(id)});
    steps({.step = Step::body, .id = id});
    emit({.code = Code::ret});
  }
  out_.code[skip].target = here();
  for (const auto& [at, id] : calls_) out_.code[at].target = entries.at(id);
  subroutines_.clear();
  calls_.clear();
}

void Translator::steps(Task first) {
  tasks_.push_back(first);
  while (!tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    const Expr& e = module_.exprs[task.id];
    switch (task.step) {
      case Step::visit:
        visit(task.id);
        break;
      case Step::body:
        if (is_lazy(e.op)) {
          tasks_.push_back({.step = Step::condition_done, .id = task.id});
          tasks_.push_back({.step = Step::visit, .id = e.args[0]});
        } else {
          tasks_.push_back({.step = Step::finish, .id = task.id});
          for (size_t i = e.n_args; i-- > 0;)
            tasks_.push_back({.step = Step::visit, .id = e.args[i]});
        }
        break;
      case Step::finish:
        ordinary(task.id);
        break;
      case Step::condition_done: {
        const uint32_t dst = register_of(task.id), condition = register_of(e.args[0]);
        if (e.op != Op::select) emit({.code = Code::move, .dst = dst, .a = condition});
        const Code skip = e.op == Op::logic_or ? Code::jump_true : Code::jump_false;
        const Step next = e.op == Op::select ? Step::then_done : Step::else_done;
        tasks_.push_back(
            {.step = next, .id = task.id, .patch = emit({.code = skip, .a = condition})});
        tasks_.push_back({.step = Step::visit, .id = e.args[1]});
        break;
      }
      case Step::then_done: {
        emit({.code = Code::move, .dst = register_of(task.id), .a = register_of(e.args[1])});
        const uint32_t end = emit({.code = Code::jump});
        out_.code[task.patch].target = here();
        tasks_.push_back({.step = Step::else_done, .id = task.id, .patch = end});
        tasks_.push_back({.step = Step::visit, .id = e.args[2]});
        break;
      }
      case Step::else_done:
        emit({.code = Code::move,
              .dst = register_of(task.id),
              .a = register_of(e.args[e.op == Op::select ? 2 : 1])});
        out_.code[task.patch].target = here();
        break;
    }
  }
}

void Translator::visit(ExprId id) {
  if (strict_.contains(id)) return;
  if (const auto flag = shared_.find(id); flag != shared_.end()) {
    calls_.emplace_back(emit({.code = Code::call}), id);
    subroutines_.push_back(id);
  } else {
    tasks_.push_back({.step = Step::body, .id = id});
  }
}

// A node whose arguments are in their registers.
void Translator::ordinary(ExprId id) {
  const Expr& e = module_.exprs[id];
  if (e.op == Op::constant || e.op == Op::scalar || e.op == Op::variable) return;
  const uint32_t dst = register_of(id);
  if (e.op == Op::form) {
    emit({.code = Code::form, .type = e.type, .dst = dst, .a = form(e.form())});
    return;
  }
  if (e.op == Op::load) {
    const uint32_t address = form(e.form());
    emit({.code = Code::load, .type = e.type, .dst = dst, .a = e.buffer(), .b = address});
    return;
  }
  if (e.op == Op::call) {
    call(e, dst);
    return;
  }
  TANG_ASSERT(e.n_args > 0, "a kernel holds a {}", op_info(e.op).name);
  Instruction i{.code = Code::evaluate,
                .op = e.op,
                .operand = module_.exprs.type(e.args[0]),
                .type = e.type,
                .dst = dst,
                .a = register_of(e.args[0])};
  if (e.n_args > 1) i.b = register_of(e.args[1]);
  if (e.n_args > 2) i.c = register_of(e.args[2]);
  const bool f32 = i.operand == Type::f32, f64 = i.operand == Type::f64;
  if (e.op == Op::add && (f32 || f64)) i.code = f32 ? Code::add_f32 : Code::add_f64;
  if (e.op == Op::sub && (f32 || f64)) i.code = f32 ? Code::sub_f32 : Code::sub_f64;
  if (e.op == Op::mul && (f32 || f64)) i.code = f32 ? Code::mul_f32 : Code::mul_f64;
  emit(i);
}

void Translator::call(const Expr& e, uint32_t dst) {
  TANG_ASSERT(e.index() < functions_.size(), "function {} is called before it stands", e.index());
  const FunctionCode& f = functions_[e.index()];
  for (uint32_t i = 0; i < e.n_args; ++i)
    emit({.code = Code::move, .dst = f.first_variable + i, .a = register_of(e.args[i])});
  emit({.code = Code::call, .target = f.entry});
  emit({.code = Code::move, .dst = dst, .a = f.result});
}

// Functions do not call themselves, so each has registers of its own.
void Translator::function(const Function& f) {
  FunctionCode code{.entry = here(), .first_variable = out_.n_registers, .result = 0};
  out_.n_registers += static_cast<uint32_t>(f.variables.size());
  frame_first_variable_ = code.first_variable;
  for (const Let& let : f.lets) {
    const uint32_t value = expression(let.value);
    emit({.code = Code::move, .dst = code.first_variable + let.var.value, .a = value});
  }
  code.result = expression(f.result);
  emit({.code = Code::ret});
  functions_.push_back(code);
}

void Translator::block(const Block& body) {
  for (const Stmt& stmt : body) statement(stmt);
}

void Translator::statement(const Stmt& stmt) {
  const auto assign = [&](VarId var, ExprId value) {
    const uint32_t from = expression(value);
    emit({.code = Code::move, .dst = var.value, .a = from, .target = 1});
  };
  std::visit(Overloaded{
                 [&](const For& s) { loop(s); },
                 [&](const If& s) { branch(s); },
                 [&](const Let& s) { assign(s.var, s.value); },
                 [&](const Set& s) { assign(s.var, s.value); },
                 [&](const Store& s) {
                   const uint32_t value = expression(s.value);
                   const uint32_t address = form(s.address);
                   emit({.code = Code::store,
                         .type = module_.exprs.type(s.value),
                         .a = s.buffer.value,
                         .b = address,
                         .c = value});
                 },
                 [](const Comment&) {},
             },
             stmt.node);
}

void Translator::loop(const For& s) {
  const uint32_t lo = form(s.lo), hi = form(s.hi), limit = new_register();
  const uint32_t begin =
      emit({.code = Code::loop_enter, .dst = s.var.value, .a = lo, .b = limit, .c = hi});
  const uint32_t test = emit({.code = Code::loop_test, .dst = s.var.value, .b = limit});
  const size_t range = out_.loops.size();
  out_.loops.push_back({.var = s.var, .begin = begin, .end = 0});
  if (s.run == Run::parallel) {
    emit({.code = Code::task_begin, .a = static_cast<uint32_t>(out_.local_sets.size())});
    out_.local_sets.push_back(private_arrays(s.body));
  }
  block(s.body);
  emit({.code = Code::loop_next, .dst = s.var.value, .b = step(s.step), .target = test});
  out_.code[test].target = here();
  out_.loops[range].end = here();
}

void Translator::branch(const If& s) {
  const uint32_t condition = expression(s.condition);
  const uint32_t skip = emit({.code = Code::branch, .a = condition});
  block(s.then_body);
  if (s.else_body.empty()) {
    out_.code[skip].target = here();
    return;
  }
  const uint32_t end = emit({.code = Code::jump});
  out_.code[skip].target = here();
  block(s.else_body);
  out_.code[end].target = here();
}

uint32_t Translator::step(int64_t value) {
  const uint32_t r = new_register();
  out_.presets.emplace_back(r, integer_value(value));
  return r;
}

std::vector<int64_t> Translator::accesses(const Block& body) const {
  std::vector<int64_t> counts(kernel_->buffers.size());
  for_each_statement(body, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<Store>(&stmt.node)) ++counts.at(store->buffer.value);
    const ExprId value = expression_of(stmt);
    if (!value.valid()) return;
    for (const ExprId id : module_.exprs.post_order({value}))
      if (const Expr& e = module_.exprs[id]; e.op == Op::load) ++counts.at(e.buffer());
  });
  return counts;
}

// Arrays that only this loop uses: each of its tasks has its own.
std::vector<BufferId> Translator::private_arrays(const Block& body) const {
  const std::vector<int64_t> inside = accesses(body), everywhere = accesses(kernel_->body);
  std::vector<BufferId> out;
  for (size_t b = kernel_->n_params; b < kernel_->buffers.size(); ++b)
    if (inside[b] > 0 && inside[b] == everywhere[b]) out.push_back(BufferId(b));
  return out;
}

}  // namespace

Machine translate(const Module& module, const Kernel& kernel, const std::vector<int64_t>& dims,
                  const std::vector<Value>& scalars) {
  return Translator(module, kernel, dims, scalars).translate();
}

int64_t evaluate(const std::vector<LinearForm>& forms, const LinearForm& form,
                 const std::vector<Value>& registers) {
  auto total = static_cast<uint64_t>(form.constant);
  for (const auto& [coefficient, index] : form.terms)
    total += static_cast<uint64_t>(coefficient) * static_cast<uint64_t>(registers[index].integer);
  for (const LinearForm::Product& p : form.products) {
    auto product = static_cast<uint64_t>(p.coefficient);
    for (const LinearForm::Factor& f : p.factors)
      product *= static_cast<uint64_t>(
          f.divisor == 0 ? registers[f.index].integer
                         : floor_div(evaluate(forms, forms[f.index], registers), f.divisor));
    total += product;
  }
  return static_cast<int64_t>(total);
}

}  // namespace tang::kernel
