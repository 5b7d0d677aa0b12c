#include "kernel/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "builder.h"

namespace tang::kernel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Run, MatrixProductCountsItsAccesses) {
  constexpr int64_t kN = 12;
  Builder b;
  const BufferId x = b.input("x", Type::f32, kN * kN), y = b.input("y", Type::f32, kN * kN);
  const BufferId z = b.output("z", Type::f32, kN * kN);
  const VarId i = b.variable("i"), j = b.variable("j"), k = b.variable("k");
  const VarId sum = b.variable("sum", Type::f32, true);
  Forms& f = b.m.forms;
  const FormId xa = f.add(f.scale(b.at(i), kN), b.at(k)), ya = f.add(f.scale(b.at(k), kN), b.at(j));
  const ExprId term = b.make(Op::mul, b.load(x, xa), b.load(y, ya));
  b.body() = {b.loop(i, 0, kN,
                     {b.loop(j, 0, kN,
                             {{Let{sum, b.f32(0)}},
                              b.loop(k, 0, kN, {{Set{sum, b.make(Op::add, b.value(sum), term)}}}),
                              b.store(z, f.add(f.scale(b.at(i), kN), b.at(j)), b.value(sum))})},
                     Run::parallel)};
  EXPECT_THAT(verify(b.m), IsEmpty());
  std::vector<Array> t = {Array(Type::f32, {kN, kN}), Array(Type::f32, {kN, kN}), Array()};
  for (int64_t e = 0; e < kN * kN; ++e) {
    t[0].set(e, real_value(std::sin(static_cast<double>(e))));
    t[1].set(e, real_value(std::cos(static_cast<double>(e))));
  }
  const RunResult r = b.run(t);
  ASSERT_EQ(r.fault, "");
  float expected = 0;
  for (int64_t e = 0; e < kN; ++e)
    expected +=
        static_cast<float>(t[0].real(3 * kN + e)) * static_cast<float>(t[1].real(e * kN + 5));
  EXPECT_EQ(t[2].real(3 * kN + 5), static_cast<double>(expected));
  EXPECT_EQ(r.counts[0].loads[0], kN * kN * kN);
  EXPECT_EQ(r.counts[0].stores[2], kN * kN);
}

TEST(Run, F32ArithmeticRounds) {
  Builder b;
  const BufferId o = b.output("o", Type::f32, 1), x = b.local("x", Type::f64, 1);
  // (1 + 2^-24) - 1 is 0 in f32.
  const VarId one = b.variable("one", Type::f32);
  const ExprId sum = b.make(Op::add, b.value(one), b.f32(std::ldexp(1, -24)));
  b.body() = {{Let{one, b.f32(1)}},
              b.store(x, 0, b.m.exprs.real(0.1)),
              b.store(o, 0, b.make(Op::sub, sum, b.value(one)))};
  std::vector<Array> t(1);
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[0].real(0), 0);
}

TEST(Run, StoresRoundToTheBuffersType) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1);
  const BufferId h = b.output("h", Type::f16, 1), u = b.output("u", Type::u8, 1);
  const BufferId n = b.output("n", Type::i4, 3);
  b.body() = {b.store(h, 0, b.load(x, 0)), b.store(u, 0, b.i32(257)), b.store(n, 0, b.i32(7)),
              b.store(n, 1, b.i32(8)), b.store(n, 2, b.i32(-1))};
  std::vector<Array> t = {array_of(Type::f32, {2049}), Array(), Array(), Array()};
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[1].real(0), 2048);
  EXPECT_EQ(t[2].get(0).integer, 1);
  EXPECT_EQ(t[3].get(1).integer, -8);
  EXPECT_EQ(t[3].get(2).integer, -1);
}

TEST(Run, OnlyTakenBranchesAreEvaluated) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 4), o = b.output("o", Type::f32, 6);
  const VarId i = b.variable("i");
  const ExprId index = b.m.exprs.form(b.m.forms, b.at(i), Type::i64);
  const ExprId inside = b.make(Op::lt, index, b.m.exprs.integer(4, Type::i64));
  // The branch is shared by two selects, and used within itself twice.
  const ExprId read = b.load(x, b.at(i));
  const ExprId square =
      b.make(Op::mul, b.make(Op::add, read, b.f32(1)), b.make(Op::add, read, b.f32(1)));
  const ExprId both = b.make(Op::logic_and, inside, b.make(Op::gt, read, b.f32(2)));
  const ExprId value = b.make(Op::add, b.m.exprs.select(inside, square, b.f32(-1)),
                              b.m.exprs.select(both, square, b.f32(0)));
  b.body() = {b.loop(i, 0, 6, {b.store(o, b.at(i), value)})};
  EXPECT_THAT(verify(b.m), IsEmpty());
  std::vector<Array> t = {array_of(Type::f32, {1, 2, 3, 4}), Array()};
  ASSERT_EQ(b.run(t).fault, "");
  const double expected[] = {4, 9, 32, 50, -1, -1};
  for (int64_t e = 0; e < 6; ++e) EXPECT_EQ(t[1].real(e), expected[e]) << e;
}

