#include "driver/certify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/pipeline.h"

namespace tang {
namespace {

using testing::HasSubstr;

constexpr const char* kRows =
    "dim R, C\ninput x: f32[R, C]\nm[i] = max[j](x[i,j])\np[i,j] = exp(x[i,j] - m[i])\n"
    "n[i] = sum[j](p[i,j])\ny[i,j] = p[i,j] / n[i]\noutput y\n";

struct Compile {
  Trace trace;
  std::optional<Scheduled> scheduled;

  explicit Compile(const std::string& text, bool strict = false) {
    Sources sources;
    Diagnostics diagnostics;
    const uint32_t file = sources.add("test.tir", text);
    FrontEndOptions options;
    options.passes = all_passes();
    options.rewrite.strict = strict;
    options.trace = &trace;
    scheduled = front_end(sources, file, options, diagnostics);
    EXPECT_TRUE(scheduled) << render_text(diagnostics, sources, false);
  }
  Arena& arena() { return *scheduled->source.arena; }
  Step& step_of(std::string_view pass) {
    for (Step& step : trace.steps)
      if (step.pass == pass) return step;
    throw std::runtime_error("no such step");
  }
  Certificate certify(const Step& step) {
    return tang::certify(scheduled->source, trace, step);
  }
  // The step with another value of a definition in what it leads to.
  void corrupt(Step& step, size_t def, size_t component,
               const std::function<ExprId(Exprs&, ExprId)>& change) {
    Comprehension c = arena().comprehensions[step.after[def].id];
    c.components[component].value = change(arena().exprs, c.components[component].value);
    const ComprehensionId old = step.after[def].id;
    step.after[def].id = arena().comprehensions.intern(c);
    for (auto& [before, after] : step.equal) {
      const Tensor t = arena().tensors[after];
      if (t.source == old.value) after = arena().component(step.after[def].id, t.component);
    }
  }
};

TEST(Certify, RightStepsAreProvedOrTested) {
  Compile c(kRows);
  for (const Step& step : c.trace.steps)
    EXPECT_TRUE(c.certify(step).certainty == Certainty::proved ||
                c.certify(step).certainty == Certainty::tested)
        << step.says;
  EXPECT_EQ(c.certify(c.step_of("stabilize-softmax")).certainty, Certainty::tested);
  EXPECT_EQ(c.certify(c.step_of("substitute-maps")).certainty, Certainty::proved);
}

TEST(Certify, AWrongBodyIsFound) {
  Compile c(kRows);
  Step& step = c.step_of("substitute-maps");
  c.corrupt(step, 0, 0, [](Exprs& e, ExprId v) { return e.make(Op::mul, v, e.real(1.0 + 1e-15)); });
  const Certificate found = c.certify(step);
  EXPECT_EQ(found.certainty, Certainty::wrong);
  EXPECT_THAT(found.how, HasSubstr("result_1["));
}

TEST(Certify, AWrongScoreIsFound) {
  Compile c(kRows);
  Step& step = c.step_of("stabilize-softmax");
  c.corrupt(step, 0, 0, [](Exprs& e, ExprId v) { return e.make(Op::mul, v, e.real(1.001)); });
  EXPECT_EQ(c.certify(step).certainty, Certainty::wrong);
}

TEST(Certify, AWrongDomainIsFound) {
  Compile c("dim N\ninput x: f32[N]\ny[i: N] = sum[j: N](j <= i ? x[j] : 0.0)\noutput y\n");
  Step& step = c.step_of("masks-to-domain");
  EXPECT_EQ(c.certify(step).certainty, Certainty::tested);
  Comprehension k = c.arena().comprehensions[step.after[0].id];
  Guard domain = c.arena().guards[k.domain];
  ASSERT_EQ(domain.constraints.size(), 1u);
  domain.constraints[0].form = c.arena().forms.add(domain.constraints[0].form, 1);
  k.domain = c.arena().guard(domain);
  step.after[0].id = c.arena().comprehensions.intern(k);
  step.equal[0].second = c.arena().component(step.after[0].id, 0);
  EXPECT_EQ(c.certify(step).certainty, Certainty::wrong);
}

TEST(Certify, StrictUsesNoRealLaw) {
  Compile c(kRows, true);
  for (const Step& step : c.trace.steps) EXPECT_TRUE(step.laws.empty()) << step.says;
}

}  // namespace
}  // namespace tang
