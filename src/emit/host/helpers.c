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

//: widen_small
// The value of a float of the given exponent and mantissa bits; `greatest` is the pattern of the
// greatest finite value.
static inline float widen_small(uint32_t pattern, int exponent_bits, int mantissa_bits,
                                uint32_t greatest) {
  const uint32_t size = pattern & ((1u << (exponent_bits + mantissa_bits)) - 1);
  const uint32_t mantissa = size & ((1u << mantissa_bits) - 1);
  const int exponent = (int)(size >> mantissa_bits);
  const int last_place = 2 - (1 << (exponent_bits - 1)) - mantissa_bits;  // of the least normal
  float value;
  if (size > greatest) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = ldexpf((float)mantissa, last_place);
  } else {
    value = ldexpf((float)(mantissa + (1u << mantissa_bits)), last_place + exponent - 1);
  }
  return size == pattern ? value : -value;
}

//: f16_widen  needs widen_small
static inline float f16_widen(uint16_t pattern) {
  return widen_small(pattern, 5, 10, 0x7BFFu);
}

//: bf16_widen  needs widen_small
static inline float bf16_widen(uint16_t pattern) {
  return widen_small(pattern, 8, 7, 0x7F7Fu);
}

//: f8e4m3_widen  needs widen_small
static inline float f8e4m3_widen(uint8_t pattern) {
  return widen_small(pattern, 4, 3, 0x7Eu);
}

//: f8e5m2_widen  needs widen_small
static inline float f8e5m2_widen(uint8_t pattern) {
  return widen_small(pattern, 5, 2, 0x7Bu);
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
