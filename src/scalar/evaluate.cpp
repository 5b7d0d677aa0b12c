// The value of each operation, which the interpreter, constant folding and the kernel executor
// share.
#include <bit>
#include <cmath>
#include <limits>

#include "scalar/expr.h"
#include "support/integer.h"
#include "support/panic.h"

namespace tang {

namespace {

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return b < a ? b : a;
}
double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return b > a ? b : a;
}

// A small whole exponent is a product, by squaring.
double power(double a, double b) {
  if (b != std::trunc(b) || b < 0 || b > 64) return std::pow(a, b);
  double product = 1, square = a;
  for (auto n = static_cast<uint64_t>(b); n; n >>= 1, square *= square)
    if (n & 1) product *= square;
  return product;
}

double evaluate_real(Op op, double a, double b, double c) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::neg:
      return -a;
    case Op::abs:
      return std::fabs(a);
    case Op::sign:
      return std::isnan(a) ? a : static_cast<double>((a > 0) - (a < 0));
    case Op::floor:
      return std::floor(a);
    case Op::ceil:
      return std::ceil(a);
    case Op::round:
      return std::nearbyint(a);
    case Op::min:
      return minimum(a, b);
    case Op::max:
      return maximum(a, b);
    case Op::stop:
      return a;
    case Op::recip:
      return 1 / a;
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::atan2:
      return std::atan2(a, b);
    case Op::tanh:
      return std::tanh(a);
    case Op::erf:
      return std::erf(a);
    case Op::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Op::pow:
      return power(a, b);
    case Op::fma:
      return std::fma(a, b, c);
    default:
      TANG_PANIC("{} of reals", op_info(op).name);
  }
}

int64_t evaluate_integer(Op op, Type type, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  const uint64_t mask = static_cast<uint64_t>(type_bits(type)) - 1;
  switch (op) {
    case Op::add:
      return static_cast<int64_t>(x + y);
    case Op::sub:
      return static_cast<int64_t>(x - y);
    case Op::mul:
      return static_cast<int64_t>(x * y);
    case Op::div:
      return b == 0 ? 0 : floor_div(a, b);
    case Op::mod:
      return b == 0 ? a : floor_mod(a, b);
    case Op::neg:
      return static_cast<int64_t>(0 - x);
    case Op::abs:
      return a < 0 ? static_cast<int64_t>(0 - x) : a;
    case Op::sign:
      return (a > 0) - (a < 0);
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::stop:
      return a;
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a > b ? a : b;
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    case Op::shift_left:
      return static_cast<int64_t>(x << (y & mask));
    case Op::shift_right:
      return a >> (y & mask);
    case Op::logic_and:
      return a && b;
    case Op::logic_or:
      return a || b;
    case Op::logic_not:
      return !a;
    default:
      TANG_PANIC("{} of integers", op_info(op).name);
  }
}

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    default:
      TANG_PANIC("{} is no comparison", op_info(op).name);
  }
}

}  // namespace

Value evaluate_op(Op op, Type operand, Type result, const Value* args) {
  if (op == Op::cast) return convert(operand, result, args[0]);
  if (op == Op::bitcast) return decode(result, encode(operand, args[0]));
  const OpInfo& row = op_info(op);
  if (is_real(operand)) {
    if (row.cls == OpClass::compare) return integer_value(compare(op, args[0].real, args[1].real));
    const double b = row.arity > 1 ? args[1].real : 0, c = row.arity > 2 ? args[2].real : 0;
    if (op == Op::fma && operand == Type::f32)
      return real_value(static_cast<double>(std::fma(
          static_cast<float>(args[0].real), static_cast<float>(b), static_cast<float>(c))));
    return real_value(round_to(result, evaluate_real(op, args[0].real, b, c)));
  }
  const int64_t b = row.arity > 1 ? args[1].integer : 0;
  if (row.cls == OpClass::compare) return integer_value(compare(op, args[0].integer, b));
  return integer_value(wrap_to(result, evaluate_integer(op, operand, args[0].integer, b)));
}

// An explicit stack, since expressions may be ten thousand nodes deep. A node is pushed again after
// its arguments; a select and the lazy logical operations push only the branch they need.
Value evaluate(const Exprs& exprs, ExprId root,
               const std::function<Value(ExprId, const Expr&)>& leaf) {
  std::unordered_map<ExprId, Value> done;
  std::vector<ExprId> stack = {root};
  const auto known = [&](ExprId id) { return done.find(id); };
  while (!stack.empty()) {
    const ExprId id = stack.back();
    if (done.contains(id)) {
      stack.pop_back();
      continue;
    }
    const Expr& e = exprs[id];
    const auto finish = [&](Value v) {
      done.emplace(id, v);
      stack.pop_back();
    };
    if (e.op == Op::constant) {
      finish(e.value());
      continue;
    }
    if (e.n_args == 0 || e.op == Op::call) {
      finish(leaf(id, e));
      continue;
    }
    if (e.op == Op::select || e.op == Op::logic_and || e.op == Op::logic_or) {
      const auto condition = known(e.args[0]);
      if (condition == done.end()) {
        stack.push_back(e.args[0]);
        continue;
      }
      const bool holds = condition->second.integer != 0;
      if (e.op != Op::select && holds == (e.op == Op::logic_or)) {
        finish(condition->second);
        continue;
      }
      const ExprId taken = e.op == Op::select && !holds ? e.args[2] : e.args[1];
      const auto value = known(taken);
      if (value == done.end())
        stack.push_back(taken);
      else
        finish(value->second);
      continue;
    }
    Value values[3] = {};
    bool ready = true;
    for (size_t i = 0; i < e.n_args; ++i) {
      const auto value = known(e.args[i]);
      if (value == done.end()) {
        stack.push_back(e.args[i]);
        ready = false;
      } else {
        values[i] = value->second;
      }
    }
    if (ready) finish(evaluate_op(e.op, exprs.type(e.args[0]), e.type, values));
  }
  return done.at(root);
}

}  // namespace tang
