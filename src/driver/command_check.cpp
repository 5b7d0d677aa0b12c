// `tangc check`: is the program right, for all sizes that it allows?
#include <CLI/CLI.hpp>

#include "driver/commands.h"

namespace tang {

int check_command(Invocation& invocation) {
  CommonOptions options;
  CLI::App app("Parses a program, checks its types and proves that every read is in range.",
               "tangc check");
  add_common_options(app, options);
  if (!parse_args(app, invocation)) return kSuccess;
  return checked_program(invocation, options, {}) ? kSuccess : kProgramWrong;
}

}  // namespace tang
