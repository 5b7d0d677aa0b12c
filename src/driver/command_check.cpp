// `tangc check`: is the program right, for all sizes that it allows? And with --certify: does each
// rewrite step keep its values?
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "check/laws.h"
#include "driver/certify.h"
#include "driver/commands.h"
#include "driver/solver.h"

namespace tang {

namespace {

// A line a step; false when one is wrong or cannot be told.
bool certify_all(Invocation& invocation, const Program& program, const Trace& trace) {
  size_t n_proved = 0, n_tested = 0, n_failed = 0;
  for (const Step& step : trace.steps) {
    const Certificate c = certify(program, trace, step);
    const char* word = "proved";
    switch (c.certainty) {
      case Certainty::proved:
        ++n_proved;
        break;
      case Certainty::tested:
        ++n_tested;
        word = "tested";
        break;
      case Certainty::open:
        ++n_failed;
        word = "open";
        break;
      case Certainty::wrong:
        ++n_failed;
        word = "WRONG";
        break;
    }
    invocation.streams.out +=
        fmt::format("{:<7} {}: {} ({})\n", word, step.pass, step.says, c.how);
  }
  invocation.streams.out += fmt::format("{} steps: {} proved, {} tested, {} failed\n",
                                        trace.steps.size(), n_proved, n_tested, n_failed);
  return n_failed == 0;
}

// What is known of the program's own monoids.
void report_laws(Invocation& invocation, const CommonOptions& options, const Program& program) {
  for (const LawReport& r : monoid_laws(program, loaded_solver()))
    remark(invocation, options,
           fmt::format("tangc: monoid {}: {}: {}", r.monoid, r.law,
                       r.proved ? "proved over the reals" : "tested on samples, not proved"));
}

}  // namespace

int check_command(Invocation& invocation) {
  CommonOptions options;
  PassOptions passes;
  bool certify = false;
  CLI::App app("Parses a program, checks its types and proves that every read is in range.",
               "tangc check");
  add_common_options(app, options);
  add_pass_options(app, passes);
  app.add_flag("--certify", certify,
               "Check every rewrite step too: by proof, else on random inputs");
  if (!parse_args(app, invocation)) return kSuccess;
  Trace trace;
  const auto scheduled = checked_program(invocation, options, passes, certify ? &trace : nullptr);
  if (!scheduled) return kProgramWrong;
  report_laws(invocation, options, scheduled->source);
  return !certify || certify_all(invocation, scheduled->source, trace) ? kSuccess : kProgramWrong;
}

}  // namespace tang
