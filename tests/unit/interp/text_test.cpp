// The interpreter on programs as users write them: the examples of the language reference and what
// they promise at their edges, against values computed by hand or by plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "interp/interp.h"
#include "ir/verify.h"
#include "text/parse.h"

namespace tang {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

constexpr double kInf = std::numeric_limits<double>::infinity();
using Reals = std::vector<double>;

// Values by name of dims, scalars and inputs.
struct Given {
  std::map<std::string, int64_t> dims;
  std::map<std::string, double> scalars;
  std::map<std::string, Reals> inputs;
};

// The outputs by name; each sampled cell is also checked on demand.
std::map<std::string, Reals> run(const std::string& text, const Given& given) {
  Sources sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.add("test.tir", text);
  const std::optional<Parsed> parsed = parse(sources, file, {}, diagnostics);
  EXPECT_TRUE(parsed) << render_text(diagnostics, sources, false);
  if (!parsed) return {};
  const Program& program = parsed->program;
  for (const std::string& broken : verify(program)) ADD_FAILURE() << broken;

  Bindings bindings;
  for (const Dim& dim : program.dims) bindings.dims.push_back(given.dims.at(dim.name));
  for (const Scalar& s : program.scalars)
    bindings.scalars.push_back(
        convert(Type::f64, kind_of(s.type), real_value(given.scalars.at(s.name))));
  for (const Input& input : program.inputs) {
    const Tensor& t = program.arena->tensors[input.tensor];
    std::vector<int64_t> shape;
    for (const FormId form : t.shape)
      shape.push_back(
          program.arena->forms.evaluate(form, [&](Var v) { return bindings.dims[v.index]; }));
    Array a(t.type, shape);
    const Reals& values = given.inputs.at(input.name);
    EXPECT_EQ(a.size(), static_cast<int64_t>(values.size())) << input.name;
    for (int64_t i = 0; i < a.size(); ++i)
      a.set(i, convert(Type::f64, t.type, real_value(values.at(static_cast<size_t>(i)))));
    bindings.inputs.push_back(std::move(a));
  }

  Interpreter whole(program, bindings), single(program, bindings);
  const std::vector<Array> outputs = whole.outputs();
  std::map<std::string, Reals> out;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Output& output = program.outputs[k];
    const Array& a = whole.eval(output.tensor);
    for (int64_t i = 0; i < a.size(); ++i) {
      out[output.name].push_back(outputs[k].real(i));
      std::vector<int64_t> point(a.shape.size());
      int64_t rest = i;
      for (size_t d = point.size(); d-- > 0; rest /= a.shape[d]) point[d] = rest % a.shape[d];
      const Value v = single.eval_at(output.tensor, point);
      const double got = is_real(a.type) ? v.real : static_cast<double>(v.integer);
      EXPECT_TRUE(got == a.real(i) || (std::isnan(got) && std::isnan(a.real(i))))
          << output.name << " differs on demand at " << i;
    }
    out[output.name];
  }
  return out;
}

Reals one(const std::string& text, const Given& given) {
  const auto out = run(text, given);
  EXPECT_EQ(out.size(), 1u);
  return out.empty() ? Reals() : out.begin()->second;
}

TEST(Text, IntegersFloorAndBranchesAreLazy) {
  const auto out =
      run(R"(
input x: f64[4]
input m: bool[4]
scalar pos: i32
half[s] = i32(x[s] * 10) / 2 + pos % 3
ok[s] = m[s] && x[s] > 0.0 ? sqrt(x[s]) : 0
output half, ok: f64
)",
          {.scalars = {{"pos", 5}}, .inputs = {{"x", {-0.35, 0.25, 4, -1}}, {"m", {1, 1, 1, 1}}}});
  EXPECT_THAT(out.at("half"), ElementsAre(0, 3, 22, -3));
  EXPECT_THAT(out.at("ok"), ElementsAre(0, 0.5, 2, 0));
}

TEST(Text, ViewsOfPairs) {
  EXPECT_THAT(
      one(R"(
dim S
const D = 4
input x, y: f32[S, D]
t[s, e: D/2] = x[s, 2*e] + y[s, 2*e + 1]
output t
)",
          {.dims = {{"S", 2}},
           .inputs = {{"x", {1, 2, 3, 4, 5, 6, 7, 8}}, {"y", {0, 10, 0, 20, 0, 30, 0, 40}}}}),
      ElementsAre(11, 23, 35, 47));
}

