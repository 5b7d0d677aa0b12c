// What the commands share: the streams, the program at hand, options that mean the same everywhere.
#pragma once

#include <string>
#include <vector>

#include "driver/command.h"
#include "driver/files.h"
#include "driver/pass_options.h"
#include "driver/pipeline.h"
#include "driver/stopwatch.h"
#include "ir/program.h"

namespace CLI {
class App;
}

namespace tang {

// How diagnostics are written. All but text are one document on standard error, which is written at
// the end of the command and is all that stands there.
enum class DiagnosticsFormat : uint8_t { text, json, sarif };

// One run of a command. Commands write to `streams`, and throw CommandError for what is no fault of
// the program.
struct Invocation {
  std::vector<std::string> args;  // of the command, its own name left out
  Streams& streams;
  Sources sources;
  std::string program;                    // path as given; "-" is standard input
  std::vector<std::string> dependencies;  // files that were read: the program, then its imports
  DiagnosticsFormat format = DiagnosticsFormat::text;
  Diagnostics reported;  // what the document will hold
  Stopwatch* watch = nullptr;
};

struct CommonOptions {
  std::string program;
  std::vector<std::string> bind;  // each "S=512" or "S=512,T=8"
  std::string entry;
  std::string diagnostics = "text";
  std::string color = "auto";
  bool quiet = false;
};

// A command that only reads text has no use for --bind and --entry.
enum class Reads : uint8_t { program, text };
void add_common_options(CLI::App& app, CommonOptions& options, Reads reads = Reads::program);
// Throws CommandError for a wrong command line; false when help was asked for, which then is in the
// streams.
bool parse_args(CLI::App& app, Invocation& invocation);

// Reads the program's text into invocation.sources, file 0.
void load_program(Invocation& invocation, const std::string& path);
ParseOptions parse_options(Invocation& invocation, const CommonOptions& options);
// The file's program, parsed, checked, rewritten and scheduled; diagnostics go to the streams.
// Nothing when it is wrong.
std::optional<Scheduled> checked_program(Invocation& invocation, const CommonOptions& options,
                                         const PassOptions& passes, Trace* trace = nullptr);
void report(Invocation& invocation, const CommonOptions& options, const Diagnostics& diagnostics);
// A line for people beside the diagnostics.
void remark(Invocation& invocation, const CommonOptions& options, const std::string& line);

// Writes to `path`, or to standard output when it is empty or "-".
void write_output(Invocation& invocation, const std::string& path, const std::string& text);

// "NAME=VALUE" in two; nothing when there is no `=` or no name.
struct Assignment {
  std::string name, value;
};
std::optional<Assignment> split_assignment(const std::string& text);
// The whole text as a decimal integer.
std::optional<int64_t> parse_integer(const std::string& text);

}  // namespace tang
