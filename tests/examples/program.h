// An example with sizes and data, on disk, and the ways to execute it.
#pragma once

#include <string>
#include <vector>

#include "driver/files.h"
#include "reference.h"

namespace tang::examples {

// One file a tensor in a temporary folder, filled with random values that f32 holds exactly.
class Program {
 public:
  Program(const Example& example, const Sizes& sizes);

  const Arrays& expected() const { return expected_; }
  // `tangc run` in this process, compiled code by the C compiler `cc`. Fills `error` on failure.
  Arrays run(const std::string& device, const std::string& cc, std::string& error) const;
  // The emitted C with a main program around it, built by `command` (compiler and flags).
  Arrays run_alone(const std::string& command, std::string& error) const;

 private:
  std::string path(const std::string& file) const { return folder_.path() + "/" + file; }
  std::string main_program() const;
  Arrays read_outputs(const std::string& suffix, std::string& error) const;

  const Example& example_;
  Sizes sizes_;
  std::vector<Declared> inputs_;
  Arrays expected_;
  TemporaryFolder folder_;
};

// The path of an example's source.
std::string source_of(const std::string& name);
// The sentence that says where two results differ; empty when they agree.
std::string difference(const Arrays& want, const Arrays& have, double tolerance,
                       const std::vector<std::string>& integers);
// "S=7, T=3"
std::string text_of(const Sizes& sizes);

}  // namespace tang::examples
