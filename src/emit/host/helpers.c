// Helpers of emitted C. An emitted file carries those that it uses, each under its own line of the
// form `//: name  needs OTHER... <HEADER>...`; a name in `needs` is another helper, above it. This
// file also compiles by itself, as a test does.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

//: floor_div
// a / b rounded down, for b > 0.
static inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

//: floor_mod
// What floor_div leaves: 0 <= floor_mod(a, b) < b.
static inline int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r < 0 ? r + b : r;
}

//: add_i32
// Integers wrap around; plain signed overflow would be undefined.
static inline int32_t add_i32(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

//: sub_i32
static inline int32_t sub_i32(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a - (uint32_t)b);
}

//: mul_i32
static inline int32_t mul_i32(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a * (uint32_t)b);
}

//: neg_i32
static inline int32_t neg_i32(int32_t a) {
  return (int32_t)(0u - (uint32_t)a);
}

//: abs_i32  needs neg_i32
static inline int32_t abs_i32(int32_t a) {
  return a < 0 ? neg_i32(a) : a;
}

//: shift_left_i32
// Shifts take their count modulo the width.
static inline int32_t shift_left_i32(int32_t a, int32_t count) {
  return (int32_t)((uint32_t)a << (count & 31));
}

//: shift_right_i32
static inline int32_t shift_right_i32(int32_t a, int32_t count) {
  return a >> (count & 31);
}

//: add_i64
// Integers wrap around; plain signed overflow would be undefined.
static inline int64_t add_i64(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

//: sub_i64
static inline int64_t sub_i64(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a - (uint64_t)b);
}

//: mul_i64
static inline int64_t mul_i64(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}

//: neg_i64
static inline int64_t neg_i64(int64_t a) {
  return (int64_t)(0u - (uint64_t)a);
}

//: abs_i64  needs neg_i64
static inline int64_t abs_i64(int64_t a) {
  return a < 0 ? neg_i64(a) : a;
}

//: shift_left_i64
// Shifts take their count modulo the width.
static inline int64_t shift_left_i64(int64_t a, int64_t count) {
  return (int64_t)((uint64_t)a << (count & 63));
}

//: shift_right_i64
static inline int64_t shift_right_i64(int64_t a, int64_t count) {
  return a >> (count & 63);
}

