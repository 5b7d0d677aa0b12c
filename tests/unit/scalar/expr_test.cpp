// The factory: equal terms are one node, constants fold, and only exact laws apply.
#include "scalar/expr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/panic.h"

namespace tang {
namespace {

struct Factory : testing::Test {
  Exprs e;
  ExprId x = e.leaf(Op::read, Type::f64, 0);
  ExprId y = e.leaf(Op::read, Type::f64, 1);
  ExprId i = e.leaf(Op::read, Type::i32, 2);
  ExprId p = e.leaf(Op::read, Type::boolean, 3);

  ExprId make(Op op, ExprId a, ExprId b = {}) { return e.make(op, a, b); }
  bool stays(ExprId id, Op op) const { return e[id].op == op; }
};

TEST_F(Factory, EqualTermsAreOneNode) {
  EXPECT_EQ(make(Op::add, x, y), make(Op::add, x, y));
  EXPECT_NE(make(Op::add, x, y), make(Op::add, y, x));
  EXPECT_NE(e.real(0.0), e.real(-0.0));
  EXPECT_EQ(e.real(0.1, Type::f32), e.real(static_cast<double>(0.1f), Type::f32));
  EXPECT_NE(e.integer(1, Type::i32), e.integer(1, Type::i64));
}

TEST_F(Factory, ExactLaws) {
  EXPECT_EQ(make(Op::mul, x, e.real(1)), x);
  EXPECT_EQ(make(Op::mul, e.real(1), x), x);
  EXPECT_EQ(make(Op::div, x, e.real(1)), x);
  EXPECT_EQ(make(Op::neg, make(Op::neg, x)), x);
  EXPECT_EQ(make(Op::logic_not, make(Op::logic_not, p)), p);
  EXPECT_EQ(e.select(p, x, x), x);
  EXPECT_EQ(e.select(e.boolean(true), x, y), x);
  EXPECT_EQ(e.select(e.boolean(false), x, y), y);
  EXPECT_EQ(make(Op::logic_and, p, e.boolean(true)), p);
  EXPECT_EQ(make(Op::logic_or, p, e.boolean(false)), p);
  EXPECT_EQ(make(Op::add, i, e.integer(0)), i);
  EXPECT_EQ(make(Op::sub, i, e.integer(0)), i);
  EXPECT_EQ(make(Op::mul, i, e.integer(0)), e.integer(0));
  EXPECT_EQ(e.cast(Type::f64, x), x);
}

TEST_F(Factory, RealLawsDoNotApply) {
  EXPECT_TRUE(stays(make(Op::mul, x, e.real(0)), Op::mul));
  EXPECT_TRUE(stays(make(Op::mul, e.real(0), x), Op::mul));
  EXPECT_TRUE(stays(make(Op::sub, x, x), Op::sub));
  EXPECT_TRUE(stays(make(Op::add, x, e.real(0.0)), Op::add));
  EXPECT_TRUE(stays(make(Op::add, e.real(0.0), x), Op::add));
  EXPECT_TRUE(stays(make(Op::div, x, x), Op::div));
  EXPECT_TRUE(stays(make(Op::eq, x, x), Op::eq));
  EXPECT_TRUE(stays(make(Op::log, make(Op::exp, x)), Op::log));
  EXPECT_TRUE(stays(e.cast(Type::f64, e.cast(Type::f16, x)), Op::cast));
}

TEST_F(Factory, ConstantsFold) {
  EXPECT_EQ(make(Op::add, e.real(0.5), e.real(0.25)), e.real(0.75));
  EXPECT_EQ(make(Op::div, e.integer(-7), e.integer(2)), e.integer(-4));
  EXPECT_EQ(make(Op::lt, e.real(1), e.real(2)), e.boolean(true));
  EXPECT_EQ(e.cast(Type::f64, e.cast(Type::f16, e.real(0.1))), e.real(0.0999755859375));
  EXPECT_EQ(e.cast(Type::i32, e.real(-2.9)), e.integer(-2));
  EXPECT_TRUE(std::isnan(e[make(Op::mul, e.real(0), e.real(INFINITY))].value().real));
}

TEST_F(Factory, TypesMustFit) {
  EXPECT_THROW(make(Op::add, x, i), InternalError);
  EXPECT_THROW(make(Op::sqrt, i), InternalError);
  EXPECT_THROW(make(Op::mod, x, y), InternalError);
  EXPECT_THROW(make(Op::add, p, p), InternalError);
  EXPECT_THROW(e.select(x, x, y), InternalError);
  EXPECT_THROW(e.select(p, x, i), InternalError);
  EXPECT_EQ(e.type(make(Op::bit_and, p, p)), Type::boolean);
  EXPECT_EQ(e.type(make(Op::lt, i, i)), Type::boolean);
}

TEST_F(Factory, FormsOfConstantsAreConstants) {
  Forms forms;
  EXPECT_EQ(e.form(forms, forms.constant(7), Type::i64), e.integer(7, Type::i64));
  EXPECT_EQ(e[e.form(forms, forms.axis(0), Type::i32)].op, Op::form);
}

TEST_F(Factory, PostOrderPutsArgumentsFirst) {
  const ExprId sum = make(Op::add, x, y), root = make(Op::mul, sum, sum);
  const std::vector<ExprId> order = e.post_order({root, sum});
  EXPECT_EQ(order, (std::vector<ExprId>{x, y, sum, root}));
}

TEST_F(Factory, RewriteGoesThroughTheFactories) {
  const ExprId product = make(Op::mul, x, make(Op::sub, y, x));
  Exprs::Memo memo;
  const ExprId out = e.rewrite(product, memo, [&](ExprId old, const std::array<ExprId, 3>&) {
    return old == x ? e.real(1) : ExprId();
  });
  EXPECT_EQ(out, make(Op::sub, y, e.real(1)));
}

TEST_F(Factory, DeepChainsAreNoProblem) {
  ExprId sum = x;
  for (int n = 0; n < 20000; ++n)
    sum = make(Op::add, sum, e.leaf(Op::read, Type::f64, static_cast<uint64_t>(10 + n)));
  EXPECT_GT(e.post_order({sum}).size(), 40000u);
  const Value v = evaluate(e, sum, [](ExprId, const Expr&) { return real_value(1); });
  EXPECT_EQ(v.real, 20001);
  Exprs::Memo memo;
  const auto keep = [](ExprId, const std::array<ExprId, 3>&) { return ExprId(); };
  EXPECT_EQ(e.rewrite(sum, memo, keep), sum);
}

TEST_F(Factory, DeepSelectsAreNoProblem) {
  ExprId root = x;
  for (int n = 0; n < 20000; ++n)
    root = e.select(e.leaf(Op::read, Type::boolean, static_cast<uint64_t>(10 + n)), y, root);
  const Value v = evaluate(e, root, [](ExprId, const Expr& leaf) {
    return leaf.type == Type::boolean ? integer_value(0) : real_value(5);
  });
  EXPECT_EQ(v.real, 5);
}

}  // namespace
}  // namespace tang
