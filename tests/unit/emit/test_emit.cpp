// Emitted C, built by real compilers and compared with what kernel::run gives for the same module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "build.h"
#include "compile.h"
#include "kernel/legalize.h"
#include "kernel/run.h"

namespace tang::emit {
namespace {

using kernel::Access;
using kernel::Block;
using kernel::Module;
using kernel::Run;
using kernel::TensorRole;
using testing::HasSubstr;
using testing::Not;

const Target& c_target() {
  return *find_target("c");
}

std::string source_of(const Module& module) {
  return emit(c_target(), module, "t")[0].text;
}

Array filled(Type type, std::vector<int64_t> shape, uint32_t seed) {
  Array a(type, std::move(shape));
  std::mt19937 random(seed);
  for (int64_t i = 0; i < a.size(); ++i) {
    const auto n = static_cast<int64_t>(random() % 4001) - 2000;
    a.set(i, is_real(type) ? real_value(static_cast<double>(n) / 256)
                           : convert(Type::i64, type, integer_value(n)));
  }
  return a;
}

// Every compiler builds it without a warning, and computes what kernel::run computes, bit for bit.
void expect_same(const Module& module, const std::vector<int64_t>& dims,
                 const std::vector<Value>& scalars, const std::vector<Array>& tensors,
                 const std::string& flags = "-O2") {
  ASSERT_EQ(kernel::verify(module), std::vector<std::string>());
  std::vector<Array> expected = tensors;
  ASSERT_EQ(kernel::run(module, dims, scalars, expected).fault, "");
  const std::vector<Artifact> artifacts = emit(c_target(), module, "t");
  EXPECT_EQ(check_header_as_cpp(artifacts), "") << artifacts[1].text;
  for (const std::string& compiler : compilers()) {
    const Built built = build(module, artifacts, compiler, flags);
    ASSERT_EQ(built.error, "") << artifacts[0].text << artifacts[1].text;
    std::vector<Array> actual = tensors;
    ASSERT_EQ(call(built, module, dims, scalars, actual).status, 0) << artifacts[0].text;
    for (size_t t = 0; t < actual.size(); ++t)
      EXPECT_EQ(actual[t].data, expected[t].data)
          << compiler << ", tensor " << module.tensors[t].name << "\n"
          << artifacts[0].text;
  }
}

TEST(Emit, ElementwiseOverASymbolicSize) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t x = b.input("x", Type::f32, {n}), y = b.output("y", Type::f32, {n});
  const uint32_t px = b.param(x), py = b.param(y, Access::write);
  const auto i = b.var("i");
  const ExprId v = b.load(px, b.at(i));
  b.finish("y", {b.loop(i, n,
                        {b.store(py, b.at(i), b.make(Op::sub, b.make(Op::mul, v, v), b.real(0.5)))},
                        Run::vector)});
  const Module& m = b.m;
  EXPECT_THAT(source_of(m), HasSubstr("  TANG_OMP(omp simd)\n"
                                      "  for (int64_t i = 0; i < N; ++i) {\n"
                                      "    y[i] = x[i] * x[i] - 0.5f;\n"
                                      "  }\n"));
  expect_same(m, {7}, {}, {filled(Type::f32, {7}, 1), Array(Type::f32, {7})});
  expect_same(m, {0}, {}, {Array(Type::f32, {0}), Array(Type::f32, {0})});
}

TEST(Emit, ReductionInParallelRowsWithOpenMp) {
  Builder b;
  const FormId n = b.dim("N"), k = b.dim("K");
  const uint32_t x = b.input("x", Type::f32, {n, k}), s = b.output("s", Type::f32, {n});
  const uint32_t px = b.param(x), ps = b.param(s, Access::write);
  const auto i = b.var("i"), j = b.var("k"), acc = b.var("acc", Type::f32, true);
  const FormId address = b.add(b.m.forms.mul(b.at(i), k), b.at(j));
  b.finish("s",
           {b.loop(i, n,
                   {b.let(acc, b.real(0)),
                    b.loop(j, k, {b.set(acc, b.make(Op::add, b.value(acc), b.load(px, address)))}),
                    b.store(ps, b.at(i), b.value(acc))},
                   Run::parallel)});
  EXPECT_THAT(source_of(b.m), HasSubstr("      acc += x[K*i + k];\n"));
  EXPECT_THAT(source_of(b.m), HasSubstr("  TANG_OMP(omp parallel for)\n"));
  const std::vector<Array> tensors = {filled(Type::f32, {5, 3}, 2), Array(Type::f32, {5})};
  expect_same(b.m, {5, 3}, {}, tensors);
  // Debian's clang-19 has no OpenMP library; gcc always has.
  std::vector<Array> expected = tensors, actual = tensors;
  ASSERT_EQ(kernel::run(b.m, {5, 3}, {}, expected).fault, "");
  const Built built = build(b.m, emit(c_target(), b.m, "t"), "gcc", "-O2 -fopenmp");
  ASSERT_EQ(built.error, "");
  ASSERT_EQ(call(built, b.m, {5, 3}, {}, actual).status, 0);
  EXPECT_EQ(actual[1].data, expected[1].data);
}

TEST(Emit, PerfectlyNestedParallelLoopsAreOneSpace) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t y = b.output("y", Type::i64, {n, b.c(4)});
  const uint32_t py = b.param(y, Access::write);
  const auto i = b.var("i"), j = b.var("j");
  const FormId address = b.add(b.mul(b.at(i), 4), b.at(j));
  b.finish("y", {b.loop(i, n,
                        {b.loop(j, b.c(4), {b.store(py, address, b.index(address, Type::i64))},
                                Run::parallel)},
                        Run::parallel)});
  EXPECT_THAT(source_of(b.m), HasSubstr("TANG_OMP(omp parallel for collapse(2))"));
  expect_same(b.m, {3}, {}, {Array(Type::i64, {3, 4})}, "-O2 -fno-openmp");
}

