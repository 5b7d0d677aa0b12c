// The helpers of emitted C are one real source file, included here as the compiler sees it.
#include <gtest/gtest.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <bit>
#include <cmath>

#include "scalar/type.h"
#include "support/integer.h"

namespace helpers {
#include "emit/host/helpers.c"
}

namespace tang::emit {
namespace {

TEST(Helpers, QuotientsRoundDown) {
  for (int64_t a = -20; a <= 20; ++a)
    for (int64_t b = 1; b <= 7; ++b) {
      EXPECT_EQ(helpers::floor_div(a, b), floor_div(a, b));
      EXPECT_EQ(helpers::floor_mod(a, b), floor_mod(a, b));
    }
  EXPECT_EQ(helpers::floor_div(INT64_MIN, 3), floor_div(INT64_MIN, 3));
}

TEST(Helpers, FourBitsWrapAndPack) {
  uint8_t bytes[8] = {};
  for (int32_t v = -20; v <= 20; ++v) {
    EXPECT_EQ(helpers::i4_wrap(v), wrap_to(Type::i4, v));
    const int64_t index = (v + 20) % 16;
    helpers::i4_store(bytes, index, v);
    EXPECT_EQ(helpers::i4_load(bytes, index), wrap_to(Type::i4, v));
    EXPECT_EQ(load_element(Type::i4, bytes, index).integer, wrap_to(Type::i4, v));
  }
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ(helpers::i4_load(bytes, i), load_element(Type::i4, bytes, i).integer);
}

template <class Widen>
void expect_all_patterns(Type type, Widen widen) {
  for (uint32_t bits = 0; bits < 1u << type_bits(type); ++bits) {
    const double expected = decode(type, bits).real;
    const float actual = widen(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << type_name(type) << " " << bits;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(actual),
                std::bit_cast<uint32_t>(static_cast<float>(expected)))
          << type_name(type) << " " << bits;
    }
  }
}

TEST(Helpers, EveryNarrowFloatWidens) {
  expect_all_patterns(Type::f16,
                      [](uint32_t b) { return helpers::f16_widen(static_cast<uint16_t>(b)); });
  expect_all_patterns(Type::bf16,
                      [](uint32_t b) { return helpers::bf16_widen(static_cast<uint16_t>(b)); });
  expect_all_patterns(Type::f8e4m3,
                      [](uint32_t b) { return helpers::f8e4m3_widen(static_cast<uint8_t>(b)); });
  expect_all_patterns(Type::f8e5m2,
                      [](uint32_t b) { return helpers::f8e5m2_widen(static_cast<uint8_t>(b)); });
}

}  // namespace
}  // namespace tang::emit
