// The table of legalizations, and the check of what they leave.
#include "kernel/legalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/legalizations.h"
#include "kernel/walk.h"
#include "support/panic.h"

namespace tang::kernel {

namespace {

bool always(const Capabilities&) {
  return true;
}

bool is_f64_function(Op op) {
  switch (op) {
    case Op::exp:
    case Op::exp2:
    case Op::log:
    case Op::log2:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::atan2:
    case Op::tanh:
    case Op::erf:
    case Op::pow:
      return true;
    default:
      return false;
  }
}

bool legal_real(Op op, Type type, const Capabilities& c) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::neg:
    case Op::abs:
    case Op::sqrt:
    case Op::floor:
    case Op::ceil:
    case Op::round:
      return true;
    case Op::fma:
      return c.fma;
    default:
      return type == Type::f64 && c.libm_f64 && is_f64_function(op);
  }
}

bool legal_integer(Op op, bool in_function) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::neg:
    case Op::abs:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
      return true;
    case Op::div:
      return in_function;
    default:
      return false;
  }
}

bool legal_cast(Type from, Type to, bool in_function) {
  const auto wide = [](Type t) { return t == Type::f32 || t == Type::f64; };
  if (is_real(to)) return wide(to) && (!is_real(from) || wide(from));
  if (to == Type::boolean || !is_real(from)) return true;
  return in_function && (to == Type::i32 || to == Type::i64);
}

class Checker {
 public:
  Checker(const Module& module, const Capabilities& capabilities)
      : module_(module), capabilities_(capabilities) {}

  std::vector<std::string> run() {
    for (const Function& f : module_.functions) {
      where_ = "function " + f.name;
      for (const Let& let : f.lets) expression(let.value);
      expression(f.result);
    }
    for (const Kernel& k : module_.kernels) {
      where_ = "kernel " + k.name;
      kernel_ = &k;
      for_each_statement(k.body, [&](const Stmt& stmt) {
        if (const ExprId value = expression_of(stmt); value.valid()) expression(value);
        if (const auto* store = std::get_if<Store>(&stmt.node))
          access(store->buffer.value, module_.exprs.type(store->value));
      });
    }
    std::sort(problems_.begin(), problems_.end());
    problems_.erase(std::unique(problems_.begin(), problems_.end()), problems_.end());
    return problems_;
  }

 private:
  void problem(std::string_view what, Type type) {
    problems_.push_back(fmt::format("{}: {} of {} is left", where_, what, type_name(type)));
  }
  void access(uint32_t buffer, Type value) {
    const Type stored = kernel_->buffers.at(buffer).type;
    const bool small = is_real(stored) && type_bits(stored) <= 16;
    if (value != (small ? Type::i32 : arithmetic_type(stored))) problem("access as value", stored);
  }
  void expression(ExprId root) {
    for (const ExprId id : module_.exprs.post_order({root})) node(module_.exprs[id]);
  }
  void node(const Expr& e) {
    const OpInfo& row = op_info(e.op);
    if (e.op == Op::load) access(e.buffer(), e.type);
    if (e.n_args == 0 || e.op == Op::call || e.op == Op::select || e.op == Op::bitcast) return;
    const Type operand = module_.exprs.type(e.args[0]);
    bool legal = row.cls == OpClass::compare || row.cls == OpClass::logic;
    if (e.op == Op::cast)
      legal = legal_cast(operand, e.type, kernel_ == nullptr);
    else if (is_real(operand))
      legal |= legal_real(e.op, operand, capabilities_);
    else if (operand == Type::boolean)
      legal |= row.cls == OpClass::bits;
    else
      legal |= legal_integer(e.op, kernel_ == nullptr);
    if (!legal) problem(row.name, operand);
  }

  const Module& module_;
  const Capabilities& capabilities_;
  const Kernel* kernel_ = nullptr;  // not in functions
  std::string where_;
  std::vector<std::string> problems_;
};

}  // namespace

const std::vector<Legalization>& legalizations() {
  static const std::vector<Legalization> table = {
      {"expand-small-floats", "16- and 8-bit reals become integer operations on their bits", always,
       expand_small_floats},
      {"expand-math", "functions of f32 become calls of functions made of arithmetic", always,
       expand_math},
      {"expand-numbers", "min, max, sign, whole division, saturating conversion become calls",
       always, expand_numbers},
      {"split-fma", "a fused multiply-add becomes two operations",
       [](const Capabilities& c) { return !c.fma; }, split_fma},
      {"limit-unroll", "a loop with many or unknown trips is not unrolled", always, limit_unroll},
      {"bind-shared",
       "what is used more than once in a statement, or is too large, becomes a variable", always,
       bind_shared},
  };
  return table;
}

std::vector<std::string> why_not_legal(const Module& module, const Capabilities& capabilities) {
  return Checker(module, capabilities).run();
}

void legalize(Module& module, const Capabilities& capabilities) {
  for (const Legalization& row : legalizations())
    if (row.needed(capabilities)) row.apply(module, capabilities);
  const std::vector<std::string> problems = why_not_legal(module, capabilities);
  TANG_ASSERT(problems.empty(), "legalize: {}", fmt::join(problems, "; "));
}

void rewrite_expressions(Module& module, const Visit& visit) {
  for (Kernel& kernel : module.kernels) {
    Exprs::Memo memo;  // of one kernel: buffers are its own
    for_each_statement(kernel.body, [&](Stmt& stmt) {
      const ExprId value = expression_of(stmt);
      if (!value.valid()) return;
      set_expression(stmt, module.exprs.rewrite(value, memo, [&](ExprId old, const auto& args) {
        const Expr e = module.exprs[old];
        return visit(kernel, e, args);
      }));
    });
  }
}

}  // namespace tang::kernel
