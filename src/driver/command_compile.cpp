// `tangc model.tir`: from text to source, header and manifest, or to a stage on the way.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "driver/certify.h"
#include "driver/commands.h"
#include "driver/pipeline.h"
#include "schedule/blocks.h"
#include "text/print.h"

namespace tang {
namespace {

struct Options {
  CommonOptions common;
  std::string target = "c";
  std::string output;  // empty or "-": standard output
  std::string emit;    // empty: everything, or the source alone on standard output
  BackEndOptions back_end = {.prefix = {}};  // empty: from the file's stem
  bool time_passes = false;
  std::string depfile;
  std::string certificates;
  PassOptions passes;
};

const std::vector<std::string> kStages = {"ir",     "schedule", "kernel",
                                          "source", "header",   "manifest"};

void add_options(CLI::App& app, Options& options) {
  add_common_options(app, options.common);
  app.add_option("--target", options.target, "What to write; `tangc targets` lists them")
      ->type_name("NAME");
  app.add_option("-o,--output", options.output, "The source file; header and manifest go beside it")
      ->type_name("FILE");
  app.add_option("--emit", options.emit, "Write one thing only")
      ->check(CLI::IsMember(kStages).description(""))
      ->type_name(fmt::format("{}", fmt::join(kStages, "|")));
  app.add_option("--prefix", options.back_end.prefix,
                 "Start of every name that the source makes public")
      ->type_name("NAME");
  app.add_option("--depfile", options.depfile, "Write what was read, as a rule for make and ninja")
      ->type_name("FILE");
  app.add_option("--certificates", options.certificates,
                 "Write each rewrite step as a line of JSON: what it replaced, and by what")
      ->type_name("FILE");
  add_pass_options(app, options.passes);
  app.add_flag("--time-passes", options.time_passes, "Say how long each stage took");
  app.add_flag("--check-indices", options.back_end.check_indices,
               "The entry point checks declared ranges and order of elements");
}

// The schedule as blocks, which a program can carry.
std::string schedule_text(const Scheduled& scheduled) {
  const std::vector<ScheduleBlock> blocks = blocks_of(scheduled.program, scheduled.schedule);
  return fmt::format("{}\n", fmt::join(print_schedule(scheduled.program, blocks), "\n"));
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

// The path of the source without its extension.
std::string stem_of(const Options& options, const emit::Target& target) {
  if (options.output.empty() || options.output == "-") return program_stem(options.common.program);
  const std::string name = file_name(options.output);
  if (!name.ends_with(target.extension) || name.size() == target.extension.size())
    throw CommandError(kUsage, fmt::format("-o names the source, and {} does not end in {}",
                                           options.output, target.extension));
  return options.output.substr(0, options.output.size() - target.extension.size());
}

// One line in the syntax of make, which ninja reads too.
std::string dependency_rule(const std::string& output, const std::vector<std::string>& files) {
  const auto escaped = [](const std::string& path) {
    std::string out;
    for (const char c : path) {
      if (c == ' ' || c == '#' || c == '\\') out += '\\';
      if (c == '$') out += '$';
      out += c;
    }
    return out;
  };
  std::string rule = escaped(output) + ":";
  for (const std::string& file : files) rule += " " + escaped(file);
  return rule + "\n";
}

const std::string& text_of(const std::vector<emit::Artifact>& all, std::string_view suffix) {
  for (const emit::Artifact& artifact : all)
    if (artifact.suffix == suffix) return artifact.text;
  throw CommandError(kUsage, fmt::format("this target writes no {} file", suffix));
}

// The one text that --emit names. Only a source's own path says what it calls its header.
std::string stage_text(Options options, const emit::Target& target, const Scheduled& scheduled) {
  if (options.emit == "ir") return print(scheduled.program);
  if (options.emit == "schedule") return schedule_text(scheduled);
  const Compiled compiled = back_end(scheduled, target, options.back_end);
  if (options.emit == "kernel") return kernel::print(compiled.module);
  if (options.emit != "source") options.output.clear();
  const std::string stem = file_name(stem_of(options, target));
  const std::vector<emit::Artifact> all = artifacts(target, compiled.module, stem);
  if (options.emit == "header") return text_of(all, ".h");
  if (options.emit == "manifest") return text_of(all, ".json");
  return text_of(all, target.extension);
}

// What -o alone asks for: source, header and manifest, the source first.
std::vector<OutputFile> all_files(const Options& options, const emit::Target& target,
                                  const Scheduled& scheduled) {
  const Compiled compiled = back_end(scheduled, target, options.back_end);
  const std::string stem = stem_of(options, target);
  std::vector<OutputFile> files;
  for (emit::Artifact& artifact : artifacts(target, compiled.module, file_name(stem)))
    files.push_back({.path = stem + artifact.suffix, .text = std::move(artifact.text)});
  return files;
}

const emit::Target& target_named(const std::string& name) {
  if (const emit::Target* target = emit::find_target(name)) return *target;
  std::vector<std::string_view> names;
  for (const emit::Target& target : emit::targets()) names.push_back(target.name);
  throw CommandError(
      kUsage, fmt::format("there is no target {}; there is {}", name, fmt::join(names, ", ")));
}

void write_what_is_asked(Invocation& invocation, Options options, const emit::Target& target,
                         const Scheduled& scheduled) {
  const bool to_file = !options.output.empty() && options.output != "-";
  if (options.emit.empty() && !to_file) options.emit = "source";
  if (!to_file) {
    invocation.streams.out += stage_text(options, target, scheduled);
    lap(invocation.watch, "emit");
    return;
  }
  std::vector<OutputFile> files;
  if (options.emit.empty())
    files = all_files(options, target, scheduled);
  else
    files.push_back({.path = options.output, .text = stage_text(options, target, scheduled)});
  if (!options.depfile.empty())
    files.push_back({.path = options.depfile,
                     .text = dependency_rule(options.output, invocation.dependencies)});
  lap(invocation.watch, "emit");
  write_files(files);
}

void write_certificates(Invocation& invocation, const Options& options,
                        const Scheduled& scheduled, const Trace& trace) {
  std::string text;
  for (const Step& step : trace.steps) text += certificate_line(scheduled.source, trace, step);
  write_output(invocation, options.certificates, text);
}

}  // namespace

int compile_command(Invocation& invocation) {
  Options options;
  CLI::App app("Options of tangc FILE.tir:", "tangc");
  add_options(app, options);
  if (!parse_args(app, invocation)) return kSuccess;
  const emit::Target& target = target_named(options.target);
  if (options.back_end.prefix.empty())
    options.back_end.prefix = default_prefix(options.common.program);
  if (!is_c_name(options.back_end.prefix))
    throw CommandError(kUsage, fmt::format("--prefix is the start of a C name, and '{}' is none",
                                           options.back_end.prefix));
  const bool to_file = !options.output.empty() && options.output != "-";
  if (!options.depfile.empty() && !to_file)
    throw CommandError(kUsage, "--depfile needs -o, whose file it is about");
  if (options.emit.empty() || options.emit == "source") stem_of(options, target);

  Stopwatch watch;
  options.back_end.verify_each = options.passes.verify_each;
  if (!options.passes.stop_after.empty()) {
    if (!options.emit.empty() && options.emit != "ir")
      throw CommandError(kUsage, "--after prints the program, as --emit=ir does");
    options.emit = "ir";
  }
  if (options.time_passes) invocation.watch = options.back_end.watch = &watch;
  Trace trace;
  const bool traced = !options.certificates.empty();
  const std::optional<Scheduled> scheduled =
      checked_program(invocation, options.common, options.passes, traced ? &trace : nullptr);
  if (scheduled && traced) write_certificates(invocation, options, *scheduled, trace);
  if (scheduled) write_what_is_asked(invocation, options, target, *scheduled);
  if (options.time_passes) {
    watch.lap("write");
    remark(invocation, options.common, watch.table());
    invocation.watch = nullptr;
  }
  return scheduled ? kSuccess : kProgramWrong;
}

}  // namespace tang
