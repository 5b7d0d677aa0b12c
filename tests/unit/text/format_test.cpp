#include "text/format.h"

#include <gtest/gtest.h>

#include <string>

#include "syntax_dump.h"
#include "text/syntax.h"

namespace tang::syntax {
namespace {

// The formatting of a program, after checks that it is the same program and formats to itself.
std::string formatted(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const auto file = parse_syntax(sources, sources.add("a.tir", text), diagnostics);
  if (!file) return render_text(diagnostics, sources, false);
  std::string out = format(sources, *file);
  const auto again = parse_syntax(sources, sources.add("b.tir", out), diagnostics);
  if (!again) return out + render_text(diagnostics, sources, false);
  EXPECT_EQ(Dump::of(*file), Dump::of(*again)) << out;
  EXPECT_EQ(format(sources, *again), out);
  return out;
}

std::string expression(const std::string& text) {
  const std::string out = formatted("r = " + text);
  return out.substr(4, out.size() - 5);
}

TEST(Format, SpacesAroundBinaryOperators) {
  EXPECT_EQ(expression("a*b+c<d&&!e"), "a * b + c < d && !e");
  EXPECT_EQ(expression("-  a- -b"), "-a - -b");
  EXPECT_EQ(expression("a?b:c"), "a ? b : c");
  EXPECT_EQ(expression("f ( x,eps=1e-5 )"), "f(x, eps = 1e-5)");
}

TEST(Format, NoNeedlessParentheses) {
  EXPECT_EQ(expression("((a))"), "a");
  EXPECT_EQ(expression("(a * b) + (c)"), "a * b + c");
  EXPECT_EQ(expression("(a + b) * c"), "(a + b) * c");
  EXPECT_EQ(expression("(a - b) - c"), "a - b - c");
  EXPECT_EQ(expression("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(expression("a + (b * c)"), "a + b * c");
  EXPECT_EQ(expression("a == 0 ? (b ? c : d) : (e ? f : g)"), "a == 0 ? b ? c : d : e ? f : g");
  EXPECT_EQ(expression("(a ? b : c) ? d : e"), "(a ? b : c) ? d : e");
  EXPECT_EQ(expression("-(a * b)"), "-(a * b)");
  EXPECT_EQ(expression("(-a) * b"), "-a * b");
  EXPECT_EQ(expression("!(!a)"), "!!a");
  EXPECT_EQ(expression("(a < b) == (c < d)"), "(a < b) == (c < d)");
  EXPECT_EQ(expression("(a | b) == c"), "a | b == c");
  EXPECT_EQ(expression("sum[i]((x[i]))"), "sum[i](x[i])");
}

TEST(Format, ParenthesesAroundAReadWithElseInsideAnOperator) {
  EXPECT_EQ(expression("x[i] else 0 + y"), "(x[i] else 0) + y");
  EXPECT_EQ(expression("(x[i] else 0)"), "x[i] else 0");
  EXPECT_EQ(expression("-x[i] else 0"), "-(x[i] else 0)");
  EXPECT_EQ(expression("x[i] else (y[i] else -1)"), "x[i] else y[i] else -1");
  EXPECT_EQ(expression("x[i] else (a + b)"), "x[i] else (a + b)");
  EXPECT_EQ(expression("f(x[i] else 0)"), "f(x[i] else 0)");
}

TEST(Format, CoordinatesAreTightWhenAllAreNamesOrNumbers) {
  EXPECT_EQ(expression("a[i, j]"), "a[i,j]");
  EXPECT_EQ(expression("a[0,  j]"), "a[0,j]");
  EXPECT_EQ(expression("a[i+1,j]"), "a[i + 1, j]");
  EXPECT_EQ(expression("a[b...,j]"), "a[b..., j]");
  EXPECT_EQ(expression("a?[o/2 exact,j|p|q]"), "a?[o / 2 exact, j | p | q]");
  EXPECT_EQ(expression("a?[|p] else 0"), "a?[| p] else 0");
  EXPECT_EQ(expression("x.c [ i , j ]"), "x.c[i,j]");
  EXPECT_EQ(formatted("y[i ,j:2*N]=a[]"), "y[i, j: 2 * N] = a[]\n");
  EXPECT_EQ(formatted("y[i , j]=a"), "y[i,j] = a\n");
  EXPECT_EQ(formatted("c?[s+p,d|m[s]]:=y[s , d]"), "c?[s + p, d | m[s]] := y[s,d]\n");
}

TEST(Format, ABarInBracketsKeepsItsParentheses) {
  EXPECT_EQ(expression("a[(i|1),j]"), "a[(i | 1), j]");
  EXPECT_EQ(expression("a[f(i|1)]"), "a[f(i | 1)]");
  EXPECT_EQ(expression("a[(i|1)==2 ? j : k]"), "a[(i | 1) == 2 ? j : k]");
  EXPECT_EQ(expression("a?[i|(j|1)==3]"), "a?[i | j | 1 == 3]");
  EXPECT_EQ(expression("sum[i:(N|1) | (i|1)==3](1)"), "sum[i: (N | 1) | i | 1 == 3](1)");
  EXPECT_EQ(expression("a[x[i|1] else (i|1)]").substr(0, 2), "a[");
}

TEST(Format, Reductions) {
  EXPECT_EQ(expression("sum[s , d](x[s,d])"), "sum[s,d](x[s,d])");
  EXPECT_EQ(expression("max[j:S|j<=i](x[j])"), "max[j: S | j <= i](x[j])");
  EXPECT_EQ(expression("topk( 2 ) [d](x[d],d)"), "topk(2)[d](x[d], d)");
  EXPECT_EQ(expression("(max,argmax) [t](a[t],(b[t],t))"), "(max, argmax)[t](a[t], (b[t], t))");
}

TEST(Format, NumbersKeepTheirSpelling) {
  EXPECT_EQ(expression("0xFFff + 1.50e-05 + 007"), "0xFFff + 1.50e-05 + 007");
  EXPECT_EQ(expression("inf + nan"), "inf + nan");
}

TEST(Format, Declarations) {
  EXPECT_EQ(formatted("dim  S in 1 ..= 8*2 %16==0,T"), "dim S in 1..=8 * 2 % 16 == 0, T\n");
  EXPECT_EQ(formatted("dim S in 0..(N % 4) % 16 == 0"), "dim S in 0..N % 4 % 16 == 0\n");
  EXPECT_EQ(formatted("input x,y:f32 [S,2*D]in 0..3 sorted distinct"),
            "input x, y: f32[S, 2 * D] in 0..3 sorted distinct\n");
  EXPECT_EQ(formatted("inout c:i8[]\nscalar p,q:i32 in 0 .. S\noutput a,b:f16\noutput c"),
            "inout c: i8[]\nscalar p, q: i32 in 0..S\noutput a, b: f16\noutput c\n");
  EXPECT_EQ(formatted("assume(a<b)\nimport   \"nn\"\nconst A=1,B=(2)"),
            "assume a < b\nimport \"nn\"\nconst A = 1, B = 2\n");
  EXPECT_EQ(formatted("grad a,b=o wrt x,y seed s"), "grad a, b = o wrt x, y seed s\n");
  EXPECT_EQ(formatted("schedule o when S>=2 {tile i = 64 j=8,stage x 3}\nschedule p { }"),
            "schedule o when S >= 2 { tile i=64 j=8, stage x 3 }\nschedule p {}\n");
}

TEST(Format, BlocksAreIndented) {
  EXPECT_EQ(formatted("fn f(x[B...,C+1],eps=1e-5){y=x;for l in 0..2{y=y+l};return(y,x)}"),
            "fn f(x[B..., C + 1], eps = 1e-5) {\n"
            "  y = x\n"
            "  for l in 0..2 {\n"
            "    y = y + l\n"
            "  }\n"
            "  return (y, x)\n"
            "}\n");
  EXPECT_EQ(formatted("entry e { }"), "entry e {}\n");
  EXPECT_EQ(formatted("monoid m(a[N,N],b:f32) { commutative; combine(x,y){ return x.a,x.b }\n\n"
                      "identity(1,0) }"),
            "monoid m(a[N, N], b: f32) {\n"
            "  commutative\n"
            "  combine(x, y) {\n"
            "    return x.a, x.b\n"
            "  }\n"
            "\n"
            "  identity (1, 0)\n"
            "}\n");
  EXPECT_EQ(formatted("monoid m(a) { identity(0); combine(x,y)=(x.a+y.a) }"),
            "monoid m(a) {\n  identity (0)\n  combine(x, y) = (x.a + y.a)\n}\n");
}

TEST(Format, OneItemALineAndOneBlankLineWhereThereWereSome) {
  EXPECT_EQ(formatted("\n\na = 1; b = 2\n\n\n\nc = 3\n  + d\n\n"), "a = 1\nb = 2\n\nc = 3 + d\n");
  EXPECT_EQ(formatted("entry e {\n\n a = 1\n\n\n b = 2\n\n}\n"),
            "entry e {\n  a = 1\n\n  b = 2\n}\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("a = 1\r\n\r\nb = 2\r\n"), "a = 1\n\nb = 2\n");
}

TEST(Format, CommentsStayWithTheirItems) {
  EXPECT_EQ(formatted("# head\n\n  # a\na = 1    # one \nb = 2; # two\n\n# tail"),
            "# head\n\n# a\na = 1  # one\nb = 2  # two\n\n# tail\n");
  EXPECT_EQ(formatted("a = 1; b = 2 # both"), "a = 1\nb = 2  # both\n");
  // Inside an item: an item takes one line, so they go before it.
  EXPECT_EQ(formatted("z = 0\n\ny = a # first\n  # second\n  + b # third\n"),
            "z = 0\n\n# first\n# second\ny = a + b  # third\n");
  EXPECT_EQ(formatted("# only"), "# only\n");
}

TEST(Format, CommentsInBlocks) {
  EXPECT_EQ(formatted("entry e # header\n{ # opened\n # first\n a = 1 # one\n\n # last\n} # end\n"),
            "# header\n"
            "entry e {  # opened\n"
            "  # first\n"
            "  a = 1  # one\n"
            "\n"
            "  # last\n"
            "}  # end\n");
  EXPECT_EQ(formatted("entry e {\n # nothing yet\n}\n"), "entry e {\n  # nothing yet\n}\n");
  EXPECT_EQ(formatted("monoid m(a) { # of sums\n # nothing\n identity # zero\n (0) # done\n"
                      " combine(x, y) = # both\n (x.a) # tail\n # last\n}\n"),
            "monoid m(a) {  # of sums\n"
            "  # nothing\n"
            "  # zero\n"
            "  identity (0)  # done\n"
            "  # both\n"
            "  combine(x, y) = (x.a)  # tail\n"
            "  # last\n"
            "}\n");
}

TEST(Format, WordsAsNames) {
  EXPECT_EQ(formatted("dim[in] = fn[in] + sum[in]\noutput, for = f(schedule)\n"),
            "dim[in] = fn[in] + sum[in]\noutput, for = f(schedule)\n");
}

TEST(Format, WholePrograms) {
  EXPECT_EQ(formatted("# A query that allows no key gives 0.\n"
                      "const N = 7, P = 3\n"
                      "input q: f32[2]\n"
                      "input Kp, Vp: f32[4,P,2]\n"
                      "input T: i32[3] in 0..4\n"
                      "s[t: N] = sum[d](q[d] * Kp[T[t/P], t%P, d])\n"
                      "p[t] = exp(s[t] - max[u](s[u]))\n"
                      "o[e] = sum[t](p[t] * Vp[T[t/P], t%P, e])\n"
                      "     / sum[t](p[t])   # the mean\n"
                      "output o\n"),
            "# A query that allows no key gives 0.\n"
            "const N = 7, P = 3\n"
            "input q: f32[2]\n"
            "input Kp, Vp: f32[4, P, 2]\n"
            "input T: i32[3] in 0..4\n"
            "s[t: N] = sum[d](q[d] * Kp[T[t / P], t % P, d])\n"
            "p[t] = exp(s[t] - max[u](s[u]))\n"
            "o[e] = sum[t](p[t] * Vp[T[t / P], t % P, e]) / sum[t](p[t])  # the mean\n"
            "output o\n");
}

TEST(Format, DeepExpressionsNeedNoStack) {
  std::string sum = "a";
  for (int i = 0; i < 20000; ++i) sum += " + a";
  EXPECT_EQ(expression(sum), sum);
}

}  // namespace
}  // namespace tang::syntax
