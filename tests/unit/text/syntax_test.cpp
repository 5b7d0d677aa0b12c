#include "text/syntax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parsing.h"
#include "text/lexer.h"

namespace tang::syntax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The grouping of the expression of `r = …`, every operator in parentheses.
std::string grouping(const Parsing& p, ExprNodeId id) {
  const ExprNode& node = p.node(id);
  if (const auto* e = std::get_if<Binary>(&node.data))
    return "(" + grouping(p, e->left) + spelling(e->op) + grouping(p, e->right) + ")";
  if (const auto* e = std::get_if<Unary>(&node.data))
    return std::string("(") + spelling(e->op) + grouping(p, e->operand) + ")";
  if (const auto* e = std::get_if<Conditional>(&node.data))
    return "(" + grouping(p, e->condition) + "?" + grouping(p, e->yes) + ":" + grouping(p, e->no) +
           ")";
  if (const auto* e = std::get_if<Read>(&node.data); e && e->otherwise.valid())
    return "(" + e->tensor.text + "[] else " + grouping(p, e->otherwise) + ")";
  return p.text_of(node.span);
}

std::string grouping(const std::string& expression) {
  const Parsing p("r = " + expression);
  if (!p.file) return p.errors().empty() ? "" : p.errors()[0];
  return grouping(p, p.item<Definition>(0).value);
}

template <class T>
const T& value_as(const Parsing& p, size_t i = 0) {
  return std::get<T>(p.node(p.item<Definition>(i).value).data);
}

TEST(Syntax, PrecedenceTightestFirst) {
  EXPECT_EQ(grouping("a || b && c == d | e ^ f & g << h + i * j"),
            "(a||(b&&(c==(d|(e^(f&(g<<(h+(i*j)))))))))");
  EXPECT_EQ(grouping("a * b + c << d & e ^ f | g == h && i || j"),
            "(((((((((a*b)+c)<<d)&e)^f)|g)==h)&&i)||j)");
}

TEST(Syntax, OperatorsGroupToTheLeft) {
  EXPECT_EQ(grouping("a - b - c"), "((a-b)-c)");
  EXPECT_EQ(grouping("a / b * c % d"), "(((a/b)*c)%d)");
  EXPECT_EQ(grouping("a << b >> c"), "((a<<b)>>c)");
  EXPECT_EQ(grouping("a - (b - c)"), "(a-(b-c))");
}

TEST(Syntax, PrefixesBindTighterThanProducts) {
  EXPECT_EQ(grouping("-a * b"), "((-a)*b)");
  EXPECT_EQ(grouping("!a && b"), "((!a)&&b)");
  EXPECT_EQ(grouping("a - -b"), "(a-(-b))");
  EXPECT_EQ(grouping("!-a"), "(!(-a))");
}

TEST(Syntax, TheConditionalGroupsToTheRight) {
  EXPECT_EQ(grouping("a ? b : c ? d : e"), "(a?b:(c?d:e))");
  EXPECT_EQ(grouping("a ? b ? c : d : e"), "(a?(b?c:d):e)");
  EXPECT_EQ(grouping("a || b ? c + d : e"), "((a||b)?(c+d):e)");
}

TEST(Syntax, ElseBindsLikeARead) {
  EXPECT_EQ(grouping("x[i - 1] else 0 + y"), "((x[] else 0)+y)");
  EXPECT_EQ(grouping("x[i] else -y[j] else 2"), "(x[] else (-(y[] else 2)))");
  EXPECT_EQ(grouping("-x[i] else 1"), "(-(x[] else 1))");
}

TEST(Syntax, ComparisonsDoNotChain) {
  const Parsing p("r = a < b <= c + 1");
  EXPECT_THAT(p.errors(), ElementsAre("chained-comparison 1:11 comparisons do not chain; write "
                                      "a < b && b <= c + 1"));
  EXPECT_EQ(grouping("(a < b) == c"), "((a<b)==c)");
  EXPECT_EQ(grouping("a < b && b < c"), "((a<b)&&(b<c))");
}

