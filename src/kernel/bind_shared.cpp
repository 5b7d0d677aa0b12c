// bind-shared: a value used more than once in a statement becomes a variable, so that the printed
// text is a tree that does no work twice; a part too large to read or to nest does, too.
//
//   o[i] = (x[i] + y) * (x[i] + y)   =>   let sum = x[i] + y;  o[i] = sum * sum
//
// A load that only some branches reach may lie outside of its buffer otherwise, so what needs one
// is not computed early: its variable is set under the condition under which it is used.
//
//   o[i] = i < n ? f(x[i]) * f(x[i]) : 0   =>
//     var value = 0.0;  if i < n { value = f(x[i]) }  o[i] = i < n ? value * value : 0
//
// Pure arithmetic, and a select with the guarded load in it, are computed early. Short index
// arithmetic and comparisons stay where they are.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernel/branches.h"
#include "kernel/legalizations.h"
#include "kernel/walk.h"

namespace tang::kernel {

namespace {

// Names of the kernel or function at hand.
class Names {
 public:
  explicit Names(const std::vector<Variable>& variables) {
    for (const Variable& v : variables) ++taken_[v.name];
  }
  std::string take(const std::string& base) {
    std::string name = base;
    for (int i = 2; taken_[name] > 0; ++i) name = base + "_" + std::to_string(i);
    ++taken_[name];
    made_.push_back(name);
    return name;
  }
  size_t mark() const { return made_.size(); }
  void leave_scope(size_t mark) {  // names made since then may be used again
    for (; made_.size() > mark; made_.pop_back()) --taken_[made_.back()];
  }