TEST(Emit, BranchesAndSelectsAndBooleans) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t x = b.input("x", Type::f32, {n}), m = b.input("mask", Type::boolean, {n}),
                 y = b.output("y", Type::f32, {n}), q = b.output("q", Type::boolean, {n});
  const uint32_t px = b.param(x), pm = b.param(m), py = b.param(y, Access::write),
                 pq = b.param(q, Access::write);
  const auto i = b.var("i");
  const ExprId v = b.load(px, b.at(i)), holds = b.load(pm, b.at(i));
  const ExprId positive = b.make(Op::gt, v, b.real(0)), small = b.make(Op::lt, v, b.real(-2));
  const ExprId first = b.make(Op::lt, b.index(b.at(i)), b.integer(2));
  const ExprId either =
      b.make(Op::logic_or, b.make(Op::logic_and, positive, holds), b.make(Op::logic_not, small));
  b.finish("y", {b.loop(i, n,
                        {b.when(b.make(Op::logic_and, holds, first), {b.store(py, b.at(i), v)},
                                {b.store(py, b.at(i),
                                         b.m.exprs.select(either, b.make(Op::neg, v),
                                                          b.m.exprs.select(small, b.real(INFINITY),
                                                                           b.real(-1))))}),
                         b.store(pq, b.at(i), b.make(Op::bit_xor, holds, positive))})});
  expect_same(b.m, {64}, {},
              {filled(Type::f32, {64}, 3), filled(Type::boolean, {64}, 4), Array(Type::f32, {64}),
               Array(Type::boolean, {64})});
}