TEST(Syntax, NumbersHaveTheirValues) {
  const Parsing p("r = 0xFFFFFFFF; s = 0x7fffffff; t = 9223372036854775807; u = 1.5e-3");
  EXPECT_EQ(value_as<Integer>(p, 0).value, -1);
  EXPECT_TRUE(value_as<Integer>(p, 0).hexadecimal);
  EXPECT_EQ(value_as<Integer>(p, 1).value, 0x7FFFFFFF);
  EXPECT_EQ(value_as<Integer>(p, 2).value, INT64_MAX);
  EXPECT_EQ(value_as<Real>(p, 3).value, 1.5e-3);
  EXPECT_THAT(Parsing("r = 9223372036854775808").errors(),
              ElementsAre("limit 1:5 9223372036854775808 does not fit 64 bits"));
  EXPECT_THAT(Parsing("r = 1e999").errors(),
              ElementsAre("limit 1:5 1e999 is out of the range of a 64-bit real"));
  EXPECT_EQ(value_as<Real>(Parsing("r = 5e-324")).value, 5e-324);
}

TEST(Syntax, Reads) {
  const Parsing p("r = x.c?[i + 1, b..., o / 2 exact | p || q] else y[]");
  ASSERT_TRUE(p.file);
  const Read& read = value_as<Read>(p);
  EXPECT_EQ(read.tensor.text, "x");
  EXPECT_EQ(read.member.text, "c");
  EXPECT_TRUE(read.guarded);
  ASSERT_THAT(read.coords, SizeIs(3));
  EXPECT_EQ(read.coords[1].rest.text, "b");
  EXPECT_FALSE(read.coords[1].value.valid());
  EXPECT_TRUE(read.coords[2].exact);
  EXPECT_EQ(p.text_of(read.coords[2].span), "o / 2 exact");
  EXPECT_EQ(p.text_of(read.coords_span), "[i + 1, b..., o / 2 exact | p || q]");
  EXPECT_EQ(p.text_of(p.node(read.condition).span), "p || q");
  EXPECT_TRUE(std::get<Read>(p.node(read.otherwise).data).coords.empty());
}

TEST(Syntax, AQuestionMarkBeforeABracketGuardsARead) {
  EXPECT_TRUE(value_as<Read>(Parsing("r = m?[i]")).guarded);
  EXPECT_EQ(grouping("m ? x[i] : y"), "(m?x[i]:y)");
  EXPECT_EQ(grouping("m[i] ? (a) : b"), "(m[i]?a:b)");
}

TEST(Syntax, InBracketsTheFirstBarEndsCoordinatesAndRanges) {
  const Parsing p("r = x?[i | j | k] + sum[k: 2 | k | 1 == 3](y[(a | b), c])");
  ASSERT_TRUE(p.file) << p.errors()[0];
  const auto& sum = value_as<Binary>(p);
  const auto& read = std::get<Read>(p.node(sum.left).data);
  EXPECT_EQ(p.text_of(p.node(read.coords.at(0).value).span), "i");
  EXPECT_EQ(p.text_of(p.node(read.condition).span), "j | k");
  const auto& reduction = std::get<Reduction>(p.node(sum.right).data);
  EXPECT_EQ(p.text_of(p.node(reduction.binders.at(0).range).span), "2");
  EXPECT_EQ(grouping(p, reduction.condition), "((k|1)==3)");
}

TEST(Syntax, WhatFollowsABracketTellsReadsCallsAndReductionsApart) {
  const Parsing p(
      "a = sum[i]; b = sum[i](x[i]); c = topk(2)[i](x[i]); d = topk(2); "
      "e = (max)[i](x[i]); f = (max)");
  ASSERT_TRUE(p.file);
  EXPECT_EQ(value_as<Read>(p, 0).tensor.text, "sum");
  EXPECT_EQ(value_as<Reduction>(p, 1).monoids.at(0).text, "sum");
  EXPECT_TRUE(value_as<Reduction>(p, 2).arguments.at(0).valid());
  EXPECT_EQ(value_as<Call>(p, 3).function.text, "topk");
  EXPECT_TRUE(value_as<Reduction>(p, 4).parenthesised);
  EXPECT_EQ(value_as<NameRef>(p, 5).name.text, "max");
}

