#include "driver/solver.h"

#include <gtest/gtest.h>

#include "check/laws.h"
#include "driver/pipeline.h"

namespace tang {
namespace {

std::optional<Scheduled> compile(const std::string& text, Diagnostics& diagnostics) {
  Sources sources;
  return front_end(sources, sources.add("test.tir", text), {}, diagnostics);
}

TEST(Solver, IsThere) {
  ASSERT_NE(loaded_solver(), nullptr) << "libtang-prove.so is missing: libz3-dev was not installed";
}

TEST(Solver, DecidesWhatTheProverLeavesOpen) {
  const std::string text =
      "dim N in 1..=1000\ninput x: f32[N]\ny[i: N] = x[i - i/2 - i/3]\noutput y\n";
  Diagnostics diagnostics;
  EXPECT_TRUE(compile(text, diagnostics)) << diagnostics.all().front().message;
}

TEST(Solver, RefutesWithSizesThatBreakIt) {
  Forms forms;
  const FormId i = forms.axis(0), n = forms.var({VarKind::dim, 0});
  const Facts facts = {{.form = i}, {.form = forms.add(forms.sub(n, i), -1)}};
  // i*i <= 3*n + 9 fails for large i.
  const Constraint goal{.form = forms.sub(forms.add(forms.scale(n, 3), 9), forms.mul(i, i))};
  const Proof proof = loaded_solver()->prove(forms, facts, goal);
  ASSERT_EQ(proof.verdict, Verdict::refuted);
  const int64_t size = proof.witness.at({VarKind::dim, 0});
  const int64_t at = proof.witness.at({VarKind::axis, 0});
  EXPECT_TRUE(at >= 0 && at < size && at * at > 3 * size + 9) << at << " of " << size;
}

TEST(Solver, ProvesTheLawsOfMatrices) {
  Diagnostics diagnostics;
  const auto compiled = compile(
      "monoid mat(a, b, c, d) { identity (1, 0, 0, 1); combine(x, y) = (x.a*y.a + x.b*y.c, "
      "x.a*y.b + x.b*y.d, x.c*y.a + x.d*y.c, x.c*y.b + x.d*y.d) }\n"
      "dim T\ninput a, b: f32[T]\np, q, r, s = mat[t](a[t], b[t], b[t], a[t])\noutput p\n",
      diagnostics);
  ASSERT_TRUE(compiled);
  const std::vector<LawReport> laws = monoid_laws(compiled->source, loaded_solver());
  ASSERT_EQ(laws.size(), 2u);
  for (const LawReport& law : laws) EXPECT_TRUE(law.proved) << law.law;
  for (const LawReport& law : monoid_laws(compiled->source, nullptr))
    EXPECT_FALSE(law.proved) << law.law;
}

TEST(Solver, DoesNotProveWhatIsWrong) {
  Exprs exprs;
  const ExprId x = exprs.leaf(Op::variable, Type::f64, 0);
  const ExprId y = exprs.leaf(Op::variable, Type::f64, 1);
  const ExprId e = exprs.make(Op::exp, exprs.make(Op::add, x, y));
  EXPECT_EQ(loaded_solver()->equal(exprs, e, exprs.make(Op::exp, exprs.make(Op::add, y, x))),
            Verdict::proved);
  EXPECT_NE(loaded_solver()->equal(exprs, e, exprs.make(Op::exp, x)), Verdict::proved);
}

}  // namespace
}  // namespace tang
