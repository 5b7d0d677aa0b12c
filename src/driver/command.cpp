// The table of commands, and what they all end in: an exit status and one sentence.
#include "driver/command.h"

#include <fmt/format.h>

#include <array>
#include <new>
#include <string_view>

#include "driver/commands.h"
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

}  // namespace

int run_command(const std::vector<std::string>& args, Streams& streams) {
  Invocation invocation{
      .args = args, .streams = streams, .sources = {}, .program = {}, .dependencies = {}};
  const Command* command = nullptr;
  try {
    return dispatch(invocation, command);
  } catch (const CommandError& error) {
    streams.err += fmt::format("tangc: error: {}\n", error.what());
    return error.status;
  } catch (const std::bad_alloc&) {
    streams.err += "tangc: error: there is not enough memory\n";
    return kUsage;
  } catch (const std::exception& fault) {
    streams.err += fault_report(invocation, std::string(command ? command->name : ""), fault);
    return kFault;
  }
}

}  // namespace tang
