#include "scalar/expr.h"

#include <bit>
#include <unordered_set>

#include "support/panic.h"

namespace tang {

namespace {

constexpr OpInfo kOps[] = {
    {"constant", "", 0, OpClass::leaf},   {"form", "", 0, OpClass::leaf},
    {"scalar", "", 0, OpClass::leaf},     {"read", "", 0, OpClass::leaf},
    {"left", "", 0, OpClass::leaf},       {"right", "", 0, OpClass::leaf},
    {"variable", "", 0, OpClass::leaf},   {"load", "", 0, OpClass::leaf},
    {"call", "", 0, OpClass::special},    {"cast", "", 1, OpClass::special},
    {"bitcast", "", 1, OpClass::special}, {"select", "select", 3, OpClass::special},
#define OP(name, arity, cls, spelling) {#name, spelling, arity, OpClass::cls},
#include "scalar/ops.def"
};

Type result_type(Op op, Type operand) {
  const OpClass cls = op_info(op).cls;
  return cls == OpClass::compare || cls == OpClass::logic ? Type::boolean : operand;
}

bool fits(OpClass cls, Type type) {
  switch (cls) {
    case OpClass::real:
      return type == Type::f64 || type == Type::f32;
    case OpClass::arith:
      return type == Type::f64 || type == Type::f32 || type == Type::i32 || type == Type::i64;
    case OpClass::integer:
      return type == Type::i32 || type == Type::i64;
    case OpClass::bits:
      return type == Type::i32 || type == Type::i64 || type == Type::boolean;
    case OpClass::compare:
      return true;
    case OpClass::logic:
      return type == Type::boolean;
    case OpClass::leaf:
    case OpClass::special:
      return true;
  }
  return false;
}

}  // namespace

const OpInfo& op_info(Op op) {
  return kOps[static_cast<size_t>(op)];
}

uint64_t Expr::hash() const {
  uint64_t seed = static_cast<uint64_t>(op) << 8 | static_cast<uint64_t>(type);
  for (size_t i = 0; i < n_args; ++i) hash_mix(seed, args[i].value);
  hash_mix(seed, payload);
  return seed;
}

Value Expr::value() const {
  if (is_real(type)) return real_value(std::bit_cast<double>(payload));
  return integer_value(static_cast<int64_t>(payload));
}

ExprId Exprs::constant(Type type, Value value) {
  // Rounded to the type, so that equal constants of a type are one node.
  const uint64_t bits = is_real(type) ? std::bit_cast<uint64_t>(round_to(type, value.real))
                                      : static_cast<uint64_t>(wrap_to(type, value.integer));
  return intern({.op = Op::constant, .type = type, .payload = bits});
}

ExprId Exprs::form(const Forms& forms, FormId form, Type type) {
  if (auto c = forms.as_constant(form)) return integer(*c, type);
  return leaf(Op::form, type, form.value);
}

ExprId Exprs::leaf(Op op, Type type, uint64_t payload) {
  return intern({.op = op, .type = type, .payload = payload});
}

ExprId Exprs::cast(Type to, ExprId a) {
  const Expr& e = pool_[a];
  if (e.type == to) return a;
  if (e.op == Op::constant) return constant(to, convert(e.type, to, e.value()));
  return intern({.op = Op::cast, .type = to, .n_args = 1, .args = {a}});
}

ExprId Exprs::bitcast(Type to, ExprId a) {
  const Expr& e = pool_[a];
  TANG_ASSERT(type_bits(e.type) == type_bits(to), "bitcast of {} to {}", type_name(e.type),
              type_name(to));
  if (e.type == to) return a;
  if (e.op == Op::constant) return constant(to, decode(to, encode(e.type, e.value())));
  return intern({.op = Op::bitcast, .type = to, .n_args = 1, .args = {a}});
}

ExprId Exprs::select(ExprId condition, ExprId a, ExprId b) {
  TANG_ASSERT(type(condition) == Type::boolean, "select on a {}", type_name(type(condition)));
  TANG_ASSERT(type(a) == type(b), "select of {} and {}", type_name(type(a)), type_name(type(b)));
  if (a == b) return a;
  if (is_constant(condition)) return pool_[condition].value().integer ? a : b;
  return intern({.op = Op::select, .type = type(a), .n_args = 3, .args = {condition, a, b}});
}

ExprId Exprs::call(Type type, uint32_t function, const std::vector<ExprId>& args) {
  TANG_ASSERT(args.size() <= 3, "call of {} arguments", args.size());
  Expr e{.op = Op::call,
         .type = type,
         .n_args = static_cast<uint8_t>(args.size()),
         .payload = function};
  for (size_t i = 0; i < args.size(); ++i) e.args[i] = args[i];
  return intern(e);
}

ExprId Exprs::make(Op op, ExprId a, ExprId b, ExprId c) {
  const OpInfo& row = op_info(op);
  TANG_ASSERT(row.cls != OpClass::leaf && row.cls != OpClass::special, "make of {}", row.name);
  const Type operand = type(a);
  Expr e{.op = op, .type = result_type(op, operand), .n_args = row.arity, .args = {a, b, c}};
  bool all_constant = true;
  Value values[3] = {};
  for (size_t i = 0; i < row.arity; ++i) {
    TANG_ASSERT(e.args[i].valid() && type(e.args[i]) == operand && fits(row.cls, operand),
                "argument {} of {} is a {}", i, row.name,
                e.args[i].valid() ? type_name(type(e.args[i])) : "nothing");
    all_constant &= is_constant(e.args[i]);
    values[i] = is_constant(e.args[i]) ? pool_[e.args[i]].value() : Value{};
  }
  if (all_constant) return constant(e.type, evaluate_op(op, operand, e.type, values));

  const auto is_value = [&](ExprId id, double v) {
    const Expr& x = pool_[id];
    if (x.op != Op::constant) return false;
    return is_real(x.type) ? x.value().real == v : static_cast<double>(x.value().integer) == v;
  };
  const bool integers = !is_real(operand);
  switch (op) {
    case Op::mul:
      if (is_value(a, 1)) return b;
      if (is_value(b, 1)) return a;
      if (integers && (is_value(a, 0) || is_value(b, 0))) return integer(0, operand);
      break;
    case Op::div:
      if (is_value(b, 1)) return a;
      if (integers && is_value(b, 0)) return integer(0, operand);
      break;
    case Op::mod:
      if (is_value(b, 0)) return a;
      break;
    case Op::add:
      // x + 0.0 is not x at -0.0; integers have no such zero.
      if (integers && is_value(a, 0)) return b;
      if (integers && is_value(b, 0)) return a;
      break;
    case Op::sub:
      if (integers && is_value(b, 0)) return a;
      break;
    case Op::neg:
      if (pool_[a].op == Op::neg) return pool_[a].args[0];
      break;
    case Op::logic_not:
      if (pool_[a].op == Op::logic_not) return pool_[a].args[0];
      break;
    case Op::logic_and:
      if (is_value(a, 1) || is_value(b, 0) || a == b) return b;
      if (is_value(b, 1) || is_value(a, 0)) return a;
      break;
    case Op::logic_or:
      if (is_value(a, 0) || is_value(b, 1) || a == b) return b;
      if (is_value(b, 0) || is_value(a, 1)) return a;
      break;
    case Op::lt:
    case Op::gt:  // never of a value and itself, NaN included
      if (a == b) return boolean(false);
      break;
    case Op::ne:
      if (integers && a == b) return boolean(false);
      break;
    case Op::eq:
    case Op::le:
    case Op::ge:
      if (integers && a == b) return boolean(true);
      break;
    default:
      break;  // the other operations have no exact law worth applying here
  }
  return intern(e);
}

ExprId Exprs::logical_and(ExprId a, ExprId b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  // (a && b) && c however b is nested, as text without parentheses reads.
  std::vector<ExprId> stack{b};
  std::unordered_set<ExprId> seen;
  while (!stack.empty()) {
    const ExprId next = stack.back();
    stack.pop_back();
    if (!seen.insert(next).second) continue;
    if (const Expr& e = pool_[next]; e.op == Op::logic_and)
      stack.insert(stack.end(), {e.args[1], e.args[0]});
    else
      a = make(Op::logic_and, a, next);
  }
  return a;
}

ExprId Exprs::rebuild(ExprId id, const std::array<ExprId, 3>& args) {
  const Expr e = pool_[id];
  switch (e.op) {
    case Op::constant:
    case Op::form:
    case Op::scalar:
    case Op::read:
    case Op::left:
    case Op::right:
    case Op::variable:
    case Op::load:
      return id;
    case Op::call:
      return call(e.type, e.index(), {args.begin(), args.begin() + e.n_args});
    case Op::cast:
      return cast(e.type, args[0]);
    case Op::bitcast:
      return bitcast(e.type, args[0]);
    case Op::select:
      return select(args[0], args[1], args[2]);
    default:
      return make(e.op, args[0], args[1], args[2]);
  }
}

std::vector<ExprId> Exprs::post_order(const std::vector<ExprId>& roots) const {
  std::vector<ExprId> order;
  std::unordered_set<ExprId> done;
  std::vector<std::pair<ExprId, uint8_t>> stack;
  for (const ExprId root : roots) {
    if (!root.valid() || done.contains(root)) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Expr& e = pool_[id];
      if (next < e.n_args) {
        const ExprId arg = e.args[next++];
        if (!done.contains(arg)) stack.emplace_back(arg, 0);
      } else {
        if (done.insert(id).second) order.push_back(id);
        stack.pop_back();
      }
    }
  }
  return order;
}

ExprId Exprs::rewrite(
    ExprId root, Memo& memo,
    const std::function<ExprId(ExprId old, const std::array<ExprId, 3>& args)>& visit) {
  if (!root.valid()) return root;
  for (const ExprId id : post_order({root})) {
    if (memo.contains(id)) continue;
    std::array<ExprId, 3> args{};
    const Expr& e = pool_[id];
    for (size_t i = 0; i < e.n_args; ++i) args[i] = memo.at(e.args[i]);
    ExprId made = visit(id, args);
    if (!made.valid()) made = rebuild(id, args);
    memo.emplace(id, made);
  }
  return memo.at(root);
}

}  // namespace tang
