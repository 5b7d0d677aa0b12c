// The commands of tangc, each in a file of its own; command.cpp has the table of them.
#pragma once

#include <exception>
#include <string>

#include "driver/invocation.h"

namespace tang {

int compile_command(Invocation& invocation);  // what `tangc model.tir` does
int check_command(Invocation& invocation);
int run_model_command(Invocation& invocation);
int explain_command(Invocation& invocation);
int reduce_command(Invocation& invocation);
int fmt_command(Invocation& invocation);
int passes_command(Invocation& invocation);
int targets_command(Invocation& invocation);
int devices_command(Invocation& invocation);

// What a user needs in order to report a fault of ours, with the program saved to a file. `command`
// is the word after `tangc`, empty for compile.
std::string fault_report(const Invocation& invocation, const std::string& command,
                         const std::exception& fault);

}  // namespace tang
