// The options that say which rewrites run, for every command that compiles.
#pragma once

#include <string>

#include "driver/pipeline.h"

namespace CLI {
class App;
}

namespace tang {

struct Invocation;

struct PassOptions {
  int level = 2;
  std::string list;        // names with commas between; empty: by level
  bool list_given = false;
  std::string stop_after;  // a pass: print the program after it, and no more
  bool print_all = false;
  bool strict = false;
  bool verify_each = false;
};

void add_pass_options(CLI::App& app, PassOptions& options);

// The passes to run, in their order; throws CommandError for an unknown name.
std::vector<const Pass*> chosen_passes(const PassOptions& options);

// What the front end does for these options: its passes, and what --print-after-all prints, to the
// error stream.
FrontEndOptions front_end_options(Invocation& invocation, const PassOptions& options);

}  // namespace tang