TEST(Text, TupleReductions) {
  const auto out = run(R"(
input x: f32[2, 3]
best[s], at[s] = argmax[d](x[s,d], d)
hi, low, where = (max, argmin)[s,d](x[s,d], (x[s,d], s*3 + d))
output best, at, hi, low, where
)",
                       {.inputs = {{"x", {1, 9, 9, -2, -2, -3}}}});
  EXPECT_THAT(out.at("best"), ElementsAre(9, -2));
  EXPECT_THAT(out.at("at"), ElementsAre(1, 0));
  EXPECT_THAT(out.at("hi"), ElementsAre(9));
  EXPECT_THAT(out.at("low"), ElementsAre(-3));
  EXPECT_THAT(out.at("where"), ElementsAre(5));
}

// NaN first, then descending; the earlier first among equals; what is missing is the identity.
TEST(Text, TopPlaces) {
  const double nan = std::nan("");
  const auto out = run(
      R"(
input x: f32[4, 4]
v[s,r], k[s,r] = topk(3)[d](x[s,d], d)
total[s], w[s,r], odd[s,r], p[s,r] = (sum, topk(2))[d | x[s,d] > 0.0](1, (x[s,d], d % 2 == 1,
  x[s,d]))
_, order[r] = topk(16)[s,d](x[s,d], 4*s + d)
output v, k, total, w, odd, p, order
)",
      {.inputs = {
           {"x", {1, 3, 3, 2, -INFINITY, nan, 5, nan, -INFINITY, -1, -INFINITY, -1, 0, 0, 0, 0}}}});
  EXPECT_THAT(out.at("k"), ElementsAre(1, 2, 3, 1, 3, 2, 1, 3, 0, 0, 1, 2));
  EXPECT_THAT(out.at("v"), ElementsAre(3, 3, 2, testing::IsNan(), testing::IsNan(), 5, -1, -1,
                                       -INFINITY, 0, 0, 0));
  EXPECT_THAT(out.at("total"), ElementsAre(4, 1, 0, 0));
  EXPECT_THAT(out.at("w"),
              ElementsAre(3, 3, 5, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY));
  EXPECT_THAT(out.at("odd"), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(out.at("p"), ElementsAre(3, 3, 5, 0, 0, 0, 0, 0));
  EXPECT_THAT(out.at("order"), ElementsAre(5, 7, 6, 1, 2, 3, 0, 12, 13, 14, 15, 9, 11, 4, 8, 10));
}

// A result of topk tells the range of what reads it, where there are points for all its places.
TEST(Text, GathersByPlaces) {
  EXPECT_THAT(one(R"(
input x: i32[5]
input w: f32[5]
_, k[r] = topk(3)[d](x[d], d)
y[r] = w[k[r]] + r
output y
)",
                  {.inputs = {{"x", {7, 9, 8, 9, 1}}, {"w", {10, 20, 30, 40, 50}}}}),
              ElementsAre(20, 41, 32));
}

// The states of a recurrence h = A h + B with a matrix, after each step and at the end.
TEST(Text, StatesOfTensors) {
  const auto out = run(R"(
input a, b: f32[3]
monoid linear(A[N, N], B[N]) {
  identity { I[i: N, j: N] = i == j ? 1.0 : 0.0; return (I, 0) }
  combine(x, y) {
    A[i,j] = sum[k](y.A[i,k] * x.A[k,j])
    B[i] = sum[k](y.A[i,k] * x.B[k]) + y.B[i]
    return (A, B)
  }
}
A[t, i: 2, j: 2] = i == j ? a[t] : i < j ? 1.0 : 0.0
B[t, i: 2] = b[t] * (i + 1)
_, state[t] = linear[u | u <= t](A[u], B[u])
all, _ = linear[u](A[u], B[u])
output state, all
)",
                       {.inputs = {{"a", {2, 3, 1}}, {"b", {1, -1, 2}}}});
  EXPECT_THAT(out.at("state"), ElementsAre(1, 2, 4, 4, 10, 8));
  EXPECT_THAT(out.at("all"), ElementsAre(6, 11, 0, 6));
}

