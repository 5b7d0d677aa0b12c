// Runs one function of a module over many arguments at once.
#include "batch.h"

#include <bit>
#include <cmath>
#include <unordered_map>

#include "support/panic.h"

namespace tang::kernel {

namespace {

template <class T>
T& as(Lane& lane) {
  if constexpr (std::is_same_v<T, float>) return lane.f32;
  if constexpr (std::is_same_v<T, double>) return lane.f64;
  if constexpr (std::is_same_v<T, int32_t>) return lane.i32;
  if constexpr (std::is_same_v<T, int64_t>) return lane.i64;
  if constexpr (std::is_same_v<T, bool>) return lane.boolean;
}
template <class T>
T as(const Lane& lane) {
  return as<T>(const_cast<Lane&>(lane));
}

template <class R, class T, class F>
Lanes map(const std::vector<const Lanes*>& args, const F& f) {
  const size_t n = args[0]->size();
  Lanes out(n);
  for (size_t i = 0; i < n; ++i) {
    if constexpr (std::is_invocable_v<F, T>)
      as<R>(out[i]) = f(as<T>((*args[0])[i]));
    else
      as<R>(out[i]) = f(as<T>((*args[0])[i]), as<T>((*args[1])[i]));
  }
  return out;
}

template <class T>
Lanes real_operation(Op op, const std::vector<const Lanes*>& args) {
  const auto two = [&](const auto& f) { return map<T, T>(args, f); };
  switch (op) {
    case Op::add:
      return two([](T a, T b) { return a + b; });
    case Op::sub:
      return two([](T a, T b) { return a - b; });
    case Op::mul:
      return two([](T a, T b) { return a * b; });
    case Op::div:
      return two([](T a, T b) { return a / b; });
    case Op::neg:
      return two([](T a) { return -a; });
    case Op::abs:
      return two([](T a) { return std::fabs(a); });
    case Op::floor:
      return two([](T a) { return std::floor(a); });
    case Op::ceil:
      return two([](T a) { return std::ceil(a); });
    case Op::round:
      return two([](T a) { return std::nearbyint(a); });
    case Op::sqrt:
      return two([](T a) { return std::sqrt(a); });
    default:
      TANG_PANIC("a function holds {} of reals", op_info(op).name);
  }
}

template <class T>
Lanes integer_operation(Op op, const std::vector<const Lanes*>& args) {
  using U = std::make_unsigned_t<T>;
  constexpr T kMask = static_cast<T>(sizeof(T) * 8 - 1);
  const auto two = [&](const auto& f) { return map<T, T>(args, f); };
  switch (op) {
    case Op::add:
      return two([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    case Op::sub:
      return two([](T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); });
    case Op::mul:
      return two([](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); });
    case Op::neg:
      return two([](T a) { return static_cast<T>(0 - static_cast<U>(a)); });
    case Op::bit_and:
      return two([](T a, T b) { return static_cast<T>(a & b); });
    case Op::bit_or:
      return two([](T a, T b) { return static_cast<T>(a | b); });
    case Op::bit_xor:
      return two([](T a, T b) { return static_cast<T>(a ^ b); });
    case Op::shift_left:
      return two([](T a, T b) { return static_cast<T>(static_cast<U>(a) << (b & kMask)); });
    case Op::shift_right:
      return two([](T a, T b) { return static_cast<T>(a >> (b & kMask)); });
    default:
      TANG_PANIC("a function holds {} of integers", op_info(op).name);
  }
}

template <class T>
Lanes compare(Op op, const std::vector<const Lanes*>& args) {
  const auto two = [&](const auto& f) { return map<bool, T>(args, f); };
  switch (op) {
    case Op::eq:
      return two([](T a, T b) { return a == b; });
    case Op::ne:
      return two([](T a, T b) { return a != b; });
    case Op::lt:
      return two([](T a, T b) { return a < b; });
    case Op::le:
      return two([](T a, T b) { return a <= b; });
    case Op::gt:
      return two([](T a, T b) { return a > b; });
    case Op::ge:
      return two([](T a, T b) { return a >= b; });
    case Op::logic_and:
      return two([](T a, T b) { return a && b; });
    case Op::logic_or:
      return two([](T a, T b) { return a || b; });
    case Op::logic_not:
      return two([](T a) { return !a; });
    default:
      TANG_PANIC("{} is no comparison", op_info(op).name);
  }
}

template <class F>
Lanes by_type(Type type, const F& f) {
  switch (type) {
    case Type::f32:
      return f(float{});
    case Type::f64:
      return f(double{});
    case Type::i32:
      return f(int32_t{});
    case Type::i64:
      return f(int64_t{});
    case Type::boolean:
      return f(bool{});
    default:
      TANG_PANIC("a function holds a {}", type_name(type));
  }
}

template <class To, class From>
To convert_exactly(From v) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    const double limit = std::ldexp(1.0, sizeof(To) * 8 - 1), t = std::trunc(double{v});
    TANG_ASSERT(t >= -limit && t < limit, "{} does not fit an integer", v);
  }
  return static_cast<To>(v);
}

