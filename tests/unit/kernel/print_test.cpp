// The text of kernel IR.
#include <gtest/gtest.h>

#include <limits>

#include "builder.h"

namespace tang::kernel {
namespace {

std::string text_of(Builder& b, ExprId value) {
  const VarId x = b.variable("result", b.m.exprs.type(value));
  b.body() = {{Let{x, value}}};
  const std::string text = print(b.m, b.k());
  const size_t begin = text.find("= ") + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Print, Kernel) {
  Builder b;
  b.m.dims.push_back({.name = "S"});
  b.k().dims = {0};
  b.k().computes = "o[i] = sum[j](x[i,j])";
  const BufferId x = b.input("x", Type::f32, 4), o = b.output("o", Type::f16, 4);
  const BufferId part = b.local("part", Type::f32, 2);
  const VarId i = b.variable("i"), j = b.variable("j"), s = b.variable("s", Type::f32, true);
  const FormId at = b.m.forms.add(b.m.forms.scale(b.at(i), 2), b.at(j));
  Stmt outer{For{.var = i,
                 .lo = b.number(0),
                 .hi = b.m.forms.var({VarKind::dim, 0}),
                 .step = 2,
                 .run = Run::parallel}};
  std::get<For>(outer.node).body = {
      {Let{s, b.f32(0)}},
      b.loop(j, 0, 2, {{Set{s, b.make(Op::add, b.value(s), b.load(x, at))}}}, Run::unroll),
      {If{.condition = b.make(Op::gt, b.value(s), b.f32(1)),
          .then_body = {{Comment{"large"}}, b.store(part, 0, b.value(s))},
          .else_body = {b.store(o, b.at(i), b.value(s))}}}};
  b.body() = {outer};
  EXPECT_EQ(print(b.m, b.k()), R"(kernel k(x: read f32, o: write f16) {
  # o[i] = sum[j](x[i,j])
  lane part: f32[2]
  for i in 0..S step 2 parallel {
    var s: f32 = 0.0
    for j in 0..2 unroll {
      s = s + x[2*i + j]
    }
    if s > 1.0 {
      # large
      part[0] = s
    } else {
      o[i] = s
    }
  }
}
)");
}

TEST(Print, ParenthesesOnlyWhereNeeded) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 9);
  const ExprId p = b.load(x, 0), q = b.load(x, 1), r = b.load(x, 2);
  EXPECT_EQ(text_of(b, b.make(Op::sub, p, b.make(Op::sub, q, r))), "x[0] - (x[1] - x[2])");
  EXPECT_EQ(text_of(b, b.make(Op::sub, b.make(Op::sub, p, q), r)), "x[0] - x[1] - x[2]");
  EXPECT_EQ(text_of(b, b.make(Op::mul, b.make(Op::add, p, q), b.make(Op::neg, r))),
            "(x[0] + x[1]) * -x[2]");
  EXPECT_EQ(text_of(b, b.m.exprs.select(b.make(Op::lt, p, q), b.make(Op::max, p, q), r)),
            "x[0] < x[1] ? max(x[0], x[1]) : x[2]");
  EXPECT_EQ(text_of(b, b.make(Op::mul, b.f32(-2), p)), "-2.0 * x[0]");
  EXPECT_EQ(text_of(b, b.make(Op::max, p, b.f32(-std::numeric_limits<double>::infinity()))),
            "max(x[0], -inf)");
}

TEST(Print, SharedWorkIsNamedOnce) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1), o = b.output("o", Type::f32, 1);
  ExprId e = b.load(x, 0);
  for (int i = 0; i < 200; ++i) e = b.make(Op::mul, e, b.make(Op::add, e, b.f32(1)));
  b.body() = {b.store(o, 0, e)};
  const std::string text = print(b.m, b.k());
  EXPECT_LT(text.size(), 20000u);
  EXPECT_NE(text.find("where _1 = "), std::string::npos);
}

}  // namespace
}  // namespace tang::kernel