TEST(Text, GuardedReads) {
  const auto out = run(R"(
input x: f32[4]
input w: f32[3]
conv[s: 4] = sum[r: 3](x?[s + r - 1] * w[r])
up[o: 8] = x[o/2 exact] else 0
peak[s: 4] = max[r: 3](-x?[s + r - 1])
top[s: 4] = max[d: 4](x?[d | d <= s])
output conv, up, peak, top
)",
                       {.inputs = {{"x", {1, 3, 2, 5}}, {"w", {1, 10, 100}}}});
  EXPECT_THAT(out.at("conv"), ElementsAre(310, 231, 523, 52));
  EXPECT_THAT(out.at("up"), ElementsAre(1, 0, 3, 0, 2, 0, 5, 0));
  // The read, not the term, becomes the identity: -(-inf).
  EXPECT_THAT(out.at("peak"), ElementsAre(kInf, -1, -2, kInf));
  EXPECT_THAT(out.at("top"), ElementsAre(1, 3, 3, 5));
}

TEST(Text, Gathers) {
  EXPECT_THAT(one(R"(
input idx: i32[3] in 0..2
input x: f32[2, 2]
row[t,d] = x[idx[t], d]
output row
)",
                  {.inputs = {{"idx", {1, 0, 1}}, {"x", {1, 2, 3, 4}}}}),
              ElementsAre(3, 4, 1, 2, 3, 4));
  EXPECT_THAT(one(R"(
input idx: i32[4]
input x: f32[2]
y[t] = x[idx[t]] else -1
output y
)",
                  {.inputs = {{"idx", {1, -1, 2, 0}}, {"x", {5, 6}}}}),
              ElementsAre(6, -1, -1, 5));
}

TEST(Text, PrefixReductions) {
  const auto out =
      run(R"(
input a, b: f64[4]
input keep: bool[4]
c[t] = sum[s | s <= t](a[s])
_, h[t] = affine[u | u <= t](a[u], b[u])
masked[t] = sum[s | s <= t && keep[s]](a[s])
before[t] = prod[s | s < t](a[s])
output c, h, masked, before
)",
          {.inputs = {{"a", {2, 3, 5, 7}}, {"b", {1, 1, 2, 3}}, {"keep", {0, 1, 0, 1}}}});
  EXPECT_THAT(out.at("c"), ElementsAre(2, 5, 10, 17));
  EXPECT_THAT(out.at("h"), ElementsAre(1, 4, 22, 157));
  EXPECT_THAT(out.at("masked"), ElementsAre(0, 3, 3, 10));
  EXPECT_THAT(out.at("before"), ElementsAre(1, 2, 6, 30));
}

// A whole tensor's prefixes go on from point to point, single elements fold from the start: `run`
// compares the two, here for every monoid and for axes in every order.
TEST(Text, PrefixesGoOn) {
  const Reals x = {2, -1, 0.5, kInf, 3, -2, std::nan(""), 1, -kInf, 0, 4, 4};
  const auto out =
      run(R"(
monoid line(a, b) { identity (1, 0); combine(p, q) = (p.a * q.a, p.b * q.a + q.b) }
input x: f64[2, 6]
input w: f64[6, 2]
total[t, r] = sum[s | s <= t](x[r, s])
least[r, t: 6], most[r, t] = (min, max)[s | s < t - 1](x[r, s], x[r, s])
some[r, t], every[r, t] = (any, all)[s | s <= t](x[r, s] > 3.0, x[r, s] > -1.5)
low[r, t], at[r, t] = argmin[s | s < t](x[r, s], s)
lse[r, t] = logsumexp[s | s <= t](x[r, s])
m[r, t], o[r, t, e] = online_softmax[s | s <= t](x[r, s], w[s, e])
n[r, t], mean[r, t], m2[r, t] = welford[s | s <= t](1, x[r, s], 0)
best[t, r, q], place[r, t, q] = topk(3)[s | s <= t](x[r, s], s)
p[r, t], h[r, t] = affine[s | s <= t](x[r, s], w[s, 1])
c[t, r], d[r, t] = line[s | s <= t](x[r, s], w[s, 0])
two[t: 6] = sum[s, r | s <= t && r < 1](x[r, s])
inner[t: 6] = sum[r, s | s <= t](x[r, s] * w[s, r])
long[t: 9] = sum[s | s <= t && s % 2 == 0](x[0, s])
lags[t: 6] = sum[s | s <= t && t - s < 3](w[s, 0])
output total, least, most, some, every, low, at, lse, m, o, n, mean, m2, best, place, p, h
output c, d, two, inner, long, lags
)",
          {.inputs = {{"x", x}, {"w", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}}});
  EXPECT_THAT(Reals(out.at("two").begin(), out.at("two").begin() + 3), ElementsAre(2, 1, 1.5));
  EXPECT_THAT(out.at("lags"), ElementsAre(1, 4, 9, 15, 21, 27));
}