//: f32_bits  needs <string.h>
static inline int32_t f32_bits(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

//: f32_from_bits  needs <string.h>
static inline float f32_from_bits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

//: f64_bits  needs <string.h>
static inline int64_t f64_bits(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

//: f64_from_bits  needs <string.h>
static inline double f64_from_bits(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

//: small_float
// A narrow float: its mantissa's bits, its exponent's bias, the sign bit, and patterns: of the
// greatest finite value, of what is greater, of infinity (the sign bit where there is none), of NaN.
struct small_float {
  int mantissa, bias;
  uint32_t sign, greatest, overflow, infinity, nan;
};

//: round_small  needs small_float f64_bits f64_from_bits
// Nearest, ties to even. The value is first cut to a whole multiple of the format's last place.
static inline uint32_t round_small(struct small_float f, double value) {
  const uint64_t bits = (uint64_t)f64_bits(value);
  const uint64_t size = bits & INT64_MAX;
  const uint32_t sign = bits >> 63 != 0 ? f.sign : 0;
  uint64_t pattern;
  if (value != value) return sign | f.nan;
  if (size >> 52 < (uint64_t)(1024 - f.bias)) {
    // Below the least normal value: adding 2^52 last places rounds away what is less than one.
    const double places = f64_from_bits((int64_t)(1076 - f.bias - f.mantissa) << 52);
    const double sum = f64_from_bits((int64_t)size) + places;
    pattern = (uint64_t)f64_bits(sum) - (uint64_t)f64_bits(places);
  } else {
    const int dropped = 52 - f.mantissa;
    const uint64_t half = ((uint64_t)1 << (dropped - 1)) - 1 + (size >> dropped & 1);
    pattern = ((size + half) >> dropped) - ((uint64_t)(1023 - f.bias) << f.mantissa);
  }
  return sign | (pattern > f.greatest ? f.overflow : (uint32_t)pattern);
}

//: widen_small  needs small_float f64_from_bits
static inline float widen_small(struct small_float f, uint32_t pattern) {
  const uint32_t size = pattern & (f.sign - 1);
  double value;
  if (size > f.greatest) {
    value = f64_from_bits((int64_t)(size == f.infinity ? 0x7FF0 : 0x7FF8) << 48);
  } else if (size >> f.mantissa == 0) {
    value = (double)size * f64_from_bits((int64_t)(1024 - f.bias - f.mantissa) << 52);
  } else {
    const uint64_t bias = (uint64_t)(1023 - f.bias) << f.mantissa;
    value = f64_from_bits((int64_t)((size + bias) << (52 - f.mantissa)));
  }
  return (float)((pattern & f.sign) != 0 ? -value : value);
}

//: f16_format  needs small_float
static const struct small_float f16_format = {
    10, 15, 0x8000u, 0x7BFFu, 0x7C00u, 0x7C00u, 0x7E00u};

//: f16_round  needs f16_format round_small
static inline uint16_t f16_round(double value) {
  return (uint16_t)round_small(f16_format, value);
}

//: f16_widen  needs f16_format widen_small
static inline float f16_widen(uint16_t pattern) {
  return widen_small(f16_format, pattern);
}

//: bf16_format  needs small_float
static const struct small_float bf16_format = {
    7, 127, 0x8000u, 0x7F7Fu, 0x7F80u, 0x7F80u, 0x7FC0u};

//: bf16_round  needs bf16_format round_small
static inline uint16_t bf16_round(double value) {
  return (uint16_t)round_small(bf16_format, value);
}

//: bf16_widen  needs f32_from_bits
// bf16 is the upper half of f32.
static inline float bf16_widen(uint16_t pattern) {
  return f32_from_bits((int32_t)((uint32_t)pattern << 16));
}

//: f8e4m3_format  needs small_float
static const struct small_float f8e4m3_format = {
    3, 7, 0x80u, 0x7Eu, 0x7Eu, 0x80u, 0x7Fu};

//: f8e4m3_round  needs f8e4m3_format round_small
static inline uint8_t f8e4m3_round(double value) {
  return (uint8_t)round_small(f8e4m3_format, value);
}

//: f8e4m3_widen  needs f8e4m3_format widen_small
static inline float f8e4m3_widen(uint8_t pattern) {
  return widen_small(f8e4m3_format, pattern);
}

//: f8e5m2_format  needs small_float
static const struct small_float f8e5m2_format = {
    2, 15, 0x80u, 0x7Bu, 0x7Bu, 0x7Cu, 0x7Eu};

//: f8e5m2_round  needs f8e5m2_format round_small
static inline uint8_t f8e5m2_round(double value) {
  return (uint8_t)round_small(f8e5m2_format, value);
}

//: f8e5m2_widen  needs f8e5m2_format widen_small
static inline float f8e5m2_widen(uint8_t pattern) {
  return widen_small(f8e5m2_format, pattern);
}

//: i4_wrap
// The low four bits as a signed number.
static inline int32_t i4_wrap(int32_t value) {
  return (int32_t)(((uint32_t)value & 15u) ^ 8u) - 8;
}

//: i4_load  needs i4_wrap
// i4 stands two a byte, the low half first.
static inline int32_t i4_load(const uint8_t *bytes, int64_t index) {
  return i4_wrap(bytes[index / 2] >> (index % 2 * 4));
}

//: i4_store
static inline void i4_store(uint8_t *bytes, int64_t index, int32_t value) {
  const int shift = (int)(index % 2) * 4;
  const uint32_t others = bytes[index / 2] & ~(15u << shift);
  bytes[index / 2] = (uint8_t)(others | ((uint32_t)value & 15u) << shift);
}
