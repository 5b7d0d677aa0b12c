// The table of commands, and what they all end in: an exit status and one sentence.
#include "driver/command.h"

#include <fmt/format.h>

#include <array>
#include <new>
#include <string_view>

#include "driver/commands.h"
#include "driver/diagnostics_json.h"
#include "support/panic.h"

namespace tang {
namespace {

struct Command {
  std::string_view name;
  std::string_view purpose;
  int (*run)(Invocation&);
};

constexpr std::array kCommands = {
    Command{"check", "parse, check types and prove that every read is in range", check_command},
    Command{"run", "execute a program on arrays", run_model_command},
    Command{"explain", "say what was fused, what was not, and why", explain_command},
    Command{"reduce", "shrink a program on which a command fails", reduce_command},
    Command{"fmt", "write a program in its canonical form", fmt_command},
    Command{"passes", "list the passes and legalizations", passes_command},
    Command{"targets", "list the languages that tangc writes", targets_command},
    Command{"devices", "list where `tangc run` can execute", devices_command},
};

std::string overview() {
  std::string text =
      "tangc compiles tensor programs to source code.\n\n"
      "  tangc model.tir --target=c -o model.c    write model.c, model.h and model.json\n\n"
      "Commands (tangc COMMAND --help says more):\n";
  text += fmt::format("  {:<9} {}\n", "", "without one: compile a program; its options are below");
  for (const Command& command : kCommands)
    text += fmt::format("  {:<9} {}\n", command.name, command.purpose);
  return text + "\n";
}

int dispatch(Invocation& invocation, const Command*& command) {
  std::vector<std::string>& args = invocation.args;
  if (args.empty()) {
    invocation.streams.err += overview();
    throw CommandError(kUsage, "give a program or a command (tangc --help shows them)");
  }
  if (args[0] == "--version") {
    invocation.streams.out += "tangc " TANG_VERSION "\n";
    return kSuccess;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    invocation.streams.out += overview();
    args = {"--help"};
    return compile_command(invocation);
  }
  for (const Command& candidate : kCommands) {
    if (args[0] != candidate.name) continue;
    command = &candidate;
    args.erase(args.begin());
    return candidate.run(invocation);
  }
  return compile_command(invocation);
}

// The format that a command line asks for, also when the rest of it is wrong.
DiagnosticsFormat format_of(const std::vector<std::string>& args) {
  constexpr std::string_view kOption = "--diagnostics";
  DiagnosticsFormat format = DiagnosticsFormat::text;
  for (size_t i = 0; i < args.size(); ++i) {
    std::string_view value = args[i];
    if (!value.starts_with(kOption)) continue;
    value.remove_prefix(kOption.size());
    if (value.empty() && i + 1 < args.size())
      value = args[i + 1];
    else if (value.starts_with('='))
      value.remove_prefix(1);
    if (value == "json") format = DiagnosticsFormat::json;
    if (value == "sarif") format = DiagnosticsFormat::sarif;
    if (value == "text") format = DiagnosticsFormat::text;
  }
  return format;
}

// What stands on standard error when the command is over. `failure` is a sentence, `fault` the
// report of an internal error; one of them or both are empty.
void finish_report(Invocation& invocation, const std::string& failure, const std::string& fault) {
  std::string& err = invocation.streams.err;
  switch (invocation.format) {
    case DiagnosticsFormat::text:
      err += failure.empty() ? fault : fmt::format("tangc: error: {}\n", failure);
      return;
    case DiagnosticsFormat::json:
      err = diagnostics_json(invocation.reported, invocation.sources, failure + fault);
      return;
    case DiagnosticsFormat::sarif:
      err = diagnostics_sarif(invocation.reported, invocation.sources, failure + fault);
      return;
  }
}

}  // namespace

int run_command(const std::vector<std::string>& args, Streams& streams) {
  Invocation invocation{.args = args,
                        .streams = streams,
                        .sources = {},
                        .program = {},
                        .dependencies = {},
                        .format = format_of(args),
                        .reported = {}};
  const Command* command = nullptr;
  int status = kSuccess;
  std::string failure, fault;
  try {
    status = dispatch(invocation, command);
  } catch (const CommandError& error) {
    failure = error.what();
    status = error.status;
  } catch (const std::bad_alloc&) {
    failure = "there is not enough memory";
    status = kUsage;
  } catch (const std::exception& error) {
    fault = fault_report(invocation, std::string(command ? command->name : ""), error);
    status = kFault;
  }
  finish_report(invocation, failure, fault);
  return status;
}

}  // namespace tang
