// The rewrites: what turns a naive program into the fast algorithm for the same values.
//
// A pass is a function from program to program over one arena. It looks at views, monoids, domains
// and dependence, never at a name. The automatic passes run once each in the order of one table,
// each to its own fixed point by a measure that its file names; none needs a cost model, since
// where things are computed is the schedule's business.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "ir/step.h"

namespace tang {

struct RewriteOptions {
  bool strict = false;  // exact laws only
};

struct Pass {
  std::string_view name;
  std::string_view purpose;
  Program (*apply)(const Program& program, const RewriteOptions& options, Trace* trace);
};

// In the order in which -O2 runs them.
const std::vector<Pass>& passes();
const Pass* find_pass(std::string_view name);

// One after the other. `after` sees the program after each pass; both it and `trace` may be absent.
Program rewrite(Program program, const std::vector<const Pass*>& list,
                const RewriteOptions& options, Trace* trace,
                const std::function<void(const Pass&, const Program&)>& after = {});

// One side of a step as a program of its own: its definitions, inputs for what they read, outputs
// for the results that the step claims equal. Both sides have the same inputs and outputs. Dims,
// scalars and assumptions are those of `around`, the program in which the step was taken.
enum class Side : uint8_t { before, after };
Program fragment(const Program& around, const Trace& trace, const Step& step, Side side);

}  // namespace tang
