#include "scalar/type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/panic.h"

namespace tang {

namespace {

struct TypeInfo {
  std::string_view name;
  int bits;
  Type kind;
};

constexpr std::array<TypeInfo, kTypeCount> kTypes = {{
    {"f64", 64, Type::f64},
    {"f32", 32, Type::f64},
    {"f16", 16, Type::f64},
    {"bf16", 16, Type::f64},
    {"f8e4m3", 8, Type::f64},
    {"f8e5m2", 8, Type::f64},
    {"i64", 64, Type::i64},
    {"i32", 32, Type::i32},
    {"i16", 16, Type::i32},
    {"i8", 8, Type::i32},
    {"u8", 8, Type::i32},
    {"i4", 4, Type::i32},
    {"bool", 8, Type::boolean},
}};

const TypeInfo& info(Type type) {
  return kTypes[static_cast<size_t>(type)];
}

// A small binary float: sign, exponent, mantissa, IEEE layout unless `finite` (e4m3 keeps only NaN
// of the special values: the exponent of all ones holds numbers but for the mantissa of all ones).
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool finite;
  bool saturates;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int top_exponent() const {  // of the greatest finite value, unbiased
    return (1 << exponent_bits) - 1 - bias() - (finite ? 0 : 1);
  }
  double greatest() const {
    const double mantissa = 2.0 - std::ldexp(1.0, -mantissa_bits) * (finite ? 2 : 1);
    return std::ldexp(mantissa, top_exponent());
  }
};

SmallFloat small_float(Type type) {
  switch (type) {
    case Type::f16:
      return {5, 10, false, false};
    case Type::bf16:
      return {8, 7, false, false};
    case Type::f8e4m3:
      return {4, 3, true, true};
    case Type::f8e5m2:
      return {5, 2, false, true};
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
  TANG_PANIC("{} is not a small float", type_name(type));
}

double round_small(const SmallFloat& f, double v) {
  if (std::isnan(v)) return v;
  const double greatest = f.greatest();
  if (std::isinf(v)) return f.saturates ? std::copysign(greatest, v) : v;
  if (v == 0) return v;
  int exponent = std::ilogb(v);
  exponent = std::max(exponent, 1 - f.bias());  // subnormals share the smallest exponent
  const double unit = std::ldexp(1.0, exponent - f.mantissa_bits);
  const double rounded = std::nearbyint(v / unit) * unit;
  if (std::fabs(rounded) > greatest)
    return std::copysign(f.saturates ? greatest : std::numeric_limits<double>::infinity(), v);
  return rounded;
}

uint64_t encode_small(const SmallFloat& f, double v) {
  const uint64_t sign = std::signbit(v) ? 1ull << (f.exponent_bits + f.mantissa_bits) : 0;
  const uint64_t all_ones = (1ull << f.exponent_bits) - 1;
  if (std::isnan(v)) {
    const uint64_t mantissa =
        f.finite ? (1ull << f.mantissa_bits) - 1 : 1ull << (f.mantissa_bits - 1);
    return sign | all_ones << f.mantissa_bits | mantissa;
  }
  v = std::fabs(round_small(f, v));
  if (std::isinf(v)) return sign | all_ones << f.mantissa_bits;
  if (v == 0) return sign;
  const int exponent = std::ilogb(v);
  if (exponent < 1 - f.bias())
    return sign | static_cast<uint64_t>(std::ldexp(v, f.bias() - 1 + f.mantissa_bits));
  const auto mantissa =
      static_cast<uint64_t>(std::ldexp(v, f.mantissa_bits - exponent)) - (1ull << f.mantissa_bits);
  return sign | static_cast<uint64_t>(exponent + f.bias()) << f.mantissa_bits | mantissa;
}

double decode_small(const SmallFloat& f, uint64_t bits) {
  const uint64_t mantissa = bits & ((1ull << f.mantissa_bits) - 1);
  const uint64_t all_ones = (1ull << f.exponent_bits) - 1;
  const uint64_t exponent = bits >> f.mantissa_bits & all_ones;
  const bool negative = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
  double v;
  if (exponent == all_ones && !f.finite)
    v = mantissa ? std::numeric_limits<double>::quiet_NaN()
                 : std::numeric_limits<double>::infinity();
  else if (exponent == all_ones && f.finite && mantissa == (1ull << f.mantissa_bits) - 1)
    v = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    v = std::ldexp(static_cast<double>(mantissa), 1 - f.bias() - f.mantissa_bits);
  else
    v = std::ldexp(static_cast<double>(mantissa + (1ull << f.mantissa_bits)),
                   static_cast<int>(exponent) - f.bias() - f.mantissa_bits);
  return negative ? -v : v;
}

// An integer as a double whose last bit is set when anything was cut off, so that a second rounding
// to a narrower format is as good as one.
double to_odd(int64_t v) {
  uint64_t size = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  const int excess = static_cast<int>(std::bit_width(size)) - std::numeric_limits<double>::digits;
  if (excess > 0) {
    const uint64_t cut = size & ((1ull << excess) - 1);
    size = (size >> excess | (cut != 0)) << excess;
  }
  const auto magnitude = static_cast<double>(size);
  return v < 0 ? -magnitude : magnitude;
}

}  // namespace

std::string_view type_name(Type type) {
  return info(type).name;
}

std::optional<Type> type_from_name(std::string_view name) {
  for (int i = 0; i < kTypeCount; ++i)
    if (kTypes[static_cast<size_t>(i)].name == name) return static_cast<Type>(i);
  return std::nullopt;
}

int type_bits(Type type) {
  return info(type).bits;
}
bool is_real(Type type) {
  return info(type).kind == Type::f64;
}
bool is_integer(Type type) {
  return info(type).kind == Type::i32 || info(type).kind == Type::i64;
}
Type kind_of(Type type) {
  return info(type).kind;
}
int64_t bytes_of(Type type, int64_t n) {
  return (n * type_bits(type) + 7) / 8;
}

int64_t integer_min(Type type) {
  if (type == Type::u8) return 0;
  return -1 - integer_max(type);
}

int64_t integer_max(Type type) {
  if (type == Type::u8) return 255;
  return static_cast<int64_t>((1ull << (type_bits(type) - 1)) - 1);
}

double round_to(Type format, double value) {
  if (format == Type::f64) return value;
  if (format == Type::f32) return static_cast<double>(static_cast<float>(value));
  return round_small(small_float(format), value);
}

int64_t wrap_to(Type type, int64_t value) {
  switch (type) {
    case Type::i64:
      return value;
    case Type::i32:
      return static_cast<int32_t>(value);
    case Type::i16:
      return static_cast<int16_t>(value);
    case Type::i8:
      return static_cast<int8_t>(value);
    case Type::u8:
      return static_cast<uint8_t>(value);
    case Type::i4:
      return (value & 15) - ((value & 8) << 1);
    case Type::boolean:
      return value != 0;
    case Type::f64:
    case Type::f32:
    case Type::f16:
    case Type::bf16:
    case Type::f8e4m3:
    case Type::f8e5m2:
      break;
  }
  TANG_PANIC("{} is not an integer type", type_name(type));
}

Value convert(Type from, Type to, Value value) {
  if (is_real(from)) {
    const double v = value.real;
    if (is_real(to)) return real_value(round_to(to, v));
    if (to == Type::boolean) return integer_value(v != 0);
    if (std::isnan(v)) return integer_value(0);
    const double t = std::trunc(v);
    // Both bounds of i64 as doubles: -2^63 is exact, 2^63 is the first value too large.
    if (to == Type::i64 && t >= 9223372036854775808.0) return integer_value(INT64_MAX);
    if (t <= static_cast<double>(integer_min(to))) return integer_value(integer_min(to));
    if (to != Type::i64 && t >= static_cast<double>(integer_max(to)))
      return integer_value(integer_max(to));
    return integer_value(static_cast<int64_t>(t));
  }
  if (is_real(to)) {
    if (to == Type::f64) return real_value(static_cast<double>(value.integer));
    return real_value(round_to(to, to_odd(value.integer)));
  }
  return integer_value(wrap_to(to, value.integer));
}

uint64_t encode(Type type, Value value) {
  if (type == Type::f64) return std::bit_cast<uint64_t>(value.real);
  if (type == Type::f32) return std::bit_cast<uint32_t>(static_cast<float>(value.real));
  if (is_real(type)) return encode_small(small_float(type), value.real);
  const int bits = type_bits(type);
  const auto pattern = static_cast<uint64_t>(value.integer);
  return bits == 64 ? pattern : pattern & ((1ull << bits) - 1);
}

Value decode(Type type, uint64_t bits) {
  if (type == Type::f64) return real_value(std::bit_cast<double>(bits));
  if (type == Type::f32)
    return real_value(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  if (is_real(type)) return real_value(decode_small(small_float(type), bits));
  return integer_value(wrap_to(type, static_cast<int64_t>(bits)));
}

Value load_element(Type type, const void* data, int64_t index) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  if (type == Type::i4)
    return decode(type, static_cast<uint64_t>(bytes[index / 2] >> (index % 2 * 4)) & 15);
  const int width = type_bits(type) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, bytes + index * width, static_cast<size_t>(width));
  return decode(type, bits);
}

void store_element(Type type, void* data, int64_t index, Value value) {
  auto* bytes = static_cast<unsigned char*>(data);
  const uint64_t bits = encode(type, value);
  if (type == Type::i4) {
    const int shift = static_cast<int>(index % 2) * 4;
    bytes[index / 2] =
        static_cast<unsigned char>((bytes[index / 2] & ~(15 << shift)) | bits << shift);
    return;
  }
  const int width = type_bits(type) / 8;
  std::memcpy(bytes + index * width, &bits, static_cast<size_t>(width));
}

}  // namespace tang
