#include "text/shrink.h"

#include <gtest/gtest.h>

#include "text/parse.h"

namespace tang {
namespace {

bool parses(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  return parse(sources, sources.add("t.tir", text), {}, diagnostics).has_value() &&
         !diagnostics.has_errors();
}

TEST(Shrink, LeavesWhatShowsTheFault) {
  const std::string text =
      "# a comment\ndim N, M\ninput x: f32[N, M]\ninput w: f32[M]\n"
      "a[i,j] = x[i,j] * w[j] + 1.0\nm[i] = max[j](a[i,j] - 2.0)\n"
      "y[i] = exp(m[i] * (3.0 + w[0]))\nz[i] = sum[j](a[i,j])\noutput y, z\n";
  const std::string small = shrink(text, [](const std::string& t) {
    return parses(t) && t.find("exp") != std::string::npos;
  });
  EXPECT_TRUE(parses(small)) << small;
  EXPECT_NE(small.find("exp"), std::string::npos);
  EXPECT_LT(small.size(), 100u) << small;
}

TEST(Shrink, WhatIsCopiedStandsForItsCopies) {
  const std::string text =
      "dim N\ninput x: f32[N, N]\na[i,j] = x[i,j]\nb = a\nm[i] = max[j](b[i,j])\n"
      "y[i] = exp(sum[j](exp(b[i,j] - m[i])))\noutput y\n";
  const std::string small = shrink(text, [](const std::string& t) {
    return parses(t) && t.find("max") != std::string::npos && t.find("sum") != std::string::npos &&
           t.find("- m") != std::string::npos;
  });
  EXPECT_EQ(small.find("a["), std::string::npos) << small;
  EXPECT_EQ(small.find("b"), std::string::npos) << small;
}

TEST(Shrink, KeepsACommentThatTakesPart) {
  const std::string text = "# keep\ny = 1.0\noutput y\n";
  EXPECT_EQ(shrink(text, [](const std::string& t) { return t.find("keep") != t.npos; }), text);
}

TEST(Shrink, EndsAtItsLimit) {
  int asked = 0;
  shrink("a = 1.0\nb = 2.0\noutput a, b\n", [&](const std::string&) { return ++asked > 0; }, 5);
  EXPECT_LE(asked, 8);
}

}  // namespace
}  // namespace tang
