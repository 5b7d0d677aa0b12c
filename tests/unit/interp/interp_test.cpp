// The interpreter on programs built by hand: each construct of the graph at its edges.
#include "interp/interp.h"

#include <gmock/gmock.h>

#include "builder.h"
#include "support/panic.h"

namespace tang {
namespace {

using test::Draft;
using test::kInf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Interp : test::ProgramTest {
  Guard only(std::initializer_list<Constraint> constraints) {
    return {.constraints = constraints, .condition = {}};
  }
  Guard when(ExprId condition) { return {.constraints = {}, .condition = condition}; }
  FormId minus(FormId a, FormId b) { return forms.sub(a, b); }
};

TEST_F(Interp, MapsThroughViews) {
  const FormId n = dim("N", 3);
  const TensorId x = input("x", Type::f32, {forms.scale(n, 2)}, {0, 1, 2, 3, 4, 5});
  Draft d = draft({n});
  const ExprId odd = read(d, x, {forms.add(forms.scale(axis(0), 2), 1)});
  EXPECT_THAT(eval(map(d, exprs.make(Op::mul, odd, odd))), ElementsAre(1, 9, 25));
}

TEST_F(Interp, RankZeroAndEmptyExtents) {
  const FormId n = dim("N", 0);
  const TensorId x = input("x", Type::f32, {n}, {});
  Draft total = draft({}, {n});
  const TensorId s = reduce(total, "sum", {read(total, x, {axis(0)})});
  Draft peak = draft({}, {n});
  const TensorId m = reduce(peak, "max", {read(peak, x, {axis(0)})}, {}, "m");
  Draft none = draft({n});
  const TensorId e = map(none, read(none, x, {axis(0)}), "e");
  EXPECT_THAT(eval(s), ElementsAre(0));
  EXPECT_THAT(eval(m), ElementsAre(-kInf));
  EXPECT_THAT(eval(e), IsEmpty());
}

TEST_F(Interp, FoldsInRowMajorOrder) {
  const FormId n = number(2);
  const TensorId a = input("a", Type::f64, {n, n}, {2, 3, 5, 7});
  const TensorId b = input("b", Type::f64, {n, n}, {1, 1, 1, 1});
  Draft d = draft({}, {n, n});
  const std::vector<FormId> at = {axis(0), axis(1)};
  const TensorId first = reduce(d, "affine", {read(d, a, at), read(d, b, at)});
  // ((1*3 + 1)*5 + 1)*7 + 1
  EXPECT_THAT(eval(result(first, 1)), ElementsAre(148));
}

TEST_F(Interp, PrefixDomains) {
  const FormId n = number(4);
  const TensorId x = input("x", Type::f32, {n}, {1, 2, 3, 4});
  Draft up = draft({n}, {n});
  const TensorId sums =
      reduce(up, "sum", {read(up, x, {axis(1)})}, only({{.form = minus(axis(0), axis(1))}}));
  EXPECT_THAT(eval(sums), ElementsAre(1, 3, 6, 10));
  // 2*k >= i and k < i: bounds with coefficients round towards the domain.
  Draft band = draft({n}, {n});
  const TensorId banded = reduce(band, "sum", {read(band, x, {axis(1)})},
                                 only({{.form = minus(forms.scale(axis(1), 2), axis(0))},
                                       {.form = forms.add(minus(axis(0), axis(1)), -1)}}),
                                 "banded");
  EXPECT_THAT(eval(banded), ElementsAre(0, 0, 2, 3));
}

TEST_F(Interp, DomainsOfEveryShape) {
  const FormId n = number(6);
  const TensorId x = input("x", Type::f32, {n}, {1, 2, 4, 8, 16, 32});
  Draft d = draft({}, {n});
  const ExprId value = read(d, x, {axis(0)});
  // Divisibility, a quotient, and a constraint without any axis that fails.
  EXPECT_THAT(eval(reduce(d, "sum", {value}, only({{.form = axis(0), .modulus = 3}}), "p")),
              ElementsAre(9));
  EXPECT_THAT(eval(reduce(d, "sum", {value},
                          only({{.form = forms.add(forms.quotient(axis(0), 2), -1)},
                                {.form = forms.sub(number(1), forms.quotient(axis(0), 2))}}),
                          "q")),
              ElementsAre(12));
  const FormId pos = integer_scalar("pos", 2);
  EXPECT_THAT(eval(reduce(d, "sum", {value}, only({{.form = minus(pos, number(3))}}), "r")),
              ElementsAre(0));
  // The square of an axis: no bound, but a test.
  EXPECT_THAT(eval(reduce(d, "sum", {value},
                          only({{.form = minus(number(9), forms.mul(axis(0), axis(0)))}}), "s")),
              ElementsAre(15));
}

// The condition reads x[k + 1], which only the constraint k + 1 < n keeps in range.
TEST_F(Interp, ConstraintsComeBeforeTheCondition) {
  const FormId n = number(4);
  const TensorId x = input("x", Type::f32, {n}, {1, 5, 2, 3});
  Draft d = draft({}, {n});
  const ExprId here = read(d, x, {axis(0)});
  const ExprId next = read(d, x, {forms.add(axis(0), 1)});
  Guard domain = only({{.form = forms.sub(number(2), axis(0))}});
  domain.condition = exprs.make(Op::gt, next, here);
  EXPECT_THAT(eval(reduce(d, "sum", {here}, domain)), ElementsAre(1 + 2));
}

TEST_F(Interp, OnlyPointsOfTheDomainAreRead) {
  const FormId n = number(3);
  const TensorId keep = input("keep", Type::boolean, {n}, {1, 0, 1});
  const TensorId at = input("at", Type::i32, {n}, {2, 99, 0});
  const TensorId x = input("x", Type::f32, {n}, {10, 20, 30});
  Draft d = draft({}, {n});
  const ExprId kept = read(d, keep, {axis(0)});
  const ExprId value = gather(d, x, {read(d, at, {axis(0)})});
  EXPECT_THAT(eval(reduce(d, "sum", {value}, when(kept))), ElementsAre(40));
}

TEST_F(Interp, GuardedReadsGiveTheirValueOutOfRange) {
  const FormId n = number(3);
  const TensorId x = input("x", Type::f32, {n}, {1, 2, 3});
  Draft d = draft({n}, {n});
  const ExprId tap = read(d, x, {forms.add(forms.add(axis(0), axis(1)), -1)}, exprs.real(-kInf));
  EXPECT_THAT(eval(reduce(d, "max", {exprs.make(Op::neg, tap)})), ElementsAre(kInf, -1, kInf));
}

TEST_F(Interp, GuardsOfEveryKind) {
  const FormId n = number(4);
  const TensorId x = input("x", Type::i32, {n}, {10, 11, 12, 13});
  const TensorId on = input("on", Type::boolean, {n}, {1, 1, 0, 1});
  Draft exact = draft({n});
  const ExprId half = read(exact, x, {forms.quotient(axis(0), 2)}, exprs.integer(-1),
                           only({{.form = axis(0), .modulus = 2}}));
  EXPECT_THAT(eval(map(exact, half, "exact")), ElementsAre(10, -1, 11, -1));
  Draft conditional = draft({n});
  const ExprId allowed = read(conditional, on, {axis(0)});
  EXPECT_THAT(
      eval(map(conditional, read(conditional, x, {axis(0)}, exprs.integer(0), when(allowed)))),
      ElementsAre(10, 11, 0, 13));
}

TEST_F(Interp, GathersThroughData) {
  const FormId n = number(3);
  const TensorId at = input("at", Type::i64, {n}, {2, 0, -1});
  const TensorId x = input("x", Type::f32, {n}, {10, 20, 30});
  Draft d = draft({n});
  const ExprId index = read(d, at, {axis(0)});
  EXPECT_THAT(eval(map(d, gather(d, x, {index}, exprs.real(0.5)))), ElementsAre(30, 10, 0.5));
}

// A guard's condition protects the data coordinate too: x?[at[i] | i < 2], at of two elements.
TEST_F(Interp, CoordinatesAreEvaluatedUnderTheGuard) {
  const FormId n = number(3), two = number(2);
  const TensorId at = input("at", Type::i32, {two}, {1, 0});
  const TensorId x = input("x", Type::f32, {n}, {10, 20, 30});
  Draft d = draft({n});
  const ExprId index = read(d, at, {axis(0)});
  const ExprId value =
      gather(d, x, {index}, exprs.real(7.0), only({{.form = minus(number(1), axis(0))}}));
  EXPECT_THAT(eval(map(d, value)), ElementsAre(20, 10, 7));
}

TEST_F(Interp, ABrokenPreconditionIsNoticed) {
  const FormId n = number(2);
  const TensorId at = input("at", Type::i32, {n}, {0, 5});
  const TensorId x = input("x", Type::f32, {n}, {1, 2});
  Draft d = draft({n});
  const TensorId y = map(d, gather(d, x, {read(d, at, {axis(0)})}));
  Interpreter interp(program, bindings);
  EXPECT_EQ(interp.eval_at(y, std::vector<int64_t>{0}).real, 1);
  try {
    interp.eval(y);
    FAIL() << "read outside of x";
  } catch (const InternalError& e) {
    EXPECT_THAT(e.what(), HasSubstr("x[5]"));
    EXPECT_THAT(e.what(), HasSubstr("[2]"));
  }
}

TEST_F(Interp, BranchesAreLazy) {
  const FormId n = number(2);
  const TensorId at = input("at", Type::i32, {n}, {1, 77});
  const TensorId x = input("x", Type::f32, {n}, {1, 2});
  Draft d = draft({n});
  const ExprId index = read(d, at, {axis(0)});
  const ExprId inside = exprs.make(Op::lt, index, exprs.integer(2));
  const ExprId far = gather(d, x, {index});
  const ExprId chosen = exprs.select(inside, far, exprs.real(-1));
  EXPECT_THAT(eval(map(d, chosen, "chosen")), ElementsAre(2, -1));
  const ExprId big = exprs.make(Op::gt, far, exprs.real(1));
  EXPECT_THAT(eval(map(d, exprs.make(Op::logic_and, inside, big), "both")), ElementsAre(1, 0));
  const ExprId outside = exprs.make(Op::logic_not, inside);
  EXPECT_THAT(eval(map(d, exprs.make(Op::logic_or, outside, big), "either")), ElementsAre(1, 1));
  // Needed on one side in two places, and on the other side not at all.
  const ExprId nested =
      exprs.select(inside, exprs.select(big, exprs.make(Op::add, far, far), far), exprs.real(0));
  EXPECT_THAT(eval(map(d, nested, "nested")), ElementsAre(4, 0));
}

TEST_F(Interp, IntegersWrapInTheirWidth) {
  const FormId n = number(2);
  const TensorId x = input("x", Type::i32, {n}, {INT32_MAX, 1});
  Draft narrow = draft({}, {n});
  EXPECT_THAT(eval(reduce(narrow, "sum", {read(narrow, x, {axis(0)})})), ElementsAre(INT32_MIN));
  Draft wide = draft({}, {n});
  const ExprId value = exprs.cast(Type::i64, read(wide, x, {axis(0)}));
  EXPECT_THAT(eval(reduce(wide, "sum", {value})), ElementsAre(2147483648.0));
}

TEST_F(Interp, FormsAndScalarsAsData) {
  const FormId n = dim("N", 3), pos = integer_scalar("pos", 5);
  program.scalars.push_back({.name = "eps", .type = Type::f32});
  bindings.scalars.push_back(real_value(0.25));
  Draft d = draft({n});
  const FormId form = forms.add(forms.mul(n, axis(0)), forms.remainder(pos, 3));
  const ExprId real = exprs.cast(Type::f64, exprs.form(forms, form, Type::i32));
  const ExprId value = exprs.make(Op::add, real, exprs.leaf(Op::scalar, Type::f64, 1));
  EXPECT_THAT(eval(map(d, value)), ElementsAre(2.25, 5.25, 8.25));
}

TEST_F(Interp, RoundingCastsRound) {
  const FormId n = number(2);
  const TensorId x = input("x", Type::f64, {n}, {0.1, 70000});
  Draft d = draft({n});
  const ExprId rounded = exprs.cast(Type::f64, exprs.cast(Type::f16, read(d, x, {axis(0)})));
  EXPECT_THAT(eval(map(d, rounded)), ElementsAre(0.0999755859375, kInf));
}

TEST_F(Interp, OutputsConvertToTheirStorage) {
  const FormId n = number(2);
  const TensorId x = input("x", Type::f64, {n}, {0.1, -3.7});
  Draft d = draft({n});
  const TensorId y = map(d, read(d, x, {axis(0)}));
  program.outputs = {{.name = "a", .tensor = y, .type = Type::f16},
                     {.name = "b", .tensor = y, .type = Type::i8},
                     {.name = "c", .tensor = y, .type = Type::boolean}};
  const std::vector<Array> out = Interpreter(program, bindings).outputs();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].type, Type::f16);
  EXPECT_EQ(out[0].real(0), 0.0999755859375);
  EXPECT_EQ(out[1].get(1).integer, -3);
  EXPECT_EQ(out[2].get(0).integer, 1);
}

