// Programs that are in range, and the sentences about those that are not.
#include "check/check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "text/parse.h"

namespace tang {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> complaints(const std::string& text,
                                    const std::map<std::string, int64_t>& bind = {}) {
  Sources sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.add("t.tir", text);
  const std::optional<Parsed> parsed =
      parse(sources, file, {.bind = bind, .entry = "", .import = {}}, diagnostics);
  if (parsed) {
    const bool fine = check(parsed->program, parsed->obligations, diagnostics);
    EXPECT_EQ(fine, !diagnostics.has_errors());
  }
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics.all()) {
    EXPECT_TRUE(d.span.valid()) << d.message;
    out.push_back(d.name + ": " + d.message);
  }
  return out;
}

TEST(Check, reads_that_are_in_range) {
  const char* const programs[] = {
      "dim S\ninput x: f32[S]\ny[i] = x[i]\noutput y",
      "dim S\nassume S >= 2\ninput x: f32[S]\ny[i: S - 1] = x[i + 1] - x[i]\noutput y",
      "input x: f32[33]\ny[i: 16] = sum[r: 3](x[2*i + r])\noutput y",
      "dim S, H\ninput x: f32[S, H]\ny[i: S, h] = sum[j: S | j <= i](x[i - j, h])\noutput y",
      "dim S\ninput x: f32[S, 4, 16]\ny[i, d: 64] = x[i, d/16, d%16]\noutput y",
      "dim S\ninput x: f32[S, 64]\ny[i, h: 4, d: 16] = x[i, h*16 + d]\noutput y",
      "dim S % 16 == 0\ninput x: f32[S]\ny[b: S/16, k: 16] = x[16*b + k]\noutput y",
      "dim S\ninput x: f32[S]\ny[i: S + 3] = i >= 3 ? x[i - 3] : 0.0\noutput y",
      "dim S\ninput x: f32[S]\ny[i: S + 3] = sum[j: S | i - j >= 0 && i - j < S](x[i - j])\noutput "
      "y",
      "dim S, T\nassume T <= S\ninput x: f32[S]\ny[i: T] = x[i]\noutput y",
      "dim S, T\nassume S == 2*T\ninput x: f32[S]\ny[i: T] = x[2*i] + x[2*i + 1]\noutput y",
      "dim S in 1..=64\nscalar pos: i32 in 0..S\ninput x: f32[S]\ny = x[pos] + x[S - 1 - "
      "pos]\noutput y",
      "dim S\ninput x: f32[S]\ny[i: S + 2] = x[i - 1] else 0\noutput y",
  };
  for (const char* program : programs) EXPECT_THAT(complaints(program), IsEmpty()) << program;
}

TEST(Check, gathers_that_are_in_range) {
  const char* const programs[] = {
      "dim V\ninput w: f32[V]\ninput t: i32[8] in 0..V\ny[i] = w[t[i]]\noutput y",
      "dim V\nassume V >= 1 && V < 1000\ninput w: f32[V]\nm, at = argmax[v](w[v], v)\ny = "
      "w[at]\noutput y",
      "input w: f32[5]\ny[i: 9, j: 9] = w[min(max(j - i, -2), 2) + 2]\noutput y",
      "input w: f32[256]\ninput t: u8[8]\ny[i] = w[t[i]]\noutput y",
      "input w: f32[8]\ninput t: i32[8]\ny[i] = w[t[i] & 7]\noutput y",
      "input w: f32[8]\ninput t: i32[8]\ny[i] = w[t[i]] else 0\noutput y",
  };
  for (const char* program : programs) EXPECT_THAT(complaints(program), IsEmpty()) << program;
}

// Under these declarations, conditions decide.
std::vector<std::string> complaints_with_data(const std::string& definitions) {
  return complaints(
      "dim N, M in 1..=100\ninput t, u, v: i32[N]\ninput w: f32[8]\ninput r: i32[N] in 0..M\n"
      "input x: f32[N, 9]\ninput wm: f32[M]\ninput z: f32[N]\n" +
      definitions + "\noutput y");
}

