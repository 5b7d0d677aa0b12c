// exp, exp2 and what is made of them: sigmoid, tanh, erf.
#include "kernel/math_functions.h"
#include "kernel/math_terms.h"

namespace tang::kernel {

Term scale(FunctionBuilder& f, Term value, Term n) {
  constexpr int kBias = 127, kMantissaBits = 23;
  const Term half = f.let("half", n >> 1);
  const Term first = from_bits((half + kBias) << kMantissaBits);
  const Term second = from_bits((n - half + kBias) << kMantissaBits);
  return value * first * second;
}

Term exp2_near_zero(Term r) {
  // 2^r = 1 + r*P(r), 2^-28.3
  return 1 + r * polynomial(r, {0.6931472, 0.24022648, 0.0555036, 0.009618506, 0.0013390806,
                                0.00015326463});
}

// The sum's last place is 1: its lowest bits are the whole number. As bits, since a compiler that
// may regroup sums would undo a subtraction, and NaN has no conversion.
Term nearest_int(Term x) {
  constexpr double kShift = 0x1.8p23;
  constexpr int64_t kShiftBits = 0x4B400000;
  return bits_of(x + kShift) - kShiftBits;
}

Term upper_half(Term x) {
  constexpr int64_t kMask = ~int64_t{0xFFF};
  return from_bits(bits_of(x) & kMask);
}

Term with_sign_of(Term x, Term value) {
  return from_bits(bits_of(value) | (bits_of(x) & kSignBit));
}

uint32_t exp_f32(Module& module) {
  return function_named(module, "exp_f32", [&] {
    FunctionBuilder f(module, "exp_f32", "e to the power of x, within 1 ulp");
    const Term x = f.parameter("x", Type::f32);
    // Beyond these bounds the result is 0 or infinite. NaN passes, here and below.
    const Term above = f.let("above", select(x < -104, -104, x));
    const Term c = f.let("c", select(above > 89, 89, above));
    const Term n = f.let("n", nearest_int(c * 1.44269504));
    // x = n*ln(2) + r; the upper part of ln(2) has 15 bits, so its product with n is exact.
    const Term whole = f.let("whole", cast(Type::f32, n));
    const Term r = f.let("r", (c - whole * 0.693145751953125) - whole * 1.428606765330187e-06);
    // e^r = 1 + r + r^2*P(r), 2^-28.2
    const Term p = polynomial(r, {0.49999994, 0.16666521, 0.041668266, 0.008368677, 0.0013820734});
    const Term y = f.let("y", 1 + (r + r * r * p));
    return f.finish(scale(f, y, n));
  });
}

uint32_t exp2_f32(Module& module) {
  return function_named(module, "exp2_f32", [&] {
    FunctionBuilder f(module, "exp2_f32", "2 to the power of x, within 2 ulp");
    const Term x = f.parameter("x", Type::f32);
    const Term above = f.let("above", select(x < -151, -151, x));
    const Term c = f.let("c", select(above > 129, 129, above));
    const Term n = f.let("n", nearest_int(c));
    const Term r = f.let("r", c - cast(Type::f32, n));
    const Term y = f.let("y", exp2_near_zero(r));
    return f.finish(scale(f, y, n));
  });
}

uint32_t sigmoid_f32(Module& module) {
  const uint32_t exp = exp_f32(module);
  return function_named(module, "sigmoid_f32", [&] {
    FunctionBuilder f(module, "sigmoid_f32", "1 / (1 + e to the power of -x), within 3 ulp");
    const Term x = f.parameter("x", Type::f32);
    // The exponential of a negative number is at most 1, and its small values are results.
    const Term e = f.let("e", call(module, exp, {-apply(Op::abs, x)}));
    return f.finish(select(x < 0, e, 1) / (1 + e));
  });
}

uint32_t tanh_f32(Module& module) {
  const uint32_t exp = exp_f32(module);
  return function_named(module, "tanh_f32", [&] {
    FunctionBuilder f(module, "tanh_f32", "The hyperbolic tangent, within 2 ulp");
    const Term x = f.parameter("x", Type::f32);
    const Term size = f.let("size", apply(Op::abs, x));
    const Term square = f.let("square", size * size);
    // tanh x = x + x^3*P(x^2) below 0.55, 2^-29.7
    const Term p =
        polynomial(square, {-0.33333316, 0.13332544, -0.053847548, 0.021050714, -0.0062428494});
    const Term near = f.let("near", size + size * square * p);
    const Term far = f.let("far", 1 - 2 / (call(module, exp, {2 * size}) + 1));
    return f.finish(with_sign_of(x, select(size < 0.55, near, far)));
  });
}

uint32_t erf_f32(Module& module) {
  const uint32_t exp = exp_f32(module);
  return function_named(module, "erf_f32", [&] {
    FunctionBuilder f(module, "erf_f32", "The error function, within 2 ulp");
    const Term x = f.parameter("x", Type::f32);
    const Term size = f.let("size", apply(Op::abs, x));
    const Term square = f.let("square", size * size);
    // erf x = x + x*P(x^2) below 0.875, 2^-26.1
    const Term p = polynomial(
        square, {0.12837915, -0.37612507, 0.11281965, -0.026772428, 0.005002323, -0.0006040721});
    const Term near = f.let("near", size + size * p);
    // 1 - erf x = e^(-x*Q(x)) above; the error is 2^-29.8 of erf x. From 4 on erf x rounds to 1.
    const Term c = f.let("c", select(size > 4, 4, size));
    const Term q = polynomial(c, {1.1286224, 0.635259, 0.10605605, -0.02360402, 0.003566711,
                                  -0.00030393706, 9.324157e-06});
    const Term far = f.let("far", 1 - call(module, exp, {-(c * q)}));
    return f.finish(with_sign_of(x, select(size < 0.875, near, far)));
  });
}

}  // namespace tang::kernel