TEST(Syntax, ReductionsOfTuples) {
  const Parsing p("a, b, c = (max, argmax)[t: N, u..., v](x[t], ((y), t))");
  ASSERT_TRUE(p.file);
  EXPECT_THAT(p.item<Definition>(0).lefts, SizeIs(3));
  const Reduction& r = value_as<Reduction>(p);
  ASSERT_THAT(r.values, SizeIs(2));
  EXPECT_FALSE(r.values[0].tuple);
  EXPECT_TRUE(r.values[1].tuple);
  EXPECT_THAT(r.values[1].parts, SizeIs(2));
  EXPECT_EQ(p.text_of(r.values[1].span), "((y), t)");
  ASSERT_THAT(r.binders, SizeIs(3));
  EXPECT_TRUE(r.binders[0].range.valid());
  EXPECT_TRUE(r.binders[1].rest);
  // Parentheses around one expression are no tuple, nor those that only begin a value.
  const Parsing q("a = sum[t]((x[t])); b = argmax[t]((x[t] + 1) * 2, t)");
  EXPECT_FALSE(value_as<Reduction>(q, 0).values.at(0).tuple);
  EXPECT_THAT(value_as<Reduction>(q, 1).values, SizeIs(2));
}

TEST(Syntax, ATupleIsNoExpression) {
  EXPECT_THAT(Parsing("r = f((a, b))").errors()[0], HasSubstr("tuple-in-expression 1:9"));
}

TEST(Syntax, CallsHaveNamedArguments) {
  const Parsing p("r = f(x, eps = 1e-5, a == b)");
  const Call& call = value_as<Call>(p);
  ASSERT_THAT(call.arguments, SizeIs(3));
  EXPECT_FALSE(call.arguments[0].name.exists());
  EXPECT_EQ(call.arguments[1].name.text, "eps");
  EXPECT_FALSE(call.arguments[2].name.exists());
}

TEST(Syntax, Declarations) {
  const Parsing p(
      "dim S in 1..=8 % 4 == 0, T % 2 == 1, N in 0..3 * S % 2\n"
      "const D = 2 * S, H = 1.5\n"
      "input x, y: f32[S, D]\n"
      "inout c: i32[] in 0..S sorted distinct\n"
      "scalar p: i32 in 0..S\n"
      "output a, b: f16\n"
      "import \"nn\"\n"
      "assume -S < 0\n");
  ASSERT_TRUE(p.file) << p.errors()[0];
  const Dims& dims = p.item<Dims>(0);
  ASSERT_THAT(dims.dims, SizeIs(3));
  EXPECT_TRUE(dims.dims[0].range.closed);
  EXPECT_EQ(dims.dims[0].modulus, 4);
  EXPECT_EQ(p.text_of(dims.dims[0].range.span), "1..=8");
  EXPECT_FALSE(dims.dims[1].range.exists());
  EXPECT_EQ(dims.dims[1].remainder, 1);
  EXPECT_FALSE(dims.dims[2].has_modulus);
  EXPECT_EQ(p.text_of(dims.dims[2].range.span), "0..3 * S % 2");
  EXPECT_THAT(p.item<Consts>(1).consts, SizeIs(2));
  EXPECT_THAT(p.item<Tensors>(2).names, SizeIs(2));
  EXPECT_THAT(p.item<Tensors>(2).type.shape, SizeIs(2));
  EXPECT_TRUE(p.item<Tensors>(3).inout);
  EXPECT_TRUE(p.item<Tensors>(3).type.brackets);
  EXPECT_TRUE(p.item<Tensors>(3).sorted && p.item<Tensors>(3).distinct);
  EXPECT_TRUE(p.item<Scalars>(4).range.exists());
  EXPECT_EQ(p.item<Outputs>(5).type.text, "f16");
  EXPECT_EQ(p.item<Import>(6).file.text, "nn");
  EXPECT_EQ(grouping(p, p.item<Assume>(7).condition), "((-S)<0)");
}

TEST(Syntax, DefinitionsAndUpdates) {
  const Parsing p(
      "_, y[i, j: 2 * N, b...], z[] = f(x)\n"
      "c?[s + p, d: D, 3 | m[s]] := e\n"
      "r := 1\n");
  ASSERT_TRUE(p.file) << p.errors()[0];
  const Definition& d = p.item<Definition>(0);
  ASSERT_THAT(d.lefts, SizeIs(3));
  EXPECT_FALSE(d.lefts[0].name.exists());
  ASSERT_THAT(d.lefts[1].indices, SizeIs(3));
  EXPECT_TRUE(d.lefts[1].indices[1].range.valid());
  EXPECT_TRUE(d.lefts[1].indices[2].rest);
  EXPECT_TRUE(d.lefts[2].brackets);
  const Update& u = p.item<Update>(1);
  EXPECT_TRUE(u.guarded);
  ASSERT_THAT(u.places, SizeIs(3));
  EXPECT_TRUE(u.places[1].range.valid());
  EXPECT_EQ(std::get<NameRef>(p.node(u.places[1].coord.value).data).name.text, "d");
  EXPECT_TRUE(u.condition.valid());
  EXPECT_FALSE(p.item<Update>(2).brackets);
}