TEST(Run, SharedBranchesDoNotMultiplyTheWork) {
  // 60 levels of select, each of which uses the level below in both branches.
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1), o = b.output("o", Type::f32, 1);
  ExprId e = b.load(x, 0);
  for (int level = 0; level < 60; ++level) {
    const ExprId c = b.make(Op::gt, b.load(x, 0), b.f32(level));
    e = b.m.exprs.select(c, b.make(Op::add, e, b.f32(1)), b.make(Op::sub, e, b.f32(1)));
  }
  b.body() = {b.store(o, 0, e)};
  std::vector<Array> t = {array_of(Type::f32, {10}), Array()};
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[1].real(0), 10 + 10 - 50);
}

TEST(Run, DeepExpressions) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1), o = b.output("o", Type::f32, 1);
  ExprId e = b.load(x, 0);
  for (int i = 0; i < 20000; ++i)
    e = b.m.exprs.select(b.make(Op::lt, e, b.f32(0)), b.f32(i), b.make(Op::add, e, b.f32(1)));
  b.body() = {b.store(o, 0, e)};
  std::vector<Array> t = {array_of(Type::f32, {1}), Array()};
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[1].real(0), 20001);
}

TEST(Run, FaultsNameKernelBufferAddressAndLoops) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 4), o = b.output("o", Type::f32, 9);
  const VarId i = b.variable("i"), j = b.variable("j");
  const FormId at = b.m.forms.add(b.m.forms.scale(b.at(i), 3), b.at(j));
  b.body() = {b.loop(i, 0, 3, {b.loop(j, 0, 3, {b.store(o, at, b.load(x, at))}, Run::unroll)})};
  std::vector<Array> t = {array_of(Type::f32, {1, 2, 3, 4}), Array()};
  EXPECT_EQ(b.run(t).fault, "kernel k: load of x at 4, which has 4 elements (i = 1, j = 1)");
}

TEST(Run, UnwrittenValuesAreFaults) {
  Builder b;
  const BufferId o = b.output("o", Type::f32, 2), part = b.local("part", Type::f32, 2);
  const VarId i = b.variable("i");
  // The second task has a part of its own, which nobody wrote.
  const ExprId first = b.m.exprs.form(b.m.forms, b.at(i), Type::i64);
  b.body() = {b.loop(i, 0, 2,
                     {{If{.condition = b.make(Op::eq, first, b.m.exprs.integer(0, Type::i64)),
                          .then_body = {b.store(part, 1, b.f32(3))}}},
                      b.store(o, b.at(i), b.load(part, 1))},
                     Run::parallel)};
  std::vector<Array> t(1);
  EXPECT_EQ(b.run(t).fault, "kernel k: load of part at 1, which was never written (i = 1)");

  Builder c;
  const BufferId p = c.output("p", Type::f32, 2);
  c.body() = {c.store(p, 0, c.f32(1))};
  EXPECT_EQ(c.run(t).fault, "element 1 of output p was never written");
}

TEST(Run, WorkspaceThatIsReusedTooEarly) {
  Builder b;
  const BufferId o = b.output("o", Type::f32, 1);
  const BufferId p = b.tensor("p", Type::f32, TensorRole::workspace, 1);
  const BufferId q = b.tensor("q", Type::f64, TensorRole::workspace, 1);
  b.m.tensors[1].workspace_offset = b.number(4);
  b.m.tensors[2].workspace_offset = b.number(0);
  b.m.workspace_bytes = b.number(8);
  b.body() = {b.store(p, 0, b.f32(1)), b.store(q, 0, b.m.exprs.real(2)),
              b.store(o, 0, b.load(p, 0))};
  EXPECT_THAT(verify(b.m), IsEmpty());
  std::vector<Array> t(1);
  EXPECT_THAT(b.run(t).fault, HasSubstr("load of p at 0, which holds a value of another tensor"));
  b.m.workspace_bytes = b.number(7);
  EXPECT_THAT(b.run(t).fault, HasSubstr("p takes the bytes 4 to 8 of a workspace of 7"));
}