TEST(Check, conditions_on_data_keep_gathers_in_range) {
  const char* const definitions[] = {
      "y[i] = t[i] >= 0 && t[i] < 8 ? w[t[i]] : 0",
      "y = sum[i | t[i] >= 0 && t[i] < 8](w[t[i]])",
      "y[i] = w?[t[i] | t[i] >= 0 && t[i] < 8] else 0",
      "y[i: N] = (w[t[i] + 1 | t[i] >= -1 && t[i] < 7] else 0) + (t[i] >= 0 && t[i] < 7 ? w[t[i] + "
      "1] : 0)",
      "y[i: N] = t[i] >= 0 && t[i] < N && u[t[i]] >= 0 && u[t[i]] < 8 ? w[u[t[i]]] : 0",
      "y[i: N] = t[i] >= u[i] && t[i] - u[i] < 8 && u[i] > -1000 && t[i] < 1000 ? w[t[i] - u[i]] : "
      "0",
      "y[i: N, j: 9] = j == 8 || x[i, j + 1] > 0 ? 1.0 : 0.0",
      "y[i: N, j: 9] = j != 8 ? x[i, j + 1] : 0.0",
      "y[i: N] = t[i] == 0 || t[i] == 3 || t[i] == 5 ? w[t[i]] : 0.0",
      "y[i: N] = !(t[i] < 0 || t[i] >= 8) ? w[t[i]] : 0.0",
      "y[i: N] = wm[t[i] < 0 ? 0 : t[i] > M - 1 ? M - 1 : t[i]]",
      "c[i] = t[i] < 0 ? 0 : t[i] > 7 ? 7 : t[i]\ny[i: N] = w[c[i]]",
      "y[i: N] = wm[t[i] % M] + wm[max(r[i] - 1, 0)] + wm[min(r[i] + 1, M - 1)] + wm[max(0, "
      "min(t[i], M - 1))]",
      "y[i: N] = t[i] < 0 || t[i] > 7 ? 0 : w[t[i]]",
      "y[i: N] = sum[k: N | k < i && t[k] >= 0 && t[k] < N && u[t[k]] < 8 && u[t[k]] >= "
      "0](w[u[t[k]]] * z[t[k]])",
      "y[i: N] = t[i] * u[i] >= 0 && t[i] * u[i] < 8 ? w[t[i] * u[i]] : 0",
      "y[i: N] = t[i] != 0 && u[i] != 0 && v[i] != 0 && r[i] != 0 ? wm[r[i] - 1] : 0",
      "y[i: N] = t[i] >= i && t[i] <= i + 3 && i < 4 ? w[t[i]] : 0",
      "p, k = argmax[i | t[i] >= 0 && t[i] < 8](z[i], t[i])\ny = k >= 0 ? w[k] : 0",
      "y[i] = (t[i] >= 0 && t[i] < 8 && z[i] > 0) || (t[i] >= 2 && t[i] < 4) ? w[t[i]] : 0",
      "y[i] = t[i] >= 0 ? (t[i] < 8 ? w[t[i]] : 1) : 0",
      "y[i] = sum[k | t[i] >= 0 && t[i] < 8](w[t[i]] * w[k])",
      "y[i] = t[i] >= 0 && t[i] < 8 ? sum[k](w[k] * w[t[i]]) : 0",
      "y[i] = 2*t[i] >= 0 && 2*t[i] < 8 ? w[2*t[i]] : w[abs(r[i] % 8)]",
      "y[i] = t[i] / 4 == 1 ? w[t[i]] : t[i] & 7 == 3 ? w[t[i] & 7] : w[(t[i] >> 3) & 7]",
      "c[i] = t[i] < 0 ? 0 : t[i] > M - 1 ? M - 1 : t[i]\ny[i: N] = wm[c[i]]",
      "y[i: N] = i == 0 ? 0.0 : z[i - 1] + (i != N - 1 ? z[i + 1] : 0)",
  };
  for (const char* text : definitions) EXPECT_THAT(complaints_with_data(text), IsEmpty()) << text;
}

TEST(Check, conditions_on_data_that_are_not_enough) {
  const char* const definitions[] = {
      "y[i] = t[i] >= 0 && t[i] <= 8 ? w[t[i]] : 0",
      "y[i] = t[i] >= 0 || t[i] < 8 ? w[t[i]] : 0",
      "y[i] = t[i] >= 0 && t[i] < 8 ? 0 : w[t[i]]",
      "y[i: N, j: 9] = j != 7 ? x[i, j + 1] : 0.0",
      "y[i] = t[i] + 1 > t[i] && t[i] + 1 >= 0 && t[i] + 1 <= 8 ? w[t[i] + 1] : 0",
      "y[i] = t[i] + 1 < 8 && t[i] >= 0 ? w[t[i] + 1] : 0",
      "y[i] = u[i] >= 0 && u[i] < 8 ? w[t[i]] : 0",
      "y[i: N] = t[i] == 0 || t[i] == 3 || t[i] == 8 ? w[t[i]] : 0.0",
      "c[i] = t[i] < 0 ? 0 : t[i] > 7 ? 8 : t[i]\ny[i: N] = w[c[i]]",
  };
  for (const char* text : definitions)
    EXPECT_THAT(complaints_with_data(text), ::testing::SizeIs(1)) << text;
}

