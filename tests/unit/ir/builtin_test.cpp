// Each built-in monoid against plain reference code, its edges, and its laws on values for which
// f64 is exact.
#include "ir/builtin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tang {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

using State = std::vector<Value>;

struct Monoids : testing::Test {
  Arena arena;

  const Monoid& get(std::string_view name, const std::vector<Type>& types) {
    return arena.monoids[builtin_monoid(arena, name, types)];
  }
  State identity(const Monoid& m) const {
    State s;
    for (const ExprId id : m.identity) s.push_back(arena.exprs[id].value());
    return s;
  }
  State combine(const Monoid& m, const State& left, const State& right) const {
    State out;
    for (const ExprId id : m.combine)
      out.push_back(evaluate(arena.exprs, id, [&](ExprId, const Expr& e) {
        return (e.op == Op::left ? left : right).at(e.index());
      }));
    return out;
  }
  // Of points given by their visible components.
  State fold(const Monoid& m, const std::vector<State>& points) const {
    State s = identity(m);
    for (const State& p : points) s = combine(m, s, point(m, p));
    return s;
  }
  static State point(const Monoid& m, State visible) {
    while (visible.size() < m.n_components()) visible.push_back(integer_value(1));
    return visible;
  }
  double fold_reals(std::string_view name, const std::vector<double>& values) {
    std::vector<State> points;
    for (const double v : values) points.push_back({real_value(v)});
    return fold(get(name, {Type::f64}), points)[0].real;
  }
  int64_t fold_integers(std::string_view name, Type type, const std::vector<int64_t>& values) {
    std::vector<State> points;
    for (const int64_t v : values) points.push_back({integer_value(v)});
    return fold(get(name, {type}), points)[0].integer;
  }
  // The position (payload) of the winner.
  int64_t winner(std::string_view name, const std::vector<double>& values) {
    std::vector<State> points;
    for (size_t i = 0; i < values.size(); ++i)
      points.push_back({real_value(values[i]), integer_value(static_cast<int64_t>(i))});
    return fold(get(name, {Type::f64, Type::i32}), points)[1].integer;
  }
};

bool same(Type type, Value a, Value b) {
  if (!is_real(type)) return a.integer == b.integer;
  return a.real == b.real || (std::isnan(a.real) && std::isnan(b.real));
}

TEST_F(Monoids, SumsAndProducts) {
  EXPECT_EQ(fold_reals("sum", {1, 2.5, -4}), -0.5);
  EXPECT_EQ(fold_reals("sum", {}), 0);
  EXPECT_EQ(fold_reals("prod", {2, 3, -0.5}), -3);
  EXPECT_EQ(fold_reals("prod", {}), 1);
  EXPECT_EQ(fold_integers("sum", Type::i32, {INT32_MAX, 1}), INT32_MIN);
  EXPECT_EQ(fold_integers("sum", Type::i64, {INT32_MAX, 1}), 1ll << 31);
  EXPECT_EQ(fold_integers("prod", Type::i32, {65536, 65536}), 0);
  EXPECT_EQ(fold_integers("prod", Type::i64, {}), 1);
}

TEST_F(Monoids, MaximaAndMinima) {
  EXPECT_EQ(fold_reals("max", {1, 7, -3}), 7);
  EXPECT_EQ(fold_reals("max", {}), -kInf);
  EXPECT_EQ(fold_reals("min", {}), kInf);
  EXPECT_EQ(fold_reals("max", {-kInf, -kInf}), -kInf);
  EXPECT_TRUE(std::isnan(fold_reals("max", {1, kNan, kInf})));
  EXPECT_TRUE(std::isnan(fold_reals("min", {kNan, -kInf})));
  EXPECT_EQ(fold_integers("max", Type::i32, {}), INT32_MIN);
  EXPECT_EQ(fold_integers("min", Type::i64, {}), INT64_MAX);
  EXPECT_EQ(fold_integers("min", Type::i32, {3, -2, 5}), -2);
}

TEST_F(Monoids, AnyAndAll) {
  EXPECT_EQ(fold_integers("any", Type::boolean, {}), 0);
  EXPECT_EQ(fold_integers("any", Type::boolean, {0, 1, 0}), 1);
  EXPECT_EQ(fold_integers("all", Type::boolean, {}), 1);
  EXPECT_EQ(fold_integers("all", Type::boolean, {1, 0}), 0);
}