TEST(Syntax, FunctionsMonoidsEntriesAndLoops) {
  const Parsing p(
      "fn rms(x[B..., C + 1], k, eps = 1e-5) { y[b...] = x[b..., 0]; return (y, k) }\n"
      "monoid m(a[N, N], b: f32) { commutative; identity (0, 1)\n"
      "  combine(x, y) { c = x.b; return c, y.a[0, 1] } }\n"
      "entry e { input z: f32[3]\n output z\n schedule z { tile i=64 j=8, stages 3 } }\n"
      "for l in 0..=4 { r = r; grad d = r wrt x, y seed s }\n"
      "schedule q when S >= 256 { }\n");
  ASSERT_TRUE(p.file) << p.errors()[0];
  const Function& f = p.item<Function>(0);
  ASSERT_THAT(f.params, SizeIs(3));
  EXPECT_EQ(f.params[0].shape.at(0).rest.text, "B");
  EXPECT_TRUE(f.params[0].shape.at(1).extent.valid());
  EXPECT_FALSE(f.params[1].brackets);
  EXPECT_TRUE(f.params[2].initial.valid());
  ASSERT_THAT(f.body, SizeIs(2));
  EXPECT_TRUE(std::get<Return>((*p.file)[f.body.items[1]].data).values.tuple);
  const Monoid& m = p.item<Monoid>(1);
  EXPECT_TRUE(m.commutative);
  EXPECT_THAT(m.identity.tuple, SizeIs(2));
  EXPECT_TRUE(m.combine.is_block);
  EXPECT_EQ(m.right.text, "y");
  const Entry& e = p.item<Entry>(2);
  ASSERT_THAT(e.body, SizeIs(3));
  const Schedule& s = std::get<Schedule>((*p.file)[e.body.items[2]].data);
  ASSERT_THAT(s.clauses, SizeIs(2));
  ASSERT_THAT(s.clauses[0], SizeIs(3));
  EXPECT_EQ(s.clauses[0][1].number, 64);
  EXPECT_EQ(s.clauses[1][1].number, 3);
  EXPECT_EQ(std::get<Grad>((*p.file)[p.item<Loop>(3).body.items[1]].data).seed.text, "s");
  EXPECT_TRUE(p.item<Schedule>(4).when.valid());
}

TEST(Syntax, WordsAreOrdinaryNamesWhereTheirItemCannotStand) {
  const Parsing p(
      "input fn, in, sum, dim, output, seed: f32[3]\n"
      "dim[i] = fn[i] + in[i] + sum[i] + exact[exact exact]\n"
      "const = 3\n"
      "output, for = (max, sum)[entry](in[entry], schedule)\n"
      "assume[i] := return[i]\n"
      "input x: i32[3] in 0..3\n"
      "sorted[i] = x[i]\n"
      "for in in 0..2 { in = wrt; grad wrt = wrt wrt wrt\n seed = 3 }\n"
      "fn fn(fn) { return[i] = fn; return return }\n");
  ASSERT_TRUE(p.file) << p.errors()[0];
  EXPECT_EQ(p.item<Definition>(1).lefts[0].name.text, "dim");
  EXPECT_EQ(p.item<Definition>(3).lefts[0].name.text, "output");
  EXPECT_EQ(p.item<Update>(4).tensor.text, "assume");
  EXPECT_FALSE(p.item<Tensors>(5).sorted);
  EXPECT_EQ(p.item<Loop>(7).index.text, "in");
  EXPECT_THAT(p.item<Loop>(7).body, SizeIs(3));
}

TEST(Syntax, ALineThatStartsWithAnOperatorContinuesTheOneBefore) {
  const Parsing p("y[i] = a[i]\n  + b[i]\n  - c\n  [i]\nz = 3; w =\n 4");
  ASSERT_TRUE(p.file) << p.errors()[0];
  EXPECT_EQ(p.file->top.size(), 3u);
  EXPECT_EQ(p.text_of((*p.file)[p.file->top.items[2]].span), "w =\n 4");
}

