// Storage formats against independent references: every 8- and 16-bit pattern, and rounding by the
// compiler's own _Float16 or by search among the decoded neighbours.
#include "scalar/type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "scalar/array.h"

namespace tang {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Type kSmall[] = {Type::f16, Type::bf16, Type::f8e4m3, Type::f8e5m2};

uint64_t n_patterns(Type type) {
  return 1ull << type_bits(type);
}

// All finite values of a format that are not negative, ascending. Patterns are in order of value.
std::vector<double> magnitudes(Type type) {
  std::vector<double> out;
  for (uint64_t bits = 0; bits < n_patterns(type) / 2; ++bits)
    if (const double v = decode(type, bits).real; std::isfinite(v)) out.push_back(v);
  return out;
}

TEST(SmallFloats, EveryPatternRoundTrips) {
  for (const Type type : kSmall) {
    for (uint64_t bits = 0; bits < n_patterns(type); ++bits) {
      const double v = decode(type, bits).real;
      const uint64_t back = encode(type, real_value(v));
      if (std::isnan(v)) {
        EXPECT_TRUE(std::isnan(decode(type, back).real)) << type_name(type) << " " << bits;
      } else if (std::isinf(v) && type == Type::f8e5m2) {
        EXPECT_EQ(decode(type, back).real, std::copysign(57344.0, v));  // casts saturate
      } else {
        EXPECT_EQ(back, bits) << type_name(type);
        EXPECT_EQ(std::signbit(round_to(type, v)), std::signbit(v));
        EXPECT_EQ(round_to(type, v), v);
      }
    }
  }
}

TEST(SmallFloats, F16AgreesWithTheCompilers) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    const double v = decode(Type::f16, bits).real;
    if (std::isnan(static_cast<double>(half)))
      EXPECT_TRUE(std::isnan(v));
    else
      EXPECT_EQ(v, static_cast<double>(half));
  }
}

TEST(SmallFloats, Bf16IsTheUpperHalfOfF32) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double v = decode(Type::bf16, bits).real;
    const auto f = static_cast<double>(std::bit_cast<float>(bits << 16));
    EXPECT_TRUE(v == f || (std::isnan(v) && std::isnan(f))) << bits;
  }
}

TEST(SmallFloats, KnownValuesOfF8) {
  EXPECT_EQ(decode(Type::f8e4m3, 0x7E).real, 448);
  EXPECT_TRUE(std::isnan(decode(Type::f8e4m3, 0x7F).real));
  EXPECT_EQ(decode(Type::f8e4m3, 0x01).real, std::ldexp(1, -9));
  EXPECT_EQ(decode(Type::f8e4m3, 0x38).real, 1);
  EXPECT_EQ(decode(Type::f8e5m2, 0x7B).real, 57344);
  EXPECT_EQ(decode(Type::f8e5m2, 0xFC).real, -kInf);
  EXPECT_EQ(decode(Type::f8e5m2, 0x01).real, std::ldexp(1, -16));
}

// At each value, halfway to the next, and a hair to either side of halfway.
TEST(SmallFloats, RoundsToNearestTiesToEven) {
  for (const Type type : kSmall) {
    const std::vector<double> values = magnitudes(type);
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      const double low = values[i], high = values[i + 1], middle = low + (high - low) / 2;
      const double even = i % 2 == 0 ? low : high;  // patterns count up by one
      EXPECT_EQ(round_to(type, middle), even) << type_name(type) << " " << middle;
      EXPECT_EQ(round_to(type, -middle), -even);
      EXPECT_EQ(round_to(type, std::nextafter(middle, 0)), low);
      EXPECT_EQ(round_to(type, std::nextafter(middle, kInf)), high);
    }
  }
}

TEST(SmallFloats, F16RoundsAsTheCompilerDoes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto v = std::bit_cast<double>(random() >> 1 | random() << 63);
    const auto narrow = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                                   static_cast<int>(random() % 48) - 30);
    for (const double x : {v, narrow}) {
      if (std::isnan(x)) continue;
      EXPECT_EQ(round_to(Type::f16, x), static_cast<double>(static_cast<_Float16>(x))) << x;
    }
  }
}

TEST(SmallFloats, OverflowAndNan) {
  EXPECT_EQ(round_to(Type::f16, 65519.99), 65504);
  EXPECT_EQ(round_to(Type::f16, 65520), kInf);
  EXPECT_EQ(round_to(Type::bf16, 3.4e38), kInf);
  EXPECT_EQ(round_to(Type::bf16, -1e300), -kInf);
  EXPECT_EQ(round_to(Type::f8e4m3, 1e9), 448);
  EXPECT_EQ(round_to(Type::f8e4m3, -kInf), -448);
  EXPECT_EQ(round_to(Type::f8e5m2, 60000), 57344);
  EXPECT_EQ(round_to(Type::f8e5m2, kInf), 57344);
  for (const Type type : kSmall) EXPECT_TRUE(std::isnan(round_to(type, std::nan(""))));
  EXPECT_TRUE(std::signbit(round_to(Type::f16, -1e-30)));
}

Value as_real(double v) {
  return real_value(v);
}
int64_t to_integer(Type type, double v) {
  return convert(Type::f64, type, as_real(v)).integer;
}

