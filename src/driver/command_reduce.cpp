// `tangc reduce`: a small program on which a command still fails as it does on a large one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "driver/commands.h"
#include "driver/files.h"
#include "driver/process.h"
#include "text/shrink.h"

namespace tang {

namespace {

// How a command ended, as far as it is to stay the same.
struct Ending {
  ProcessEnd end;
  int code;
  bool operator==(const Ending&) const = default;
};

class Command {
 public:
  Command(std::vector<std::string> words, const std::string& program, double seconds)
      : words_(std::move(words)),
        path_(folder_.path() + "/" + program.substr(program.find_last_of('/') + 1)),
        limit_(std::chrono::milliseconds(std::llround(seconds * 1000))) {}

  Ending run(const std::string& text) const {
    write_files({{.path = path_, .text = text}});
    ProcessRequest request{.argv = {}, .input = "", .shared_fd = -1, .time_limit = limit_};
    bool named = false;
    for (const std::string& word : words_) {
      named |= word == "{}";
      request.argv.push_back(word == "{}" ? path_ : word);
    }
    if (!named) request.argv.push_back(path_);
    const ProcessResult result = run_process(request);
    if (result.end == ProcessEnd::not_started)
      throw CommandError(kUsage, fmt::format("{} cannot be run", words_[0]));
    if (result.end == ProcessEnd::interrupted) throw CommandError(kUsage, "interrupted");
    return {result.end, result.code};
  }

 private:
  InterruptGuard interrupts_;
  TemporaryFolder folder_;
  std::vector<std::string> words_;
  std::string path_;
  std::chrono::milliseconds limit_;
};

bool is_right(const std::string& text, const ParseOptions& options) {
  Sources sources;
  Diagnostics diagnostics;
  FrontEndOptions front;
  front.parse = options;
  return front_end(sources, sources.add("", text), front, diagnostics).has_value();
}

}  // namespace

int reduce_command(Invocation& invocation) {
  // What stands behind -- is the command, whatever it looks like.
  std::vector<std::string>& args = invocation.args;
  const auto dashes = std::find(args.begin(), args.end(), "--");
  std::vector<std::string> words(dashes == args.end() ? dashes : dashes + 1, args.end());
  args.erase(dashes, args.end());
  CommonOptions common;
  std::string output;
  double seconds = 20;
  CLI::App app("Shrinks a program as long as a command ends on it as it does now: the same status\n"
               "other than 0. {} in the command is the file; without one it is the last word.\n"
               "Example: tangc reduce big.tir -- tangc run {} --random --tolerance=1e-5",
               "tangc reduce");
  add_common_options(app, common, Reads::program);
  app.add_option("-o,--output", output, "Where the small program goes; standard output if not said")
      ->type_name("FILE");
  app.add_option("--timeout", seconds, "A run that takes longer has not failed; 20 if not said")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->type_name("SECONDS");
  if (!parse_args(app, invocation)) return kSuccess;
  if (words.empty()) throw CommandError(kUsage, "give a command after --");
  const ParseOptions parse = parse_options(invocation, common);
  load_program(invocation, common.program);
  const std::string text = invocation.sources.text(0);
  const Command command(words, common.program == "-" ? "program.tir" : common.program, seconds);
  const Ending wanted = command.run(text);
  if (wanted.end == ProcessEnd::timed_out)
    throw CommandError(kProgramWrong, "the command takes longer than --timeout");
  if (wanted == Ending{ProcessEnd::exited, 0})
    throw CommandError(kProgramWrong, "the command does not fail on this program");
  const bool right = is_right(text, parse);
  int runs = 1;
  const std::string small = shrink(text, [&](const std::string& candidate) {
    if (right && !is_right(candidate, parse)) return false;
    ++runs;
    return command.run(candidate) == wanted;
  });
  remark(invocation, common, fmt::format("tangc: {} bytes of {} after {} runs", small.size(),
                                         text.size(), runs));
  write_output(invocation, output, small);
  return kSuccess;
}

}  // namespace tang