TEST(Syntax, SpansLeaveParenthesesOutAndUsersCoverThem) {
  const Parsing p("r = (a + b) * -(c)");
  const auto& product = value_as<Binary>(p);
  EXPECT_EQ(p.text_of(p.node(p.item<Definition>(0).value).span), "(a + b) * -(c)");
  EXPECT_EQ(p.text_of(p.node(product.left).span), "a + b");
  EXPECT_EQ(p.text_of(product.op_span), "*");
}

TEST(Syntax, OperandsStandBeforeTheirUsers) {
  const Parsing p(
      "fn f(a, b = 1 + 2) { return a }\n"
      "c?[d, e: 2, f + 1 | g] := topk(2)[i: 3 | i < 2](x.m?[i, j | k] else -1, (y, z)) ? "
      "f(a = 1) : q\n");
  ASSERT_TRUE(p.file) << p.errors()[0];
  for (size_t i = 0; i < p.file->exprs.size(); ++i)
    for_each_operand(p.file->exprs[i], [&](ExprNodeId id) { EXPECT_LT(id.value, i); });
}

// ---- Errors ------------------------------------------------------------------------------------

TEST(SyntaxErrors, SayWhatWasExpectedAndWhatWasFound) {
  const auto only = [](const char* text) {
    const auto errors = Parsing(text).errors();
    return errors.size() == 1 ? errors[0] : std::to_string(errors.size()) + " errors";
  };
  EXPECT_EQ(only("input x f32[3]"),
            "syntax 1:9 expected ':', found 'f32'; a declaration is written name: type, as in "
            "input x: f32[4]");
  EXPECT_EQ(only("const D\ny = 1"), "syntax 1:8 expected '=', found the end of the line");
  EXPECT_EQ(only("y = a b"), "syntax 1:7 expected an operator or the end of the line, found 'b'");
  EXPECT_EQ(only("y = x[i j]"), "syntax 1:9 expected an operator, ',' or ']', found 'j'");
  EXPECT_EQ(only("y = "), "syntax 1:4 expected an expression, found the end of the file");
  EXPECT_EQ(only("y = a ** b"),
            "syntax 1:8 expected an expression, found '*'; a power is written pow(x, n)");
  EXPECT_EQ(only("y[i] == 3"),
            "syntax 1:6 expected '=' or ':=', found '=='; a definition has one =");
  EXPECT_EQ(only("= 3"), "syntax 1:1 expected an item, which begins with a name, found '='");
  EXPECT_EQ(only("dim N in 3"), "syntax 1:11 expected '..' or '..=', found the end of the file");
  EXPECT_EQ(only("entry e { } y = 1"), "syntax 1:13 expected the end of the line, found 'y'");
  EXPECT_EQ(only("for l to 3 { }"), "syntax 1:7 expected in, found 'to'");
  EXPECT_EQ(only("schedule o { , }"), "syntax 1:14 expected a clause of the schedule, found ','");
  EXPECT_EQ(only("monoid m(a) { zero (0) }"),
            "syntax 1:15 expected identity, combine or commutative, found 'zero'");
  EXPECT_EQ(only("fn f(3) { }"), "syntax 1:6 expected the name of a parameter, found '3'");
  EXPECT_EQ(only("dim _"), "syntax 1:5 _ is no name; it stands on the left and drops a result");
  EXPECT_EQ(only("inptu x: f32[3]"), "syntax 1:1 inptu begins no item; did you mean input?");
  EXPECT_EQ(only("attention bar"), "syntax 1:11 expected '=' or ':=', found 'bar'");
  EXPECT_EQ(only("a, b := 3"), "syntax 1:6 an update writes one tensor");
}

TEST(SyntaxErrors, ReservedWords) {
  EXPECT_THAT(
      Parsing("input else: f32").errors(),
      ElementsAre("reserved-word 1:7 else is a word of the language and cannot be a tensor"));
  EXPECT_THAT(
      Parsing("y = inf[i]").errors(),
      ElementsAre("reserved-word 1:5 inf is a word of the language and cannot be a tensor"));
  EXPECT_THAT(Parsing("true = 1").errors()[0], HasSubstr("reserved-word 1:1"));
  EXPECT_THAT(Parsing("y = sum[nan](1)").errors()[0],
              HasSubstr("nan is a word of the language and cannot be an index"));
}