// peak[i], norm[i], o[i,e]: the row's state is stored once a row, also when there is no column.
struct ComponentAxes : Interp {
  TensorId build(int64_t n_columns, std::vector<double> values) {
    const FormId n = number(2), columns = dim("E", n_columns);
    const TensorId s = input("s", Type::f64, {n, n}, {0, 1, 2, -kInf});
    const TensorId v = input("v", Type::f64, {n, columns}, std::move(values));
    Draft d = draft({n, columns}, {n});
    const ExprId score = read(d, s, {axis(0), axis(2)});
    const ExprId carried = read(d, v, {axis(2), axis(1)});
    d.c.monoid = builtin_monoid(*arena, "online_softmax", {Type::f64, Type::f64, Type::f64});
    d.c.components = {{.value = score, .axes = {0}},
                      {.value = exprs.real(1.0), .axes = {0}},
                      {.value = carried, .axes = {1, 0}}};
    return define(d, "peak");
  }
};

TEST_F(ComponentAxes, EachComponentHasItsOwn) {
  const TensorId peak = build(3, {1, 2, 3, 10, 20, 30});
  EXPECT_THAT(eval(peak), ElementsAre(1, 2));
  const double w = std::exp(-1);
  EXPECT_THAT(eval(result(peak, 1)), ElementsAre(w + 1, 1));
  // Transposed: o[e,i].
  EXPECT_THAT(eval(result(peak, 2)), ElementsAre(w + 10, 1, 2 * w + 20, 2, 3 * w + 30, 3));
}

