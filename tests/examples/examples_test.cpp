// Every example, at several sizes, by every device that is here, against the same thing in plain
// C++; and the commands that its first comment shows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "driver/command.h"
#include "program.h"

namespace tang::examples {
namespace {

// The interpreter computes in f64 and rounds its outputs to f32.
constexpr double kRounding = 1.2e-7;

class ExampleTest : public testing::TestWithParam<size_t> {
 protected:
  const Example& example() const { return examples()[GetParam()]; }

  void expect_right(const Program& program, const Arrays& have, const std::string& error,
                    double tolerance, const std::string& who) {
    if (!error.empty())
      FAIL() << who << ": " << error;
    else
      EXPECT_EQ(difference(program.expected(), have, tolerance, example().integers), "") << who;
  }

  void run_on(const std::string& device, const std::string& cc, double tolerance) {
    for (const Sizes& sizes : example().sizes) {
      const Program program(example(), sizes);
      std::string error;
      const Arrays have = program.run(device, cc, error);
      expect_right(program, have, error, tolerance, text_of(sizes));
    }
  }
};

bool is_installed(const std::string& program) {
  return std::system(fmt::format("command -v {} >/dev/null 2>&1", program).c_str()) == 0;
}

TEST_P(ExampleTest, Interpreter) {
  run_on("interp", "", kRounding);
}

TEST_P(ExampleTest, Kernel) {
  run_on("kernel", "", example().tolerance);
}

TEST_P(ExampleTest, Gcc) {
  if (!is_installed("gcc")) GTEST_SKIP() << "gcc is not installed";
  run_on("c", "gcc", example().tolerance);
}

TEST_P(ExampleTest, Clang) {
  for (const char* clang : {"clang-19", "clang"})
    if (is_installed(clang)) return run_on("c", clang, example().tolerance);
  GTEST_SKIP() << "clang is not installed";
}

// As a user's own program calls it, warnings as errors, with the sanitizers watching.
TEST_P(ExampleTest, AloneWithSanitizers) {
  if (!is_installed("gcc")) GTEST_SKIP() << "gcc is not installed";
  for (const Sizes& sizes : example().sizes) {
    const Program program(example(), sizes);
    std::string error;
    const Arrays have = program.run_alone("gcc -g -O0 -fsanitize=address,undefined", error);
    expect_right(program, have, error, example().tolerance, text_of(sizes));
  }
}

// The lines "#   tangc ..." of the first comment, one after the other in a folder of their own.
TEST_P(ExampleTest, CommandsOfItsComment) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directory("examples");
  std::filesystem::copy(source_of(example().name), "examples");
  std::ifstream source(source_of(example().name));
  size_t n_commands = 0;
  for (std::string line; std::getline(source, line) && line.starts_with("#");) {
    if (!line.starts_with("#   tangc ")) continue;
    std::istringstream words(line.substr(4));
    std::vector<std::string> args;
    for (std::string word; words >> word;) args.push_back(word);
    args.erase(args.begin());
    Streams streams;
    EXPECT_EQ(run_command(args, streams), 0) << line << "\n" << streams.err;
    EXPECT_TRUE(std::filesystem::exists(args.back().substr(args.back().find('=') + 1))) << line;
    ++n_commands;
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(n_commands, 2u) << "one command compiles the example and one runs it";
}

TEST(Examples, DifferencesAreSeen) {
  Arrays want{{"y", Values({2})}}, have = want;
  want.at("y").data = {1, 1000};
  have.at("y").data = {1.0005, 1000};  // relative to the greatest value
  EXPECT_EQ(difference(want, have, 1e-6, {}), "");
  EXPECT_NE(difference(want, have, 1e-7, {}), "");
  EXPECT_NE(difference(want, have, 1e-6, {"y"}), "");
  have.at("y").data = {std::nan(""), 1000};
  EXPECT_NE(difference(want, have, 1e-6, {}), "");
}

TEST(Examples, AllAreTested) {
  size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TANG_EXAMPLES))
    n_files += entry.path().extension() == ".tir" ? 1 : 0;
  EXPECT_EQ(n_files, examples().size());
}

std::vector<size_t> all_positions() {
  std::vector<size_t> positions(examples().size());
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  return positions;
}

INSTANTIATE_TEST_SUITE_P(All, ExampleTest, testing::ValuesIn(all_positions()),
                         [](const testing::TestParamInfo<size_t>& position) {
                           return examples()[position.param].name;
                         });

}  // namespace
}  // namespace tang::examples
