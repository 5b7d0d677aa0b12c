// Checks of rewrite steps, each by itself: its definitions before and after, as two programs with
// the same inputs, compute the same.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/step.h"

namespace tang {

enum class Certainty : uint8_t {
  proved,  // both sides have one normal form
  tested,  // equal on random inputs at several sizes
  open,    // no sizes or inputs were found to test it with
  wrong,   // different
};

struct Certificate {
  Certainty certainty = Certainty::open;
  std::string how;  // "one normal form", "36 values at 3 sizes, largest difference 2.1e-16"
};

// `around`: the program in which the step was taken. Exact steps must agree bit for bit; those that
// rely on real laws up to the rounding of f64.
Certificate certify(const Program& around, const Trace& trace, const Step& step);

// The step as one line of JSON: rewrite, params, before, after.
std::string certificate_line(const Program& around, const Trace& trace, const Step& step);

}  // namespace tang