// Integers wrap, shifts mask their count, and the least values have literals.
TEST(Emit, IntegersWrap) {
  for (const Type type : {Type::i32, Type::i64}) {
    Builder b;
    const FormId n = b.c(6);
    const uint32_t x = b.input("x", type, {n}), y = b.output("y", type, {b.c(6 * 11)});
    const uint32_t px = b.param(x), py = b.param(y, Access::write);
    const auto i = b.var("i");
    const ExprId v = b.load(px, b.at(i));
    const ExprId least = b.integer(integer_min(type), type), seven = b.integer(7, type);
    const std::vector<ExprId> values = {
        b.make(Op::add, v, v),
        b.make(Op::sub, least, v),
        b.make(Op::mul, v, v),
        b.make(Op::neg, v),
        b.make(Op::abs, v),
        b.make(Op::shift_left, v, v),
        b.make(Op::shift_right, v, seven),
        b.make(Op::bit_and, b.make(Op::bit_or, v, seven), v),
        b.make(Op::bit_xor, b.make(Op::bit_and, v, seven), b.make(Op::add, v, seven)),
        b.m.exprs.select(b.make(Op::ge, v, b.integer(0, type)), least, seven),
        b.m.exprs.cast(type, b.make(Op::eq, v, seven))};
    Block body;
    for (size_t k = 0; k < values.size(); ++k)
      body.push_back(
          b.store(py, b.add(b.mul(b.at(i), 11), b.c(static_cast<int64_t>(k))), values[k]));
    b.finish("y", {b.loop(i, n, body)});
    Array in(type, {6});
    const int64_t values_in[] = {0, -1, 7, integer_min(type), integer_max(type), 123456789};
    for (int64_t e = 0; e < 6; ++e) in.set(e, integer_value(values_in[e]));
    expect_same(b.m, {}, {}, {in, Array(type, {66})},
                "-O2 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
  }
}

TEST(Emit, RealsOfBothWidths) {
  for (const Type type : {Type::f32, Type::f64}) {
    Builder b;
    const FormId n = b.c(9);
    const uint32_t x = b.input("x", type, {n}), y = b.output("y", type, {b.c(9 * 16)});
    const uint32_t px = b.param(x), py = b.param(y, Access::write);
    const auto i = b.var("i");
    const ExprId v = b.load(px, b.at(i));
    const auto k = [&](double value) { return b.real(value, type); };
    const Type other = type == Type::f32 ? Type::f64 : Type::f32;
    const Type bits = type == Type::f32 ? Type::i32 : Type::i64;
    const std::vector<ExprId> values = {
        b.make(Op::add, v, k(-0.1)),
        b.make(Op::sub, k(-0.0), v),
        b.make(Op::div, b.make(Op::div, k(1), v), b.make(Op::mul, v, k(1e-30))),
        b.make(Op::sub, v, b.make(Op::sub, v, k(16777217))),
        b.make(Op::abs, v),
        b.make(Op::floor, v),
        b.make(Op::ceil, v),
        b.make(Op::round, v),
        b.make(Op::sqrt, v),
        b.make(Op::fma, v, v, k(-1)),
        b.make(Op::neg, b.make(Op::neg, b.make(Op::add, v, k(1)))),
        b.m.exprs.cast(type, b.m.exprs.cast(other, v)),
        b.m.exprs.bitcast(type, b.make(Op::bit_and, b.m.exprs.bitcast(bits, v),
                                       b.integer(integer_max(bits), bits))),
        b.m.exprs.select(b.make(Op::ne, v, v), k(NAN), k(-INFINITY)),
        b.m.exprs.cast(type, b.make(Op::lt, v, k(0))),
        b.m.exprs.cast(type, b.index(b.add(b.at(i), b.c(1))))};
    Block body;
    for (size_t e = 0; e < values.size(); ++e)
      body.push_back(
          b.store(py, b.add(b.mul(b.at(i), 16), b.c(static_cast<int64_t>(e))), values[e]));
    b.finish("y", {b.loop(i, n, body)});
    Array in(type, {9});
    const double values_in[] = {0, -0.0, 1, -2.5, 3.5, 1e-40, 3e38, INFINITY, -0.5};
    for (int64_t e = 0; e < 9; ++e) in.set(e, real_value(values_in[e]));
    std::vector<Array> tensors = {in, Array(type, {144})};
    expect_same(b.m, {}, {}, tensors);
  }
}

TEST(Emit, NarrowIntegersAndPackedOnes) {
  for (const Type type : {Type::i16, Type::i8, Type::u8, Type::i4}) {
    Builder b;
    const FormId n = b.dim("N");
    const uint32_t x = b.input("x", type, {n}), y = b.output("y", type, {n});
    const uint32_t px = b.param(x), py = b.param(y, Access::write);
    const auto i = b.var("i");
    b.finish(
        "y",
        {b.loop(i, n, {b.store(py, b.at(i), b.make(Op::add, b.load(px, b.at(i)), b.integer(100)))},
                Run::parallel)});
    // Two elements of a byte may not be written by two threads.
    EXPECT_EQ(type == Type::i4, source_of(b.m).find("TANG_OMP") == std::string::npos);
    expect_same(b.m, {34}, {}, {filled(type, {34}, 5), Array(type, {34})});
  }
}

TEST(Emit, ScalarsOfEachType) {
  Builder b;
  Block body;
  std::vector<Value> values;
  std::vector<Array> tensors;
  for (int t = 0; t < kTypeCount; ++t) {
    const auto type = static_cast<Type>(t);
    const std::string name(type_name(type));
    const FormId form = b.scalar("s_" + name, type);
    const Type kind = is_real(type) ? Type::f64 : kind_of(type);
    const uint32_t py = b.param(b.output("y_" + name, kind, {}), Access::write);
    const ExprId v = is_integer(type) ? b.index(form, kind)
                                      : b.m.exprs.leaf(Op::scalar, kind, static_cast<uint64_t>(t));
    body.push_back(b.store(py, b.c(0), v));
    values.push_back(is_real(type) ? real_value(-2.5)
                                   : convert(Type::i64, type, integer_value(-3)));
    tensors.emplace_back(kind, std::vector<int64_t>{});
  }
  b.finish("y", body);
  expect_same(b.m, {}, values, tensors);
}

TEST(Emit, FormsWithQuotientsAndNegativeNumerators) {
  Builder b;
  const FormId n = b.dim("N", 1);
  const uint32_t y = b.output("y", Type::i64, {n, b.c(6)});
  const uint32_t py = b.param(y, Access::write);
  const auto i = b.var("i");
  Forms& f = b.m.forms;
  const FormId at = b.at(i), back = b.add(b.mul(at, -3), b.c(5));
  const std::vector<FormId> forms = {
      f.quotient(at, 4),
      f.remainder(at, 4),
      f.quotient(back, 4),
      b.add(b.mul(f.remainder(back, 4), 10), f.quotient(at, 2)),
      f.sub(b.c(0), f.quotient(n, 3)),
      f.mul(f.remainder(at, 3), f.mul(n, b.mul(f.quotient(at, 2), -2)))};
  Block body;
  for (size_t e = 0; e < forms.size(); ++e)
    body.push_back(b.store(py, b.add(b.mul(at, 6), b.c(static_cast<int64_t>(e))),
                           b.index(forms[e], Type::i64)));
  b.finish("y", {b.loop(i, n, body)});
  const std::string text = source_of(b.m);
  EXPECT_THAT(text, HasSubstr("y[6*i] = i/4;"));
  EXPECT_THAT(text, HasSubstr("y[6*i + 1] = i%4;"));
  EXPECT_THAT(text, HasSubstr("y[6*i + 2] = floor_div(1 - 3*i, 4) + 1;"));
  EXPECT_THAT(text, HasSubstr("y[6*i + 3] = 10*floor_mod(1 - 3*i, 4) + i/2;"));
  EXPECT_THAT(text, HasSubstr("y[6*i + 4] = -(N/3);"));
  EXPECT_THAT(text, HasSubstr("y[6*i + 5] = -2*(i/2)*N*(i%3);"));
  expect_same(b.m, {9}, {}, {Array(Type::i64, {9, 6})});
}

TEST(Emit, IndexComparisonsHaveNoMinus) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t y = b.output("y", Type::boolean, {n, b.c(4)});
  const uint32_t py = b.param(y, Access::write);
  const auto i = b.var("i");
  const FormId at = b.at(i);
  Forms& f = b.m.forms;
  const auto sign = [&](FormId form) {
    return b.make(Op::ge, b.index(form, Type::i64), b.integer(0, Type::i64));
  };
  const std::vector<ExprId> values = {
      sign(f.sub(f.add(n, -3), at)), sign(b.add(at, b.c(-1))), sign(f.sub(f.sub(n, at), b.c(1))),
      b.make(Op::lt, b.index(b.add(b.mul(at, 2), b.c(1))), b.index(n))};
  Block body;
  for (size_t e = 0; e < values.size(); ++e)
    body.push_back(b.store(py, b.add(b.mul(at, 4), b.c(static_cast<int64_t>(e))), values[e]));
  b.finish("y", {b.loop(i, n, body)});
  const std::string text = source_of(b.m);
  EXPECT_THAT(text, HasSubstr("y[4*i] = i + 3 <= N;"));
  EXPECT_THAT(text, HasSubstr("y[4*i + 1] = i >= 1;"));
  EXPECT_THAT(text, HasSubstr("y[4*i + 2] = i < N;"));
  EXPECT_THAT(text, HasSubstr("y[4*i + 3] = 2*i + 1 < N;"));
  expect_same(b.m, {5}, {}, {Array(Type::boolean, {5, 4})});
}

