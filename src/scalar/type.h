// Storage types and their values. In the graph a value is of one of four kinds (f64 stands for the
// reals, i32, i64, boolean); kernels use any type for storage and f32 besides for arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tang {

enum class Type : uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  i64,
  i32,
  i16,
  i8,
  u8,
  i4,
  boolean
};
inline constexpr int kTypeCount = 13;

std::string_view type_name(Type type);  // as in a program: "f8e4m3", "bool"
std::optional<Type> type_from_name(std::string_view name);
int type_bits(Type type);  // i4: 4, boolean: 8
bool is_real(Type type);
bool is_integer(Type type);
// The kind that a stored value is read as: f64 (real), i64, i32 or boolean.
Type kind_of(Type type);
// Bytes that hold n packed elements.
int64_t bytes_of(Type type, int64_t n);
// Smallest and greatest value of an integer type.
int64_t integer_min(Type type);
int64_t integer_max(Type type);

// A value of any type: reals as double (exact for every narrower format), integers sign-extended,
// bool as 0 or 1.
union Value {
  double real;
  int64_t integer;
};
inline Value real_value(double v) {
  return {.real = v};
}
inline Value integer_value(int64_t v) {
  return {.integer = v};
}

// The nearest value of a real format, ties to even. f16 and bf16 overflow to infinity, 8-bit
// formats saturate; NaN stays. f64 is returned as it is.
double round_to(Type real_format, double value);
// Two's complement wrap to an integer type's width.
int64_t wrap_to(Type integer_type, int64_t value);
// Conversion between any two types by the language's rules for casts: real to integer goes towards
// zero, saturates, and NaN gives 0; integers wrap; to bool is != 0.
Value convert(Type from, Type to, Value value);

// Bit patterns of stored elements. Reals of 8 and 16 bits use their format's bits.
uint64_t encode(Type type, Value value);
Value decode(Type type, uint64_t bits);
// Element `index` of a packed row-major array of `type`; i4 stands two a byte, low half first.
Value load_element(Type type, const void* data, int64_t index);
void store_element(Type type, void* data, int64_t index, Value value);

}  // namespace tang
