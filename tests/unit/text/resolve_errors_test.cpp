// Broken programs: the name and the place of what is reported, and that nothing follows from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolving.h"

namespace tang {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Broken {
  const char* text;   // line 2 of the program
  const char* error;  // its only error: name line:column
};

void PrintTo(const Broken& b, std::ostream* out) {
  *out << b.text;
}

class OneError : public ::testing::TestWithParam<Broken> {};

// Everything on one line, so that columns are easy to count.
TEST_P(OneError, IsReportedAtItsPlace) {
  const Resolving r(std::string("dim S, T; const D = 4; input x: f32[S, D]; input a: f32[T]; input "
                                "k: i32[T] in 0..S; input m: bool[T]; scalar p: i32\n") +
                    GetParam().text + "\noutput r\n");
  EXPECT_THAT(r.places(), ElementsAre(GetParam().error)) << r.definitions();
  EXPECT_FALSE(r.parsed);
}

INSTANTIATE_TEST_SUITE_P(Names, OneError,
                         ::testing::Values(Broken{"r[t] = b[t] + b[t] + a[t]", "undefined 2:8"},
                                           Broken{"r[t] = a[t]; r[t] = a[t]", "redefinition 2:14"},
                                           Broken{"r[D] = x[0,D]", "index-hides-name 2:3"},
                                           Broken{"r[p: 4] = 1", "index-hides-name 2:3"},
                                           Broken{"r[t] = sum[t](a[t])", "index-rebound 2:12"},
                                           Broken{"r[t,t] = a[t]", "duplicate-index 2:5"},
                                           Broken{"r[t] = sum[i,i](x[i,i]) * a[t]",
                                                  "duplicate-index 2:14"},
                                           Broken{"r[t] = D[t]", "not-a-tensor 2:8"},
                                           Broken{"r[t] = a * 2", "missing-coordinates 2:8"},
                                           Broken{"r[t] = tahn(a[t])", "unknown-function 2:8"},
                                           Broken{"r[t] = smu[i](x[i,0])", "unknown-monoid 2:8"},
                                           Broken{"b = c\nr[t] = b[t] + a[t]", "undefined 2:5"}));

INSTANTIATE_TEST_SUITE_P(
    Ranges, OneError,
    ::testing::Values(Broken{"r[i] = 1.0", "range-unknown 2:3"},
                      Broken{"r[i] = x[i,0] * a[i]", "range-conflict 2:19"},
                      Broken{"r[t] = sum[i: t](x[i,0])", "range-not-constant 2:15"},
                      Broken{"r[t] = sum[i: k](x[i,0])", "not-constant 2:15"},
                      Broken{"r[i: D - 5] = 1.0", "negative-extent 2:6"},
                      Broken{"r[i: 2.0] = 1.0", "type 2:6"},
                      Broken{"u[i] = 1.0\nr[t] = u[t] * a[t]", "range-unknown 2:3"}));

INSTANTIATE_TEST_SUITE_P(
    Reads, OneError,
    ::testing::Values(Broken{"r[t] = x[t]", "rank 2:8"},
                      Broken{"r[t: T] = x[a[t], 0]", "type 2:13"},
                      Broken{"r[t: T] = a?[t + 1]", "guard-needs-else 2:11"},
                      Broken{"r = sum[t | a?[t] > 0](a[t])", "guard-needs-else 2:13"},
                      Broken{"r[t: T] = a[t/2 exact]", "exact-without-guard 2:13"},
                      Broken{"r[t: T] = a[t exact] else 0", "exact-without-division 2:13"},
                      Broken{"r[t: T] = a[t | m[t]]", "condition-without-guard 2:17"},
                      Broken{"r[t: T] = k[t] else 0.5", "type 2:21"}));

INSTANTIATE_TEST_SUITE_P(Kinds, OneError,
                         ::testing::Values(Broken{"r[t] = a[t] % 2", "type 2:8"},
                                           Broken{"r[t] = a[t] & 2", "type 2:8"},
                                           Broken{"r[t] = m[t] == 1", "type 2:16"},
                                           Broken{"r[t] = a[t] ? 1 : 2", "type 2:8"},
                                           Broken{"r[t] = m[t] ? m[t] : 2", "type 2:22"},
                                           Broken{"r[t] = !k[t]", "type 2:9"},
                                           Broken{"r[t] = m[t] && a[t]", "type 2:16"},
                                           Broken{"r[t] = k[t] / 0", "division-by-zero 2:15"},
                                           Broken{"r[t] = k[t] % (D - 4)", "division-by-zero 2:16"},
                                           Broken{"r[t] = exp(a[t], 1)", "argument-count 2:8"},
                                           Broken{"r[t] = min(a[t])", "argument-count 2:8"},
                                           Broken{"r[t] = exp(v = a[t])", "bad-argument 2:12"}));

INSTANTIATE_TEST_SUITE_P(
    Reductions, OneError,
    ::testing::Values(Broken{"u, r = argmax[t](a[t])", "monoid-arity 2:8"},
                      Broken{"r = sum[t](a[t], a[t])", "monoid-arity 2:5"},
                      Broken{"u, v, r = argmax[t](a[t], t)", "result-count 2:11"},
                      Broken{"r = argmax[t](a[t], t) + 1", "tuple-in-expression 2:5"},
                      Broken{"r = any[t](a[t])", "type 2:12"},
                      Broken{"u[i], r = argmax[j](x[i,j], j)", "component-needs-index 2:7"},
                      Broken{"r = sum(2)[t](a[t])", "bad-argument 2:9"},
                      Broken{"r, u = a[0]", "result-count 2:8"}));

INSTANTIATE_TEST_SUITE_P(
    Functions, OneError,
    ::testing::Values(
        Broken{"fn f(v[N], w[N]) { return v }\nr = f(a, k)\nu = f(a, x[0])", "shape-mismatch 4:5"},
        Broken{"fn f(v[N]) { return v }\nr = f(x)", "shape-mismatch 3:5"},
        Broken{"fn f(v[N]) { return v }\nr = f(2)", "argument-not-tensor 3:7"},
        Broken{"fn f(v[N]) { return v }\nr[t] = f(a)", "call-in-expression 3:8"},
        Broken{"fn f(v) { return f(v) }\nr = f(1)", "recursive-function 2:18"},
        Broken{"fn f(v[N]) { u = v }\nr = f(a)", "no-return 2:4"},
        Broken{"fn f(v[N]) { return v }\nr, u = f(a)", "result-count 3:8"},
        Broken{"fn f(v, e = 1) { return v * e }\nr = f()", "argument-count 3:5"},
        Broken{"fn f(v, e = 1) { return v * e }\nr = f(1, g = 2)", "bad-argument 3:10"},
        Broken{"fn f(v) { return v }\nfn f(v) { return v }\nr = f(1)", "redefinition 3:4"},
        Broken{"fn f(v[N]) { u[i...] = v[i...]; return u }\nr = f(a)", "pack-unknown 2:16"},
        Broken{"r[b...] = a[b...]", "pack-unknown 2:3"},
        Broken{"import \"nm\"\nr[t] = a[t]", "import-not-found 2:8"}));

INSTANTIATE_TEST_SUITE_P(
    Blocks, OneError,
    ::testing::Values(Broken{"r = a\nfor i in 0..T { r[t] = r[t] + 1 }", "not-constant 3:13"},
                      Broken{"r = a\nfor i in 0..2 { r[u: 3] = r[0] + 1 }", "rebound-shape 3:17"},
                      Broken{"r = a\nfor i in 0..2 { a[t] = r[t] + 1 }", "rebound-input 3:17"},
                      Broken{"r = a\nfor i in 0..200000 { c = i }", "limit 3:1"},
                      Broken{"monoid f(v) { identity (0); combine(p, q) = (p.v - q.v) }\n"
                             "r = f[t](a[t])",
                             "monoid-law 2:8"},
                      Broken{"monoid f(v) { identity (0) }\nr = f[t](a[t])",
                             "monoid-incomplete 2:8"},
                      Broken{"monoid f(v) { identity (0); combine(p, q) = (p + q.v) }\n"
                             "r = f[t](a[t])",
                             "component-needed 2:46"},
                      Broken{"monoid f(v) { identity (0); combine(p, q) = (p.v + a.v) }\n"
                             "r = f[t](a[t])",
                             "not-a-state 2:52"}));

INSTANTIATE_TEST_SUITE_P(
    Programs, OneError,
    ::testing::Values(Broken{"input z: f31[4]\nr[i] = z[i]", "unknown-type 2:10"},
                      Broken{"input z: f32[4] in 0..4\nr[i] = z[i]", "range-of-real 2:20"},
                      Broken{"r[t] = a[t]\noutput a", "output-of-input 3:8"},
                      Broken{"r[t] = a[t]\noutput r: f31", "unknown-type 3:11"},
                      Broken{"r[t] = a[t]\noutput u", "undefined 3:8"},
                      Broken{"r[t] = a[t]\nassume 2 < 1", "assumptions-empty 3:8"},
                      Broken{"r[t] = a[t]\nassume S != 1", "type 3:8"},
                      Broken{"const c = a\nr[t] = a[t] * c", "not-constant 2:11"},
                      Broken{"const c = true\nr[t] = a[t]", "type 2:11"},
                      Broken{"dim M % 4 == 7\nr[t] = a[t]", "assumptions-empty 2:7"},
                      Broken{"grad u = r wrt a\nr[t] = a[t] * u[t]", "not-available 2:1"}));

TEST(Errors, SeveralInOneRun) {
  const Resolving r(
      "input x: f32[4]\nr[i] = tahn(x[i])\nu[i] = y[i]\nv[j] = 1.0\noutput r, u, v\n");
  EXPECT_THAT(r.places(),
              ElementsAre("unknown-function 2:8", "undefined 3:8", "range-unknown 4:3"));
}

TEST(Errors, RangeConflictNamesBothPlaces) {
  const Resolving r("input a: f32[16]\ninput b: f32[32]\nr = sum[k](a[k] * b[k])\noutput r\n");
  ASSERT_THAT(r.diagnostics.all(), SizeIs(1));
  const Diagnostic& d = r.diagnostics.all()[0];
  EXPECT_EQ(d.message, "k runs over 16 in a and over 32 in b");
  EXPECT_EQ(r.sources.place(0, d.span.begin).column, 21u);
  ASSERT_THAT(d.notes, SizeIs(3));
  EXPECT_EQ(r.sources.place(0, d.notes[0].span.begin).column, 14u);
  EXPECT_EQ(r.sources.place(0, d.notes[1].span.begin).line, 1u);
  EXPECT_EQ(r.sources.place(0, d.notes[2].span.begin).line, 2u);
}

TEST(Errors, InsideOfACallTheyNoteTheCall) {
  const Resolving r(
      "fn f(v[N]) { y[i] = v[i,0]; return y }\ninput x: f32[4]\nr = f(x)\noutput r\n");
  ASSERT_THAT(r.places(), ElementsAre("rank 1:21"));
  ASSERT_THAT(r.diagnostics.all()[0].notes, SizeIs(1));
  EXPECT_EQ(r.diagnostics.all()[0].notes[0].message, "in this call of f");
}

TEST(Errors, SuggestTheNameThatWasMeant) {
  EXPECT_THAT(Resolving("input weight: f32[4]\nr[i] = wieght[i]\noutput r\n").message(),
              HasSubstr("did you mean weight?"));
  EXPECT_THAT(Resolving("input x: f32[4]\nr[i] = tahn(x[i])\noutput r\n").message(),
              HasSubstr("did you mean tanh?"));
}

TEST(Errors, IntegerQuotientsOfLiteralsAreAWarning) {
  const Resolving r("input x: f32[4]\nr[i] = x[i] * (1/2) + x[i] * 4/2\noutput r\n");
  EXPECT_THAT(r.places(), ElementsAre("integer-quotient 2:16"));
  EXPECT_TRUE(r.parsed);
}

TEST(Errors, ProgramsWithoutResults) {
  EXPECT_THAT(Resolving("input x: f32[4]\nr[i] = x[i]\n").places(), ElementsAre("no-output 1:1"));
  EXPECT_THAT(Resolving("input x: f32[4]\n").places(), ElementsAre("nothing-defined 1:1"));
  EXPECT_THAT(Resolving("fn f(v) { return v }\nentry e { r = 1; output r }\noutput r\n").places(),
              ElementsAre("output-outside-entry 3:8"));
}

TEST(Errors, ImportsThatCannotBe) {
  EXPECT_THAT(Resolving("import \"p\"\nr = 1\noutput r\n", {},
                        {{"p", "import \"q\""}, {"q", "import \"p\""}})
                  .message(),
              HasSubstr("p imports itself"));
  EXPECT_THAT(Resolving("import \"p\"\nr = 1\noutput r\n", {}, {{"p", "input x: f32[4]"}}).places(),
              ElementsAre("import-item 1:1"));
}

TEST(Errors, AnImportOfAnImportStandsBesideIt) {
  const std::string text = "import \"a/p\"\ninput x: f32[4]\nr[i] = f(x[i])\noutput r\n";
  const std::string p = "import \"q\"\nfn f(v) { return g(v) }";
  EXPECT_THAT(
      Resolving(text, {}, {{"a/p", p}, {"a/q", "fn g(v) { return v + 1.0 }"}, {"q", "?"}}).places(),
      testing::IsEmpty());
  EXPECT_THAT(Resolving(text, {}, {{"a/p", p}, {"q", "fn g(v) { return v }"}}).places(),
              testing::Contains("import-not-found 1:8"));
}

}  // namespace
}  // namespace tang
