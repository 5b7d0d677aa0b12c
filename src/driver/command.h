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
  bool color = false;
};

// args without the program's name. Returns the exit status: 0, 1 (the program is wrong), 2 (usage),
// 70 (a fault of tangc).
int run_command(const std::vector<std::string>& args, Streams& streams);

}  // namespace tang
