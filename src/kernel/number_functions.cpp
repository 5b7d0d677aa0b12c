// Each function spells one of the language's rules out in operations that every target has alike.
#include "kernel/number_functions.h"

#include <cmath>

#include "kernel/math_terms.h"
#include "kernel/term.h"
#include "support/panic.h"

namespace tang::kernel {

namespace {

std::string suffixed(std::string_view name, Type type) {
  return std::string(name) + "_" + std::string(type_name(type));
}

std::string conversion(Type from, Type to) {
  return std::string(type_name(from)) + "_to_" + std::string(type_name(to));
}

// The one of two that compares as `op` says; a NaN on either side is the result.
uint32_t extreme(Module& module, Type type, std::string_view name, Op op, std::string_view word) {
  const std::string full = suffixed(name, type);
  return function_named(module, full, [&] {
    const std::string nan = is_real(type) ? "; NaN if one of them is" : "";
    FunctionBuilder f(module, full, "The " + std::string(word) + " of two" + nan);
    const Term a = f.parameter("a", type), b = f.parameter("b", type);
    Term first = apply(op, a, b);
    if (is_real(type)) first = either(first, a != a);
    return f.finish(select(first, a, b));
  });
}

}  // namespace

uint32_t minimum(Module& module, Type type) {
  return extreme(module, type, "min", Op::lt, "lesser");
}

uint32_t maximum(Module& module, Type type) {
  return extreme(module, type, "max", Op::gt, "greater");
}

uint32_t sign_of(Module& module, Type type) {
  const std::string name = suffixed("sign", type);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "1, 0 or -1 by the sign");
    const Term x = f.parameter("x", type);
    const Term rest = is_real(type) ? select(x == 0, 0, x) : same_type(x, 0);  // x: NaN
    return f.finish(select(x > 0, 1, select(x < 0, -1, rest)));
  });
}

// Every `/` has a dividend that is not negative. ~a is -1 - a, which does not overflow.
uint32_t floor_quotient(Module& module, Type type) {
  const std::string name = suffixed("floor_div", type);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "a / b rounded down; 0 for b = 0");
    const Term a = f.parameter("a", type), b = f.parameter("b", type);
    const auto inverted = [](Term v) { return v ^ -1; };
    const Term by_positive = select(a >= 0, a / b, inverted(inverted(a) / b));
    // a > 0 > b: below -1 only if a exceeds |b|, and then |b| has a positive value.
    const Term opposite = select(a + b <= 0, same_type(a, -1), inverted((a - 1) / -b));
    // Both negative: one and the quotient of what is left, so that -a is not needed.
    const Term same = select(a <= b, 1 + (b - a) / -b, 0);
    const Term by_negative = select(a > 0, opposite, same);
    return f.finish(select(b > 0, by_positive, select(b == 0, same_type(a, 0), by_negative)));
  });
}

uint32_t floor_remainder(Module& module, Type type) {
  const uint32_t quotient = floor_quotient(module, type);
  const std::string name = suffixed("floor_mod", type);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "What floor division leaves, with the sign of b; a for b = 0");
    const Term a = f.parameter("a", type), b = f.parameter("b", type);
    return f.finish(a - b * call(module, quotient, {a, b}));
  });
}

uint32_t real_to_integer(Module& module, Type from, Type to) {
  const std::string name = conversion(from, to);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "Towards zero, held at the bounds; 0 for NaN");
    const Type result = arithmetic_type(to);
    const Term x = f.parameter("x", from);
    // Whole powers of two are exact in every real type; the greatest integer may not be.
    const double above = std::ldexp(1.0, type_bits(to) - (to == Type::u8 ? 0 : 1));
    const double below = to == Type::u8 ? 0 : -above;
    const Term inside = f.let("inside", both(x >= below, x < above));
    const Term whole = f.let("whole", cast(result, select(inside, x, 0)));
    const Term not_above = select(x < below, integer_min(to), whole);
    return f.finish(select(x >= above, integer_max(to), not_above));
  });
}