TEST_F(ComponentAxes, WithoutColumnsTheRowsStateIsStillComputed) {
  const TensorId peak = build(0, {});
  EXPECT_THAT(eval(peak), ElementsAre(1, 2));
  EXPECT_THAT(eval(result(peak, 2)), IsEmpty());
}

TEST_F(Interp, StatesMayChangePlaces) {
  // combine((a, b), (c, d)) = (b, a): the new state is taken from the old one at once.
  Monoid swap{.name = "swap", .types = {Type::f64, Type::f64}};
  swap.identity = {exprs.real(1.0), exprs.real(2.0)};
  swap.combine = {exprs.leaf(Op::left, Type::f64, 1), exprs.leaf(Op::left, Type::f64, 0)};
  const FormId n = number(3);
  Draft d = draft({}, {n});
  d.c.monoid = arena->monoids.intern(swap);
  d.c.components = {{.value = exprs.real(0.0), .axes = {}}, {.value = exprs.real(0.0), .axes = {}}};
  const TensorId first = define(d, "s");
  EXPECT_THAT(eval(first), ElementsAre(2));
  EXPECT_THAT(eval(result(first, 1)), ElementsAre(1));
}

TEST_F(Interp, ArgmaxOfComputedValues) {
  const FormId n = number(40);
  Draft f = draft({n});
  const ExprId i = exprs.cast(Type::f64, exprs.form(forms, axis(0), Type::i32));
  const TensorId wave = map(f, exprs.make(Op::sin, i), "wave");
  Draft g = draft({n});
  const TensorId payload = map(g, exprs.make(Op::mul, i, exprs.real(10)), "payload");
  Draft d = draft({}, {n});
  const TensorId best =
      reduce(d, "argmax", {read(d, wave, {axis(0)}), read(d, payload, {axis(0)})}, {}, "best");
  EXPECT_THAT(eval(result(best, 1)), ElementsAre(330));
}

