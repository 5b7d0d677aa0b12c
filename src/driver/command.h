// The command line, as a function: `tangc` calls it with the process's streams, tests in process.
#pragma once

#include <string>
#include <vector>

namespace tang {

struct Streams {
  std::string in;           // what `-` reads, when `read_stdin` is false
  std::string out;          // what goes to standard output
  std::string err;          // diagnostics
  bool read_stdin = false;  // read the process's standard input on demand instead of `in`
  bool color = false;       // what --color=auto means: standard error is a terminal
};

// What run_command returns.
inline constexpr int kSuccess = 0;
inline constexpr int kProgramWrong = 1;  // the program, or the data that it runs on
inline constexpr int kUsage = 2;         // the command line, a file, a missing tool
inline constexpr int kFault = 70;        // tangc itself

// args without the program's name. Returns the exit status.
int run_command(const std::vector<std::string>& args, Streams& streams);

}  // namespace tang
