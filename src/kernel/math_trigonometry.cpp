// sin, cos, tan and atan2.
//
// The argument is reduced exactly in integers for every float: x is M*2^e with a whole M < 2^24, so
// x*2/pi modulo 4 needs only the 96 bits of 2/pi that stand around 2^-e, times M, modulo 2^64.
#include <array>

#include "kernel/math_functions.h"
#include "kernel/math_terms.h"

namespace tang::kernel {

namespace {

// The word of 32 bits number `word` of 2/pi, after a first word of zeros; bits 2^-1 to 2^-224.
uint32_t two_over_pi(Module& module) {
  return function_named(module, "two_over_pi", [&] {
    constexpr std::array<int64_t, 8> kWords = {0,          0xA2F9836E, 0x4E441529, 0xFC2757D1,
                                               0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};
    FunctionBuilder f(module, "two_over_pi",
                      "The 32 bits of 2/pi at the given word; word 0 is its whole part");
    const Term word = f.parameter("word", Type::i32);
    Term bits = constant(module.exprs, Type::i64, kWords.back());
    for (size_t i = kWords.size() - 1; i-- > 0;)
      bits = select(word <= static_cast<int>(i), kWords[i], bits);
    return f.finish(bits);
  });
}

uint32_t quarter_turns(Module& module) {
  const uint32_t words = two_over_pi(module);
  return function_named(module, "quarter_turns", [&] {
    FunctionBuilder f(module, "quarter_turns",
                      "x * 2/pi modulo 4 in units of 2^-62, for a finite x of at least 2^-1");
    constexpr int64_t kLow32 = 0xFFFFFFFF;
    const Term x = f.parameter("x", Type::f32);
    const Term bits = f.let("bits", bits_of(x));
    const Term mantissa = f.let("mantissa", cast(Type::i64, (bits & 0x7FFFFF) | 0x800000));
    // With x = mantissa * 2^e, e + 150 is the exponent's field. The 64 bits of 2/pi from 2^(1 - e)
    // down make the product modulo 4; the 32 after them round it. They begin at bit e + 30 of the
    // words, since the first word is zero.
    const Term first = f.let("first", (bits >> 23) - 120);
    const Term word = f.let("word", first >> 5);
    const Term shift = f.let("shift", cast(Type::i64, first & 31));
    const auto word_at = [&](int i) { return call(module, words, {word + i}); };
    const Term third = f.let("third", word_at(2));
    const Term upper =
        f.let("upper", (((word_at(0) << 32) | word_at(1)) << shift) | (third >> (32 - shift)));
    const Term lower = f.let("lower", ((((third << 32) | word_at(3)) << shift) >> 32) & kLow32);
    return f.finish(mantissa * upper + ((mantissa * lower) >> 32));
  });
}

// |x| = quadrant*pi/2 + r + rest with |r| <= pi/4; the rest is what r rounds away.
struct Reduced {
  Term r, rest;
  Term quadrant;  // i32, modulo 4
};
Reduced reduce(Module& module, FunctionBuilder& f, Term size) {
  const uint32_t turns_of = quarter_turns(module);
  const Term large = f.let("large", size > 0.7853982);
  const Term turns = f.let("turns", select(large, call(module, turns_of, {size}), int64_t{0}));
  const Term quadrant = f.let("quadrant", cast(Type::i32, (turns + (int64_t{1} << 61)) >> 62) & 3);
  // The signed fraction in two floats, times pi/2 in two: the product of the upper halves is exact.
  const Term fraction = f.let("fraction", (turns << 2) >> 2);
  const Term near = f.let("near", cast(Type::f32, fraction));
  const Term rest = f.let("rest", cast(Type::f32, fraction - cast(Type::i64, near)));
  const Term upper = f.let("upper", upper_half(near));
  constexpr double kUpper = 1.57080078125 * 0x1p-62, kLower = -4.454454938240815e-06 * 0x1p-62;
  const Term lower = f.let("lower", ((near - upper) + rest) * kUpper + near * kLower);
  const Term leading = f.let("leading", upper * kUpper);
  const Term sum = f.let("sum", leading + lower);
  const Term lost = f.let("lost", (leading - sum) + lower);
  return {.r = f.let("r", select(large, sum, size)),
          .rest = f.let("r_rest", select(large, lost, 0)),
          .quadrant = quadrant};
}

struct SineCosine {
  Term sine, cosine;
};
SineCosine sine_cosine(FunctionBuilder& f, const Reduced& at) {
  const Term r = at.r;
  const Term square = f.let("square", r * r);
  // sin r = r + r^3*P(r^2), 2^-27.9
  const Term p = polynomial(square, {-0.16666655, 0.008332189, -0.00019518286});
  const Term sine = f.let("sine", r + (r * square * p + at.rest));
  // cos r = 1 - r^2/2 + r^4*Q(r^2), 2^-33.0; what 1 - r^2/2 loses is added back.
  const Term q = polynomial(square, {0.041666646, -0.001388731, 2.4432327e-05});
  const Term half = f.let("half", 0.5 * square);
  const Term base = f.let("base", 1 - half);
  const Term small = ((1 - base) - half) + (square * square * q - r * at.rest);
  return {.sine = sine, .cosine = f.let("cosine", base + small)};
}

// The sine of `quadrant` quarter turns more, with the sign flipped where `sign` has its bit.
Term sine_at(Term x, const SineCosine& at, Term quadrant, Term sign) {
  const Term value = select((quadrant & 1) == 0, at.sine, at.cosine);
  const Term flipped = from_bits(bits_of(value) ^ ((quadrant & 2) << 30) ^ sign);
  return select(apply(Op::abs, x) < kInfinity, flipped, kNan);
}

}  // namespace

uint32_t sin_f32(Module& module) {
  quarter_turns(module);
  return function_named(module, "sin_f32", [&] {
    FunctionBuilder f(module, "sin_f32", "The sine, within 1 ulp for every x");
    const Term x = f.parameter("x", Type::f32);
    const Reduced at = reduce(module, f, f.let("size", apply(Op::abs, x)));
    return f.finish(sine_at(x, sine_cosine(f, at), at.quadrant, bits_of(x) & kSignBit));
  });
}

uint32_t cos_f32(Module& module) {
  quarter_turns(module);
  return function_named(module, "cos_f32", [&] {
    FunctionBuilder f(module, "cos_f32", "The cosine, within 1 ulp for every x");
    const Term x = f.parameter("x", Type::f32);
    const Reduced at = reduce(module, f, f.let("size", apply(Op::abs, x)));
    const Term next = f.let("next", at.quadrant + 1);
    return f.finish(sine_at(x, sine_cosine(f, at), next, same_type(next, 0)));
  });
}

uint32_t tan_f32(Module& module) {
  quarter_turns(module);
  return function_named(module, "tan_f32", [&] {
    FunctionBuilder f(module, "tan_f32", "The tangent, within 3 ulp for every x");
    const Term x = f.parameter("x", Type::f32);
    const Reduced at = reduce(module, f, f.let("size", apply(Op::abs, x)));
    const auto [sine, cosine] = sine_cosine(f, at);
    const Term even = f.let("even", (at.quadrant & 1) == 0);
    const Term value = f.let("value", select(even, sine, cosine) / select(even, cosine, -sine));
    const Term with_sign = from_bits(bits_of(value) ^ (bits_of(x) & kSignBit));
    return f.finish(select(apply(Op::abs, x) < kInfinity, with_sign, kNan));
  });
}

uint32_t atan2_f32(Module& module) {
  return function_named(module, "atan2_f32", [&] {
    FunctionBuilder f(module, "atan2_f32", "The angle of the point (x, y), within 2 ulp");
    constexpr double kHalfPi = 1.5707963705062866, kHalfPiRest = -4.3711388286737929e-08;
    constexpr double kPi = 3.1415927410125732, kPiRest = -8.7422776573475858e-08;
    const Term y = f.parameter("y", Type::f32);
    const Term x = f.parameter("x", Type::f32);
    const Term up = f.let("up", apply(Op::abs, y)), across = f.let("across", apply(Op::abs, x));
    const Term steep = f.let("steep", up > across);
    const Term less = f.let("less", select(steep, across, up));
    const Term more = f.let("more", select(steep, up, across));
    // Equal sizes are 45 degrees, infinite ones too; (0, 0) counts as flat.
    const Term diagonal = select(less == 0, same_type(x, 0), 1);
    const Term t = f.let("t", select(less == more, diagonal, less / more));
    const Term square = f.let("square", t * t);
    // atan t = t + t^3*P(t^2) up to 1, 2^-28.5
    const Term p = polynomial(square, {-0.333333, 0.1999853, -0.14264016, 0.109508805, -0.08399306,
                                       0.057881393, -0.031097002, 0.01086871, -0.001782832});
    const Term octant = f.let("octant", t + t * square * p);
    const Term right = f.let("right", select(steep, kHalfPi - (octant - kHalfPiRest), octant));
    const Term angle = f.let("angle", select(bits_of(x) < 0, kPi - (right - kPiRest), right));
    return f.finish(with_sign_of(y, angle));
  });
}

}  // namespace tang::kernel