TEST_F(Interp, ALongChainOfDefinitions) {
  const FormId n = number(2);
  TensorId t = input("x", Type::f64, {n}, {0, 100});
  for (int k = 0; k < 10000; ++k) {
    Draft d = draft({n});
    t = map(d, exprs.make(Op::add, read(d, t, {axis(0)}), exprs.real(1)), "t");
  }
  Interpreter whole(program, bindings), single(program, bindings);
  EXPECT_THAT(reals(whole.eval(t)), ElementsAre(10000, 10100));
  EXPECT_EQ(single.eval_at(t, std::vector<int64_t>{1}).real, 10100);
}

TEST_F(Interp, ADeepExpression) {
  const FormId n = number(2);
  const TensorId x = input("x", Type::f64, {n}, {1, -1});
  Draft d = draft({n});
  const ExprId leaf = read(d, x, {axis(0)});
  ExprId value = exprs.real(0.5);
  for (int k = 0; k < 10000; ++k)
    value = exprs.select(exprs.make(Op::gt, leaf, exprs.real(k - 5000)), leaf,
                         exprs.make(Op::add, value, leaf));
  EXPECT_THAT(eval(map(d, value)), ElementsAre(1 + 4999, -1 - 5001));
}

// On demand, a cell of a large program computes what it depends on and no more.
TEST_F(Interp, OnDemandOnlyWhatIsNeeded) {
  const FormId n = number(1 << 20);
  Draft big = draft({n, n});
  const ExprId i = exprs.cast(Type::f64, exprs.form(forms, axis(0), Type::i32));
  const ExprId j = exprs.cast(Type::f64, exprs.form(forms, axis(1), Type::i32));
  const TensorId table = map(big, exprs.make(Op::add, i, j), "table");  // 8 TiB as a whole
  Draft d = draft({n}, {number(3)});
  const TensorId sums = reduce(d, "sum", {read(d, table, {axis(0), axis(1)})}, {}, "sums");
  Interpreter interp(program, bindings);
  EXPECT_EQ(interp.eval_at(sums, std::vector<int64_t>{1000}).real, 3003);
}

TEST_F(Interp, OneNodeUnderTwoNames) {
  const FormId n = number(2);
  const TensorId x = input("x", Type::f64, {n}, {1, 2});
  Draft d = draft({n});
  const TensorId y = map(d, read(d, x, {axis(0)}), "y");
  program.defs.push_back(program.defs[0]);
  Draft sum = draft({n});
  const TensorId z = map(sum, exprs.make(Op::add, read(sum, y, {axis(0)}), exprs.real(1)), "z");
  program.defs.push_back(program.defs[0]);
  EXPECT_THAT(eval(z), ElementsAre(2, 3));
}

TEST_F(Interp, BindingsMustFit) {
  const FormId n = dim("N", 2);
  input("x", Type::f32, {n}, {1, 2});
  bindings.dims[0] = 3;
  EXPECT_THROW(Interpreter(program, bindings), InternalError);
  bindings.dims.clear();
  EXPECT_THROW(Interpreter(program, bindings), InternalError);
}

}  // namespace
}  // namespace tang
