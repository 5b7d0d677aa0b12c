// How pieces of text are put together: wrapping, names, the manifest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build.h"
#include "emit/helpers.h"
#include "emit/names.h"
#include "emit/writer.h"

namespace tang::emit {
namespace {

using testing::ElementsAre;

TEST(Writer, BreaksAtTheLoosestOperator) {
  Writer out;
  out.open("f()");
  out.line(
      "total = alpha_alpha_alpha[10*i + j] * beta_beta_beta[10*i + j] + gamma_gamma[i] * "
      "delta_delta_delta[j];");
  out.line(
      "if (first_first_first == NULL || second_second_second == NULL || third_third == NULL || "
      "fourth == NULL) x = 1;");
  out.close();
  EXPECT_EQ(out.text(),
            "f() {\n"
            "  total = alpha_alpha_alpha[10*i + j] * beta_beta_beta[10*i + j] +\n"
            "      gamma_gamma[i] * delta_delta_delta[j];\n"
            "  if (first_first_first == NULL || second_second_second == NULL || third_third == "
            "NULL ||\n"
            "      fourth == NULL) x = 1;\n"
            "}\n");
}

TEST(Writer, WhatHasNoBreakStaysWhole) {
  Writer out;
  const std::string text(150, 'x');
  out.line(text);
  out.comment(text);
  EXPECT_EQ(out.text(), text + "\n// " + text + "\n");
}

TEST(Writer, ACommentThatDoesNotFitBehindItsLineStandsAbove) {
  Writer out;
  out.line("int a;", 8, "a number");
  out.line("int " + std::string(60, 'b') + ";", 8,
           "the second number, whatever it may be good for");
  out.line("int c;", 8, "");
  EXPECT_EQ(out.text(),
            "int a;    // a number\n// the second number, whatever it may be good for\nint " +
                std::string(60, 'b') + ";\nint c;\n");
}

TEST(Writer, CommentsCannotSwallowTheNextLine) {
  Writer out;
  out.comment("a \\\nb ?\?/\n\n  c \\ \\");
  EXPECT_EQ(out.text(), "// a\n// b ?\?\n//\n//   c\n");
}

TEST(Names, ReservedWordsAndTwins) {
  Scope scope(kC);
  const char* wanted[] = {"x",   "x",    "x_2", "int",          "int_",    "class",     "_x",
                          "__y", "sinf", "I",   "uint_fast8_t", "INT64_C", "floor_div", "2x"};
  std::vector<std::string> given;
  for (const char* name : wanted) given.push_back(scope.name(name));
  EXPECT_THAT(given, ElementsAre("x", "x_2", "x_2_2", "int_", "int_2", "class_", "v_x", "v__y",
                                 "sinf_", "I_", "uint_fast8_t_", "INT64_C_", "floor_div_", "v2x"));
}

TEST(HelperFile, PartsComeWithWhatTheyNeedInOrder) {
  const auto all = parse_helpers(
      "// preamble\n\n//: a  needs <x.h>\nA\n\n//: b  needs a <y.h>\nB\n\n//: c\nC\n");
  std::set<std::string_view> headers;
  EXPECT_THAT(helper_texts(all, {"b"}, headers), ElementsAre("A\n", "B\n"));
  EXPECT_THAT(headers, ElementsAre("<x.h>", "<y.h>"));
  EXPECT_THAT(helper_texts(all, {"c", "a"}, headers), ElementsAre("A\n", "C\n"));
  EXPECT_ANY_THROW(helper_texts(all, {"d"}, headers));
}

TEST(Manifest, SaysWhatALauncherNeeds) {
  Builder b;
  const FormId s = b.dim("S", 1, 512);
  b.scalar("pos", Type::i32, b.c(0), s);
  const uint32_t x = b.input("x", Type::i4, {s, b.c(3)}), y = b.output("y", Type::f32, {s});
  const uint32_t u = b.tensor("u", Type::f32, kernel::TensorRole::workspace, {s});
  b.m.tensors[u].workspace_offset = b.c(64);
  b.m.workspace_bytes = b.add(b.mul(s, 4), b.c(64));
  b.m.tensors[x].range_hi = s;
  b.param(x);
  b.param(y, kernel::Access::write);
  b.k.computes = "y[s] = 1.0";
  b.finish("y", {});
  const Manifest m = manifest(*find_target("c"), b.m);
  EXPECT_EQ(m.target, "c");
  EXPECT_EQ(m.workspace_bytes, "4*S + 64");
  ASSERT_EQ(m.tensors.size(), 3u);
  EXPECT_THAT(m.tensors[0].shape, ElementsAre("S", "3"));
  EXPECT_EQ(m.tensors[0].bytes, "(3*S + 1)/2");
  EXPECT_EQ(m.tensors[0].range_hi, "S");
  EXPECT_EQ(m.tensors[2].role, "workspace");
  EXPECT_EQ(m.tensors[2].offset, "64");
  EXPECT_EQ(m.scalars[0].range_lo, "0");
  ASSERT_EQ(m.kernels.size(), 1u);
  EXPECT_EQ(m.kernels[0].computes, "y[s] = 1.0");
  EXPECT_EQ(m.kernels[0].arguments[1].access, "write");
  ASSERT_EQ(m.launches.size(), 1u);
  EXPECT_EQ(m.launches[0].kernel, "y");
  EXPECT_EQ(m.launches[0].arguments[1].tensor, "y");
  EXPECT_EQ(m.launches[0].arguments[1].offset, "0");
}

}  // namespace
}  // namespace tang::emit
