#include "support/panic.h"

#include <cstring>

namespace tang {

void panic_at(const char* file, int line, const std::string& message) {
  const char* source = std::strstr(file, "src/");
  throw InternalError(fmt::format("{}:{}: {}", source ? source : file, line, message));
}

}  // namespace tang
