// A forward error analysis that the generator carries along: how far a kernel's value may be from
// the interpreter's.
//
// A real value knows its greatest magnitude, and either that it is exact in f32 (a multiple of
// 2^-fraction that fits 24 bits) or an error in units of the roundoff. Comparisons, roundings and
// arg-reductions are generated over exact values only, so that no rounding decides a branch; exact
// outputs must agree in every bit, the others within the error.
#pragma once

#include <cstdint>

namespace tang::random {

struct Bound {
  double magnitude = 0;  // of finite values
  double error = 0;      // 0: exact
  int fraction = 0;      // of an exact value: it is a multiple of 2^-fraction
  bool wide = false;     // depends on an f64 input: kernels compute it in f64
  bool narrow = false;   // inexact and, somewhere, computed in f32
  bool finite = true;    // no reduction of nothing has put an infinity into it
  bool exact() const { return error == 0; }
};

Bound constant_bound(double value);  // a multiple of 1/8
Bound add_bound(const Bound& a, const Bound& b);
Bound mul_bound(const Bound& a, const Bound& b);
Bound either_bound(const Bound& a, const Bound& b);  // a select, max, min
// Of a function with values up to `magnitude` and |derivative| up to `slope`.
Bound function_bound(const Bound& a, double magnitude, double slope);
// n values combined by + or *, in any order.
Bound sum_bound(const Bound& a, int64_t n);
Bound prod_bound(const Bound& a, int64_t n);
// A definition's result: what is stored in f32 rounds there.
Bound stored_bound(const Bound& a);
// Greatest acceptable difference from the interpreter; 0 asks for equality.
double tolerance(const Bound& a);

}  // namespace tang::random