 private:
  std::unordered_map<std::string, int> taken_;
  std::vector<std::string> made_;
};

std::string without_type(std::string name) {
  for (const char* suffix : {"_f32", "_f64", "_i32", "_i64"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - 4);
  return name;
}

class Binder {
 public:
  // `kernel` is absent in functions.
  Binder(Module& module, std::vector<Variable>& variables, const Kernel* kernel)
      : module_(module), variables_(variables), kernel_(kernel), names_(variables) {}

  void block(Block& body);
  // The expression to use instead; what it needs is declared at the end of `out`.
  ExprId bind(ExprId root, Block& out);

 private:
  std::string name_for(ExprId id) const;
  ExprId declare(ExprId id, ExprId value, Block& out);
  ExprId declare_guarded(ExprId id, ExprId value, ExprId condition, Block& out);
  VarId new_variable(ExprId id, bool assigned);
  bool is_short(const Expr& e) const;
  bool is_read(const Expr& e) const;
  bool is_wanted(ExprId id, const Branches& branches) const;
  ExprId zero(Type type);

  Module& module_;
  std::vector<Variable>& variables_;
  const Kernel* kernel_;
  Names names_;
};

// What may be written twice.
bool Binder::is_short(const Expr& e) const {
  const OpClass cls = op_info(e.op).cls;
  if (e.op != Op::cast && e.op != Op::neg && e.op != Op::logic_not && cls != OpClass::compare)
    return false;
  for (size_t i = 0; i < e.n_args; ++i) {
    const Expr& arg = module_.exprs[e.args[i]];
    if (arg.n_args > 0 || arg.op == Op::load) return false;
  }
  return true;
}

// A load, decoded or converted.
bool Binder::is_read(const Expr& e) const {
  if (e.op == Op::load) return true;
  const bool around = (e.op == Op::call || e.op == Op::cast) && e.n_args == 1;
  return around && module_.exprs[e.args[0]].op == Op::load;
}

// A guarded read may be written twice: only one of the two is evaluated.
bool Binder::is_wanted(ExprId id, const Branches& branches) const {
  const Expr& e = module_.exprs[id];
  if (branches.uses(id) < 2) return false;
  if (is_read(e)) return branches.is_safe(id);
  return e.n_args > 0 && !is_short(e);
}

// After what it is: the buffer, the function, the operation.
std::string Binder::name_for(ExprId id) const {
  const Expr* e = &module_.exprs[id];
  if (e->op == Op::select) {  // a guarded load
    const Expr& inside = module_.exprs[e->args[1]];
    if (inside.op == Op::load || inside.op == Op::call) e = &inside;
  }
  if ((e->op == Op::call || e->op == Op::cast) && e->n_args == 1) {
    const Expr& inside = module_.exprs[e->args[0]];
    if (inside.op == Op::load) e = &inside;
  }
  if (e->op == Op::load) return kernel_->buffers[e->buffer()].name + "_value";
  if (e->op == Op::call) return without_type(module_.functions[e->index()].name) + "_value";
  switch (e->op) {
    case Op::add:
    case Op::fma:
      return "sum";
    case Op::sub:
      return "difference";
    case Op::mul:
      return "product";
    case Op::div:
      return "ratio";
    case Op::neg:
      return "opposite";
    case Op::abs:
      return "size";
    case Op::sqrt:
      return "root";
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
    case Op::bitcast:
      return "bits";
    case Op::select:
      return "choice";
    default:
      return e->type == Type::boolean ? "holds" : "value";
  }
}

ExprId Binder::zero(Type type) {
  Exprs& exprs = module_.exprs;
  return is_real(type) ? exprs.real(0, type) : exprs.constant(type, integer_value(0));
}

VarId Binder::new_variable(ExprId id, bool assigned) {
  variables_.push_back(
      {.name = names_.take(name_for(id)), .type = module_.exprs.type(id), .assigned = assigned});
  return VarId(variables_.size() - 1);
}

ExprId Binder::declare(ExprId id, ExprId value, Block& out) {
  const VarId var = new_variable(id, false);
  out.push_back({Let{.var = var, .value = value}});
  return module_.exprs.leaf(Op::variable, module_.exprs.type(id), var.value);
}

ExprId Binder::declare_guarded(ExprId id, ExprId value, ExprId condition, Block& out) {
  const VarId var = new_variable(id, true);
  out.push_back({Let{.var = var, .value = zero(module_.exprs.type(id))}});
  out.push_back({If{
      .condition = condition, .then_body = {{Set{.var = var, .value = value}}}, .else_body = {}}});
  return module_.exprs.leaf(Op::variable, module_.exprs.type(id), var.value);
}

// Nodes of which no part stands under a guard, still arguments first; gives their number.
size_t move_early_to_front(const Exprs& exprs, const Branches& branches,
                           std::vector<ExprId>& order) {
  std::unordered_set<ExprId> early;
  for (const ExprId id : order) {
    const Expr& e = exprs[id];
    bool all = branches.is_safe(id);
    for (size_t i = 0; i < e.n_args; ++i) all &= early.contains(e.args[i]);
    if (all) early.insert(id);
  }
  std::stable_partition(order.begin(), order.end(), [&](ExprId id) { return early.contains(id); });
  return early.size();
}

// Of an expression as a tree: what it takes to read it.
struct Extent {
  uint32_t nodes = 1, depth = 1;
  bool too_large() const { return nodes > 64 || depth > 32; }
};

// What may be computed early comes first: the conditions of the rest are made of it.
ExprId Binder::bind(ExprId root, Block& out) {
  Exprs& exprs = module_.exprs;
  std::vector<ExprId> order = exprs.post_order({root});
  Branches branches(exprs, root, order);
  const size_t n_early = move_early_to_front(exprs, branches, order);
  bool has_conditions = false;
  Exprs::Memo memo, early;
  std::unordered_map<ExprId, Extent> extents;  // of what stands for the nodes
  for (size_t n = 0; n < order.size(); ++n) {
    if (n == n_early) early = memo;
    const ExprId id = order[n];
    std::array<ExprId, 3> args{};
    const Expr e = exprs[id];
    Extent extent;
    for (size_t i = 0; i < e.n_args; ++i) {
      args[i] = memo.at(e.args[i]);
      const Extent& part = extents.at(e.args[i]);
      extent.nodes += part.nodes;
      extent.depth = std::max(extent.depth, part.depth + 1);
    }
    ExprId made = exprs.rebuild(id, args);
    if (id != root && (is_wanted(id, branches) || extent.too_large())) {
      if (!branches.is_safe(id) && !has_conditions) {
        branches.find_conditions(exprs);
        has_conditions = true;
      }
      const ExprId test = branches.is_safe(id) ? ExprId() : branches.condition(id);
      if (test.valid()) {
        const auto as_it_is = [](ExprId, const auto&) { return ExprId(); };
        const ExprId condition = bind(exprs.rewrite(test, early, as_it_is), out);
        made = declare_guarded(id, made, condition, out);
      } else {
        made = declare(id, made, out);
      }
      extent = {};
    }
    memo.emplace(id, made);
    extents.emplace(id, extent);
  }
  return memo.at(root);
}

void Binder::block(Block& body) {
  const size_t mark = names_.mark();
  Block out;
  for (Stmt& stmt : body) {
    if (const ExprId value = expression_of(stmt); value.valid())
      set_expression(stmt, bind(value, out));
    if (auto* loop = std::get_if<For>(&stmt.node)) {
      block(loop->body);
    } else if (auto* branch = std::get_if<If>(&stmt.node)) {
      block(branch->then_body);
      block(branch->else_body);
    }
    out.push_back(std::move(stmt));
  }
  body = std::move(out);
  names_.leave_scope(mark);
}

void bind_function(Module& module, Function& f) {
  Binder binder(module, f.variables, nullptr);
  std::vector<Let> lets;
  const auto bind = [&](ExprId value) {
    Block made;
    const ExprId bound = binder.bind(value, made);
    for (const Stmt& stmt : made) lets.push_back(std::get<Let>(stmt.node));
    return bound;
  };
  for (const Let& let : f.lets) {
    const ExprId value = bind(let.value);
    lets.push_back({.var = let.var, .value = value});
  }
  f.result = bind(f.result);
  f.lets = std::move(lets);
}

}  // namespace

void bind_shared(Module& module, const Capabilities& /*capabilities*/) {
  for (Function& f : module.functions) bind_function(module, f);
  for (Kernel& k : module.kernels) Binder(module, k.variables, &k).block(k.body);
}

}  // namespace tang::kernel
