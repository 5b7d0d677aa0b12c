// .npy files: what goes out comes back, what numpy writes is read, what is broken is an error.
#include "driver/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tang {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_literals;

// As numpy pads it: the data begin at a multiple of 64 bytes.
std::string file_of(std::string header, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY"s + version + '\0';
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t unpadded = out.size() + length_bytes + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  for (size_t i = 0; i < length_bytes; ++i)
    out += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return out + header + data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string error_of(const std::string& file) {
  std::string error;
  EXPECT_FALSE(read_npy(file, error).has_value());
  return error;
}

Array read_as(const std::string& file, Type type) {
  std::string error;
  const std::optional<NpyArray> raw = read_npy(file, error);
  EXPECT_TRUE(raw.has_value()) << error;
  if (!raw) return {};
  const std::optional<Array> array = from_npy(*raw, type, error);
  EXPECT_TRUE(array.has_value()) << error;
  return array.value_or(Array());
}

std::string conversion_error(const std::string& file, Type type) {
  std::string error;
  const std::optional<NpyArray> raw = read_npy(file, error);
  EXPECT_TRUE(raw.has_value()) << error;
  EXPECT_FALSE(raw && from_npy(*raw, type, error).has_value());
  return error;
}

TEST(Npy, EveryTypeComesBackBitForBit) {
  for (int t = 0; t < kTypeCount; ++t) {
    const auto type = static_cast<Type>(t);
    Array array(type, {3, 5});
    for (int64_t i = 0; i < array.size(); ++i) {
      const double real =
          i == 4 ? std::numeric_limits<double>::quiet_NaN() : 0.25 * static_cast<double>(i) - 1;
      const int64_t integer = type == Type::boolean ? i % 2 : type == Type::u8 ? i * 17 : i - 7;
      array.set(i, is_real(type) ? real_value(round_to(type, real)) : integer_value(integer));
    }
    const Array back = read_as(write_npy(array), type);
    EXPECT_EQ(back.type, type);
    EXPECT_EQ(back.shape, array.shape) << type_name(type);
    EXPECT_EQ(back.data, array.data) << type_name(type);
  }
}

TEST(Npy, RankZeroOneAndEmptyComeBack) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {1}, {7}, {0}, {3, 0, 2}, {1, 1, 1, 4}}) {
    const Array array(Type::f32, shape);
    EXPECT_EQ(read_as(write_npy(array), Type::f32).shape, shape);
  }
}

TEST(Npy, DataBeginAtAMultipleOf64) {
  const std::string file = write_npy(Array(Type::f32, {2, 3}));
  EXPECT_THAT(file, StartsWith("\x93NUMPY\x01\0"s));
  EXPECT_EQ((file.size() - 24) % 64, 0u);
}

TEST(Npy, ReadsAllVersions) {
  const std::string data = bytes<float>({1, 2, 3});
  for (const char version : {char{1}, char{2}, char{3}})
    EXPECT_EQ(read_as(file_of(header("<f4", "(3,)"), data, version), Type::f32).real(2), 3.0);
}

TEST(Npy, FortranOrderBecomesRowMajor) {
  // Columns first: a[i,j,k] = 100*i + 10*j + k for 2 x 3 x 2.
  std::vector<int32_t> data;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data.push_back(100 * i + 10 * j + k);
  const Array a = read_as(file_of(header("<i4", "(2, 3, 2)", true), bytes(data)), Type::i32);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 2; ++k)
        EXPECT_EQ(a.get((i * 3 + j) * 2 + k).integer, 100 * i + 10 * j + k);
}

TEST(Npy, HeaderFieldsMayComeInAnyOrderAndQuotes) {
  const std::string text = "{\"shape\":(2L,),\"descr\":\"<f8\",\"fortran_order\":False}";
  EXPECT_EQ(read_as(file_of(text, bytes<double>({1.5, 2.5})), Type::f64).real(1), 2.5);
}

TEST(Npy, IntegersConvertWhenTheyFit) {
  const std::string file = file_of(header("<i8", "(3,)"), bytes<int64_t>({-8, 0, 7}));
  EXPECT_EQ(read_as(file, Type::i4).get(0).integer, -8);
  EXPECT_EQ(read_as(file, Type::i32).get(2).integer, 7);
  EXPECT_THAT(conversion_error(file, Type::u8), HasSubstr("element 0 is -8, which u8"));
  const std::string big = file_of(header("<u8", "(1,)"), bytes<uint64_t>({~uint64_t{0}}));
  EXPECT_THAT(conversion_error(big, Type::i64), HasSubstr("above the greatest i64"));
}