// A local array belongs to an iteration of the parallel loop around its uses.
TEST(Emit, LocalArraysArePrivateToParallelIterations) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t x = b.input("x", Type::f32, {n, b.c(4)}), y = b.output("y", Type::f32, {n});
  const uint32_t px = b.param(x), py = b.param(y, Access::write);
  const uint32_t row = b.local("row", Type::f32, 4);
  const auto i = b.var("i"), j = b.var("j"), j2 = b.var("j2"), acc = b.var("acc", Type::f32, true);
  b.finish("y",
           {b.loop(i, n,
                   {b.loop(j, b.c(4),
                           {b.store(row, b.at(j), b.load(px, b.add(b.mul(b.at(i), 4), b.at(j))))}),
                    b.let(acc, b.real(1)),
                    b.loop(j2, b.c(4),
                           {b.set(acc, b.make(Op::mul, b.value(acc), b.load(row, b.at(j2))))}),
                    b.store(py, b.at(i), b.value(acc))},
                   Run::parallel)});
  EXPECT_THAT(source_of(b.m), HasSubstr("  for (int64_t i = 0; i < N; ++i) {\n"
                                        "    float row[4];\n"));
  expect_same(b.m, {6}, {}, {filled(Type::f32, {6, 4}, 6), Array(Type::f32, {6})});
}

