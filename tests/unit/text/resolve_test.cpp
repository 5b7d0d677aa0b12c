// Programs and the graphs that they mean, written by the printer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "resolving.h"

namespace tang {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kPrelude =
    "dim S in 1..=4096, T, N\n"
    "const D = 64, H = 4\n"
    "input x, y: f32[S, D]\n"
    "input w: f32[D, D]\n"
    "input a, b: f32[T]\n"
    "input idx: i32[T] in 0..S\n"
    "input wide: i32[T]\n"
    "input m: bool[S]\n"
    "scalar pos: i32 in 0..S\n"
    "scalar eps: f32\n";

std::string with_prelude(const std::string& text, const std::string& output = "r") {
  return definitions_of(kPrelude + text + "\noutput " + output + "\n");
}

// ---- ranges ----

TEST(Ranges, StrongVotesComeFromReadsAnywhere) {
  EXPECT_EQ(with_prelude("r[s, d] = x[s,d] * w[d,d]"), "r[s: S, d: 64] = x[s,d] * w[d,d]\n");
  EXPECT_EQ(with_prelude("r[s] = m[s] ? 1.0 : 2.0"), "r[s: S] = m[s] ? 1.0 : 2.0\n");
  EXPECT_EQ(with_prelude("r[t] = x[idx[t], 0]"), "r[t: T] = x[idx[t], 0]\n");
  EXPECT_EQ(with_prelude("r[s] = sum[d | m[s]](x[0,d])"), "r[s: S] = sum[d: 64 | m[s]](x[0,d])\n");
}

TEST(Ranges, AGivenRangeWins) {
  EXPECT_EQ(with_prelude("r[s: S, d: 8] = x[s,d]"), "r[s: S, d: 8] = x[s,d]\n");
  EXPECT_EQ(with_prelude("r[e: D/2] = x[0, 2*e] + x[0, 2*e + 1]"),
            "r[e: 32] = x[0, 2 * e] + x[0, 2 * e + 1]\n");
}

TEST(Ranges, GuardedReadsVoteOnlyWhereNothingElseDoes) {
  EXPECT_EQ(with_prelude("r[s] = sum[d](x?[s,d])"), "r[s: S] = sum[d: 64](x?[s,d])\n");
  EXPECT_EQ(with_prelude("r[t] = a[t] + (x[t,0] else 0)"), "r[t: T] = a[t] + (x[t,0] else 0.0)\n");
}

TEST(Ranges, APrefixBoundsAnIndexThatNothingElseDoes) {
  EXPECT_EQ(with_prelude("_, r[t] = affine[u | u <= t](a[u], b[u])"),
            "_, r[t: T] = affine[u: T | u <= t](a[u], b[u])\n");
  EXPECT_EQ(with_prelude("r[t] = sum[u | t > u](a[u])"), "r[t: T] = sum[u: T | u < t](a[u])\n");
}

TEST(Ranges, AssumedEqualSizesAgree) {
  EXPECT_EQ(definitions_of("dim M, N\nassume M == N\ninput p: f32[M]\ninput q: f32[N]\n"
                           "r[i] = p[i] * q[i]\noutput r\n"),
            "r[i: M] = p[i] * q[i]\n");
  EXPECT_EQ(definitions_of("dim M, N\nassume M == 2*N\ninput p: f32[M, 3]\n"
                           "input q: f32[2*N, 3]\nr[i,j] = p[i,j] * q[i,j]\noutput r\n"),
            "r[i: M, j: 3] = p[i,j] * q[i,j]\n");
}

// ---- kinds ----

TEST(Kinds, ConversionsAreImplicitWhereTheLanguageSaysSo) {
  EXPECT_EQ(with_prelude("r = sum[s](m[s])"), "r = sum[s: S](i32(m[s]))\n");
  EXPECT_EQ(with_prelude("r[s] = x[s,0] * 10"), "r[s: S] = x[s,0] * 10.0\n");
  EXPECT_EQ(with_prelude("r[t] = a[t] * wide[t]"), "r[t: T] = a[t] * wide[t]\n");
  EXPECT_EQ(with_prelude("r[t] = a[t] / T"), "r[t: T] = a[t] / T\n");
  EXPECT_EQ(with_prelude("r[t] = m[0] + wide[t]"), "r[t: T] = m[0] + wide[t]\n");
}

TEST(Kinds, CastsRoundInTheMeaning) {
  EXPECT_EQ(with_prelude("r[t] = f16(a[t]) + f64(wide[t])"), "r[t: T] = f16(a[t]) + wide[t]\n");
  EXPECT_EQ(with_prelude("r[t] = i8(wide[t]) + i32(a[t])"), "r[t: T] = i8(wide[t]) + i32(a[t])\n");
  EXPECT_EQ(with_prelude("r = f32(0.1)"), "r = 0.10000000149011612\n");
}

TEST(Kinds, IntegersStayIntegers) {
  EXPECT_EQ(with_prelude("r[t] = abs(wide[t]) / 2 + wide[t] % 3"),
            "r[t: T] = abs(wide[t]) / 2 + wide[t] % 3\n");
  EXPECT_EQ(with_prelude("r[t] = wide[t] >> 4 & 15 | 1"), "r[t: T] = wide[t] >> 4 & 15 | 1\n");
  EXPECT_EQ(with_prelude("r[t] = i64(wide[t]) * 70000 + wide[t]"),
            "r[t: T] = i64(wide[t]) * 70000 + wide[t]\n");
}

TEST(Kinds, FormsAreExactInConditionsAndWhereTheyMeetReals) {
  EXPECT_EQ(with_prelude("r[s: S] = s + 1 < pos ? 1.0 : s / 2"),
            "r[s: S] = s + 1 < pos ? 1.0 : s / 2\n");
  EXPECT_EQ(with_prelude("r[s: S] = s * 2 + 1"), "r[s: S] = 2 * s + 1\n");
  EXPECT_EQ(with_prelude("r[s: S] = i64(s) * 70000"), "r[s: S] = i64(70000 * s)\n");
}

TEST(Kinds, ConstantsFold) {
  EXPECT_EQ(with_prelude("const c = rsqrt(D), k = min(3, 7)\nr[s] = x[s,k] * c"),
            "r[s: S] = x[s,3] * 0.125\n");
  EXPECT_EQ(with_prelude("r = pow(a[0], 2) * 0xFFFFFFFF"), "r = pow(a[0], 2) * -1.0\n");
}

// ---- reads ----

TEST(Reads, QuasiAffineCoordinatesAreViewsOthersGather) {
  EXPECT_EQ(with_prelude("r[s: 8] = w[s/16, s%16] + w[7 - s, pos % 2]"),
            "r[s: 8] = w[s / 16, s % 16] + w[7 - s, pos % 2]\n");
  EXPECT_EQ(with_prelude("r[i: 8, j: 8] = w[min(max(j - i, -2), 2) + 2, 0]"),
            "r[i: 8, j: 8] = w[min(max(j - i, -2), 2) + 2, 0]\n");
  EXPECT_EQ(with_prelude("r[i: 8, j: 8] = w[i*j, 0]"), "r[i: 8, j: 8] = w[i64(i) * i64(j), 0]\n");
}

TEST(Reads, GuardsKeepTheirParts) {
  EXPECT_EQ(with_prelude("r[o: 2*S] = x[o/2 exact, 0] else 0"),
            "r[o: 2 * S] = x[o / 2 exact, 0] else 0.0\n");
  EXPECT_EQ(with_prelude("r[s] = max[d](x?[s, d | d <= s])"),
            "r[s: S] = max[d: 64](x?[s,d | d <= s])\n");
  EXPECT_EQ(with_prelude("r[s: S] = x[s, 0 | s % 4 == 1 && m[s]] else eps"),
            "r[s: S] = x[s,0 | s % 4 == 1 && m[s]] else eps\n");
}

TEST(Reads, TheIdentityIsTheComponentsInTheTensorsKind) {
  EXPECT_EQ(with_prelude("r = max[t: 9](wide?[t])"), "r = max[t: 9](wide?[t])\n");
  EXPECT_EQ(with_prelude("_, r = argmax[t: 9](a?[t], wide?[t])"),
            "_, r = argmax[t: 9](a?[t], wide?[t])\n");
  // -2147483648 is the identity of this maximum, not of the reals that are read.
  EXPECT_EQ(with_prelude("r = max[t: 9](i32(a?[t]))"), "r = max[t: 9](i32(a[t] else -inf))\n");
  EXPECT_EQ(with_prelude("r = sum[s: 9](m?[s])"), "r = sum[s: 9](i32(m[s] else false))\n");
}

TEST(Reads, OneThatOnlyAConditionKeepsInRangeIsGuarded) {
  EXPECT_EQ(with_prelude("r[j: S + 1] = j < S ? x[j,0] : 0"),
            "r[j: S + 1] = j < S ? (x[j,0 | j < S] else 0.0) : 0.0\n");
  EXPECT_EQ(with_prelude("r[j: S] = j > 0 ? x[j,0] : 0"), "r[j: S] = j > 0 ? x[j,0] : 0.0\n");
  EXPECT_EQ(with_prelude("r[j: S] = j > 0 && x[j - 1, 0] > 0.0"),
            "r[j: S] = j > 0 && (x[j - 1, 0 | 1 <= j] else 0.0) > 0.0\n");
}

TEST(Reads, ADomainNeedsNoGuard) {
  EXPECT_EQ(with_prelude("r[i: S] = sum[j: S | j < i](x[i - j - 1, 0])"),
            "r[i: S] = sum[j: S | j < i](x[i - j - 1, 0])\n");
}

TEST(Reads, DataConditionsBoundGathers) {
  const Resolving r(std::string(kPrelude) +
                    "r[t] = 0 <= wide[t] && wide[t] < D ? w[wide[t], 0] : 0\noutput r\n");
  EXPECT_EQ(r.definitions(),
            "r[t: T] = 0 <= wide[t] && wide[t] < 64 ? (w[wide[t], 0 | 0 <= wide[t] && wide[t] < "
            "64] else 0.0) : 0.0\n");
}

// ---- reductions ----

TEST(Reductions, OneInsideAnExpressionIsADefinitionOfItsOwn) {
  EXPECT_EQ(with_prelude("r[s,d] = exp(x[s,d] - max[e](x[s,e])) / sum[e](x[s,e])"),
            "r_1[s: S] = max[e: 64](x[s,e])\n"
            "r_2[s: S] = sum[e: 64](x[s,e])\n"
            "r[s: S, d: 64] = exp(x[s,d] - r_1[s]) / r_2[s]\n");
}

TEST(Reductions, EqualOnesAreOne) {
  EXPECT_EQ(with_prelude("p[s] = max[d](x[s,d])\nr[s] = max[e](x[s,e]) + p[s]"),
            "p[s: S] = max[d: 64](x[s,d])\n"
            "r[s: S] = p[s] + p[s]\n");
}

TEST(Reductions, ANestedOneTakesTheConditionsThatItNeeds) {
  // The inner reads need j < S, the outer condition.
  EXPECT_EQ(with_prelude("r[i: S] = sum[j: S + 1 | j < S](max[d](x[j,d]))"),
            "r_1[j: S + 1] = max[d: 64 | j < S](x[j,d])\n"
            "r[i: S] = sum[j: S + 1 | j < S](r_1[j])\n");
  // Here they need nothing, and the inner one does not depend on i.
  EXPECT_EQ(with_prelude("r[i: S] = sum[j: S | j <= i](max[d](x[j,d]))"),
            "r_1[j: S] = max[d: 64](x[j,d])\n"
            "r[i: S] = sum[j: S | j <= i](r_1[j])\n");
}

TEST(Reductions, TuplesAndProducts) {
  EXPECT_EQ(with_prelude("hi, first, r = (max, argmax)[t](a[t], (b[t], t))"),
            "hi, first, r = (max, argmax)[t: T](a[t], (b[t], t))\n");
  EXPECT_EQ(with_prelude("q, r, v, z, u = (argmax, argmin)[t](( a[t], t, b[t]), (b[t], t))"),
            "q, r, v, z, u = (argmax, argmin)[t: T]((a[t], t, b[t]), (b[t], t))\n");
}

TEST(Reductions, ComponentsListTheirOwnIndices) {
  EXPECT_EQ(with_prelude("p[s], n[s], r[s,e] = online_softmax[d](x[s,d], 1, w[d,e])"),
            "p[s: S], n[s: S], r[s: S, e: 64] = online_softmax[d: 64](x[s,d], 1.0, w[d,e])\n");
}

// ---- wholes ----

TEST(Wholes, AnotherNameIsTheSameTensor) {
  EXPECT_EQ(with_prelude("c = x\nr[s] = c[s,0] + x[s,0]"), "r[s: S] = x[s,0] + x[s,0]\n");
  EXPECT_EQ(with_prelude("row = w[3]\nr[d] = row[d]"), "r[d: 64] = w[3,d]\n");
  EXPECT_EQ(with_prelude("r = w[pos % 2]"), "r[i0: 64] = w[pos % 2, i0]\n");
}

TEST(Wholes, OneResultMayBeSeveralOutputs) {
  EXPECT_EQ(with_prelude("p[t] = a[t] * 2\nr[t] = a[t] * 2", "p, r"), "p[t: T] = a[t] * 2.0\n");
}

// ---- functions, loops, monoids, imports, entries ----

TEST(Functions, TensorsInAndOut) {
  const std::string rms =
      "fn rms(x[B..., C], g[C], eps = 1e-5) {\n"
      "  y[b..., c] = x[b..., c] * rsqrt(sum[k](x[b..., k] * x[b..., k]) / C + eps) * g[c]\n"
      "  return y\n}\n";
  EXPECT_EQ(with_prelude(rms + "r = rms(x, w[0], eps = 0.5)"),
            "rms_y_1[b_0: S] = sum[k: 64](x[b_0,k] * x[b_0,k])\n"
            "r[b_0: S, c: 64] = x[b_0,c] * rsqrt(rms_y_1[b_0] / 64.0 + 0.5) * w[0,c]\n");
  EXPECT_EQ(with_prelude(rms + "r = rms(w[1], w[0])"),
            "rms_y_1 = sum[k: 64](w[1,k] * w[1,k])\n"
            "r[c: 64] = w[1,c] * rsqrt(rms_y_1 / 64.0 + 1e-05) * w[0,c]\n");
}

TEST(Functions, ScalarsAreInlined) {
  EXPECT_EQ(with_prelude("fn silu(z) { s = sigmoid(z); return z * s }\n"
                         "r[t] = silu(a[t]) + silu(b[t])"),
            "r[t: T] = a[t] * sigmoid(a[t]) + b[t] * sigmoid(b[t])\n");
  // A parameter that is read inside a reduction of the body.
  EXPECT_EQ(with_prelude("fn f(z) { return max[t](a[t] * z) }\nr[s] = f(x[s,0])"),
            "r_1[s: S] = max[t: T](a[t] * x[s,0])\nr[s: S] = r_1[s]\n");
}

TEST(Functions, TheBodyDoesNotSeeTheCallersIndices) {
  const Resolving r(std::string(kPrelude) +
                    "fn f(z) { return z + s }\nr[s] = f(x[s,0])\noutput r\n");
  EXPECT_THAT(r.places(), ElementsAre("undefined 11:22"));
}

TEST(Loops, RoundsRebindAndTheLastHasTheName) {
  EXPECT_EQ(with_prelude("r = a\nfor l in 0..3 { k = l + 1; r[t] = r[t] * k }"),
            "k = 1\nr_3[t: T] = a[t] * k\n"
            "k_2 = 2\nr_2[t: T] = r_3[t] * k_2\n"
            "k_3 = 3\nr[t: T] = r_2[t] * k_3\n");
}

TEST(Monoids, OfTheProgramsOwn) {
  EXPECT_EQ(with_prelude("monoid pair(n: i32, v) { identity (0, 1.0)\n"
                         "combine(p, q) { k = p.n + q.n; return (k, p.v * q.v) }\ncommutative }\n"
                         "n, r = pair[t](wide[t], a[t])"),
            "n, r = pair[t: T](wide[t], a[t])\n");
}

TEST(Imports, SeeThemselvesOnly) {
  const Resolving r("import \"nn\"\nconst two = 3\ninput x: f32[4]\nr[i] = twice(x[i])\noutput r\n",
                    {}, {{"nn", "const two = 2\nfn twice(v) { return v * two }\n"}});
  EXPECT_EQ(r.definitions(), "r[i: 4] = x[i] * 2.0\n");
}

TEST(Entries, OneIsChosen) {
  const std::string text =
      "input x: f32[4]\nentry one { r[i] = x[i]; output r }\n"
      "entry two { r[i] = x[i] * 2; output r }\n";
  EXPECT_EQ(Resolving(text, {.bind = {}, .entry = "two", .import = {}}).definitions(),
            "r[i: 4] = x[i] * 2.0\n");
  EXPECT_THAT(Resolving(text).places(), ElementsAre("no-entry 1:1"));
  EXPECT_THAT(Resolving(text, {.bind = {}, .entry = "tow", .import = {}}).message(),
              HasSubstr("did you mean two?"));
}

// ---- sizes ----

TEST(Sizes, ABoundDimIsAConstant) {
  const Resolving r("dim M in 1..=8, N\ninput x: f32[M, N]\nr[i,j] = x[i,j]\noutput r\n",
                    {.bind = {{"M", 4}}, .entry = {}, .import = {}});
  EXPECT_EQ(r.definitions(), "r[i: 4, j: N] = x[i,j]\n");
  EXPECT_THAT(r.program().dims, SizeIs(1));
  EXPECT_EQ(r.program().dims[0].name, "N");
}

TEST(Sizes, BindsAreChecked) {
  const std::string text = "dim M in 1..8 % 2 == 0\ninput x: f32[M]\nr[i] = x[i]\noutput r\n";
  const auto bound = [&](const char* name, int64_t value) {
    return Resolving(text, {.bind = {{name, value}}, .entry = {}, .import = {}}).places();
  };
  EXPECT_THAT(bound("M", 8), ElementsAre("dim-range 1:10"));
  EXPECT_THAT(bound("M", 3), ElementsAre("assumption-broken 1:15"));
  EXPECT_THAT(bound("M", 4), IsEmpty());
  EXPECT_THAT(bound("K", 4), ElementsAre("undefined"));
}

TEST(Sizes, OutputTypes) {
  const Resolving r(
      "input p: f64[4]\ninput q: f16[4]\ninput k: i8[4]\nu[i] = p[i]\nv[i] = q[i]\n"
      "n[i] = k[i] + 1\nc[i] = k[i] > 0\nh[i] = q[i]*1.5\noutput u, v, n, c\noutput h: f16\n");
  ASSERT_TRUE(r.parsed) << r.definitions();
  std::vector<Type> types;
  for (const Output& o : r.program().outputs) types.push_back(o.type);
  EXPECT_THAT(types, ElementsAre(Type::f64, Type::f32, Type::i32, Type::boolean, Type::f16));
}

// ---- large programs ----

TEST(Large, TenThousandTermsAndDefinitions) {
  std::string sum = "input x: f32[10000]\nr = x[0]", chain = "input x: f32[3]\ny0 = x\n";
  for (int i = 1; i < 10000; ++i) sum += " + x[" + std::to_string(i) + "]";
  for (int i = 0; i < 10000; ++i)
    chain += "y" + std::to_string(i + 1) + "[i] = y" + std::to_string(i) + "[i] + 1\n";
  const Resolving one(sum + "\noutput r\n");
  EXPECT_THAT(one.diagnostics.all(), IsEmpty());
  const Resolving many(chain + "output y10000\n");
  ASSERT_TRUE(many.parsed);
  EXPECT_THAT(many.program().defs, SizeIs(10000));
  const Resolving loop("input x: f32[3]\nr = x\nfor n in 0..10000 { r[i] = r[i] + n }\noutput r\n");
  ASSERT_TRUE(loop.parsed);
  EXPECT_THAT(loop.program().defs, SizeIs(9999 + 1));
}

}  // namespace
}  // namespace tang