TEST(Npy, RealsConvertOnlyWithoutLoss) {
  const std::string narrow = file_of(header("<f2", "(1,)"), bytes<uint16_t>({0x3E00}));
  EXPECT_EQ(read_as(narrow, Type::f32).real(0), 1.5);
  const std::string wide = file_of(header("<f8", "(1,)"), bytes<double>({1.5}));
  EXPECT_EQ(conversion_error(wide, Type::f32), "it holds f64, and f32 is declared");
  EXPECT_EQ(conversion_error(wide, Type::i32), "it holds f64, and i32 is declared");
  const std::string integers = file_of(header("<i4", "(1,)"), bytes<int32_t>({1}));
  EXPECT_EQ(conversion_error(integers, Type::f32), "it holds i32, and f32 is declared");
}

TEST(Npy, Bf16IsBitsOrF32) {
  const std::string bits = file_of(header("<u2", "(1,)"), bytes<uint16_t>({0x3FC0}));
  EXPECT_EQ(read_as(bits, Type::bf16).real(0), 1.5);
  const std::string f32 = file_of(header("<f4", "(1,)"), bytes<float>({1.0f + 0x1p-9f}));
  EXPECT_EQ(read_as(f32, Type::bf16).real(0), 1.0);
  const std::string f16 = file_of(header("<f2", "(1,)"), bytes<uint16_t>({0x3E00}));
  EXPECT_THAT(conversion_error(f16, Type::bf16), HasSubstr("it holds f16"));
}

TEST(Npy, BoolsAreZeroOrOne) {
  EXPECT_EQ(read_as(file_of(header("|b1", "(2,)"), "\0\1"s), Type::boolean).get(1).integer, 1);
  EXPECT_THAT(conversion_error(file_of(header("|b1", "(2,)"), "\0\2"s), Type::boolean),
              HasSubstr("neither true nor false"));
  EXPECT_THAT(conversion_error(file_of(header("|u1", "(1,)"), "\1"s), Type::boolean),
              HasSubstr("it holds u8, and bool is declared"));
}

TEST(Npy, MalformedFilesAreErrors) {
  const std::string data = bytes<float>({1, 2});
  const std::string good = file_of(header("<f4", "(2,)"), data);
  EXPECT_EQ(error_of(""), "it is not an .npy file");
  EXPECT_EQ(error_of("PK\3\4 something else"), "it is not an .npy file");
  EXPECT_THAT(error_of(file_of(header("<f4", "(2,)"), data, 4)), HasSubstr("version is 4"));
  EXPECT_THAT(error_of(good.substr(0, good.size() - 1)), HasSubstr("needs 8 bytes, and 7"));
  EXPECT_THAT(error_of(good + "x"), HasSubstr("needs 8 bytes, and 9"));
  EXPECT_THAT(error_of(good.substr(0, 40)), HasSubstr("ends within its header"));
  EXPECT_THAT(error_of(file_of(header(">f4", "(2,)"), data)), HasSubstr("not little-endian"));
  EXPECT_THAT(error_of(file_of(header("<c8", "(1,)"), data)), HasSubstr("'<c8'"));
  EXPECT_THAT(error_of(file_of(header("", "(1,)"), data)), HasSubstr("''"));
  EXPECT_THAT(
      error_of(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", data)),
      HasSubstr("records"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4'}", data)), HasSubstr("lacks"));
  EXPECT_THAT(error_of(file_of(header("<f4", "(2,)") + " x", data)), HasSubstr("follows"));
  EXPECT_THAT(error_of(file_of(header("<f4", "(-2,)"), data)), HasSubstr("no valid shape"));
  EXPECT_THAT(error_of(file_of(header("<f4", "2"), data)), HasSubstr("no valid shape"));
  EXPECT_THAT(error_of(file_of(header("<f4", "(99999999999999999999,)"), data)),
              HasSubstr("no valid shape"));
  EXPECT_THAT(error_of(file_of(header("<f4", "(4294967296, 4294967296)"), data)),
              HasSubstr("larger than memory"));
}

// Any prefix of a file, and a file with any one byte changed, is an error or an array, no crash.
TEST(Npy, DamageNeverCrashes) {
  const std::string good = file_of(header("<f4", "(2, 1)", true), bytes<float>({1, 2}));
  for (size_t n = 0; n < good.size(); ++n) error_of(good.substr(0, n));
  std::string error;
  size_t n_read = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '(', '9', '\xFF'}) {
      std::string damaged = good;
      damaged[i] = c;
      n_read += read_npy(damaged, error).has_value();
    }
  }
  EXPECT_GT(n_read, 0u);  // changes within the data
}

}  // namespace
}  // namespace tang
