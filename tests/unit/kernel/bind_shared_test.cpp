// bind-shared: what it binds, what laziness forbids, and that the meaning stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builder.h"
#include "kernel/legalizations.h"

namespace tang::kernel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string body_text(const Builder& b) {
  const std::string text = print(b.m, b.m.kernels[0]);
  const size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind("}\n") - begin);
}

void bind(Builder& b) {
  bind_shared(b.m, {});
  ASSERT_THAT(verify(b.m), IsEmpty());
}

TEST(BindShared, ValuesUsedTwiceAreVariables) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 2), o = b.output("o", Type::f32, 1);
  const ExprId sum = b.make(Op::add, b.load(x, 0), b.load(x, 1));
  b.body() = {b.store(o, 0, b.make(Op::mul, sum, b.make(Op::sub, sum, b.load(x, 0))))};
  bind(b);
  EXPECT_EQ(body_text(b), R"(  let x_value: f32 = x[0]
  let sum: f32 = x_value + x[1]
  o[0] = sum * (sum - x_value)
)");
}

TEST(BindShared, TreesAndShortIndexArithmeticStay) {
  Builder b;
  const BufferId o = b.output("o", Type::f32, 4);
  const VarId i = b.variable("i");
  const ExprId index = b.m.exprs.cast(Type::f32, b.m.exprs.form(b.m.forms, b.at(i), Type::i64));
  const ExprId inside = b.make(Op::lt, index, b.f32(2));
  const ExprId value = b.m.exprs.select(inside, b.make(Op::mul, index, index), b.f32(0));
  b.body() = {b.loop(i, 0, 4, {b.store(o, b.at(i), value)})};
  const std::string before = body_text(b);
  bind(b);
  EXPECT_EQ(body_text(b), before);
}

TEST(BindShared, NamesAreUniqueWhereTheyAreVisible) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 2), o = b.output("o", Type::f32, 4);
  const VarId sum = b.variable("sum", Type::f32);
  const auto square = [&](double v) {
    const ExprId s = b.make(Op::add, b.load(x, 0), b.f32(v));
    return b.make(Op::mul, s, s);
  };
  const VarId i = b.variable("i");
  b.body() = {b.loop(i, 0, 1, {b.store(o, 0, square(1)), b.store(o, 1, square(2))}),
              b.loop(i, 0, 1, {b.store(o, 2, square(3))}),
              {Let{sum, b.f32(0)}},
              b.store(o, 3, b.value(sum))};
  std::get<For>(b.body()[1].node).var = b.variable("j");
  bind(b);
  const std::string text = body_text(b);
  EXPECT_THAT(text, HasSubstr("let sum_2: f32 = x[0] + 1.0"));
  EXPECT_THAT(text, HasSubstr("let sum_3: f32 = x[0] + 2.0"));
  EXPECT_THAT(text, HasSubstr("let sum_2: f32 = x[0] + 3.0"));
}

// i < 4 guards x[i]; i runs beyond.
struct Guarded {
  Builder b;
  BufferId x = b.input("x", Type::f32, 4), o = b.output("o", Type::f32, 6);
  VarId i = b.variable("i");
  ExprId inside = b.make(Op::lt, b.m.exprs.form(b.m.forms, b.at(i), Type::i64),
                         b.m.exprs.integer(4, Type::i64));
  ExprId read = b.load(x, b.at(i));
  ExprId more = b.make(Op::add, read, b.f32(1));
  ExprId square = b.make(Op::mul, more, more);

  void check(ExprId value, const std::vector<double>& expected) {
    b.body() = {b.loop(i, 0, 6, {b.store(o, b.at(i), value)})};
    for (const bool bound : {false, true}) {
      if (bound) bind(b);
      std::vector<Array> t = {array_of(Type::f32, {1, 2, 3, 4}), Array()};
      ASSERT_EQ(b.run(t).fault, "") << body_text(b);
      for (int64_t e = 0; e < 6; ++e)
        EXPECT_EQ(t[1].real(e), expected[static_cast<size_t>(e)]) << e << "\n" << body_text(b);
    }
  }
};

TEST(BindShared, GuardedLoadsStayGuarded) {
  Guarded g;
  g.check(g.b.m.exprs.select(g.inside, g.square, g.b.f32(-1)), {4, 9, 16, 25, -1, -1});
  EXPECT_EQ(body_text(g.b), R"(  for i in 0..6 {
    var sum: f32 = 0.0
    if i < 4 {
      sum = x[i] + 1.0
    }
    o[i] = i < 4 ? sum * sum : -1.0
  }
)");
}

TEST(BindShared, AGuardedLoadIsComputedEarly) {
  Guarded g;
  Builder& b = g.b;
  // Further out stands a condition on the value itself.
  const ExprId x = b.m.exprs.select(g.inside, g.read, b.f32(0));
  const ExprId large = b.make(Op::gt, x, b.f32(2));
  g.check(b.m.exprs.select(large, b.make(Op::mul, x, x), x), {1, 2, 9, 16, 0, 0});
  EXPECT_EQ(body_text(b), R"(  for i in 0..6 {
    let x_value: f32 = i < 4 ? x[i] : 0.0
    o[i] = x_value > 2.0 ? x_value * x_value : x_value
  }
)");
}

TEST(BindShared, TwoGuardsOfOneValue) {
  Guarded g;
  Builder& b = g.b;
  const ExprId large = b.make(Op::logic_and, g.inside, b.make(Op::gt, g.square, b.f32(9)));
  const ExprId value = b.make(Op::add, b.m.exprs.select(g.inside, g.square, b.f32(0)),
                              b.m.exprs.select(large, b.f32(100), b.f32(0)));
  g.check(value, {4, 9, 116, 125, 0, 0});
}