Lanes operation(const Module& module, const Expr& e, Type operand,
                const std::vector<const Lanes*>& args) {
  const OpClass cls = op_info(e.op).cls;
  if (e.op == Op::cast)
    return by_type(operand, [&](auto from) {
      return by_type(e.type, [&](auto to) {
        using From = decltype(from);
        using To = decltype(to);
        return map<To, From>(args, [](From v) { return convert_exactly<To>(v); });
      });
    });
  if (e.op == Op::bitcast) return *args[0];
  if (cls == OpClass::compare || cls == OpClass::logic)
    return by_type(operand, [&](auto v) { return compare<decltype(v)>(e.op, args); });
  if (e.op == Op::select) {
    Lanes out = *args[2];
    for (size_t i = 0; i < out.size(); ++i)
      if ((*args[0])[i].boolean) out[i] = (*args[1])[i];
    return out;
  }
  if (e.op == Op::call) {
    std::vector<Lanes> values;
    for (const Lanes* arg : args) values.push_back(*arg);
    return run_function(module, e.index(), values);
  }
  if (operand == Type::f32) return real_operation<float>(e.op, args);
  if (operand == Type::f64) return real_operation<double>(e.op, args);
  if (operand == Type::i32) return integer_operation<int32_t>(e.op, args);
  return integer_operation<int64_t>(e.op, args);
}

Lane constant_lane(const Expr& e) {
  Lane lane{};
  if (e.type == Type::f32)
    lane.f32 = static_cast<float>(e.value().real);
  else if (e.type == Type::f64)
    lane.f64 = e.value().real;
  else if (e.type == Type::i32)
    lane.i32 = static_cast<int32_t>(e.value().integer);
  else if (e.type == Type::boolean)
    lane.boolean = e.value().integer != 0;
  else
    lane.i64 = e.value().integer;
  return lane;
}

}  // namespace

Lanes run_function(const Module& module, uint32_t function, const std::vector<Lanes>& args) {
  const Function& f = module.functions.at(function);
  std::vector<Lanes> variables(f.variables.size());
  for (size_t i = 0; i < args.size(); ++i) variables[i] = args[i];
  std::unordered_map<ExprId, Lanes> values;
  const auto evaluate = [&](ExprId root) {
    for (const ExprId id : module.exprs.post_order({root})) {
      if (values.contains(id)) continue;
      const Expr& e = module.exprs[id];
      if (e.op == Op::constant) {
        values.emplace(id, Lanes(args.at(0).size(), constant_lane(e)));
      } else if (e.op == Op::variable) {
        values.emplace(id, variables.at(e.index()));
      } else {
        std::vector<const Lanes*> operands;
        for (size_t i = 0; i < e.n_args; ++i) operands.push_back(&values.at(e.args[i]));
        const Type operand = module.exprs.type(e.args[0]);
        values.emplace(id, operation(module, e, operand, operands));
      }
    }
    return values.at(root);
  };
  for (const Let& let : f.lets) variables[let.var.value] = evaluate(let.value);
  return evaluate(f.result);
}

}  // namespace tang::kernel