// Reads that fold away are still as the user wrote them.
TEST(Check, reads_that_fold_away) {
  EXPECT_THAT(complaints("input x: i32[3] in 0..4\ny[i: 3] = sum[j: 2 | x[i] > x[i]](j)\noutput y"),
              IsEmpty());
  EXPECT_THAT(complaints("input x: i32[3] in 0..4\ny[i: 4] = sum[j: 2 | x[i] > x[i]](j)\noutput y"),
              ElementsAre("index-out-of-range: i is 3, outside of dimension 0 of x, which has 3"));
  EXPECT_THAT(complaints("input x: i32[3]\ny[i: 3] = x[i] + "
                         "sum[j: 2](any[k: 2 | x[i + 1] > x[i + 1]](true))\noutput y"),
              ElementsAre("index-out-of-range: i + 1 is 3 at i = 2, outside of dimension 0 of x, "
                          "which has 3"));
}

TEST(Check, the_witness_of_a_fixed_size) {
  EXPECT_THAT(complaints("input x: f32[10]\ny[i: 10] = x[i + 1]\noutput y"),
              ElementsAre("index-out-of-range: i + 1 is 10 at i = 9, outside of dimension 0 of x, "
                          "which has 10"));
  EXPECT_THAT(
      complaints("input x: f32[10]\ny[i: 12] = x[i]\noutput y"),
      ElementsAre("index-out-of-range: i is 10, outside of dimension 0 of x, which has 10"));
  EXPECT_THAT(complaints("input x: f32[4, 8]\ny[i] = x[i, 8]\noutput y"),
              ElementsAre("index-out-of-range: 8 is outside of dimension 1 of x, which has 8"));
}

TEST(Check, the_witness_of_a_symbolic_size) {
  EXPECT_THAT(complaints("dim N\nassume N >= 1\ninput x: f32[N]\ny[i: N] = x[i + 1]\noutput y"),
              ElementsAre("index-out-of-range: i + 1 is 1 at i = 0, outside of dimension 0 of x, "
                          "which has N (with N = 1)"));
  EXPECT_THAT(complaints("dim N\nassume N >= 1\ninput x: f32[N]\ny[i: N] = x[i + 1]\noutput y",
                         {{"N", 10}}),
              ElementsAre("index-out-of-range: i + 1 is 10 at i = 9, outside of dimension 0 of x, "
                          "which has 10"));
  EXPECT_THAT(complaints("dim S, T\ninput x: f32[S]\ny[i: T] = x[i]\noutput y"),
              ElementsAre("index-out-of-range: i is 0, outside of dimension 0 of x, which has S "
                          "(with S = 0)"));
  EXPECT_THAT(complaints("dim S\nassume S >= 1\ninput x: f32[S, 2]\n"
                         "y[i: S, d] = sum[j: S | j <= i](x[j - i, d])\noutput y"),
              ElementsAre("index-out-of-range: j - i is -1 at i = 1, j = 0, outside of dimension 0 "
                          "of x, which has S (with S = 2)"));
}

TEST(Check, scalars_are_named_in_a_witness) {
  EXPECT_THAT(
      complaints("input x: f32[8]\nscalar pos: i32 in 0..=8\ny = x[pos]\noutput y"),
      ElementsAre("index-out-of-range: pos is 8, outside of dimension 0 of x, which has 8"));
  EXPECT_THAT(
      complaints("input x: f32[8]\nscalar pos: i32 in 0..8\ny[i: 2] = x[pos + i]\noutput y"),
      ElementsAre("index-out-of-range: pos + i is 8 at pos = 7, i = 1, outside of dimension "
                  "0 of x, which has 8"));
}

TEST(Check, every_bad_coordinate_of_a_program_is_reported) {
  const auto found =
      complaints("input x: f32[4, 4]\ny[i: 4] = x[i + 1, i - 1]\nz[i: 4] = x[i, 4]\noutput y, z");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(found[0], ::testing::StartsWith("index-out-of-range: i + 1 is 4"));
  EXPECT_THAT(found[1], ::testing::StartsWith("index-out-of-range: i - 1 is -1"));
}

TEST(Check, data_without_a_range) {
  EXPECT_THAT(complaints("input w: f32[8]\ninput t: i32[4]\ny[i] = w[t[i]]\noutput y"),
              ElementsAre("gather-unproved: nothing bounds the coordinate t[i] of w; declare the "
                          "range or guard the read"));
}

TEST(Check, data_with_a_range_that_is_too_wide) {
  EXPECT_THAT(complaints("input w: f32[8]\ninput t: i32[4] in 0..=8\ny[i] = w[t[i]]\noutput y"),
              ElementsAre("gather-unproved: t[i] may be 8, outside of dimension 0 of w, which has "
                          "8; narrow its declared range or guard the read"));
  EXPECT_THAT(complaints("input w: f32[8]\ninput t: u8[4]\ny[i] = w[t[i]]\noutput y"),
              ElementsAre(::testing::StartsWith("gather-unproved: t[i] may be ")));
}

