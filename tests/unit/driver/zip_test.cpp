// Zip archives and the deflate streams in them; the streams were made by zlib.
#include "driver/zip.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/npy.h"

namespace tang {
namespace {

using testing::HasSubstr;

std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

// A block with its own codes: runs of lengths, matches near and far.
const std::string kDynamic = from_hex(
    "45d1c911c2400c44d1547c868b47cb2cb150e441f84cff29c4ad4b96f524fb7e7c5ef7fb7a5e6d87a6103b98c2da"
    "c179d4770a25cb9d52c955ebf4ab6f2875bd3a95a6a62dfa3416c0f4b41d6228820c538421c138cbe074aa404b78"
    "4372c6428d5b11aba9d7c0520d06b6b4a98105b7812d118616f4a22d1ad052730d6d2a8175ad6060a61b1c6caac1"
    "c152031cccb48d834d3e255897ebe7136a988335aa07d3ba7e34225a880834d7dc406b54d1f845e7329d13605342"
    "800dad1060832ad8a077fee3aa86bcebb56c352cad88f49f9b51cb64d68ad96bf11c754ece3a32c1be");
const std::string kFixed = from_hex("4b4c4a4e444200");
const std::string kStored = from_hex("010c00f3ff73746f726564206279746573");
const std::string kRun = from_hex("aba81805a360140c770000");

std::string dynamic_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("{}*x[{}] + ", i * i % 97, i);
  return text;
}

TEST(Inflate, EveryKindOfBlock) {
  EXPECT_EQ(inflate(kDynamic, 641), dynamic_text());
  EXPECT_EQ(inflate(kFixed, 15), "abcabcabcabcabc");
  EXPECT_EQ(inflate(kStored, 12), "stored bytes");
  EXPECT_EQ(inflate(kRun, 1000), std::string(1000, 'x'));
}

TEST(Inflate, AnotherSizeIsDamage) {
  EXPECT_FALSE(inflate(kRun, 999).has_value());
  EXPECT_FALSE(inflate(kRun, 1001).has_value());
  EXPECT_FALSE(inflate(kStored, 11).has_value());
}

TEST(Inflate, DamageNeverCrashes) {
  size_t n_right = 0;
  for (const std::string& good : {kDynamic, kFixed, kStored}) {
    const size_t size = &good == &kDynamic ? 641 : 15;
    for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(inflate(good.substr(0, n), 641));
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string damaged = good;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      n_right += inflate(damaged, size).has_value();
    }
  }
  EXPECT_GT(n_right, 0u);
}

TEST(Zip, MembersComeBack) {
  const std::vector<ZipMember> members = {{"a.npy", "first"}, {"empty", ""}, {"b", "second"}};
  const std::optional<std::string> archive = write_zip(members);
  ASSERT_TRUE(archive.has_value());
  std::string error;
  const auto back = read_zip(*archive, error);
  ASSERT_TRUE(back.has_value()) << error;
  ASSERT_EQ(back->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*back)[i].name, members[i].name);
    EXPECT_EQ((*back)[i].data, members[i].data);
  }
  EXPECT_TRUE(read_zip(*archive + "and a comment", error).has_value());
}

TEST(Zip, DamageIsAnErrorOrHarmless) {
  const std::string good = *write_zip({{"a.npy", "some bytes"}});
  std::string error;
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(read_zip(good.substr(0, n), error).has_value()) << n;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xFF);
    const auto members = read_zip(damaged, error);
    // What the checksum covers does not change unnoticed.
    if (members && !members->empty()) {
      EXPECT_EQ((*members)[0].data, "some bytes") << i;
    }
  }
  EXPECT_FALSE(read_zip("", error).has_value());
  EXPECT_EQ(error, "it is no zip archive");
}

TEST(Npz, ArraysComeBackByName) {
  Array a(Type::f32, {2}), b(Type::i8, {});
  a.set(1, real_value(2.5));
  b.set(0, integer_value(-3));
  const std::optional<std::string> archive = write_npz({{"a", &a}, {"b", &b}});
  ASSERT_TRUE(archive.has_value());
  std::string error;
  const auto back = read_npz(*archive, error);
  ASSERT_TRUE(back.has_value()) << error;
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[0].name, "a");
  EXPECT_EQ(from_npy((*back)[0].array, Type::f32, error)->real(1), 2.5);
  EXPECT_EQ(from_npy((*back)[1].array, Type::i8, error)->get(0).integer, -3);
}

TEST(Npz, ABrokenMemberIsNamed) {
  std::string error;
  EXPECT_FALSE(read_npz(*write_zip({{"x.npy", "no array"}}), error).has_value());
  EXPECT_THAT(error, HasSubstr("its member x.npy: it is not an .npy file"));
}

}  // namespace
}  // namespace tang
