// The compiler as a column of calls: the only place that knows the order of the stages.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/stopwatch.h"
#include "emit/emit.h"
#include "ir/schedule.h"
#include "kernel/module.h"
#include "rewrite/rewrite.h"
#include "text/parse.h"

namespace tang {

struct Scheduled {
  Program source;   // as the text says it
  Program program;  // after the rewrites: the same dims, scalars, inputs and outputs
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

struct FrontEndOptions {
  ParseOptions parse;
  std::vector<const Pass*> passes;  // the rewrites to run; empty: none
  RewriteOptions rewrite;
  Trace* trace = nullptr;    // what the rewrites did
  bool verify_each = false;  // check the invariants of the graph after every pass
  std::function<void(const Pass&, const Program&)> after;  // sees programs that a pass changed
  Stopwatch* watch = nullptr;
};
// Every pass of the table.
std::vector<const Pass*> all_passes();

// Parse, check, rewrite, schedule: all that can find a fault in a program's text. Nothing when
// there was an error, which then is in `diagnostics`.
std::optional<Scheduled> front_end(Sources& sources, uint32_t file, const FrontEndOptions& options,
                                   Diagnostics& diagnostics);
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