TEST_F(Monoids, ArgmaxTakesTheFirstAmongEquals) {
  EXPECT_EQ(winner("argmax", {1, 5, 5, 2}), 1);
  EXPECT_EQ(winner("argmin", {3, 1, 1}), 1);
  EXPECT_EQ(winner("argmax", {0.0, -0.0}), 0);
  EXPECT_EQ(winner("argmax", {-0.0, 0.0}), 0);
}

TEST_F(Monoids, ArgmaxFirstNanBeatsAll) {
  EXPECT_EQ(winner("argmax", {1, kNan, kInf, kNan}), 1);
  EXPECT_EQ(winner("argmin", {-kInf, kNan, kNan}), 1);
  EXPECT_EQ(winner("argmax", {kNan, 1}), 0);
}

TEST_F(Monoids, ArgmaxIdentityNeverBeatsAPoint) {
  EXPECT_EQ(winner("argmax", {}), -1);
  EXPECT_EQ(winner("argmax", {-kInf, -kInf}), 0);
  EXPECT_EQ(winner("argmin", {kInf}), 0);
  const Monoid& integers = get("argmax", {Type::i32, Type::i64});
  const State lowest = {integer_value(INT32_MIN), integer_value(4)};
  EXPECT_EQ(fold(integers, {lowest})[1].integer, 4);
  EXPECT_EQ(fold(integers, {})[0].integer, INT32_MIN);
  // Also when an empty part of a split reduction stands on either side.
  const State one = fold(integers, {lowest});
  EXPECT_EQ(combine(integers, identity(integers), one)[1].integer, 4);
  EXPECT_EQ(combine(integers, one, identity(integers))[1].integer, 4);
}

TEST_F(Monoids, ArgmaxPayloadsOfEachKind) {
  const Monoid& m = get("argmax", {Type::f64, Type::i32, Type::i64, Type::f64, Type::boolean});
  EXPECT_EQ(m.n_hidden, 1);
  EXPECT_FALSE(m.commutative);
  const State none = fold(m, {});
  EXPECT_EQ(none[0].real, -kInf);
  EXPECT_EQ(none[1].integer, -1);
  EXPECT_EQ(none[2].integer, -1);
  EXPECT_EQ(none[3].real, 0);
  EXPECT_EQ(none[4].integer, 0);
  const auto p = [](double v, int64_t a, double b, bool c) {
    return State{real_value(v), integer_value(a), integer_value(a * 10), real_value(b),
                 integer_value(c)};
  };
  const State best = fold(m, {p(1, 1, 0.5, false), p(2, 2, 1.5, true), p(0, 3, 2.5, false)});
  EXPECT_EQ(best[1].integer, 2);
  EXPECT_EQ(best[2].integer, 20);
  EXPECT_EQ(best[3].real, 1.5);
  EXPECT_EQ(best[4].integer, 1);
}

TEST_F(Monoids, Logsumexp) {
  EXPECT_DOUBLE_EQ(fold_reals("logsumexp", {0.5, -1, 2}),
                   std::log(std::exp(0.5) + std::exp(-1) + std::exp(2)));
  EXPECT_DOUBLE_EQ(fold_reals("logsumexp", {1000, 1000}), 1000 + std::log(2));
  EXPECT_DOUBLE_EQ(fold_reals("logsumexp", {-1000, -1001}), -1000 + std::log1p(std::exp(-1)));
  EXPECT_EQ(fold_reals("logsumexp", {}), -kInf);
  EXPECT_EQ(fold_reals("logsumexp", {-kInf, -kInf}), -kInf);
  EXPECT_EQ(fold_reals("logsumexp", {-kInf, 3, -kInf}), 3);
  EXPECT_EQ(fold_reals("logsumexp", {kInf, 1}), kInf);
  EXPECT_EQ(fold_reals("logsumexp", {kInf, kInf}), kInf);
  EXPECT_EQ(fold_reals("logsumexp", {-kInf, kInf}), kInf);
  EXPECT_TRUE(std::isnan(fold_reals("logsumexp", {1, kNan})));
  EXPECT_TRUE(std::isnan(fold_reals("logsumexp", {kNan, -kInf})));
}

struct OnlineSoftmax : Monoids {
  const Monoid& m = get("online_softmax", {Type::f64, Type::f64, Type::f64});
  // (score, 1, value) points.
  State of(const std::vector<std::pair<double, double>>& points) {
    std::vector<State> states;
    for (const auto& [score, v] : points)
      states.push_back({real_value(score), real_value(1), real_value(v)});
    return fold(m, states);
  }
};