TEST(Emit, GatherThroughAVariable) {
  Builder b;
  const FormId n = b.dim("N"), v = b.dim("V", 1);
  const uint32_t w = b.input("w", Type::f32, {v, b.c(2)}), idx = b.input("idx", Type::i32, {n}),
                 y = b.output("y", Type::f32, {n, b.c(2)});
  b.m.tensors[idx].range_lo = b.c(0);
  b.m.tensors[idx].range_hi = v;
  const uint32_t pw = b.param(w), pi = b.param(idx), py = b.param(y, Access::write);
  const auto i = b.var("i"), d = b.var("d"), row = b.var("row", Type::i64);
  b.finish("y", {b.loop(i, n,
                        {b.let(row, b.m.exprs.cast(Type::i64, b.load(pi, b.at(i)))),
                         b.loop(d, b.c(2),
                                {b.store(py, b.add(b.mul(b.at(i), 2), b.at(d)),
                                         b.load(pw, b.add(b.mul(b.at(row), 2), b.at(d))))})})});
  Array index(Type::i32, {4});
  for (int64_t e = 0; e < 4; ++e) index.set(e, integer_value(2 - e % 3));
  EXPECT_THAT(emit(c_target(), b.m, "t")[1].text, HasSubstr("// i32[N], 0 <= element < V\n"));
  expect_same(b.m, {4, 3}, {}, {filled(Type::f32, {3, 2}, 7), index, Array(Type::f32, {4, 2})});
}

TEST(Emit, FunctionsAreInlineAndOnlyWhereUsed) {
  Builder b;
  kernel::Module& m = b.m;
  const auto parameter = [&](uint32_t v) { return m.exprs.leaf(Op::variable, Type::f32, v); };
  kernel::Function square{.name = "square",
                          .variables = {{.name = "x", .type = Type::f32}},
                          .n_params = 1,
                          .result = b.make(Op::mul, parameter(0), parameter(0)),
                          .comment = "x * x"};
  kernel::Function unused = square;
  unused.name = "cube";
  m.functions.push_back(square);
  m.functions.push_back(unused);
  m.functions.push_back(
      {.name = "exp",  // a name that C has
       .variables = {{.name = "int", .type = Type::f32}, {.name = "t", .type = Type::f32}},
       .n_params = 1,
       .lets = {{kernel::VarId(1), m.exprs.call(Type::f32, 0, {parameter(0)})}},
       .result = b.make(Op::add, parameter(1), b.real(1)),
       .comment = "x * x + 1"});
  const uint32_t x = b.input("x", Type::f32, {}), y = b.output("y", Type::f32, {});
  const uint32_t px = b.param(x), py = b.param(y, Access::write);
  b.finish("y", {b.store(py, b.c(0), m.exprs.call(Type::f32, 2, {b.load(px, b.c(0))}))});
  EXPECT_THAT(source_of(m), HasSubstr("// x * x + 1\n"
                                      "static inline float exp_(float int_) {\n"
                                      "  const float t = square(int_);\n"
                                      "  return t + 1.0f;\n"
                                      "}\n"));
  EXPECT_THAT(source_of(m), Not(HasSubstr("cube")));
  expect_same(m, {}, {}, {filled(Type::f32, {}, 8), Array(Type::f32, {})});
}

