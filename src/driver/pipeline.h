// The compiler as a column of calls: the only place that knows the order of the stages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/stopwatch.h"
#include "emit/emit.h"
#include "ir/schedule.h"
#include "kernel/module.h"
#include "text/parse.h"

namespace tang {

struct CompileOptions {
  ParseOptions parse;
  std::string target = "c";
  std::string prefix;        // empty: from the file's stem
  bool verify_each = false;  // check the invariants of graph and kernels after every stage
};

struct Scheduled {
  Program program;
  Schedule schedule;
};

struct Compiled {
  Program program;
  Schedule schedule;
  kernel::Module module;  // legalized for the target
};

// "attention" of "models/attention.tir"; "tang" of "-", standard input.
std::string program_stem(std::string_view path);
// The prefix of a program that has no other: its stem with `_` for what a C name cannot hold, and
// before a leading digit.
std::string default_prefix(std::string_view path);
bool is_c_name(std::string_view name);

// Parse, check, schedule: all that can find a fault in a program's text. Nothing when there was
// an error, which then is in `diagnostics`.
std::optional<Scheduled> front_end(Sources& sources, uint32_t file, const ParseOptions& options,
                                   Diagnostics& diagnostics, Stopwatch* watch = nullptr);
struct BackEndOptions {
  std::string prefix = "tang";
  bool verify_each = false;    // check the invariants of graph and kernels after every stage
  bool check_indices = false;  // the emitted code checks what is declared of elements
  Stopwatch* watch = nullptr;  // absent: no times are taken
};
// Lower, legalize.
Compiled back_end(const Scheduled& scheduled, const emit::Target& target,
                  const BackEndOptions& options);
// Source, header and manifest (".json"), source first. `stem` is the name of the files.
std::vector<emit::Artifact> artifacts(const emit::Target& target, const kernel::Module& module,
                                      const std::string& stem);

}  // namespace tang