TEST_F(OnlineSoftmax, WeighsByTheExponentialOfTheScore) {
  const State s = of({{1, 10}, {3, 20}, {2, -5}});
  EXPECT_EQ(s[0].real, 3);
  EXPECT_DOUBLE_EQ(s[1].real, std::exp(-2) + 1 + std::exp(-1));
  EXPECT_DOUBLE_EQ(s[2].real, 10 * std::exp(-2) + 20 - 5 * std::exp(-1));
  EXPECT_EQ(of({{1e5, 1}, {-1e5, 2}})[1].real, 1);
}

TEST_F(OnlineSoftmax, AMaskedElementWeighsNothing) {
  for (const double masked : {kNan, kInf, 1e300}) {
    for (const bool first : {true, false}) {
      const State s = first ? of({{-kInf, masked}, {2, 7}}) : of({{2, 7}, {-kInf, masked}});
      EXPECT_EQ(s[0].real, 2);
      EXPECT_EQ(s[1].real, 1);
      EXPECT_EQ(s[2].real, 7);
    }
    const State none = of({{-kInf, masked}, {-kInf, masked}});
    EXPECT_EQ(none[0].real, -kInf);
    EXPECT_EQ(none[1].real, 0);
    EXPECT_EQ(none[2].real, 0);
  }
}

TEST_F(OnlineSoftmax, EmptyAndNan) {
  const State none = of({});
  EXPECT_EQ(none[0].real, -kInf);
  EXPECT_EQ(none[1].real, 0);
  EXPECT_EQ(none[2].real, 0);
  EXPECT_TRUE(std::isnan(of({{1, 1}, {kNan, 1}})[1].real));
  EXPECT_TRUE(std::isnan(of({{1, 1}, {2, kNan}})[2].real));
  EXPECT_FALSE(std::isnan(of({{1, 1}, {2, kNan}})[1].real));
}

struct Welford : Monoids {
  const Monoid& m = get("welford", {Type::f64, Type::f64, Type::f64});
  State of(const std::vector<double>& values) {
    std::vector<State> states;
    for (const double v : values) states.push_back({real_value(1), real_value(v), real_value(0)});
    return fold(m, states);
  }
};

TEST_F(Welford, MeanAndDeviations) {
  const State s = of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s[0].real, 8);
  EXPECT_DOUBLE_EQ(s[1].real, 5);
  EXPECT_DOUBLE_EQ(s[2].real, 32);
  // Where the sum of squares would cancel.
  EXPECT_DOUBLE_EQ(of({1e9 + 1, 1e9 + 2, 1e9 + 3})[2].real, 2);
}

TEST_F(Welford, EmptySides) {
  const State none = identity(m), some = of({3, 5});
  for (const State& s : {combine(m, none, some), combine(m, some, none)}) {
    EXPECT_EQ(s[0].real, 2);
    EXPECT_EQ(s[1].real, 4);
    EXPECT_EQ(s[2].real, 2);
  }
  const State both = combine(m, none, none);
  EXPECT_EQ(both[0].real, 0);
  EXPECT_EQ(both[1].real, 0);
  EXPECT_EQ(both[2].real, 0);
  const State infinite = of({kInf});
  EXPECT_EQ(infinite[1].real, kInf);
  EXPECT_EQ(infinite[2].real, 0);
}

TEST_F(Monoids, AffineAppliesTheFirstFirst) {
  const Monoid& m = get("affine", {Type::f64, Type::f64});
  EXPECT_FALSE(m.commutative);
  const State s = fold(m, {{real_value(2), real_value(3)}, {real_value(5), real_value(7)}});
  EXPECT_EQ(s[0].real, 10);
  EXPECT_EQ(s[1].real, 5 * 3 + 7);
  const State none = fold(m, {});
  EXPECT_EQ(none[0].real, 1);
  EXPECT_EQ(none[1].real, 0);
}