TEST(BindShared, GuardsWithinGuards) {
  Guarded g;
  Builder& b = g.b;
  // Within the guard, a condition on the value that was read.
  const ExprId root = b.make(Op::sqrt, g.square);
  const ExprId twice = b.make(Op::mul, root, root);
  const ExprId inner = b.m.exprs.select(b.make(Op::gt, g.more, b.f32(3)), twice, g.square);
  g.check(b.m.exprs.select(g.inside, b.make(Op::add, inner, inner), b.f32(0)),
          {8, 18, 32, 50, 0, 0});
}

TEST(BindShared, OrIsLazyToo) {
  Guarded g;
  Builder& b = g.b;
  const ExprId outside = b.make(Op::logic_not, g.inside);
  const ExprId product = b.make(Op::mul, g.square, g.square);
  const ExprId either = b.make(Op::logic_or, outside, b.make(Op::gt, product, g.square));
  g.check(b.m.exprs.cast(Type::f32, either), {1, 1, 1, 1, 1, 1});
}

TEST(BindShared, BothBranchesAreNoGuard) {
  Guarded g;
  Builder& b = g.b;
  const ExprId low = b.make(Op::lt, b.m.exprs.form(b.m.forms, b.at(g.i), Type::i64),
                            b.m.exprs.integer(2, Type::i64));
  const ExprId value = b.m.exprs.select(low, g.square, b.make(Op::neg, g.square));
  b.body() = {b.loop(g.i, 0, 4, {b.store(g.o, b.at(g.i), value)})};
  bind(b);
  EXPECT_THAT(body_text(b), HasSubstr("let sum: f32 = x[i] + 1.0"));
  EXPECT_THAT(body_text(b), Not(HasSubstr("if")));
}

TEST(BindShared, PureArithmeticLeavesBranches) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 2), o = b.output("o", Type::f32, 1);
  const ExprId a = b.load(x, 0), sum = b.make(Op::add, a, b.f32(1));
  const ExprId square = b.make(Op::mul, sum, sum);
  b.body() = {b.store(o, 0, b.m.exprs.select(b.make(Op::gt, a, b.f32(0)), square, a))};
  bind(b);
  EXPECT_EQ(body_text(b), R"(  let x_value: f32 = x[0]
  let sum: f32 = x_value + 1.0
  o[0] = x_value > 0.0 ? sum * sum : x_value
)");
}

TEST(BindShared, ChainsGrowLinearly) {
  // 60 levels, each of which uses the level below in two branches of one select, or of two.
  for (const bool two : {false, true}) {
    Guarded g;  // in range throughout, which only the loop knows
    Builder& b = g.b;
    b.m.tensors[1].shape = {b.m.tensors[1].elements = b.number(4)};
    ExprId e = g.read;
    for (int level = 0; level < 60; ++level) {
      const ExprId c = b.make(Op::lt, b.m.exprs.form(b.m.forms, b.at(g.i), Type::i64),
                              b.m.exprs.integer(4 - level % 3, Type::i64));
      const ExprId up = b.make(Op::add, e, b.f32(level)), down = b.make(Op::sub, e, b.f32(1));
      e = two ? b.make(Op::add, b.m.exprs.select(c, up, b.f32(0)),
                       b.m.exprs.select(c, b.f32(0.5), down))
              : b.m.exprs.select(c, up, down);
    }
    const ExprId value = b.m.exprs.select(g.inside, e, b.f32(0));
    b.body() = {b.loop(g.i, 0, 4, {b.store(g.o, b.at(g.i), value)})};
    std::vector<Array> before = {array_of(Type::f32, {1, 2, 3, 4}), Array()}, after = before;
    ASSERT_EQ(b.run(before).fault, "");
    bind(b);
    EXPECT_LT(body_text(b).size(), 100000u);
    ASSERT_EQ(b.run(after).fault, "");
    EXPECT_EQ(before[1].data, after[1].data);
  }
}

TEST(BindShared, DeepExpressionsAreCut) {
  for (const bool guarded : {false, true}) {
    Guarded g;
    Builder& b = g.b;
    ExprId e = g.read;
    for (int i = 0; i < 2000; ++i) e = b.make(Op::mul, b.make(Op::add, e, b.f32(1)), b.f32(0.5));
    if (guarded) e = b.m.exprs.select(g.inside, e, b.f32(0));
    b.body() = {b.loop(g.i, 0, guarded ? 6 : 4, {b.store(g.o, b.at(g.i), e)})};
    bind(b);
    std::string text = body_text(b);
    for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1)
      EXPECT_LT(text.find('\n', begin) - begin, 300u);
    if (!guarded) continue;
    std::vector<Array> t = {array_of(Type::f32, {1, 2, 3, 4}), Array()};
    ASSERT_EQ(b.run(t).fault, "");
    EXPECT_EQ(t[1].real(3), 1);
    EXPECT_EQ(t[1].real(4), 0);
  }
}

TEST(BindShared, FunctionsToo) {
  Builder b;
  Exprs& e = b.m.exprs;
  const ExprId x = e.leaf(Op::variable, Type::f32, 0);
  const ExprId sum = e.make(Op::add, x, b.f32(1));
  b.m.functions.push_back({.name = "f",
                           .variables = {{.name = "x", .type = Type::f32}},
                           .n_params = 1,
                           .result = e.make(Op::mul, sum, sum)});
  bind(b);
  EXPECT_THAT(print(b.m), HasSubstr("  let sum: f32 = x + 1.0\n  return sum * sum\n"));
}

}  // namespace
}  // namespace tang::kernel