TEST(SyntaxErrors, LeftSidesListIndices) {
  EXPECT_THAT(Parsing("y[0 * i, j] = x").errors(),
              ElementsAre("lhs-not-index 1:3 the left side lists its indices, and 0 * i is not a "
                          "name; elements of a tensor are written with inout and :="));
  EXPECT_THAT(Parsing("y?[i] = x").errors()[0], HasSubstr("has no guard"));
  EXPECT_THAT(Parsing("y[i | i > 0] = x").errors()[0], HasSubstr("syntax 1:5"));
}

TEST(SyntaxErrors, ItemsStandInTheirPlaces) {
  EXPECT_THAT(Parsing("return 3").errors()[0], HasSubstr("misplaced-item 1:1 return"));
  EXPECT_THAT(Parsing("fn f(a) { input x: f32 }").errors()[0], HasSubstr("misplaced-item 1:11"));
  EXPECT_THAT(Parsing("entry e { fn f(a) { return a } }").errors(), SizeIs(1));
  EXPECT_THAT(Parsing("for l in 0..2 { dim N }").errors()[0], HasSubstr("misplaced-item"));
  EXPECT_THAT(Parsing("monoid m(a) { identity { a := 1 } }").errors()[0],
              HasSubstr("misplaced-item 1:28 an update"));
  EXPECT_THAT(Parsing("scalar p: f32[3]").errors()[0], HasSubstr("scalar-with-shape 1:14"));
  EXPECT_THAT(Parsing("monoid m(a) { identity (0); identity (1) }").errors()[0],
              HasSubstr("redefinition 1:29 identity is already given for m"));
}

TEST(SyntaxErrors, ReadingGoesOnAtTheNextLine) {
  const Parsing p(
      "a = = 1\nb = 2\nc = )\nfn f(x y) {\n  z = 3 3\n}\n"
      "fn g(x) {\n  z = 3 3\n  w = x x\n  return z\n}\nd = 4 4\n");
  EXPECT_THAT(
      p.errors(),
      ElementsAre("unbalanced 3:5 this ) closes nothing",
                  "syntax 1:5 expected an expression, found '='; a comparison is written ==",
                  "syntax 4:8 expected ',' or ')', found 'y'",
                  "syntax 8:9 expected an operator or the end of the line, found '3'",
                  "syntax 9:9 expected an operator or the end of the line, found 'x'",
                  "syntax 12:7 expected an operator or the end of the line, found '4'"));
  EXPECT_FALSE(p.file);
}

TEST(SyntaxErrors, ALineThatTheErrorSwallowedIsNotLost) {
  const Parsing p("const D\nentry e { return 3 }");
  EXPECT_THAT(p.errors(), SizeIs(2));
  EXPECT_THAT(p.errors()[1], HasSubstr("misplaced-item 2:11"));
}

TEST(SyntaxErrors, OneFaultIsReportedOnce) {
  EXPECT_THAT(Parsing("y = (a + b\nz = 3").errors(), SizeIs(1));
  EXPECT_THAT(Parsing("y = x[i else 3\n").errors(), SizeIs(1));
  EXPECT_THAT(Parsing("y = 3x + Ω\nz = 1\n").errors(), SizeIs(2));
  EXPECT_THAT(Parsing("fn f(a) {\n  y = a\n").errors(), SizeIs(1));
  EXPECT_THAT(Parsing("y = a }\nz = 1").errors(), SizeIs(1));
}

TEST(SyntaxErrors, AnErrorOnALaterLineSaysWhereTheItemBegan) {
  EXPECT_THAT(Parsing("z = x[i] +\noutput y\n").errors(),
              ElementsAre("syntax 1:11 expected an expression, found the end of the line"));
  const Parsing p("z = x[i] +\n  y 2\n");
  ASSERT_THAT(p.errors(), SizeIs(1));
  ASSERT_THAT(p.diagnostics.all()[0].notes, SizeIs(1));
  EXPECT_EQ(p.diagnostics.all()[0].notes[0].span.begin, 0u);
}

TEST(SyntaxErrors, ErrorsOfOtherFilesDoNotCount) {
  Sources sources;
  Diagnostics diagnostics;
  diagnostics.error("other", {}, "of another file");
  EXPECT_TRUE(parse_syntax(sources, sources.add("t.tir", "y = 1"), diagnostics));
}

TEST(SyntaxErrors, ManyErrorsEndTheReading) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "a = b c\n";
  const auto errors = Parsing(text).errors();
  EXPECT_LE(errors.size(), kMaxSyntaxErrors + 2);
  EXPECT_THAT(errors.back(), HasSubstr("too many errors"));
}

}  // namespace
}  // namespace tang::syntax
