// tircheck itself: each kind of expectation passes when it holds and fails when it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge.h"

namespace tircheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kHead = "# Shows something.\n# RUN: tangc %s --emit=ir\n";
constexpr const char* kErrors =
    "a.tir:4:22: error: k runs over 16 in a and over 32 in b [range-conflict]\n"
    "  c[i,j] = sum[k](a[i,k] * b[k,j])\n"
    "                             ^\n"
    "a.tir:2:7: note: b is declared f32[32, 8]\n"
    "warning: nothing is used [unused]\n";

std::vector<std::string> failures(const std::string& expectations, const Outcome& outcome,
                                  const std::string& path = "a.tir") {
  return judge(parse_test(path, kHead + expectations), outcome);
}

TEST(ParseTest, ReadsCommandAndExpectations) {
  const TestFile test = parse_test("d/fail_a.tir", kHead + "x = 1\n# CHECK:  a  b \n# STATUS: 2\n");
  EXPECT_THAT(test.args, ElementsAre("d/fail_a.tir", "--emit=ir"));
  ASSERT_THAT(test.expectations, SizeIs(2));
  EXPECT_EQ(test.expectations[0].text, "a  b");
  EXPECT_EQ(test.expectations[0].line, 4u);
  EXPECT_EQ(test.status, 2);
  EXPECT_THAT(test.faults, IsEmpty());
}

TEST(ParseTest, FaultsOfTheFileFailTheTest) {
  EXPECT_THAT(judge(parse_test("a.tir", "x = 1\n"), {}), SizeIs(3));
  EXPECT_THAT(judge(parse_test("a.tir", kHead), {}), ElementsAre("nothing is expected"));
}

TEST(Judge, CheckWantsWholeLinesInOrder) {
  const Outcome outcome{.out = "one  two\nthree\n"};
  EXPECT_THAT(failures("# CHECK: one two\n# CHECK: three\n", outcome), IsEmpty());
  EXPECT_THAT(failures("# CHECK: three\n# CHECK: one two\n", outcome), SizeIs(1));
  EXPECT_THAT(failures("# CHECK: one\n", outcome), ElementsAre(HasSubstr(">    1 | one  two")));
}

TEST(Judge, CheckNotAndCount) {
  const Outcome outcome{.out = "max(maximum, max)\nmax\n"};
  EXPECT_THAT(failures("# CHECK-NOT: min\n# COUNT: max 3\n# COUNT: max\\w+ 1\n", outcome),
              IsEmpty());
  EXPECT_THAT(failures("# CHECK-NOT: axi\n", outcome), SizeIs(1));
  EXPECT_THAT(failures("# COUNT: max 4\n", outcome), SizeIs(1));
}

TEST(Judge, UnchangedAndReprint) {
  EXPECT_THAT(failures("# UNCHANGED: why\n", {.out = "a\n", .plain = "a\n"}), IsEmpty());
  EXPECT_THAT(failures("# UNCHANGED: why\n", {.out = "a\n", .plain = "b\n"}), SizeIs(1));
  EXPECT_THAT(failures("# CHECK: a\n", {.out = "a\n", .reprint = "b\n", .reprinted = true}),
              SizeIs(1));
}

TEST(Judge, MessagesMustAllBeExpected) {
  const Outcome outcome{.status = 1, .err = kErrors};
  const std::string error = "# ERROR: 4:22 range-conflict: over 16 in a\n";
  const std::string note = "# NOTE: 2:7 b is declared\n";
  const std::string warning = "# WARNING: - unused: nothing\n";
  const char* path = "fail_a.tir";
  EXPECT_THAT(failures(error + note + warning, outcome, path), IsEmpty());
  EXPECT_THAT(failures(error + warning, outcome, path), IsEmpty());
  EXPECT_THAT(failures(error + note, outcome, path),
              ElementsAre(HasSubstr("unexpected warning"), HasSubstr("standard error")));
  EXPECT_THAT(failures(error + warning + note, outcome, path),  // it is not the warning's
              ElementsAre(HasSubstr("NOTE: 2:7 b is declared: there is no"), HasSubstr(kErrors)));
  EXPECT_THAT(failures("# ERROR: 4:21 range-conflict: over 16\n" + warning, outcome, path),
              SizeIs(3));  // it is missing, the actual one is unexpected, and what was said
}

TEST(Judge, StatusFollowsTheFileName) {
  EXPECT_THAT(failures("# CHECK: a\n", {.out = "a\n"}), IsEmpty());
  EXPECT_THAT(failures("# CHECK: a\n", {.out = "a\n"}, "fail_a.tir"),
              ElementsAre(HasSubstr("exit status 0 instead of 1")));
}

TEST(Bless, ReplacesExpectationsAndThenPasses) {
  const TestFile test = parse_test(
      "a.tir", kHead + "y = 1\n# CHECK: old\n# CHECK: older\n# COUNT: y 7\n# CHECK-NOT: z\n");
  const Outcome outcome{.out = "y = 1\nq = y + y\n"};
  const std::string text = bless(test, outcome);
  EXPECT_EQ(text, kHead + "y = 1\n# CHECK: q = y + y\n# COUNT: y 3\n# CHECK-NOT: z\n");
  EXPECT_THAT(judge(parse_test("a.tir", text), outcome), IsEmpty());
}

TEST(Bless, WritesMessages) {
  const TestFile test = parse_test("fail_a.tir", kHead + "y = 1\n# ERROR: 1:1 old: old\n");
  const Outcome outcome{.status = 1, .err = kErrors};
  const std::string text = bless(test, outcome);
  EXPECT_THAT(text, HasSubstr("# ERROR: 4:22 range-conflict: k runs over 16 in a and over 32 in b\n"
                              "# NOTE: 2:7 b is declared f32[32, 8]\n"
                              "# WARNING: - unused: nothing is used\n"));
  EXPECT_THAT(judge(parse_test("fail_a.tir", text), outcome), IsEmpty());
}

}  // namespace
}  // namespace tircheck
