// Rules of the error analysis, one an operation.
#include "bound.h"

#include <algorithm>
#include <cmath>

namespace tang::random {
namespace {

constexpr double kSafety = 16;     // functions are a few ulp, not half of one
constexpr int kExactBits = 24;     // f32's significand
constexpr int kMostFraction = 40;  // below, multiples of 2^-fraction may leave f32's exponents

// The result of arithmetic: exact while it fits, else with one rounding more.
Bound arithmetic(Bound b, bool operands_exact, double error) {
  const bool fits = b.fraction <= kMostFraction &&
                    std::ldexp(b.magnitude, b.fraction) < std::ldexp(1.0, kExactBits);
  b.error = operands_exact && fits ? 0 : error + b.magnitude + 1e-30;
  return b;
}

Bound joined(const Bound& a, const Bound& b) {
  return {.fraction = std::max(a.fraction, b.fraction),
          .wide = a.wide || b.wide,
          .narrow = a.narrow || b.narrow,
          .finite = a.finite && b.finite};
}

}  // namespace

Bound constant_bound(double value) {
  return {.magnitude = std::abs(value), .fraction = 3};
}

Bound add_bound(const Bound& a, const Bound& b) {
  Bound r = joined(a, b);
  r.magnitude = a.magnitude + b.magnitude;
  return arithmetic(r, a.exact() && b.exact(), a.error + b.error);
}

Bound mul_bound(const Bound& a, const Bound& b) {
  Bound r = joined(a, b);
  r.magnitude = a.magnitude * b.magnitude;
  r.fraction = a.fraction + b.fraction;
  return arithmetic(r, a.exact() && b.exact(), a.error * b.magnitude + b.error * a.magnitude);
}

Bound either_bound(const Bound& a, const Bound& b) {
  Bound r = joined(a, b);
  r.magnitude = std::max(a.magnitude, b.magnitude);
  r.error = std::max(a.error, b.error);
  return r;
}

Bound function_bound(const Bound& a, double magnitude, double slope) {
  Bound r = a;
  r.magnitude = magnitude;
  r.error = a.error * slope + magnitude + 1e-30;
  return r;
}

Bound sum_bound(const Bound& a, int64_t n) {
  const auto terms = static_cast<double>(std::max<int64_t>(n, 1));
  Bound r = a;
  r.magnitude = a.magnitude * terms;
  return arithmetic(r, a.exact(), (a.error + r.magnitude) * terms);
}

Bound prod_bound(const Bound& a, int64_t n) {
  Bound r = constant_bound(1);
  for (int64_t i = 0; i < n; ++i) r = mul_bound(r, a);
  return r;
}

Bound stored_bound(const Bound& a) {
  Bound r = a;
  if (!a.exact() && !a.wide) r.narrow = true;
  return r;
}

double tolerance(const Bound& a) {
  const double roundoff = std::ldexp(1.0, a.wide && !a.narrow ? -53 : -24);
  return a.exact() ? 0 : kSafety * roundoff * a.error;
}

}  // namespace tang::random