// In steps that grow with the length: with its square, this would take hours.
TEST(Text, PrefixesAreLinear) {
  Sources sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.add(
      "test.tir", "dim T\ninput x: f64[T]\ny[t] = sum[s | s <= t](x[s])\noutput y\n");
  const std::optional<Parsed> parsed = parse(sources, file, {}, diagnostics);
  ASSERT_TRUE(parsed);
  const int64_t n = 2'000'000;
  Bindings bindings{.dims = {n}, .scalars = {}, .inputs = {Array(Type::f64, {n})}};
  for (int64_t i = 0; i < n; ++i) bindings.inputs[0].set(i, real_value(1.0));
  const Array y = Interpreter(parsed->program, bindings).outputs()[0];
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y.real(i), static_cast<double>(i + 1));
}

TEST(Text, ReductionsOfNothing) {
  const auto out = run(R"(
dim N
input x: f32[N]
input k: i32[N]
s = sum[i](x[i])
p = prod[i](x[i])
hi = max[i](x[i])
lo = min[i](x[i])
l = logsumexp[i](x[i])
least = max[i](k[i])
v, at = argmax[i](x[i], i)
every[i] = x[i]
output s, p, hi, lo, l, least, v, at, every
)",
                       {.dims = {{"N", 0}}, .inputs = {{"x", {}}, {"k", {}}}});
  EXPECT_THAT(out.at("s"), ElementsAre(0));
  EXPECT_THAT(out.at("p"), ElementsAre(1));
  EXPECT_THAT(out.at("hi"), ElementsAre(-kInf));
  EXPECT_THAT(out.at("lo"), ElementsAre(kInf));
  EXPECT_THAT(out.at("l"), ElementsAre(-kInf));
  EXPECT_THAT(out.at("least"), ElementsAre(INT32_MIN));
  EXPECT_THAT(out.at("v"), ElementsAre(-kInf));
  EXPECT_THAT(out.at("at"), ElementsAre(-1));
  EXPECT_THAT(out.at("every"), IsEmpty());
}

TEST(Text, CountsAndMixedKinds) {
  const auto out = run(R"(
input x: f32[4]
input n: i8[4]
count = sum[k](x[k] > 0)
wide = sum[k](i64(n[k]) * 100000000)
low = any[k](n[k] < -100)
deep = all[k](n[k] < -100)
mean = sum[k](n[k]) / count
real = sum[k](n[k]) / 2.0
output count, wide, low, deep, mean, real
)",
                       {.inputs = {{"x", {1, 0, -1, 2}}, {"n", {100, -128, 7, -100}}}});
  EXPECT_THAT(out.at("count"), ElementsAre(2));
  EXPECT_THAT(out.at("wide"), ElementsAre(-12100000000.0));
  EXPECT_THAT(out.at("low"), ElementsAre(1));
  EXPECT_THAT(out.at("deep"), ElementsAre(0));
  EXPECT_THAT(out.at("mean"), ElementsAre(-61));
  EXPECT_THAT(out.at("real"), ElementsAre(-60.5));
}