namespace {

// The layout of a 16- or 8-bit real: sign, exponent, mantissa.
struct Layout {
  int exponent_bits, mantissa_bits;
  bool has_infinity;  // else the exponent of all ones holds numbers, and one NaN
  bool saturates;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int sign_bit() const { return 1 << (exponent_bits + mantissa_bits); }
  int infinity() const { return ((1 << exponent_bits) - 1) << mantissa_bits; }
  int nan() const { return has_infinity ? infinity() | 1 << (mantissa_bits - 1) : sign_bit() - 1; }
  int greatest() const { return has_infinity ? infinity() - 1 : nan() - 1; }
  int overflow() const { return saturates ? greatest() : infinity(); }
  // Of f32: mantissa bits more, and how much its exponent is greater.
  int dropped_bits() const { return 23 - mantissa_bits; }
  int bias_difference() const { return 127 - bias(); }
};

Layout layout_of(Type small) {
  switch (small) {
    case Type::f16:
      return {.exponent_bits = 5, .mantissa_bits = 10, .has_infinity = true, .saturates = false};
    case Type::bf16:
      return {.exponent_bits = 8, .mantissa_bits = 7, .has_infinity = true, .saturates = false};
    case Type::f8e4m3:
      return {.exponent_bits = 4, .mantissa_bits = 3, .has_infinity = false, .saturates = true};
    case Type::f8e5m2:
      return {.exponent_bits = 5, .mantissa_bits = 2, .has_infinity = true, .saturates = true};
    case Type::f64:
    case Type::f32:
    case Type::i64:
    case Type::i32:
    case Type::i16:
    case Type::i8:
    case Type::u8:
    case Type::i4:
    case Type::boolean:
      break;
  }
  TANG_PANIC("{} is not a small real", type_name(small));
}

constexpr int64_t kInfinityBits = 0x7F800000;  // of f32
constexpr int64_t kSizeBits = 0x7FFFFFFF;

// Rounding to f32 so that rounding once more is as good as rounding once: towards zero, and odd if
// anything was lost.
uint32_t f64_to_odd_f32(Module& module) {
  return function_named(module, "f64_to_odd_f32", [&] {
    FunctionBuilder f(module, "f64_to_odd_f32",
                      "Towards zero, with the last bit set if anything was lost: for a value that "
                      "is rounded further");
    const Term x = f.parameter("x", Type::f64);
    const Term near = f.let("near", cast(Type::f32, x));
    const Term back = f.let("back", cast(Type::f64, near));
    const Term beyond = apply(Op::abs, back) > apply(Op::abs, x);
    const Term bits =
        f.let("bits", bits_of(near) - select(beyond, constant(module.exprs, Type::i32, 1), 0));
    return f.finish(from_bits(bits | select(back != x, constant(module.exprs, Type::i32, 1), 0)));
  });
}

uint32_t encode_f32(Module& module, Type small) {
  const std::string name = conversion(Type::f32, small);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "The bits of the nearest value, ties to even");
    const Layout layout = layout_of(small);
    const int dropped = layout.dropped_bits();
    const Term x = f.parameter("x", Type::f32);
    const Term bits = f.let("bits", bits_of(x));
    const Term size = f.let("size", bits & kSizeBits);
    const Term sign = f.let(
        "sign", (bits >> (31 - layout.exponent_bits - layout.mantissa_bits)) & layout.sign_bit());
    const Term carried = size + ((1 << (dropped - 1)) - 1) + ((size >> dropped) & 1);
    Term pattern =
        f.let("pattern", (carried >> dropped) - (layout.bias_difference() << layout.mantissa_bits));
    if (layout.bias_difference() > 0) {
      // Below the least normal value the pattern is the number of least steps.
      const double least_normal = std::ldexp(1.0, 1 - layout.bias());
      const double steps = std::ldexp(1.0, layout.bias() - 1 + layout.mantissa_bits);
      const Term absolute = f.let("absolute", apply(Op::abs, x));
      const Term small_size = f.let("small_size", select(absolute < least_normal, absolute, 0));
      const Term count = f.let("count", cast(Type::i32, apply(Op::round, small_size * steps)));
      pattern = f.let("pattern", select(absolute < least_normal, count, pattern));
    }
    const Term held = select(pattern > layout.greatest(), layout.overflow(), pattern);
    return f.finish(sign | select(size > kInfinityBits, layout.nan(), held));
  });
}

}  // namespace

uint32_t decode_small(Module& module, Type small) {
  const std::string name = conversion(small, Type::f32);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "The value of the bits");
    const Layout layout = layout_of(small);
    const Term bits = f.parameter("bits", Type::i32);
    const int dropped = layout.dropped_bits();
    if (layout.bias_difference() == 0) return f.finish(from_bits(bits << dropped));
    const Term size = f.let("size", bits & (layout.sign_bit() - 1));
    const Term wide = f.let("wide", size << dropped);
    const Term normal = from_bits(wide + (layout.bias_difference() << 23));
    const double step = std::ldexp(1.0, 1 - layout.bias() - layout.mantissa_bits);
    const Term below = cast(Type::f32, size) * step;  // the least normal value
    const Term finite = f.let("finite", select(size < (1 << layout.mantissa_bits), below, normal));
    const Term special =
        layout.has_infinity ? from_bits(wide | kInfinityBits) : same_type(finite, kNan);
    const Term value = f.let("value", select(size > layout.greatest(), special, finite));
    return f.finish(select((bits & layout.sign_bit()) == 0, value, -value));
  });
}

uint32_t encode_small(Module& module, Type from, Type small) {
  const uint32_t encode = encode_f32(module, small);
  if (from == Type::f32) return encode;
  const uint32_t odd = f64_to_odd_f32(module);
  const std::string name = conversion(from, small);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "The bits of the nearest value, ties to even");
    const Term x = f.parameter("x", from);
    return f.finish(call(module, encode, {call(module, odd, {x})}));
  });
}

uint32_t round_to_small(Module& module, Type from, Type small) {
  const uint32_t encode = encode_small(module, from, small), decode = decode_small(module, small);
  const std::string name = "round_" + conversion(from, small);
  return function_named(module, name, [&] {
    FunctionBuilder f(module, name, "The nearest value, ties to even, as f32");
    const Term x = f.parameter("x", from);
    return f.finish(call(module, decode, {call(module, encode, {x})}));
  });
}

}  // namespace tang::kernel
