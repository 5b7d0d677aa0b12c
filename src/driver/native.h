// Emitted C to a shared library, with the C compiler that the user has.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"

namespace tang {

// The words of $CC, else `cc`. Nothing when the first is no program that can be run.
std::optional<std::vector<std::string>> c_compiler();

struct Built {
  std::string library;  // path, within `folder`
  std::string command;  // what built it, for people
};
// Writes the artifacts to `folder` and compiles them, with OpenMP where the compiler has it and the
// words of $CFLAGS after our own flags. Throws CommandError when there is no compiler,
// InternalError when it rejects what we emitted.
Built build_library(const std::vector<emit::Artifact>& artifacts, const std::string& stem,
                    const std::string& folder, std::chrono::milliseconds time_limit);

}  // namespace tang
