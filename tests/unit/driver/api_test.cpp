// The public interface, as an outside caller sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tang/tang.h"

namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Api, CompilesToFiles) {
  const tang::CompileResult result = tang::compile(
      {.text = "dim N\ninput x: f32[N]\ny[i] = x[i] * 2.0\noutput y\n", .name = "dir/twice.tir"});
  ASSERT_TRUE(result.ok);
  ASSERT_EQ(result.files.size(), 3u);
  EXPECT_EQ(result.files[0].name, "twice.c");
  EXPECT_EQ(result.files[1].name, "twice.h");
  EXPECT_EQ(result.files[2].name, "twice.json");
  EXPECT_THAT(result.files[0].text, HasSubstr("twice_run"));
}

TEST(Api, MessagesAreData) {
  const tang::CompileResult result =
      tang::compile({.text = "input x: f32[3]\ny[i] = z[i]\noutput y\n", .name = "m.tir"});
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(result.files.empty());
  ASSERT_FALSE(result.messages.empty());
  const tang::CompileMessage& message = result.messages[0];
  EXPECT_TRUE(message.is_error);
  EXPECT_EQ(message.name, "undefined");
  EXPECT_EQ(message.place.file, "m.tir");
  EXPECT_EQ(message.place.line, 2u);
  EXPECT_EQ(message.place.column, 8u);
  EXPECT_THAT(message.rendered, HasSubstr("y[i] = z[i]"));
}

TEST(Api, BindAndPrefix) {
  const tang::CompileResult result =
      tang::compile({.text = "dim N\ninput x: f32[N]\ny[i] = x[i] * 2.0\noutput y\n",
                     .prefix = "net",
                     .bind = {{"N", 5}}});
  ASSERT_TRUE(result.ok);
  EXPECT_THAT(result.files[1].text, HasSubstr("net_run"));
  EXPECT_THAT(result.files[2].text, HasSubstr("\"dims\": []"));
}

TEST(Api, WrongRequests) {
  EXPECT_THROW(tang::compile({.text = "", .target = "abacus"}), std::invalid_argument);
  EXPECT_THROW(tang::compile({.text = "", .prefix = "a b"}), std::invalid_argument);
}

TEST(Api, Targets) {
  EXPECT_THAT(tang::compile_targets(), Contains("c"));
  EXPECT_FALSE(tang::compiler_version().empty());
}

}  // namespace
