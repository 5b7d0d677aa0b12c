// Builds emitted C with the compilers at hand, warnings as errors, and calls it.
#pragma once

#include <string>
#include <vector>

#include "emit/emit.h"
#include "scalar/array.h"

namespace tang::emit {

// gcc, and clang when it is installed.
const std::vector<std::string>& compilers();

struct Built {
  std::string error;      // of the compiler; empty when it built without a warning
  void* entry = nullptr;  // int (*)(const void *args)
  void* workspace = nullptr;
};

// The artifacts as a shared library. `flags` come after the warnings.
Built build(const kernel::Module& module, const std::vector<Artifact>& artifacts,
            const std::string& compiler, const std::string& flags = "-O2");
// The header as C++; the compiler's complaints.
std::string check_header_as_cpp(const std::vector<Artifact>& artifacts);

// Lays out the argument struct and calls the entry point. `tensors` as kernel::run takes them.
struct Call {
  int status = 0;
  int64_t workspace_bytes = 0;
};
Call call(const Built& built, const kernel::Module& module, const std::vector<int64_t>& dims,
          const std::vector<Value>& scalars, std::vector<Array>& tensors);

}  // namespace tang::emit
