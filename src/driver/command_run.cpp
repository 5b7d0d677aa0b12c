// `tangc run`: a program on arrays, here and now.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "driver/arguments.h"
#include "driver/commands.h"
#include "driver/device.h"
#include "driver/safetensors.h"
#include "driver/summary.h"

namespace tang {
namespace {

constexpr double kLongestSeconds = 1e6;

struct Options {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string device = "c";
  std::string random;  // empty: off; else the seed
  double seconds = 60;
  bool compare = false;
  double tolerance = -1;  // below 0: none
  PassOptions passes;
};

void add_options(CLI::App& app, Options& options) {
  add_common_options(app, options.common);
  app.add_option("-i,--input", options.inputs,
                 "An array, a scalar or the size of a dimension; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE.npy|NAME=NUMBER|FILE.npz|FILE.safetensors");
  app.add_option("-o,--output", options.outputs, "Where an output goes; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE.npy|FILE.npz|FILE.safetensors");
  app.add_option("--device", options.device, "Where to run; `tangc devices` lists them")
      ->type_name("NAME");
  app.add_flag("--random", options.random,
               "Random values for what is not given; --random=SEED for others than seed 1 gives");
  app.add_option("--timeout", options.seconds,
                 "Stop compiled kernels after so long; 60 if not said")
      ->check(CLI::Range(0.001, kLongestSeconds).description(""))
      ->type_name("SECONDS");
  app.add_flag("--compare", options.compare,
               "Say how far the outputs are from the f64 interpreter");
  app.add_option("--tolerance", options.tolerance,
                 "With --compare: fail where the error exceeds this part of the greatest value")
      ->check(CLI::Range(0.0, 1e300).description(""))
      ->type_name("E");
  add_pass_options(app, options.passes);
}

const Device& device_named(const std::string& name) {
  if (const Device* device = find_device(name)) return *device;
  std::vector<std::string_view> names;
  for (const Device& device : devices()) names.push_back(device.name);
  throw CommandError(
      kUsage, fmt::format("there is no device {}; there is {}", name, fmt::join(names, ", ")));
}

uint64_t seed_of(const Options& options) {
  if (options.random.empty()) return 0;
  if (options.random == "true") return 1;  // the option without a value
  const std::optional<int64_t> seed = parse_integer(options.random);
  if (!seed || *seed < 0)
    throw CommandError(kUsage, fmt::format("--random=SEED takes a whole number, and '{}' is none",
                                           options.random));
  return static_cast<uint64_t>(*seed);
}

std::optional<size_t> output_named(const Program& program, const std::string& name) {
  for (size_t i = 0; i < program.outputs.size(); ++i)
    if (program.outputs[i].name == name) return i;
  return std::nullopt;
}

bool is_safetensors(const std::string& path) {
  return path.ends_with(".safetensors");
}

struct Destination {
  std::string path;
  std::optional<size_t> output;  // nothing: all, in an archive
};

std::vector<Destination> destinations(const Program& program, const Options& options) {
  std::vector<Destination> result;
  for (const std::string& text : options.outputs) {
    const std::optional<Assignment> part = split_assignment(text);
    if (part && !part->value.empty()) {
      const std::optional<size_t> output = output_named(program, part->name);
      if (!output) {
        std::vector<std::string> names;
        for (const Output& o : program.outputs) names.push_back(o.name);
        throw CommandError(kUsage, fmt::format("the program has no output {}; there is {}",
                                               part->name, fmt::join(names, ", ")));
      }
      result.push_back({.path = part->value, .output = output});
    } else if (!part && (text.ends_with(".npz") || is_safetensors(text))) {
      result.push_back({.path = text, .output = std::nullopt});
    } else {
      throw CommandError(kUsage, fmt::format("-o takes NAME=FILE.npy, FILE.npz or "
                                             "FILE.safetensors, and '{}' is none of them",
                                             text));
    }
  }
  return result;
}

std::string file_of(const Program& program, const Destination& to,
                    const std::vector<Array>& outputs) {
  std::vector<NamedOutput> chosen;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!to.output || *to.output == i)
      chosen.push_back({.name = program.outputs[i].name, .array = &outputs[i]});
  if (is_safetensors(to.path)) return write_safetensors(chosen);
  if (to.output) return write_npy(outputs[*to.output]);
  std::optional<std::string> archive = write_npz(chosen);
  if (!archive)
    throw CommandError(kUsage, fmt::format("{} would exceed the 4 GiB of an archive", to.path));
  return std::move(*archive);
}

void write_outputs(Invocation& invocation, const Program& program,
                   const std::vector<Destination>& where, const std::vector<Array>& outputs) {
  std::vector<OutputFile> files;
  for (const Destination& to : where) {
    std::string bytes = file_of(program, to, outputs);
    if (to.path == "-")
      invocation.streams.out += bytes;
    else
      files.push_back({.path = to.path, .text = std::move(bytes)});
  }
  write_files(files);
}

// Prints a line for each output; false when one is out of tolerance.
bool compare_outputs(Invocation& invocation, const Program& program, const Bindings& bindings,
                     const std::vector<Array>& outputs, const Options& options) {
  Interpreter reference(program, bindings);
  bool all_good = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output& output = program.outputs[i];
    const Difference difference = compare(outputs[i], reference.eval(output.tensor));
    const bool good = options.tolerance < 0 || difference.relative() <= options.tolerance;
    all_good = all_good && good;
    invocation.streams.out +=
        fmt::format("{}  max error {:.3g} against f64, max reference {:.3g}: {:.3g}{}\n",
                    output.name, difference.error, difference.reference, difference.relative(),
                    good ? "" : fmt::format(", above {:.3g}", options.tolerance));
  }
  return all_good;
}

}  // namespace

int run_model_command(Invocation& invocation) {
  Options options;
  CLI::App app("Executes a program on arrays.", "tangc run");
  add_options(app, options);
  if (!parse_args(app, invocation)) return kSuccess;
  const Device& device = device_named(options.device);
  if (const std::string why = device.unavailable(); !why.empty())
    throw CommandError(kUsage, fmt::format("--device={} cannot be used: {}; --device=interp always "
                                           "can",
                                           device.name, why));
  const BindOptions bind{.random = !options.random.empty(), .seed = seed_of(options)};

  const std::optional<Scheduled> scheduled =
      checked_program(invocation, options.common, options.passes);
  if (!scheduled) return kProgramWrong;
  const Program& program = scheduled->program;
  const std::vector<Destination> where = destinations(program, options);
  Diagnostics diagnostics;
  const std::optional<Bindings> bindings =
      bind_arguments(program, read_arguments(options.inputs), bind, diagnostics);
  report(invocation, options.common, diagnostics);
  if (!bindings) return kProgramWrong;

  const auto milliseconds = std::chrono::milliseconds(std::llround(options.seconds * 1000));
  const Execution execution{.time_limit = milliseconds,
                            .verify_each = options.passes.verify_each};
  const Executed executed = device.execute(*scheduled, *bindings, execution);
  remark(invocation, options.common, fmt::format("tangc: {}: {}", device.name, executed.remark));
  write_outputs(invocation, program, where, executed.outputs);
  if (where.empty())
    for (size_t i = 0; i < executed.outputs.size(); ++i)
      invocation.streams.out += summarize(program.outputs[i].name, executed.outputs[i]);
  if (!options.compare && options.tolerance < 0) return kSuccess;
  const bool good =
      compare_outputs(invocation, scheduled->source, *bindings, executed.outputs, options);
  return good ? kSuccess : kProgramWrong;
}

}  // namespace tang
