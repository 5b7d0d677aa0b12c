// The value of operations at their edges.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scalar/expr.h"

namespace tang {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

double real(Op op, double a, double b = 0, double c = 0, Type type = Type::f64) {
  const Value args[3] = {real_value(a), real_value(b), real_value(c)};
  return evaluate_op(op, type, type, args).real;
}
int64_t integer(Op op, int64_t a, int64_t b = 0, Type type = Type::i32) {
  const Value args[3] = {integer_value(a), integer_value(b), {}};
  return evaluate_op(op, type, type, args).integer;
}
bool compare(Op op, double a, double b) {
  const Value args[2] = {real_value(a), real_value(b)};
  return evaluate_op(op, Type::f64, Type::boolean, args).integer != 0;
}

TEST(Reals, NanWinsInMinAndMax) {
  for (const Op op : {Op::min, Op::max}) {
    EXPECT_TRUE(std::isnan(real(op, kNan, 1)));
    EXPECT_TRUE(std::isnan(real(op, 1, kNan)));
    EXPECT_TRUE(std::isnan(real(op, kNan, kInf)));
  }
  EXPECT_EQ(real(Op::max, -kInf, 3), 3);
  EXPECT_EQ(real(Op::min, kInf, 3), 3);
}

TEST(Reals, ArithmeticIsIeee) {
  EXPECT_TRUE(std::isnan(real(Op::mul, 0, kInf)));
  EXPECT_TRUE(std::isnan(real(Op::sub, kInf, kInf)));
  EXPECT_TRUE(std::signbit(real(Op::mul, -0.0, 1)));
  EXPECT_FALSE(std::signbit(real(Op::add, -0.0, 0.0)));
  EXPECT_EQ(real(Op::div, 1, -0.0), -kInf);
  EXPECT_EQ(real(Op::recip, 0), kInf);
  EXPECT_EQ(real(Op::rsqrt, 0), kInf);
  EXPECT_TRUE(std::isnan(real(Op::sqrt, -1)));
  EXPECT_EQ(real(Op::log, 0), -kInf);
  EXPECT_EQ(real(Op::sigmoid, -kInf), 0);
  EXPECT_EQ(real(Op::sigmoid, kInf), 1);
  EXPECT_EQ(real(Op::tanh, -kInf), -1);
}

TEST(Reals, RoundingGoesToEvenAndSignKeepsZeroAndNan) {
  EXPECT_EQ(real(Op::round, 0.5), 0);
  EXPECT_EQ(real(Op::round, 1.5), 2);
  EXPECT_EQ(real(Op::round, 2.5), 2);
  EXPECT_EQ(real(Op::round, -3.5), -4);
  EXPECT_EQ(real(Op::floor, -0.5), -1);
  EXPECT_EQ(real(Op::ceil, 0.2), 1);
  EXPECT_EQ(real(Op::sign, -7), -1);
  EXPECT_EQ(real(Op::sign, 0), 0);
  EXPECT_TRUE(std::isnan(real(Op::sign, kNan)));
}

TEST(Reals, PowerWithAWholeExponentIsAProduct) {
  EXPECT_EQ(real(Op::pow, 0, 0), 1);
  EXPECT_EQ(real(Op::pow, -2, 3), -8);
  EXPECT_EQ(real(Op::pow, -2, -2), 0.25);
  EXPECT_EQ(real(Op::pow, 1.1, 2), 1.1 * 1.1);
  EXPECT_EQ(real(Op::pow, 0, -1), kInf);
  EXPECT_EQ(real(Op::pow, 9, 0.5), 3);
  EXPECT_TRUE(std::isnan(real(Op::pow, -8, 0.5)));
  EXPECT_EQ(real(Op::pow, 10, -310), 1e-310);
  EXPECT_EQ(real(Op::pow, kNan, 0), 1);
}

TEST(Reals, ComparisonsWithNanAreFalseButNe) {
  for (const Op op : {Op::eq, Op::lt, Op::le, Op::gt, Op::ge}) EXPECT_FALSE(compare(op, kNan, 1));
  EXPECT_TRUE(compare(Op::ne, kNan, kNan));
  EXPECT_TRUE(compare(Op::eq, 0.0, -0.0));
}

TEST(Reals, F32RoundsEachResult) {
  const float a = 0.1f, b = 3.0f, c = -0.3f;
  EXPECT_EQ(real(Op::mul, a, b, 0, Type::f32), static_cast<double>(a * b));
  EXPECT_EQ(real(Op::div, a, b, 0, Type::f32), static_cast<double>(a / b));
  EXPECT_EQ(real(Op::fma, a, b, c, Type::f32), static_cast<double>(std::fma(a, b, c)));
  EXPECT_EQ(real(Op::mul, 3e38, 10, 0, Type::f32), kInf);
}

TEST(Integers, QuotientFloorsAndRemainderHasTheDivisorsSign) {
  for (int64_t a = -20; a <= 20; ++a)
    for (int64_t b = -6; b <= 6; ++b) {
      const int64_t q = integer(Op::div, a, b), r = integer(Op::mod, a, b);
      if (b == 0) {
        EXPECT_EQ(q, 0);
        EXPECT_EQ(r, a);
        continue;
      }
      EXPECT_EQ(q,
                static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
      EXPECT_EQ(a, b * q + r);
    }
  EXPECT_EQ(integer(Op::div, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(integer(Op::mod, INT32_MIN, -1), 0);
  EXPECT_EQ(integer(Op::div, INT64_MIN, -1, Type::i64), INT64_MIN);
}

TEST(Integers, WrapInTheirWidth) {
  EXPECT_EQ(integer(Op::add, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(integer(Op::mul, 65536, 65536), 0);
  EXPECT_EQ(integer(Op::neg, INT32_MIN), INT32_MIN);
  EXPECT_EQ(integer(Op::abs, INT32_MIN), INT32_MIN);
  EXPECT_EQ(integer(Op::add, INT64_MAX, 1, Type::i64), INT64_MIN);
  EXPECT_EQ(integer(Op::mul, INT64_MAX, 2, Type::i64), -2);
}

TEST(Integers, ShiftsTakeTheirCountModuloTheWidth) {
  EXPECT_EQ(integer(Op::shift_left, 1, 33), 2);
  EXPECT_EQ(integer(Op::shift_left, 1, 31), INT32_MIN);
  EXPECT_EQ(integer(Op::shift_right, -8, 1), -4);
  EXPECT_EQ(integer(Op::shift_right, -8, 32), -8);
  EXPECT_EQ(integer(Op::shift_left, 1, 33, Type::i64), 1ll << 33);
  EXPECT_EQ(integer(Op::shift_left, 1, -1), INT32_MIN);
}

// Leaves are numbered by payload; asking for a leaf outside of `allowed` fails the test.
Value run(const Exprs& exprs, ExprId root, const std::vector<double>& leaves) {
  return evaluate(exprs, root, [&](ExprId, const Expr& e) {
    EXPECT_LT(e.index(), leaves.size()) << "an untaken branch was evaluated";
    return e.index() < leaves.size() ? real_value(leaves[e.index()]) : real_value(0);
  });
}

TEST(Evaluate, TakesOnlyTheBranchItNeeds) {
  Exprs e;
  const ExprId x = e.leaf(Op::read, Type::f64, 0), never = e.leaf(Op::read, Type::f64, 99);
  const ExprId positive = e.make(Op::gt, x, e.real(0));
  EXPECT_EQ(run(e, e.select(positive, x, never), {2}).real, 2);
  EXPECT_EQ(run(e, e.select(positive, never, e.make(Op::neg, x)), {-2}).real, 2);
  const ExprId bad = e.make(Op::lt, never, e.real(0));
  EXPECT_EQ(run(e, e.make(Op::logic_or, positive, bad), {2}).integer, 1);
  EXPECT_EQ(run(e, e.make(Op::logic_and, positive, bad), {-2}).integer, 0);
}

TEST(Evaluate, SharedNodesAreComputedOnce) {
  Exprs e;
  ExprId x = e.leaf(Op::read, Type::f64, 0);
  for (int i = 0; i < 60; ++i) x = e.make(Op::add, x, x);  // 2^60 paths
  EXPECT_EQ(run(e, x, {1}).real, std::ldexp(1, 60));
}

}  // namespace
}  // namespace tang
