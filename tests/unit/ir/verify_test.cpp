// A well-formed program passes; each way to break it is noticed and named.
#include "ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builtin.h"

namespace tang {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// y[i] = sum[k | k <= i](x[i,k] * w?[k + i - 1]) over dims N, K; z[i] = y[i] + 1.0
struct Programs : testing::Test {
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  Forms& forms = arena->forms;
  Exprs& exprs = arena->exprs;
  FormId n = forms.var({VarKind::dim, 0}), k = forms.var({VarKind::dim, 1});
  Program program;
  Comprehension sum, map;

  void SetUp() override {
    program.arena = arena;
    program.dims = {{.name = "N"}, {.name = "K"}};
    program.scalars = {{.name = "pos", .type = Type::i32}, {.name = "eps", .type = Type::f32}};
    program.inputs = {input("x", {n, k}), input("w", {k})};
    const ExprId left = exprs.leaf(Op::read, Type::f64, 0);
    const ExprId right = exprs.leaf(Op::read, Type::f64, 1);
    sum.extents = {n, k};
    sum.n_points = 1;
    sum.reads = {
        plain(program.inputs[0].tensor, {forms.axis(0), forms.axis(1)}),
        guarded(program.inputs[1].tensor, forms.add(forms.add(forms.axis(0), forms.axis(1)), -1))};
    sum.domain = arena->guard(
        {.constraints = {{.form = forms.sub(forms.axis(0), forms.axis(1))}}, .condition = {}});
    sum.monoid = builtin_monoid(*arena, "sum", {Type::f64});
    sum.components = {{.value = exprs.make(Op::mul, left, right), .axes = {0}}};
    set_map(result_of(sum));
  }
  TensorId result_of(const Comprehension& c) {
    return arena->component(arena->comprehensions.intern(c), 0);
  }
  void set_map(TensorId y) {
    map = {};
    map.extents = {n};
    map.n_points = 1;
    map.reads = {plain(y, {forms.axis(0)})};
    map.domain = arena->no_guard();
    map.components = {
        {.value = exprs.make(Op::add, exprs.leaf(Op::read, Type::f64, 0), exprs.real(1.0)),
         .axes = {0}}};
  }
  Input input(const std::string& name, std::vector<FormId> shape, Type type = Type::f32) {
    const auto source = static_cast<uint32_t>(name == "x" ? 0 : 1);
    const TensorId t = arena->tensors.intern(
        {.kind = TensorKind::input, .source = source, .type = type, .shape = std::move(shape)});
    return {.name = name, .tensor = t};
  }
  Read plain(TensorId tensor, const std::vector<FormId>& coords) {
    View view{.coords = {}, .guard = arena->no_guard()};
    for (const FormId c : coords) view.coords.push_back({.form = c, .data = {}});
    return {.tensor = tensor, .view = arena->views.intern(view), .otherwise = {}};
  }
  Read guarded(TensorId tensor, FormId coord) {
    const View view{
        .coords = {{.form = coord, .data = {}}}, .guarded = true, .guard = arena->no_guard()};
    return {.tensor = tensor, .view = arena->views.intern(view), .otherwise = exprs.real(0.0)};
  }
  // The program of the two comprehensions as they are now.
  std::vector<std::string> verdict() {
    const ComprehensionId first = arena->comprehensions.intern(sum);
    const ComprehensionId second = arena->comprehensions.intern(map);
    program.defs = {{.id = first, .names = {"y"}, .axis_names = {"i", "k"}},
                    {.id = second, .names = {"z"}, .axis_names = {"i"}}};
    program.defs[0].names.resize(sum.monoid.valid() ? arena->monoids[sum.monoid].n_visible() : 1);
    program.defs[0].axis_names.resize(sum.n_axes());
    program.defs[1].axis_names.resize(map.n_axes());
    if (program.outputs.empty())
      program.outputs = {{.name = "z", .tensor = arena->component(second, 0)}};
    return verify(program);
  }
  void expect(const std::string& part) { EXPECT_THAT(verdict(), Contains(HasSubstr(part))); }
};

TEST_F(Programs, AGoodOnePasses) {
  EXPECT_THAT(verdict(), IsEmpty());
}

TEST_F(Programs, Axes) {
  sum.reads[0] = plain(program.inputs[0].tensor, {forms.axis(0), forms.axis(2)});
  expect("read 0's coordinate names axis 2 of 2");
}

TEST_F(Programs, Dims) {
  sum.extents[1] = forms.var({VarKind::dim, 5});
  expect("names dim 5 of 2");
}

TEST_F(Programs, ExtentsAreOfDimsOnly) {
  sum.extents[1] = forms.var({VarKind::scalar, 0});
  expect("the extent of axis 1 is built of more than dims");
}

TEST_F(Programs, RealScalarsAreNoForms) {
  sum.reads[1] = guarded(program.inputs[1].tensor, forms.var({VarKind::scalar, 1}));
  expect("names scalar 1, which is no integer");
}

TEST_F(Programs, CoordinatesAreIntegerCombinations) {
  sum.reads[1] = guarded(program.inputs[1].tensor, forms.mul(n, forms.axis(1)));
  expect("no integer combination");
}

TEST_F(Programs, KernelVariables) {
  sum.reads[1] = guarded(program.inputs[1].tensor, forms.var({VarKind::local, 0}));
  expect("names a variable of a kernel");
}

TEST_F(Programs, ReadNumbers) {
  map.components[0].value = exprs.leaf(Op::read, Type::f64, 4);
  expect("uses read 4, and may use 1");
}

TEST_F(Programs, ReadTypes) {
  map.components[0].value = exprs.cast(Type::f64, exprs.leaf(Op::read, Type::i32, 0));
  expect("uses read 0 as a i32");
}

TEST_F(Programs, DataCoordinatesUseEarlierReads) {
  const ExprId later = exprs.cast(Type::i32, exprs.leaf(Op::read, Type::f64, 1));
  View view{.coords = {{.form = {}, .data = later}}, .guarded = true, .guard = arena->no_guard()};
  sum.reads[1].view = arena->views.intern(view);
  expect("data coordinate uses read 1, and may use 1");
  const ExprId real = exprs.leaf(Op::read, Type::f64, 0);
  view.coords = {{.form = {}, .data = real}};
  sum.reads[1].view = arena->views.intern(view);
  expect("a data coordinate that is no integer");
}

TEST_F(Programs, ACoordinatePerDimension) {
  sum.reads[0] = plain(program.inputs[0].tensor, {forms.axis(0)});
  expect("1 coordinates for 2 dimensions");
}

TEST_F(Programs, PlainReadsHaveNoGuard) {
  sum.reads[0].otherwise = exprs.real(0.0);
  expect("is plain, and has a guard or a value out of range");
}

TEST_F(Programs, GuardedReadsHaveAValueOutOfRange) {
  sum.reads[1].otherwise = {};
  expect("value out of range is missing");
  sum.reads[1].otherwise = exprs.integer(0);
  expect("value out of range is a i32, not a f64");
}

TEST_F(Programs, KindsOfNodes) {
  map.components[0].value =
      exprs.make(Op::add, exprs.real(1, Type::f32), exprs.leaf(Op::variable, Type::f32, 0));
  expect("computes add in f32");
  expect("contains variable, which belongs to kernels");
}

TEST_F(Programs, RoundingIsACastAndACastBack) {
  const ExprId x = exprs.leaf(Op::read, Type::f64, 0);
  map.components[0].value = exprs.cast(Type::f64, exprs.cast(Type::f16, x));
  program.outputs.clear();
  EXPECT_THAT(verdict(), IsEmpty());
  map.components[0].value = exprs.cast(Type::i32, exprs.cast(Type::f16, x));
  expect("uses a f16 as it is");
  map.components[0].value = exprs.cast(Type::f16, x);
  expect("value 0 is a f16");
}

TEST_F(Programs, ValuesHaveTheMonoidsType) {
  sum.components[0].value = exprs.integer(1);
  expect("value 0 is a i32, not a f64");
}

TEST_F(Programs, ConditionsAreBoolean) {
  sum.domain = arena->guard({.constraints = {}, .condition = exprs.leaf(Op::read, Type::f64, 0)});
  expect("the domain's condition is a f64, not a bool");
}

TEST_F(Programs, MapsHaveNeitherReduceAxesNorDomain) {
  map.extents.push_back(k);
  map.domain = sum.domain;
  expect("a map has reduce axes");
  expect("a map has a domain");
}

TEST_F(Programs, StatesStandOnlyInCombine) {
  map.components[0].value = exprs.leaf(Op::left, Type::f64, 0);
  expect("names component 0 of a state");
}

TEST_F(Programs, AValuePerComponent) {
  sum.monoid = builtin_monoid(*arena, "affine", {Type::f64, Type::f64});
  expect("1 values for 2 components of affine");
}

TEST_F(Programs, CombineFitsItsTypes) {
  Monoid m = arena->monoids[sum.monoid];
  m.combine = {
      exprs.make(Op::lt, exprs.leaf(Op::left, Type::f64, 0), exprs.leaf(Op::right, Type::f64, 0))};
  sum.monoid = arena->monoids.intern(m);
  expect("combine 0 of sum is a bool, not a f64");
  m.combine = {exprs.leaf(Op::left, Type::f64, 3)};
  sum.monoid = arena->monoids.intern(m);
  expect("names component 3 of a state");
  m.combine = {exprs.leaf(Op::read, Type::f64, 0)};
  sum.monoid = arena->monoids.intern(m);
  expect("uses read 0, and may use 0");
}

TEST_F(Programs, IdentitiesAreConstant) {
  Monoid m = arena->monoids[sum.monoid];
  m.identity = {exprs.leaf(Op::scalar, Type::f64, 1)};
  sum.monoid = arena->monoids.intern(m);
  expect("identity 0 of sum is not constant");
}

TEST_F(Programs, ComponentAxesArePointsOnce) {
  sum.components[0].axes = {0, 0};
  expect("component 0 lists axis 0 twice");
  sum.components[0].axes = {0, 1};
  expect("component 0 lists axis 1, no point");
}

TEST_F(Programs, ComponentsListTheAxesTheyDependOn) {
  sum.components[0].axes = {};
  expect("component 0 depends on axis 0, which it does not list");
}

TEST_F(Programs, ThroughCombineToo) {
  // The second component's combine weighs by the first, which depends on axis 0.
  sum.monoid = builtin_monoid(*arena, "online_softmax", {Type::f64, Type::f64});
  sum.domain = arena->no_guard();
  sum.components = {{.value = exprs.leaf(Op::read, Type::f64, 0), .axes = {0}},
                    {.value = exprs.real(1.0), .axes = {}}};
  expect("component 1 depends on axis 0");
}

TEST_F(Programs, DefinitionsReadEarlierOnes) {
  set_map(result_of(map));
  expect("read 0 is not computed by an earlier definition");
}

TEST_F(Programs, InputsBelongToTheProgram) {
  sum.reads[1].tensor = arena->tensors.intern(
      {.kind = TensorKind::input, .source = 1, .type = Type::f16, .shape = {k}});
  expect("read 1 is not input 1 of the program");
}

TEST_F(Programs, HiddenComponentsAreNotRead) {
  sum.monoid = builtin_monoid(*arena, "argmax", {Type::f64, Type::i32});
  sum.components = {{.value = exprs.leaf(Op::read, Type::f64, 0), .axes = {0}},
                    {.value = exprs.integer(3), .axes = {0}},
                    {.value = exprs.boolean(true), .axes = {0}}};
  const TensorId seen = arena->component(arena->comprehensions.intern(sum), 2);
  set_map(seen);
  map.components[0].value = exprs.leaf(Op::read, Type::boolean, 0);
  expect("read 0 is component 2 of 2");
}

TEST_F(Programs, ListsHaveAnAxisForTheirPlaces) {
  sum.monoid = builtin_monoid(*arena, "topk", {Type::f64, Type::i32}, 3);
  sum.components = {{.value = exprs.leaf(Op::read, Type::f64, 0), .axes = {0}},
                    {.value = exprs.integer(3), .axes = {0}},
                    {.value = exprs.boolean(true), .axes = {0}}};
  expect("component 0 has no axis for its 3 places");
}

TEST_F(Programs, OutputsAreComputed) {
  set_map(result_of(sum));
  Comprehension other = map;
  other.components[0].value = exprs.real(3.0);
  program.outputs = {{.name = "z", .tensor = result_of(other)}};
  expect("output 0 (z): it is not computed by an earlier definition");
}

// w[i] := y[i] + 1.0, of a w as long as y.
TEST_F(Programs, UpdatesAreMapsOverAnInout) {
  program.inputs[1] = input("w", {n});
  sum.reads[1] = guarded(program.inputs[1].tensor, forms.axis(1));
  set_map(result_of(sum));
  map.reads.push_back(plain(program.inputs[1].tensor, {forms.axis(0)}));
  map.into = 1;
  expect("an update of what is no inout");
  program.outputs.clear();
  program.inputs[1].role = Role::inout;
  EXPECT_THAT(verdict(), IsEmpty());
}

TEST_F(Programs, NamesFitResultsAndAxes) {
  verdict();
  program.defs[0].names.clear();
  EXPECT_THAT(verify(program), Contains(HasSubstr("0 names for 1 results")));
}

}  // namespace
}  // namespace tang
