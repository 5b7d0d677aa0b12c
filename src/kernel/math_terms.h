// What several of the mathematical functions are built of.
#pragma once

#include <limits>

#include "kernel/term.h"

namespace tang::kernel {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLeastNormal = 0x1p-126;
inline constexpr int64_t kSignBit = INT32_MIN;

// value * 2^n for -252 <= n <= 254, rounded once: two factors, since one would overflow.
Term scale(FunctionBuilder& f, Term value, Term n);

// 2^r for |r| <= 1/2.
Term exp2_near_zero(Term r);

// The whole number nearest to x, for |x| < 2^22, as an i32; any number for NaN.
Term nearest_int(Term x);

// The upper 12 bits of a float's 24: products of two such are exact.
Term upper_half(Term x);

// A value of at least 0, or NaN, with the sign of x: -0.0 keeps its own.
Term with_sign_of(Term x, Term value);

// A positive float as 2^exponent * (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)),
// exactly.
struct Decomposed {
  Term exponent;  // f32
  Term fraction;
};
Decomposed decompose(FunctionBuilder& f, Term x);

}  // namespace tang::kernel