// Folding a list in two parts and joining them gives what one fold gives, wherever it is cut. The
// values are small integers, powers of two, infinities and NaN, for which every step is exact.
TEST_F(Monoids, SplitsDoNotMatter) {
  struct Case {
    std::string_view name;
    std::vector<Type> types;
  };
  const Case cases[] = {
      {"sum", {Type::f64}},
      {"sum", {Type::i32}},
      {"prod", {Type::f64}},
      {"max", {Type::f64}},
      {"min", {Type::i64}},
      {"any", {Type::boolean}},
      {"all", {Type::boolean}},
      {"argmax", {Type::f64, Type::i32}},
      {"argmin", {Type::f64, Type::i32}},
      {"argmax", {Type::i32, Type::f64}},
      {"affine", {Type::f64, Type::f64}},
  };
  const double reals[] = {2, -1, 4, 4, kNan, -kInf, 0.5};
  for (const Case& c : cases) {
    const Monoid& m = get(c.name, c.types);
    std::vector<State> points;
    for (int64_t i = 0; i < 7; ++i) {
      State p;
      for (size_t k = 0; k < c.types.size(); ++k) {
        if (c.types[k] == Type::f64)
          p.push_back(
              real_value(c.name.substr(0, 3) == "arg" && k == 0 ? reals[i] : std::ldexp(i % 3, 1)));
        else
          p.push_back(integer_value(c.types[k] == Type::boolean ? i % 2 : (k ? i : i % 4)));
      }
      points.push_back(p);
    }
    const State whole = fold(m, points);
    for (size_t cut = 0; cut <= points.size(); ++cut) {
      const auto middle = points.begin() + static_cast<std::ptrdiff_t>(cut);
      const State joined =
          combine(m, fold(m, {points.begin(), middle}), fold(m, {middle, points.end()}));
      for (size_t k = 0; k < c.types.size(); ++k)
        EXPECT_TRUE(same(c.types[k], whole[k], joined[k])) << c.name << " cut at " << cut;
    }
  }
}

TEST_F(Monoids, CommutativeOnesAreDeclaredSo) {
  for (const auto name : {"sum", "prod", "max", "min", "logsumexp"})
    EXPECT_TRUE(get(name, {Type::f64}).commutative) << name;
  EXPECT_TRUE(get("any", {Type::boolean}).commutative);
  EXPECT_TRUE(get("welford", {Type::f64, Type::f64, Type::f64}).commutative);
  EXPECT_FALSE(get("argmin", {Type::f64, Type::i32}).commutative);
}

TEST_F(Monoids, ProductsKeepHiddenComponentsLast) {
  const MonoidId max = builtin_monoid(arena, "max", {Type::f64});
  const MonoidId arg = builtin_monoid(arena, "argmax", {Type::f64, Type::i32});
  const MonoidId low = builtin_monoid(arena, "argmin", {Type::i32, Type::f64});
  const Monoid& m = arena.monoids[product_monoid(arena, {arg, max, low})];
  EXPECT_EQ(m.name, "(argmax, max, argmin)");
  EXPECT_EQ(m.types, (std::vector<Type>{Type::f64, Type::i32, Type::f64, Type::i32, Type::f64,
                                        Type::boolean, Type::boolean}));
  EXPECT_EQ(m.n_hidden, 2);
  EXPECT_FALSE(m.commutative);
  const auto p = [](double a, int64_t at, double b, int64_t c, double d) {
    return State{real_value(a), integer_value(at), real_value(b), integer_value(c), real_value(d)};
  };
  const State s = fold(m, {p(1, 0, 9, 4, 0.5), p(3, 1, 8, 2, 1.5), p(2, 2, 7, 6, 2.5)});
  EXPECT_EQ(s[0].real, 3);
  EXPECT_EQ(s[1].integer, 1);
  EXPECT_EQ(s[2].real, 9);
  EXPECT_EQ(s[3].integer, 2);
  EXPECT_EQ(s[4].real, 1.5);
  EXPECT_EQ(product_monoid(arena, {max}), max);
  EXPECT_EQ(arena.exprs[hidden_value(arena, m, 5)].value().integer, 1);
}

TEST(BuiltinNames, AndHowManyValuesTheyTake) {
  for (const std::string_view name : builtin_monoid_names())
    EXPECT_TRUE(builtin_monoid_arity(name)) << name;
  EXPECT_EQ(builtin_monoid_arity("welford")->most, 3u);
  EXPECT_EQ(builtin_monoid_arity("argmax")->least, 2u);
  EXPECT_EQ(builtin_monoid_arity("argmax")->most, SIZE_MAX);
  EXPECT_FALSE(builtin_monoid_arity("median"));
}

}  // namespace
}  // namespace tang
