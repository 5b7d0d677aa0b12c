#include "text/monoid_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "scalar/expr.h"

namespace tang {

namespace {

using State = std::vector<Value>;

constexpr size_t kSamples = 300;
constexpr size_t kMostWork = 3'000'000;  // operations, for which large monoids have fewer samples
constexpr size_t kMostShown = 12;        // numbers of a state

struct Laws {
  const Arena& arena;
  const Monoid& monoid;
  uint32_t random = 12345;  // of a fixed sequence, so that a compile says the same each time

  uint32_t next() {
    random = random * 1664525u + 1013904223u;
    return random >> 16;
  }

  // Small numbers, exact in every format, whose products and sums are exact too.
  State sample() {
    constexpr double kReals[] = {0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 5.0};
    State s;
    for (const Type type : monoid.types) {
      const double v = kReals[next() % std::size(kReals)];
      if (is_real(type))
        s.push_back(real_value(v));
      else if (type == Type::boolean)
        s.push_back(integer_value(next() % 2));
      else
        s.push_back(integer_value(static_cast<int64_t>(std::floor(v))));
    }
    return s;
  }

  State combine(const State& a, const State& b) const {
    State out;
    for (const ExprId root : monoid.combine)
      out.push_back(evaluate(arena.exprs, root, [&](ExprId, const Expr& e) {
        return e.op == Op::left ? a[e.index()] : b[e.index()];
      }));
    return out;
  }

  State identity() const {
    State out;
    for (const ExprId id : monoid.identity) out.push_back(arena.exprs[id].value());
    return out;
  }

  // Over the reals the laws are exact; here a rounding, and what is not finite, is no difference.
  bool same(const State& a, const State& b) const {
    for (size_t k = 0; k < a.size(); ++k) {
      if (!is_real(monoid.types[k])) {
        if (a[k].integer != b[k].integer) return false;
        continue;
      }
      const double x = a[k].real, y = b[k].real;
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      if (std::fabs(x - y) > 1e-9 * (1 + std::fabs(x) + std::fabs(y))) return false;
    }
    return true;
  }

  std::string text(const State& s) const {
    std::string out;
    for (size_t k = 0; k < s.size(); ++k) {
      out += k > 0 ? ", " : "";
      if (k == kMostShown) return "(" + out + "...)";
      if (is_real(monoid.types[k]))
        out += fmt::format("{}", s[k].real);
      else if (monoid.types[k] == Type::boolean)
        out += s[k].integer != 0 ? "true" : "false";
      else
        out += fmt::format("{}", s[k].integer);
    }
    return "(" + out + ")";
  }
};

// Whether an expression can be computed from states alone: sizes and scalars have no values here.
bool only_states(const Arena& arena, const Monoid& monoid) {
  const std::vector<ExprId> order = arena.exprs.post_order(monoid.combine);
  return std::none_of(order.begin(), order.end(), [&](ExprId id) {
    const Op op = arena.exprs[id].op;
    return op == Op::form || op == Op::scalar;
  });
}

}  // namespace

std::optional<std::string> broken_law(const Arena& arena, const Monoid& monoid) {
  if (!only_states(arena, monoid)) return std::nullopt;
  Laws laws{arena, monoid};
  const State one = laws.identity();
  const size_t work = 7 * arena.exprs.post_order(monoid.combine).size();  // of a sample
  const size_t n_samples = std::clamp<size_t>(kMostWork / (work + 1), 10, kSamples);
  for (size_t n = 0; n < n_samples; ++n) {
    const State a = laws.sample(), b = laws.sample(), c = laws.sample();
    for (const bool left : {true, false}) {
      const State joined = left ? laws.combine(one, a) : laws.combine(a, one);
      if (!laws.same(joined, a))
        return fmt::format("{} of {} is no identity: it makes {} of {}", laws.text(one),
                           monoid.name, laws.text(joined), laws.text(a));
    }
    const State first = laws.combine(laws.combine(a, b), c);
    const State second = laws.combine(a, laws.combine(b, c));
    if (!laws.same(first, second))
      return fmt::format("{} is not associative: {} and {} for {}, {}, {}", monoid.name,
                         laws.text(first), laws.text(second), laws.text(a), laws.text(b),
                         laws.text(c));
    const State forth = laws.combine(a, b), back = laws.combine(b, a);
    if (monoid.commutative && !laws.same(forth, back))
      return fmt::format("{} is not commutative: {} and {} for {}, {}", monoid.name,
                         laws.text(forth), laws.text(back), laws.text(a), laws.text(b));
  }
  return std::nullopt;
}

}  // namespace tang