TEST(Run, ChecksComeFirst) {
  Builder b;
  b.m.dims.push_back({.name = "S"});
  const FormId s = b.m.forms.var({VarKind::dim, 0});
  b.m.checks.push_back({.form = b.m.forms.sub(b.number(8), s), .message = "S is at most 8"});
  b.m.checks.push_back({.form = s, .modulus = 4, .message = "S is a multiple of 4"});
  std::vector<Array> t;
  EXPECT_EQ(run(b.m, {9}, {}, t).fault, "check failed: S is at most 8");
  EXPECT_EQ(run(b.m, {6}, {}, t).fault, "check failed: S is a multiple of 4");
  EXPECT_EQ(run(b.m, {4}, {}, t).fault, "");
}

TEST(Run, AddressesWithDimsAndQuotients) {
  Builder b;
  b.m.dims.push_back({.name = "S"});
  b.k().dims = {0};
  const FormId s = b.m.forms.var({VarKind::dim, 0});
  const BufferId x = b.input("x", Type::i32, 6), o = b.output("o", Type::i64, 6);
  const VarId i = b.variable("i");
  Forms& f = b.m.forms;
  // o[i] = x[(i % 2)*S + i/2]: a transpose of x[2, S].
  const FormId from = f.add(f.mul(f.remainder(b.at(i), 2), s), f.quotient(b.at(i), 2));
  b.body() = {{For{.var = i,
                   .lo = b.number(0),
                   .hi = f.scale(s, 2),
                   .body = {b.store(o, b.at(i), b.m.exprs.cast(Type::i64, b.load(x, from)))}}}};
  EXPECT_THAT(verify(b.m), IsEmpty());
  std::vector<Array> t = {array_of(Type::i32, {0, 1, 2, 10, 11, 12}), Array()};
  ASSERT_EQ(run(b.m, {3}, {}, t).fault, "");
  const int64_t expected[] = {0, 10, 1, 11, 2, 12};
  for (int64_t e = 0; e < 6; ++e) EXPECT_EQ(t[1].get(e).integer, expected[e]);
}

TEST(Run, EmptyLoopsAndSteps) {
  Builder b;
  const BufferId o = b.output("o", Type::i64, 1);
  const VarId i = b.variable("i"), n = b.variable("n", Type::i64, true);
  const ExprId next = b.make(Op::add, b.value(n), b.m.exprs.form(b.m.forms, b.at(i), Type::i64));
  Stmt loop = b.loop(i, 1, 11, {{Set{n, next}}});
  std::get<For>(loop.node).step = 4;
  const VarId j = b.variable("j");
  b.body() = {{Let{n, b.m.exprs.integer(0, Type::i64)}},
              loop,
              b.loop(j, 3, 3, {{Set{n, next}}}),
              b.store(o, 0, b.value(n))};
  std::vector<Array> t(1);
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[0].get(0).integer, 1 + 5 + 9);
}

TEST(Run, CallsOfFunctions) {
  Builder b;
  const BufferId o = b.output("o", Type::f32, 2);
  Exprs& e = b.m.exprs;
  const auto var = [&](uint32_t v) { return e.leaf(Op::variable, Type::f32, v); };
  b.m.functions.push_back({.name = "square",
                           .variables = {{.name = "x", .type = Type::f32}},
                           .n_params = 1,
                           .result = e.make(Op::mul, var(0), var(0))});
  // quartic(x) = let s = square(x) in s < 10 ? square(s) : s
  b.m.functions.push_back(
      {.name = "quartic",
       .variables = {{.name = "x", .type = Type::f32}, {.name = "s", .type = Type::f32}},
       .n_params = 1,
       .lets = {{VarId(size_t{1}), e.call(Type::f32, 0, {var(0)})}},
       .result =
           e.select(e.make(Op::lt, var(1), b.f32(10)), e.call(Type::f32, 0, {var(1)}), var(1))});
  const ExprId two = e.call(Type::f32, 1, {b.f32(2)});
  b.body() = {b.store(o, 0, two), b.store(o, 1, b.make(Op::add, e.call(Type::f32, 1, {two}), two))};
  EXPECT_THAT(verify(b.m), IsEmpty());
  std::vector<Array> t(1);
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[0].real(0), 16);
  EXPECT_EQ(t[0].real(1), 272);
}

}  // namespace
}  // namespace tang::kernel
