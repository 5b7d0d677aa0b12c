// A folder for one test's files, and run_command on them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "driver/command.h"
#include "driver/files.h"

namespace tang {

class Workplace : public testing::Test {
 protected:
  struct Outcome {
    int status;
    std::string out, err;
  };

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

  size_t n_files() const {
    namespace fs = std::filesystem;
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  static Outcome tangc(const std::vector<std::string>& args, const std::string& in = "") {
    Streams streams{.in = in};
    const int status = run_command(args, streams);
    return {.status = status, .out = streams.out, .err = streams.err};
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace tang
