// A printed program parses back to the graph that was printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolving.h"

namespace tang {
namespace {

// The printed text, after checking that its graph prints the same.
std::string printed(const std::string& text) {
  const Resolving first(text);
  if (!first.parsed) {
    ADD_FAILURE() << first.definitions();
    return "";
  }
  const std::string once = print(first.program());
  const Resolving second(once);
  if (!second.parsed) {
    ADD_FAILURE() << once << second.definitions();
    return once;
  }
  for (const std::string& sentence : second.broken) ADD_FAILURE() << sentence;
  EXPECT_EQ(print(second.program()), once);
  EXPECT_EQ(second.program().assumptions.size(), first.program().assumptions.size()) << once;
  return once;
}

TEST(Print, Declarations) {
  EXPECT_EQ(printed("dim S in 1..=4096, T % 16 == 3, N\nassume N <= S && T == 2*N\n"
                    "const D = 2\ninout c: f16[S, D + 1]\ninput i: i32[T] in 0..S sorted distinct\n"
                    "scalar p: i32 in 0..S\nscalar e: f32\nr[t] = i[t] + p\noutput r: i64\n"),
            "dim S in 1..=4096\n"
            "dim T\n"
            "dim N\n"
            "scalar p: i32 in 0..S\n"
            "scalar e: f32\n"
            "assume N <= S\n"
            "assume T % 16 == 3\n"
            "assume T == 2 * N\n"
            "inout c: f16[S, 3]\n"
            "input i: i32[T] in 0..S sorted distinct\n"
            "r[t: T] = i[t] + p\n"
            "output r: i64\n");
}

TEST(Print, Monoids) {
  EXPECT_EQ(printed("monoid mat(a, b: i32) { identity (1, 0); combine(x, y) = (x.a * y.a, x.b + "
                    "y.b); commutative }\ninput x: f32[4]\np, r = mat[i](x[i], i)\noutput p, r\n"),
            "monoid mat(c0, c1: i32) { identity (1.0, 0); combine(x, y) = (x.c0 * y.c0, x.c1 + "
            "y.c1); commutative }\n"
            "input x: f32[4]\n"
            "p, r = mat[i: 4](x[i], i)\n"
            "output p: f32\n"
            "output r: i32\n");
}

TEST(Print, ACopyOfRank0IsNoOtherName) {
  const Resolving r("input x: f32[4]\ns = sum[i](x[i])\nr[] = s\noutput s, r\n");
  EXPECT_EQ(r.definitions(), "s = sum[i: 4](x[i])\nr[] = s[]\n");
  printed("input x: f32[4]\ns = sum[i](x[i])\nr[] = s\noutput s, r\n");
}

class RoundTrip : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, ParsesBackToTheSameGraph) {
  printed(std::string("dim S in 1..=4096, T\ninput x: f32[S, 64]\ninput a, b: f32[T]\n"
                      "input k: i32[T] in 0..S\ninput n: i64[T]\ninput m: bool[S]\n"
                      "scalar pos: i32 in 0..S\nscalar flag: bool\n") +
          GetParam() + "\noutput r\n");
}

INSTANTIATE_TEST_SUITE_P(
    Text, RoundTrip,
    ::testing::Values(
        "r[s,d] = x[s,d] - (x[s,0] - x[s,1]) - x[s,2]", "r[t] = (a[t] + b[t]) * a[t] / (b[t] * 2)",
        "r[t] = -(a[t] + 1) * -a[t] - -2.5", "r[t] = a[t] > 0 ? (b[t] > 0 ? 1 : 2) : 3",
        "r[t] = (a[t] > 0 ? b[t] : 1) + 1", "r[t] = !(a[t] > 0 && b[t] > 0) || flag",
        "r[t] = (k[t] | 3) & 5 ^ k[t] << 2", "r[t] = x[k[t] / 2, k[t] & 31]",
        "r[t] = x[k[t], (k[t] | 1) & 63]", "r[t] = n[t] * i64(3) + k[t]",
        "r[t] = select(k[t] > 2, i64(7), n[t])", "r[t] = min(n[t], i64(k[t]))",
        "r[t] = i64(i64(1) << 40) + n[t]", "r[t: 4] = i64(t) + i64(k[t])",
        "r[t: 4] = f64(t) + f64(k[t])", "r[t: 4] = exp(t) + pow(a[t], 2.5) + pow(a[t], -1)",
        "r[t] = i4(k[t]) + u8(k[t]) + bool(k[t])", "r[t] = f8e4m3(f16(a[t])) + bf16(k[t])",
        "r[t] = nan + inf + -inf + 1e300 + 1e-300 + 0.1 + a[t]", "r[t] = a[t] + (b[t - 1] else 0)",
        "r[o: 20] = sum[j: 3](a?[(o + 1 - 2*j)/2 exact] * b?[j])",
        "r[o: 20] = a[(4*o + 3)/2 exact] else 1", "r[o: 20] = a[o/2/3 exact] else 1",
        "r[o: 20] = a[o | o % 3 == 2 && o / 5 % 2 == 1] else 1",
        "r[t: T] = sum[u | u <= t && a[u] > 0 && u + t < 9 || flag](a[u])",
        "r[t] = sum[u | u <= t && (a[u] > 0 || flag) && u != 3](a[u])",
        "r[t] = sum[u: T | 2*u == t && t - u < 5](a[t])", "r[t: T] = sum[u: T | t == 5](a[u])",
        "r[s,t] = sum[d | d % 4 == 1 && m[s]](x[s,d] * a[t])",
        "r[s] = any[t](a[t] > x[s,0] && m[s])",
        "p, q, r = (sum, max, any)[t](k[t], n[t], a[t] > 0)", "r[i: 8, j: 8] = x[i*j % 3, i]",
        "r[i: 8] = (i*i + 2*i) / 3", "r[s] = s < pos ? x[s, pos % 64] : x[pos - s / 2 * 0, 0] * 0",
        "r[s] = logsumexp[d | m[s]](x[s,d] * (d - s))", "r[t] = (k[t] > 0) == (a[t] > 0) ? 1 : 0"));

}  // namespace
}  // namespace tang
