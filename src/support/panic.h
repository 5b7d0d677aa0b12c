// Faults of the compiler itself: a broken invariant throws InternalError, which only the driver
// catches (it saves the program, says how to reproduce, and exits with 70).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace tang {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void panic_at(const char* file, int line, const std::string& message);

}  // namespace tang

#define TANG_PANIC(...) ::tang::panic_at(__FILE__, __LINE__, ::fmt::format(__VA_ARGS__))
// Always on: the checks are cheap beside what they save. The rest is a format string and arguments.
#define TANG_ASSERT(condition, ...) \
  do {                              \
    if (!(condition)) [[unlikely]]  \
      TANG_PANIC(__VA_ARGS__);      \
  } while (false)
