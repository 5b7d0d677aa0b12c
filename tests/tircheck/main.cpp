// tircheck DIR|FILE... [--bless]: runs every .tir test in process and says what is not as expected.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "driver/command.h"
#include "judge.h"

namespace tircheck {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> tests_of(const std::vector<std::string>& roots) {
  std::vector<std::string> paths;
  for (const std::string& root : roots) {
    if (!fs::is_directory(root)) {
      paths.push_back(root);
      continue;
    }
    // What stands in a folder `imported` is imported by tests, and none itself.
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".tir" && entry.path().parent_path().stem() != "imported")
        paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool has(const std::vector<std::string>& args, std::string_view flag) {
  return std::find(args.begin(), args.end(), flag) != args.end();
}

Outcome execute(const TestFile& test) {
  Outcome outcome;
  tang::Streams streams;
  outcome.status = tang::run_command(test.args, streams);
  outcome.out = streams.out;
  outcome.err = streams.err;
  const bool about_change =
      std::any_of(test.expectations.begin(), test.expectations.end(),
                  [](const Expectation& e) { return e.kind == Kind::unchanged; });
  if (about_change) {
    tang::Streams plain;
    tang::run_command({test.path, "--emit=ir", "-O0"}, plain);
    outcome.plain = plain.out;
  }
  if (outcome.status == 0 && has(test.args, "--emit=ir")) {
    tang::Streams again{.in = outcome.out};
    tang::run_command({"-", "--emit=ir", "-O0"}, again);
    outcome.reprint = again.out + again.err;
    outcome.reprinted = true;
  }
  return outcome;
}

// True when it passed, or was blessed.
bool run_test(const std::string& path, bool blessing) {
  const TestFile test = parse_test(path, read_file(path));
  const Outcome outcome = test.args.empty() ? Outcome{} : execute(test);
  const std::vector<std::string> failures = judge(test, outcome);
  if (failures.empty()) return true;
  if (blessing && !test.args.empty() && outcome.status == test.status) {
    std::ofstream(path, std::ios::binary) << bless(test, outcome);
    fmt::print("blessed {}\n", path);
    return true;
  }
  for (const std::string& failure : failures) fmt::print("{}:{}\n", path, failure);
  return false;
}

int run(const std::vector<std::string>& args) {
  std::vector<std::string> roots;
  bool blessing = false;
  for (const std::string& arg : args) {
    if (arg == "--bless") blessing = true;
    if (arg != "--bless") roots.push_back(arg);
  }
  const std::vector<std::string> paths = tests_of(roots);
  if (paths.empty()) {
    fmt::print(stderr, "usage: tircheck DIR|FILE... [--bless]\nno .tir files there\n");
    return 2;
  }
  size_t failed = 0;
  for (const std::string& path : paths) failed += run_test(path, blessing) ? 0 : 1;
  fmt::print("{} tests, {} failed\n", paths.size(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tircheck

int main(int argc, char** argv) {
  return tircheck::run({argv + 1, argv + argc});
}
