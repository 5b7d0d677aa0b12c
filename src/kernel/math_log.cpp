// log, log2, and pow, which needs a logarithm of more than f32's precision.
#include "kernel/math_functions.h"
#include "kernel/math_terms.h"

namespace tang::kernel {

Decomposed decompose(FunctionBuilder& f, Term x) {
  constexpr int64_t kRootOfHalf = 0x3F3504F3;  // the bits of sqrt(1/2)
  const Term tiny = f.let("tiny", x < kLeastNormal);
  const Term normal = f.let("normal", select(tiny, x * 0x1p23, x));
  const Term bits = f.let("bits", bits_of(normal));
  const Term n = f.let("n", (bits - kRootOfHalf) >> 23);
  const Term fraction = f.let("fraction", from_bits(bits - (n << 23)) - 1);
  const Term exponent = f.let("exponent", cast(Type::f32, n) - select(tiny, same_type(x, 23), 0));
  return {.exponent = exponent, .fraction = fraction};
}

namespace {

// The logarithm's values where the formula has none: 0, below 0, infinity, NaN.
Term logarithm_or_special(Term x, Term y) {
  const Term not_positive = select(x == 0, same_type(x, -kInfinity), kNan);
  return select(x > 0, select(x < kInfinity, y, x), not_positive);
}

}  // namespace

uint32_t log_f32(Module& module) {
  return function_named(module, "log_f32", [&] {
    FunctionBuilder f(module, "log_f32", "The natural logarithm, within 1 ulp");
    const Term x = f.parameter("x", Type::f32);
    const auto [n, r] = decompose(f, x);
    // ln(1 + r) = r - r^2/2 + r^3*P(r), 2^-30.3
    const Term p = polynomial(r, {0.33333313, -0.2500001, 0.20002072, -0.16667989, 0.14220358,
                                  -0.12406234, 0.11883549, -0.11670098, 0.06749268});
    const Term square = f.let("square", r * r);
    // The upper part of ln(2) has 15 bits, so its product with n is exact.
    const Term lower = f.let("lower", square * (r * p) + n * 1.428606765330187e-06);
    const Term y = f.let("y", n * 0.693145751953125 + (r + (lower - 0.5 * square)));
    return f.finish(logarithm_or_special(x, y));
  });
}

uint32_t log2_f32(Module& module) {
  return function_named(module, "log2_f32", [&] {
    FunctionBuilder f(module, "log2_f32", "The logarithm to the base 2, within 2 ulp");
    const Term x = f.parameter("x", Type::f32);
    const auto [n, r] = decompose(f, x);
    // log2(1 + r) = r + r*P(r), 2^-27.0
    const Term p = polynomial(r, {0.44269505, -0.7213475, 0.4808965, -0.36068258, 0.2886188,
                                  -0.23995215, 0.20415677, -0.18825443, 0.18686533, -0.11639452});
    const Term y = f.let("y", n + (r + r * p));
    return f.finish(logarithm_or_special(x, y));
  });
}

namespace {

struct Pair {  // an unevaluated sum
  Term upper, lower;
};

// log2 of a positive number with a relative error of about 2^-34. A positive float is 2^n * m; with
// the nearest c of three and s = (m - c)/(m + c), log2(m/c) = 2/ln(2) * (s + s^3/3 + s^5/5 + ...),
// where |s| < 0.059 and only the first term needs two floats.
Pair precise_log2(FunctionBuilder& f, Term x) {
  const auto [n, r] = decompose(f, x);  // r = m - 1
  const Term low = f.let("low", r < 0.890625 - 1);
  const Term high = f.let("high", r > 1.1220703125 - 1);
  const auto choose = [&](double if_low, double middle, double if_high) {
    return select(low, same_type(x, if_low), select(high, same_type(x, if_high), middle));
  };
  const Term c = f.let("center", choose(0.79296875, 1, 1.2578125));
  const Term log_c = choose(-0.334716796875, 0, 0.330810546875);
  const Term log_c_lower = choose(5.2714062e-05, 0, 1.0633124e-04);
  const Term difference = f.let("difference", r - (c - 1));
  const Term sum = f.let("sum", r + (c + 1));
  const Term s = f.let("s", upper_half(difference / sum));
  // What the quotient's upper half leaves: (m - c) - s*(m + c), in parts whose products are exact.
  const Term sum_upper = f.let("sum_upper", upper_half(sum));
  const Term sum_lower = f.let("sum_lower", r - (sum_upper - (c + 1)));
  const Term left = f.let("left", (difference - s * sum_upper) - s * sum_lower);
  const Term s_lower = f.let("s_lower", left / sum);
  const Term full = f.let("full", s + s_lower);
  const Term square = f.let("square", full * full);
  // 2/ln(2) * (atanh(s) - s)/s^3, such that log2(m/c) has 2^-40.6
  const Term p = polynomial(square, {0.9617967, 0.5770691, 0.41534495});
  const Term leading = f.let("leading", s * 2.8857421875);  // exact, with 12 bits of 2/ln(2)
  const Term lower = s_lower * 2.885390043258667 - s * 0.0003521057078614831;
  const Term rest = f.let("rest", full * square * p + (lower + log_c_lower));
  const Term whole = f.let("whole", n + log_c);  // exact, with 12 bits of log2(c)
  const Term first = f.let("first", whole + leading);
  const Term second = f.let("second", ((whole - first) + leading) + rest);
  const Term upper = f.let("upper", first + second);
  return {.upper = upper, .lower = f.let("lower", (first - upper) + second)};
}

}  // namespace

uint32_t pow_f32(Module& module) {
  return function_named(module, "pow_f32", [&] {
    FunctionBuilder f(module, "pow_f32",
                      "x to the power of y, within 2 ulp; whole powers of a negative x have their "
                      "sign, others are NaN");
    const Term x = f.parameter("x", Type::f32);
    const Term y = f.parameter("y", Type::f32);
    const Term size = f.let("size", apply(Op::abs, x));
    const Pair log = precise_log2(f, size);
    // z = y*log2|x|. A larger exponent than 2^40 changes nothing, and would overflow below.
    const Term above = f.let("above", select(y > -0x1p40, y, -0x1p40));
    const Term e = f.let("e", select(above < 0x1p40, above, 0x1p40));
    const Term e_upper = f.let("e_upper", upper_half(e));
    const Term log_upper = f.let("log_upper", upper_half(log.upper));
    const Term log_lower = f.let("log_lower", (log.upper - log_upper) + log.lower);
    const Term z_upper = f.let("z_upper", e_upper * log_upper);
    const Term z_lower = f.let("z_lower", e_upper * log_lower + (e - e_upper) * log.upper);
    const Term z = f.let("z", z_upper + z_lower);
    const Term large = f.let("large", z > 129);
    const Term fits = f.let("fits", both(z > -151, z < 129));
    const Term n =
        f.let("power", nearest_int(select(fits, z, select(large, same_type(z, 129), -151))));
    const Term r = f.let("remainder", select(fits, (z_upper - cast(Type::f32, n)) + z_lower, 0));
    const Term finite = f.let("finite", scale(f, exp2_near_zero(r), n));
    // Zero and infinity: their power is one of them, by the signs of log2|x| and y.
    const Term extreme = either(size == 0, size == kInfinity);
    const Term grows = (size > 1) == (y > 0);
    const Term value =
        f.let("value", select(extreme, select(grows, same_type(x, kInfinity), 0), finite));
    const Term integral = f.let("integral", apply(Op::floor, y) == y);
    const Term odd = f.let("odd", both(integral, apply(Op::floor, y * 0.5) != y * 0.5));
    const Term signed_value = select(both(bits_of(x) < 0, odd), -value, value);
    const Term no_root = both(x < 0, both(negation(integral), size < kInfinity));
    const Term defined = both(both(x == x, y == y), negation(no_root));
    return f.finish(select(either(x == 1, y == 0), 1, select(defined, signed_value, kNan)));
  });
}

}  // namespace tang::kernel