TEST(Check, the_payload_of_nothing_is_no_index) {
  EXPECT_THAT(
      complaints(
          "dim V in 0..100\ninput w: f32[V]\nm, at = argmax[v](w[v], v)\ny = w[at]\noutput y"),
      ElementsAre("gather-unproved: at may be -1, outside of dimension 0 of w, which has V "
                  "(with V = 0); narrow its declared range or guard the read"));
}

TEST(Check, extents_that_may_be_negative) {
  EXPECT_THAT(
      complaints("dim n\ninput x: f32[n]\ny[i: n - 5] = x[i]\noutput y"),
      ElementsAre("negative-extent: n - 5 is -5 (with n = 0), and an extent is not negative"));
  EXPECT_THAT(complaints("dim n\nassume n >= 5\ninput x: f32[n]\ny[i: n - 5] = x[i]\noutput y"),
              IsEmpty());
}

TEST(Check, index_forms_as_data_fit_32_bits) {
  EXPECT_THAT(complaints("y[i: 70000, j: 70000] = 70000*i + j\noutput y"),
              ElementsAre(::testing::MatchesRegex(
                  "index-too-wide: 70000\\*i \\+ j may exceed 32 bits as data: it is [0-9]+ at i = "
                  "[0-9]+, j = [0-9]+; write i64\\(70000\\*i \\+ j\\), or bound the sizes")));
  EXPECT_THAT(complaints("y[i: 70000, j: 70000] = i64(70000*i + j)\noutput y"), IsEmpty());
  EXPECT_THAT(complaints("y[i: 30000, j: 70000] = 70000*i + j\noutput y"), IsEmpty());
}

TEST(Check, contradictory_assumptions) {
  EXPECT_THAT(
      complaints("dim S in 1..=4\nassume S > 8\ninput x: f32[S]\ny[i: S] = x[i + 1]\noutput y"),
      ElementsAre("assumptions-empty: no sizes satisfy the assumptions"));
  EXPECT_THAT(
      complaints("dim S in 1..16\nassume S % 16 == 0\ninput x: f32[S]\ny[i] = x[i]\noutput y"),
      ElementsAre("assumptions-empty: no sizes satisfy the assumptions"));
}

// Written to take long, and decided or given up in a fraction of a second all the same.
std::vector<std::string> hostile_coordinates() {
  std::string remainders = "i", extremes = "t[i]", chosen, quotients = "i", either = "t[i] == 0";
  for (int k = 0; k < 60; ++k) remainders = fmt::format("({} * 3 + {}) % {}", remainders, k, k + 7);
  for (int k = 0; k < 200; ++k)
    extremes = fmt::format("min(max({}, {}), u[i] + {})", extremes, k % 5, k);
  for (int k = 0; k < 300; ++k) {
    chosen += fmt::format("t[i] == {0} ? {0} : ", k);
    quotients += fmt::format(" + i/{} - i%{}", k + 2, k + 3);
    either += fmt::format(" || t[i] == {}", k + 1);
  }
  return {remainders, extremes, chosen + "u[i]", quotients, either + " ? t[i] : 301"};
}

TEST(Check, hostile_coordinates_end_soon) {
  for (const std::string& coordinate : hostile_coordinates()) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(complaints("dim N\ninput x: f32[N]\ninput t, u: i32[N]\ny[i: N] = x[" + coordinate +
                           "]\noutput y"),
                ::testing::Not(IsEmpty()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 10.0) << coordinate.substr(0, 100);  // 0.4 s are usual at most
  }
}

TEST(Check, ten_thousand_definitions_take_a_fraction_of_a_second) {
  std::string text = "dim S in 4..=4096\ninput x0: f32[S, 64]\n";
  const int n = 10000;
  for (int k = 1; k <= n; ++k)
    text += fmt::format(
        "x{0}[i: S, d] = x{1}[i, d] + (i >= 1 ? x{1}[i - 1, d] : 0.0)"
        " + x{1}[i/2, 2*(d/4)] * sum[j: S | j <= i](x{1}[i - j, d])\n",
        k, k - 1);
  text += fmt::format("output x{}\n", n);
  Sources sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.add("t.tir", text);
  const std::optional<Parsed> parsed = parse(sources, file, {}, diagnostics);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_GE(parsed->obligations.size(), size_t{n});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(check(parsed->program, parsed->obligations, diagnostics));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  // 0.3 s is promised of an optimized build; unoptimized and sanitized ones get ten times that.
  EXPECT_LT(took.count(), 3.0);
  RecordProperty("seconds", fmt::format("{:.3f}", took.count()));
}

}  // namespace
}  // namespace tang