TEST(Emit, NamesThatTheLanguagesKeep) {
  Builder b;
  const FormId i_dim = b.dim("I"), null_dim = b.dim("NULL");
  const FormId sc = b.scalar("class", Type::i32, b.c(0), i_dim);
  const uint32_t x = b.input("int", Type::f32, {i_dim, null_dim}),
                 e = b.input("errno", Type::f32, {i_dim}),
                 y = b.output("workspace", Type::f32, {i_dim}),
                 z = b.output("sinf", Type::i32, {i_dim}), u = b.output("args", Type::f32, {i_dim});
  const uint32_t px = b.param(x), pe = b.param(e), py = b.param(y, Access::write),
                 pz = b.param(z, Access::write), pu = b.param(u, Access::write);
  const auto i = b.var("for"), t = b.var("_Bool", Type::f32), t2 = b.var("INT32_MAX", Type::f32);
  const FormId at = b.at(i);
  b.finish("main", {b.loop(i, i_dim,
                           {b.let(t, b.load(pe, at)), b.let(t2, b.value(t)),
                            b.store(py, at, b.value(t2)), b.store(pz, at, b.index(sc)),
                            b.when(b.make(Op::gt, b.index(null_dim), b.integer(0)),
                                   {b.store(pu, at, b.load(px, b.m.forms.mul(at, null_dim)))},
                                   {b.store(pu, at, b.real(0))})})});
  b.m.entry = "int";
  expect_same(b.m, {3, 2}, {integer_value(2)},
              {filled(Type::f32, {3, 2}, 9), filled(Type::f32, {3}, 10), Array(Type::f32, {3}),
               Array(Type::i32, {3}), Array(Type::f32, {3})});
}

TEST(Emit, SharedPartsAreNamedAndLongOnesCut) {
  Builder b;
  const uint32_t x = b.input("x", Type::f32, {}), y = b.output("y", Type::f32, {});
  const uint32_t px = b.param(x), py = b.param(y, Access::write);
  // As a tree this has 2^20 leaves.
  ExprId v = b.make(Op::add, b.load(px, b.c(0)), b.real(1));
  for (int n = 0; n < 20; ++n) v = b.make(Op::mul, v, b.make(Op::sub, v, b.real(0.5)));
  // And 3000 levels of brackets.
  for (int n = 0; n < 3000; ++n)
    v = b.make(Op::sub, b.real(n % 7), b.make(Op::mul, b.real(0.5), v));
  b.finish("y", {b.store(py, b.c(0), v)});
  EXPECT_LT(source_of(b.m).size(), 400000u);
  expect_same(b.m, {}, {}, {filled(Type::f32, {}, 11), Array(Type::f32, {})}, "-O1");
}

TEST(Emit, WorkspaceAndAliases) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t x = b.input("x", Type::f32, {n}), y = b.output("y", Type::f32, {n});
  const FormId slot = b.mul(b.m.forms.ceil_quotient(n, 16), 64);
  // u and v share a slot; w has its own.
  std::vector<uint32_t> temporaries;
  for (const char* name : {"u", "v", "w"})
    temporaries.push_back(b.tensor(name, Type::f32, TensorRole::workspace, {n}));
  b.m.tensors[temporaries[0]].workspace_offset = b.c(0);
  b.m.tensors[temporaries[1]].workspace_offset = b.c(0);
  b.m.tensors[temporaries[2]].workspace_offset = slot;
  b.m.workspace_bytes = b.mul(slot, 2);
  const uint32_t chain[] = {x, temporaries[0], temporaries[1], temporaries[2], y};
  for (size_t step = 0; step + 1 < std::size(chain); ++step) {
    const uint32_t from = b.param(chain[step]), to = b.param(chain[step + 1], Access::write);
    const auto i = b.var("i");
    b.finish("step" + std::to_string(step),
             {b.loop(i, n,
                     {b.store(to, b.at(i), b.make(Op::mul, b.load(from, b.at(i)), b.real(1.5)))})});
  }
  const std::string text = source_of(b.m);
  EXPECT_THAT(text, HasSubstr("t_step0(const float *restrict x, float *restrict u, int64_t N)"));
  EXPECT_THAT(text, HasSubstr("t_step1(const float *u, float *v, int64_t N)"));
  EXPECT_THAT(text, HasSubstr("t_step2(const float *restrict v, float *restrict w, int64_t N)"));
  EXPECT_THAT(text, HasSubstr("  float *w = (void *)(workspace + 64*((N + 15)/16));\n"));
  expect_same(b.m, {21}, {}, {filled(Type::f32, {21}, 12), Array(Type::f32, {21})});
  expect_same(b.m, {0}, {}, {Array(Type::f32, {0}), Array(Type::f32, {0})});
}