// Causal attention with grouped heads, as plain text and as one online softmax whose state is kept
// once a row, against loops.
TEST(Text, Attention) {
  constexpr int kRows = 5, kHeads = 2, kDim = 3;
  Reals q, k, v, expected;
  for (int i = 0; i < kRows * kHeads * kDim; ++i) {
    q.push_back(std::sin(1.3 * i));
    k.push_back(std::cos(0.7 * i));
    v.push_back(std::sin(0.3 * i + 1));
  }
  const auto at = [](int i, int h, int d) {
    return static_cast<size_t>((i * kHeads + h) * kDim + d);
  };
  for (int i = 0; i < kRows; ++i)
    for (int h = 0; h < kHeads; ++h)
      for (int e = 0; e < kDim; ++e) {
        double norm = 0, sum = 0;
        for (int j = 0; j <= i; ++j) {
          double score = 0;
          for (int d = 0; d < kDim; ++d) score += q[at(i, h, d)] * k[at(j, h, d)];
          const double w = std::exp(score / std::sqrt(3.0));
          norm += w;
          sum += w * v[at(j, h, e)];
        }
        expected.push_back(sum / norm);
      }
  const auto out = run(R"(
dim S
const H = 2, D = 3
input q, k, v: f64[S, H, D]
score[h,i,j] = sum[d](q[i,h,d] * k[j,h,d]) * rsqrt(D)
peak[h,i] = max[j | j <= i](score[h,i,j])
p[h,i,j] = exp(score[h,i,j] - peak[h,i])
norm[h,i] = sum[j | j <= i](p[h,i,j])
naive[i,h,e] = sum[j | j <= i](p[h,i,j] * v[j,h,e]) / norm[h,i]
top[h,i], l[h,i], acc[i,h,e] = online_softmax[j | j <= i](score[h,i,j], 1, v[j,h,e])
online[i,h,e] = acc[i,h,e] / l[h,i]
output naive, online
)",
                       {.dims = {{"S", kRows}}, .inputs = {{"q", q}, {"k", k}, {"v", v}}});
  EXPECT_THAT(out.at("naive"), Pointwise(testing::DoubleNear(1e-14), expected));
  EXPECT_THAT(out.at("online"), Pointwise(testing::DoubleNear(1e-14), expected));
}

TEST(Text, WelfordAgreesWithTwoPasses) {
  const auto out = run(R"(
input x: f64[2, 5]
n[i], mean[i], m2[i] = welford[k](1, x[i,k], 0)
m[i] = sum[k](x[i,k]) / 5
d[i] = sum[k]((x[i,k] - m[i]) * (x[i,k] - m[i]))
output n, mean, m2, m, d
)",
                       {.inputs = {{"x", {1, 2, 3, 4, 5, 1000, 1001, 999, 1000, 1000}}}});
  EXPECT_THAT(out.at("n"), ElementsAre(5, 5));
  EXPECT_THAT(out.at("mean"), ElementsAre(DoubleEq(3), DoubleEq(1000)));
  EXPECT_THAT(out.at("m2"), ElementsAre(DoubleEq(10), DoubleEq(2)));
  EXPECT_EQ(out.at("m"), out.at("mean"));
}

// A reduction inside of an expression is evaluated only where the branch is taken: the other rows
// would read x out of range, which the guard of the enclosing select excludes.
TEST(Text, ReductionsInsideOfBranches) {
  EXPECT_THAT(one(R"(
input x: f32[4]
y[i: 6] = i < 4 ? sum[k | k <= i](x[k]) + x[i] : -1
output y
)",
                  {.inputs = {{"x", {1, 2, 3, 4}}}}),
              ElementsAre(2, 5, 9, 14, -1, -1));
}

TEST(Text, StorageRoundsOutputsOnly) {
  const auto out = run(R"(
input x: f64[2]
y[i] = x[i] + 0.0
z[i] = f16(x[i]) * 2
output y: f16
output z: f64
)",
                       {.inputs = {{"x", {0.1, 1e6}}}});
  EXPECT_THAT(out.at("y"), ElementsAre(0.0999755859375, kInf));
  EXPECT_THAT(out.at("z"), ElementsAre(0.199951171875, kInf));
}

TEST(Text, NothingIsFoldedThatIsNotExact) {
  const auto out = run(R"(
input x: f64[3]
a[i] = x[i] * 0
b[i] = x[i] - x[i]
output a, b
)",
                       {.inputs = {{"x", {kInf, 2, -kInf}}}});
  EXPECT_TRUE(std::isnan(out.at("a")[0]));
  EXPECT_TRUE(std::isnan(out.at("b")[2]));
  EXPECT_EQ(out.at("a")[1], 0);
}

}  // namespace
}  // namespace tang
