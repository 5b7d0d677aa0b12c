// What schedule_auto decides, on programs that each show one rule.
#include "schedule/auto.h"

#include <gtest/gtest.h>

#include "text/parse.h"

namespace tang {
namespace {

Program parse_text(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.add("test.tir", text);
  auto parsed = parse(sources, file, {.bind = {}, .entry = "", .import = {}}, diagnostics);
  if (!parsed) throw std::runtime_error(render_text(diagnostics, sources, false));
  return parsed->program;
}

At place_of(const Program& program, const Schedule& schedule, const std::string& name) {
  for (size_t d = 0; d < program.defs.size(); ++d)
    for (const std::string& n : program.defs[d].names)
      if (n == name) return schedule.places[d].at;
  throw std::runtime_error("no definition " + name);
}

// The first kernel's lanes share an index of a fold.
bool shares_a_fold(const Schedule& schedule) {
  for (const Split& s : schedule.kernels.at(0).splits)
    if (s.cells[2] > s.cells[3]) return true;
  return false;
}

TEST(ScheduleAuto, CheapMapsAreInlinedAndCostlyOnesReadTwiceAreStored) {
  const Program p = parse_text(
      "dim N\ninput x: f32[N]\ncheap[i] = x[i] * 2.0\ncostly[i] = exp(cheap[i])\n"
      "a = sum[i](costly[i])\nb = max[i](costly[i] + cheap[i])\noutput a, b\n");
  const Schedule s = schedule_auto(p);
  EXPECT_EQ(place_of(p, s, "cheap"), At::inlined);
  EXPECT_EQ(place_of(p, s, "costly"), At::root);
  EXPECT_EQ(place_of(p, s, "a"), At::root);
}

TEST(ScheduleAuto, AMapThatFollowsAReductionPointForPointIsItsEpilogue) {
  const Program p = parse_text(
      "dim M, N, K\ninput a: f32[M, K]\ninput b: f32[K, N]\n"
      "s[i,j] = sum[k](a[i,k] * b[k,j])\ny[i,j] = tanh(s[i,j])\noutput y\n");
  const Schedule s = schedule_auto(p);
  EXPECT_EQ(place_of(p, s, "s"), At::placed);
  EXPECT_EQ(s.kernels.size(), 1u);
}

TEST(ScheduleAuto, AnOutputOrATransposedReaderKeepsTheReductionStored) {
  const Program p = parse_text(
      "dim M, N\ninput a: f32[M, N]\nr[i] = sum[k](a[i,k])\ny[i] = r[i] + 1.0\noutput r, y\n");
  EXPECT_EQ(place_of(p, schedule_auto(p), "r"), At::root);
  const Program q = parse_text(
      "dim M, N\ninput a: f32[M, N]\nr[i] = sum[k](a[i,k])\ny[i,j: 3] = r[i] + j\noutput y\n");
  EXPECT_EQ(place_of(q, schedule_auto(q), "r"), At::root);
}

TEST(ScheduleAuto, DeadDefinitionsAreNoKernels) {
  const Program p =
      parse_text("dim N\ninput x: f32[N]\nunused = sum[i](x[i])\ny[i] = x[i] + 1.0\noutput y\n");
  EXPECT_EQ(schedule_auto(p).kernels.size(), 1u);
}

TEST(ScheduleAuto, LongFoldsOfFewPointsAreSplitOverLanes) {
  const Program p = parse_text("input x: f32[4096]\nt = sum[i](x[i])\noutput t\n");
  EXPECT_TRUE(shares_a_fold(schedule_auto(p)));
  const Program q =
      parse_text("dim T\ninput a, b: f32[T]\n_, h = affine[u](a[u], b[u])\noutput h\n");
  EXPECT_FALSE(shares_a_fold(schedule_auto(q))) << "affine does not commute";
}

TEST(ScheduleAuto, ValuesThatDependOnAnF64InputAreF64) {
  const Program p = parse_text(
      "dim N\ninput x: f64[N]\ninput y: f32[N]\na = sum[i](x[i] * y[i])\nb = sum[i](y[i])\n"
      "c[i] = y[i] + a\noutput a: f64\noutput b, c\n");
  const Schedule s = schedule_auto(p);
  EXPECT_EQ(s.formats.at(0).accumulate, Type::f64);
  EXPECT_EQ(s.formats.at(1).accumulate, Type::f32);
  EXPECT_EQ(s.formats.at(2).accumulate, Type::f64);
}

}  // namespace
}  // namespace tang