TEST(Emit, EntryRefusesBadArguments) {
  Builder b;
  const FormId s = b.dim("S", 1, 8192), t = b.dim("T");
  b.m.dims[1].high = std::nullopt;
  b.m.checks.push_back({.form = s, .modulus = 4, .message = "S is a multiple of 4"});
  b.m.checks.push_back({.form = b.m.forms.sub(t, s), .message = "S is at most T"});
  const FormId pos = b.scalar("pos", Type::i32, b.c(0), s);
  const uint32_t x = b.input("x", Type::f32, {s}), y = b.output("y", Type::f32, {s, t});
  const uint32_t u = b.tensor("u", Type::f32, TensorRole::workspace, {s});
  b.m.tensors[u].workspace_offset = b.c(0);
  b.m.workspace_bytes = b.mul(s, 4);
  const uint32_t px = b.param(x), py = b.param(y, Access::write), pu = b.param(u, Access::write);
  b.finish("y", {b.store(pu, b.c(0), b.load(px, pos)), b.store(py, b.c(0), b.load(px, pos))});
  const Module& m = b.m;
  const std::vector<Artifact> artifacts = emit(c_target(), m, "t");
  EXPECT_EQ(check_header_as_cpp(artifacts), "");
  EXPECT_EQ(check_header_as_cpp(emit(c_target(), m, std::string(80, 'n'))), "");
  enum { ok, null_args, bad_dim, bad_scalar, null_tensor, null_workspace, too_large };
  for (const std::string& compiler : compilers()) {
    const Built built = build(m, artifacts, compiler,
                              "-O2 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
    ASSERT_EQ(built.error, "") << artifacts[0].text;
    const auto status = [&](int64_t s_value, int64_t t_value, int64_t pos_value,
                            std::vector<Array> tensors) {
      return call(built, m, {s_value, t_value}, {integer_value(pos_value)}, tensors).status;
    };
    const Array in(Type::f32, {8}), out(Type::f32, {8, 9}), none(Type::f32, {0});
    EXPECT_EQ(status(8, 9, 7, {in, out}), ok);
    EXPECT_EQ(status(0, 9, 0, {in, out}), bad_dim);
    EXPECT_EQ(status(8193, 1 << 20, 0, {in, out}), bad_dim);
    EXPECT_EQ(status(8, -1, 0, {in, out}), bad_dim);
    EXPECT_EQ(status(7, 9, 0, {in, out}), bad_dim);
    EXPECT_EQ(status(8, 7, 0, {in, out}), bad_dim);
    EXPECT_EQ(status(8, INT64_MAX, 0, {in, out}), too_large);
    EXPECT_EQ(status(8, 9, 8, {in, out}), bad_scalar);
    EXPECT_EQ(status(8, 9, INT32_MIN, {in, out}), bad_scalar);
    EXPECT_EQ(status(8, 9, 0, {none, out}), null_tensor);
    EXPECT_EQ(status(8, 9, 0, {in, none}), null_tensor);
    EXPECT_EQ(reinterpret_cast<int (*)(const void*)>(built.entry)(nullptr), null_args);
    struct {
      int64_t s = 8, t = 9;
      int32_t pos = 1;
      const void* pointers[3] = {};
    } args;
    args.pointers[0] = in.data.data();
    args.pointers[1] = out.data.data();
    EXPECT_EQ(reinterpret_cast<int (*)(const void*)>(built.entry)(&args), null_workspace);
    const auto workspace = reinterpret_cast<int64_t (*)(const void*)>(built.workspace);
    EXPECT_EQ(workspace(&args), 32);
    args.s = 9;
    EXPECT_EQ(workspace(&args), -1);
    EXPECT_EQ(workspace(nullptr), -1);
  }
}

TEST(Emit, FastMathIsRefused) {
  Builder b;
  const uint32_t y = b.output("y", Type::f32, {});
  const uint32_t py = b.param(y, Access::write);
  b.finish("y", {b.store(py, b.c(0), b.real(1))});
  const Built built = build(b.m, emit(c_target(), b.m, "t"), "gcc", "-O2 -ffast-math");
  EXPECT_THAT(built.error, HasSubstr("-ffast-math changes what this file computes"));
}

// Text of the program cannot end a comment or join it to code.
TEST(Emit, CommentsHoldAnyText) {
  Builder b;
  b.m.program = "y = 1.0  # a \\\n# ?\?/\n# */ /* // \\  \noutput y\n";
  const uint32_t y = b.output("y", Type::f32, {});
  const uint32_t py = b.param(y, Access::write);
  b.k.computes = "y = 1.0 \\";
  b.finish("y", {{kernel::Comment{"all at once \\"}}, b.store(py, b.c(0), b.real(1))});
  expect_same(b.m, {}, {}, {Array(Type::f32, {})});
}

TEST(Emit, WhatCannotBeSaidIsABrokenInvariant) {
  Builder b;
  const uint32_t x = b.input("x", Type::f32, {}), y = b.output("y", Type::f32, {});
  const uint32_t px = b.param(x), py = b.param(y, Access::write);
  b.finish("y", {b.store(py, b.c(0), b.make(Op::sigmoid, b.load(px, b.c(0))))});
  EXPECT_ANY_THROW(source_of(b.m));
}

TEST(Emit, SameBytesEveryTime) {
  Builder b;
  const FormId n = b.dim("N");
  const uint32_t x = b.input("x", Type::i32, {n}), y = b.output("y", Type::i32, {n});
  const uint32_t px = b.param(x), py = b.param(y, Access::write);
  const auto i = b.var("i");
  const ExprId v = b.load(px, b.at(i));
  b.finish("y", {b.loop(i, n, {b.store(py, b.at(i), b.make(Op::mul, v, v))})});
  EXPECT_EQ(source_of(b.m), source_of(Module(b.m)));
}

TEST(Emit, CheckedElementsAreRefusedBeforeAnythingIsWritten) {
  Builder b;
  const FormId n = b.dim("N"), limit = b.scalar("limit", Type::i32);
  const uint32_t at = b.input("at", Type::i32, {n}), y = b.output("y", Type::i32, {n});
  b.m.tensors[at].range_lo = b.c(-1);
  b.m.tensors[at].range_hi = limit;
  b.m.tensors[at].sorted = true;
  b.m.tensors[at].checked = true;
  const uint32_t from = b.param(at), to = b.param(y, Access::write);
  const auto i = b.var("i");
  b.finish("y", {b.loop(i, n, {b.store(to, b.at(i), b.load(from, b.at(i)))})});
  const std::vector<Artifact> artifacts = emit(c_target(), b.m, "t");
  EXPECT_THAT(artifacts[1].text, HasSubstr("so is what is said of elements"));
  struct Case {
    std::vector<int64_t> elements;
    bool good;
  };
  const std::vector<Case> cases = {{{}, true},         {{-1, 0, 8}, true}, {{3, 3, 3}, true},
                                   {{0, 1, 9}, false}, {{-2}, false},      {{4, 3}, false}};
  for (const std::string& compiler : compilers()) {
    const Built built = build(b.m, artifacts, compiler, "-O2");
    ASSERT_EQ(built.error, "") << artifacts[0].text;
    for (const Case& c : cases) {
      const auto size = static_cast<int64_t>(c.elements.size());
      Array given(Type::i32, {size}), result(Type::i32, {size});
      for (int64_t k = 0; k < size; ++k) {
        given.set(k, integer_value(c.elements[static_cast<size_t>(k)]));
        result.set(k, integer_value(77));
      }
      std::vector<Array> run = {given, result}, called = run;
      const std::vector<Value> scalars = {integer_value(9)};
      EXPECT_EQ(kernel::run(b.m, {size}, scalars, run).fault.empty(), c.good);
      EXPECT_EQ(call(built, b.m, {size}, scalars, called).status, c.good ? 0 : 7);
      EXPECT_EQ(called[1].data, c.good ? given.data : result.data);
    }
  }
}

}  // namespace
}  // namespace tang::emit
