#include "driver/pipeline.h"

#include <algorithm>
#include <map>
#include <set>

#include "check/check.h"
#include "driver/manifest.h"
#include "driver/solver.h"
#include "ir/verify.h"
#include "kernel/legalize.h"
#include "lower/lower.h"
#include "schedule/blocks.h"
#include "support/panic.h"
#include "text/print.h"

namespace tang {
namespace {

void expect_well_formed(std::string_view stage, const std::vector<std::string>& broken) {
  if (!broken.empty()) TANG_PANIC("after {}: {}", stage, fmt::join(broken, "; "));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

// legalize(), with a look after every row of its table.
void legalize_and_verify(kernel::Module& module, const kernel::Capabilities& capabilities) {
  for (const kernel::Legalization& row : kernel::legalizations()) {
    if (!row.needed(capabilities)) continue;
    row.apply(module, capabilities);
    expect_well_formed(row.name, kernel::verify(module));
  }
  expect_well_formed("legalize", kernel::why_not_legal(module, capabilities));
}

std::string name_in(const Trace& trace, TensorId tensor, const Arena& arena) {
  const Tensor& t = arena.tensors[tensor];
  const auto def = trace.defs.find(t.source);
  return def == trace.defs.end() ? "this" : def->second.names[t.component];
}

std::vector<std::string> stored_names(const Program& program) {
  std::vector<std::string> names;
  for (const Def& def : program.defs)
    for (const std::string& name : def.names)
      if (!name.empty()) names.push_back(name);
  return names;
}

// The definitions that a kernel computes, in the program's order: what is placed or inlined in it,
// then its own.
std::string definitions_of(const Program& program, const Schedule& schedule, const DefIndex& index,
                           const std::vector<std::string>& printed, DefId root) {
  std::set<DefId> found = {root};
  std::vector<DefId> stack = {root};
  while (!stack.empty()) {
    const Comprehension& c = program.comprehension(stack.back());
    stack.pop_back();
    for (const Read& read : c.reads) {
      const auto from = index.of(read.tensor);
      if (from && schedule.place(*from).at != At::root && found.insert(*from).second)
        stack.push_back(*from);
    }
  }
  std::vector<std::string> lines;
  for (const DefId def : found) lines.push_back(printed[def.value]);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// What the banner, the manifest and --emit=kernel say of the program and the schedule.
void say_what_it_computes(const Program& program, const Schedule& schedule,
                          kernel::Module& module) {
  const DefIndex index(program);
  const std::vector<std::string> printed = print_defs(program);
  module.program = print(program);
  const std::vector<std::string> blocks = print_schedule(program, blocks_of(program, schedule));
  std::map<DefId, size_t> kernels;
  for (size_t i = 0; i < blocks.size(); ++i) kernels[schedule.kernels[i].root] = i;
  for (kernel::Kernel& k : module.kernels) {
    k.computes = definitions_of(program, schedule, index, printed, DefId(size_t{k.origin}));
    k.schedule = blocks[kernels.at(DefId(size_t{k.origin}))];
  }
}

// Blocks whose tensor a rewrite took away are errors that say which one did.
bool blocks_still_name(const Program& source, const Program& program, const Trace& trace,
                       Diagnostics& diagnostics) {
  const DefIndex index(program);
  bool good = true;
  const auto look = [&](TensorId tensor, Span span) {
    const Tensor& t = source.arena->tensors[tensor];
    if (!tensor.valid() || t.kind != TensorKind::component || index.of(tensor)) return;
    good = false;
    Diagnostic& error = diagnostics.error(
        "bad-schedule", span,
        fmt::format("{} is not stored after the rewrites; a schedule names one of {}",
                    name_in(trace, tensor, *source.arena), fmt::join(stored_names(program), ", ")));
    for (const Step& step : trace.steps)
      for (const Def& def : step.before)
        if (def.id.value == t.source) {
          error.notes.push_back({def.span, fmt::format("{}: {}", step.pass, step.says)});
          return;
        }
  };
  for (const ScheduleBlock& block : program.schedules) {
    look(block.tensor, block.span);
    for (const auto& clause : block.clauses)
      for (const ScheduleWord& word : clause)
        if (word.tensor.valid()) look(word.tensor, word.span);
  }
  return good;
}

std::optional<Program> rewritten_program(const Program& source, const FrontEndOptions& options,
                                         Diagnostics& diagnostics) {
  Trace own;
  Trace* trace = options.trace ? options.trace : source.schedules.empty() ? nullptr : &own;
  std::string printed = options.after ? print(source) : "";
  Program program = rewrite(
      source, options.passes, options.rewrite, trace, [&](const Pass& pass, const Program& now) {
        lap(options.watch, pass.name);
        if (options.verify_each) expect_well_formed(pass.name, verify(now));
        if (!options.after) return;
        std::string text = print(now);
        if (text != printed) options.after(pass, now);
        printed = std::move(text);
      });
  if (trace && !blocks_still_name(source, program, *trace, diagnostics)) return std::nullopt;
  return program;
}

}  // namespace

std::string program_stem(std::string_view path) {
  if (path == "-") return "tang";
  std::string_view stem = path.substr(path.find_last_of('/') + 1);
  if (const size_t dot = stem.find_last_of('.'); dot != std::string_view::npos && dot > 0)
    stem = stem.substr(0, dot);
  return stem.empty() ? "tang" : std::string(stem);
}

std::string default_prefix(std::string_view path) {
  std::string prefix = program_stem(path);
  for (char& c : prefix)
    if (!is_name_character(c)) c = '_';
  if (is_digit(prefix[0])) prefix.insert(0, "_");
  return prefix;
}

bool is_c_name(std::string_view name) {
  return !name.empty() && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

std::vector<const Pass*> all_passes() {
  std::vector<const Pass*> all;
  for (const Pass& pass : passes()) all.push_back(&pass);
  return all;
}

std::optional<Scheduled> front_end(Sources& sources, uint32_t file, const FrontEndOptions& options,
                                   Diagnostics& diagnostics) {
  Stopwatch* watch = options.watch;
  std::optional<Parsed> parsed = parse(sources, file, options.parse, diagnostics);
  lap(watch, "parse");
  if (!parsed || diagnostics.has_errors()) return std::nullopt;
  const bool good = check(parsed->program, parsed->obligations, diagnostics, loaded_solver);
  lap(watch, "check");
  if (!good) return std::nullopt;
  std::optional<Program> rewritten = rewritten_program(parsed->program, options, diagnostics);
  if (!rewritten) return std::nullopt;
  std::optional<Schedule> schedule = schedule_program(*rewritten, diagnostics);
  lap(watch, "schedule");
  if (!schedule) return std::nullopt;
  return Scheduled{std::move(parsed->program), std::move(*rewritten), std::move(*schedule)};
}

Compiled back_end(const Scheduled& scheduled, const emit::Target& target,
                  const BackEndOptions& options) {
  const Program& program = scheduled.program;
  const Schedule& schedule = scheduled.schedule;
  if (options.verify_each) expect_well_formed("text", verify(program));
  kernel::Module module =
      lower(program, schedule, {.prefix = options.prefix, .check_indices = options.check_indices});
  lap(options.watch, "lower");
  say_what_it_computes(program, schedule, module);
  lap(options.watch, "describe");
  if (options.verify_each) {
    expect_well_formed("lower", kernel::verify(module));
    legalize_and_verify(module, target.capabilities);
  } else {
    kernel::legalize(module, target.capabilities);
  }
  lap(options.watch, "legalize");
  return {.program = program, .schedule = schedule, .module = std::move(module)};
}

std::vector<emit::Artifact> artifacts(const emit::Target& target, const kernel::Module& module,
                                      const std::string& stem) {
  std::vector<emit::Artifact> all = emit::emit(target, module, stem);
  all.push_back({.suffix = ".json", .text = manifest_json(emit::manifest(target, module))});
  return all;
}

}  // namespace tang