TEST(Convert, RealToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(to_integer(Type::i32, 2.9), 2);
  EXPECT_EQ(to_integer(Type::i32, -2.9), -2);
  EXPECT_EQ(to_integer(Type::i32, 3e9), INT32_MAX);
  EXPECT_EQ(to_integer(Type::i32, 2147483647.5), INT32_MAX);
  EXPECT_EQ(to_integer(Type::i32, -2147483648.9), INT32_MIN);
  EXPECT_EQ(to_integer(Type::i32, -kInf), INT32_MIN);
  EXPECT_EQ(to_integer(Type::i64, 9.3e18), INT64_MAX);
  EXPECT_EQ(to_integer(Type::i64, 9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(to_integer(Type::i64, -9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(to_integer(Type::u8, -1), 0);
  EXPECT_EQ(to_integer(Type::u8, 255.9), 255);
  EXPECT_EQ(to_integer(Type::u8, 256), 255);
  EXPECT_EQ(to_integer(Type::i8, -129), -128);
  EXPECT_EQ(to_integer(Type::i4, 8), 7);
  EXPECT_EQ(to_integer(Type::i4, -9), -8);
  for (const Type type : {Type::i64, Type::i32, Type::i16, Type::i8, Type::u8, Type::i4})
    EXPECT_EQ(to_integer(type, std::nan("")), 0);
}

TEST(Convert, IntegersWrap) {
  const auto wrap = [](Type to, int64_t v) {
    return convert(Type::i64, to, integer_value(v)).integer;
  };
  EXPECT_EQ(wrap(Type::i32, 1ll << 31), INT32_MIN);
  EXPECT_EQ(wrap(Type::i16, 32768), -32768);
  EXPECT_EQ(wrap(Type::i8, 200), -56);
  EXPECT_EQ(wrap(Type::u8, -1), 255);
  EXPECT_EQ(wrap(Type::i4, 8), -8);
  EXPECT_EQ(wrap(Type::i4, 23), 7);
  EXPECT_EQ(wrap(Type::boolean, 256), 1);
  EXPECT_EQ(wrap(Type::boolean, 0), 0);
}

TEST(Convert, BoolOfARealIsDifferentFromZero) {
  const auto truth = [](double v) {
    return convert(Type::f64, Type::boolean, real_value(v)).integer;
  };
  EXPECT_EQ(truth(0.0), 0);
  EXPECT_EQ(truth(-0.0), 0);
  EXPECT_EQ(truth(1e-300), 1);
  EXPECT_EQ(truth(std::nan("")), 1);
}

// 2^62 + 2^54 is halfway between two bf16 values, 2^60 + 2^36 between two f32 values; one more
// must round up, although f64 cannot tell it from halfway.
TEST(Convert, LargeIntegersRoundOnce) {
  const auto real = [](Type to, int64_t v) {
    return convert(Type::i64, to, integer_value(v)).real;
  };
  EXPECT_EQ(real(Type::bf16, (1ll << 62) + (1ll << 54)), std::ldexp(1, 62));
  EXPECT_EQ(real(Type::bf16, (1ll << 62) + (1ll << 54) + 1), std::ldexp(1, 62) + std::ldexp(1, 55));
  EXPECT_EQ(real(Type::bf16, -(1ll << 62) - (1ll << 54) - 1),
            -std::ldexp(1, 62) - std::ldexp(1, 55));
  EXPECT_EQ(real(Type::f32, (1ll << 60) + (1ll << 36)), std::ldexp(1, 60));
  EXPECT_EQ(real(Type::f32, (1ll << 60) + (1ll << 36) + 1), std::ldexp(1, 60) + std::ldexp(1, 37));
  EXPECT_EQ(real(Type::f32, INT64_MIN), -std::ldexp(1, 63));
  EXPECT_EQ(real(Type::f64, INT64_MAX), std::ldexp(1, 63));
  EXPECT_EQ(real(Type::f16, 65519), 65504);
  EXPECT_EQ(real(Type::f8e4m3, 1 << 20), 448);
}

TEST(Names, RoundTrip) {
  for (int i = 0; i < kTypeCount; ++i) {
    const auto type = static_cast<Type>(i);
    EXPECT_EQ(type_from_name(type_name(type)), type);
  }
  EXPECT_FALSE(type_from_name("float32"));
}

TEST(Elements, I4StandsTwoAByteLowHalfFirst) {
  Array a(Type::i4, {3});
  ASSERT_EQ(a.data.size(), 2u);
  a.set(0, integer_value(-1));
  a.set(1, integer_value(7));
  a.set(2, integer_value(-8));
  EXPECT_EQ(std::to_integer<int>(a.data[0]), 0x7F);
  EXPECT_EQ(std::to_integer<int>(a.data[1]), 0x08);
  EXPECT_EQ(a.get(0).integer, -1);
  EXPECT_EQ(a.get(1).integer, 7);
  EXPECT_EQ(a.get(2).integer, -8);
}

TEST(Elements, EveryTypeKeepsItsExtremes) {
  for (int i = 0; i < kTypeCount; ++i) {
    const auto type = static_cast<Type>(i);
    Array a(type, {2});
    if (is_real(type)) {
      a.set(0, real_value(-1.5));
      a.set(1, real_value(0.25));
      EXPECT_EQ(a.get(0).real, -1.5);
      EXPECT_EQ(a.get(1).real, 0.25);
    } else if (is_integer(type)) {
      a.set(0, integer_value(integer_min(type)));
      a.set(1, integer_value(integer_max(type)));
      EXPECT_EQ(a.get(0).integer, integer_min(type)) << type_name(type);
      EXPECT_EQ(a.get(1).integer, integer_max(type)) << type_name(type);
    } else {
      a.set(0, integer_value(1));
      EXPECT_EQ(a.get(0).integer, 1);
      EXPECT_EQ(a.get(1).integer, 0);
    }
  }
}

TEST(Elements, BoolsOfOtherBytesAreTrue) {
  Array a(Type::boolean, {1});
  a.data[0] = std::byte{2};
  EXPECT_EQ(a.get(0).integer, 1);
}

}  // namespace
}  // namespace tang
