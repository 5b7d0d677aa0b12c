#include "driver/invocation.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "driver/pipeline.h"

namespace tang {
namespace {

constexpr size_t kLargestProgram = size_t{1} << 28;  // bytes; places in a text are 32-bit

std::string folder_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::map<std::string, int64_t> parse_bindings(const std::vector<std::string>& bind) {
  std::map<std::string, int64_t> out;
  for (const std::string& group : bind) {
    size_t begin = 0;
    while (begin <= group.size()) {
      const size_t comma = std::min(group.find(',', begin), group.size());
      const std::string one = group.substr(begin, comma - begin);
      begin = comma + 1;
      const std::optional<Assignment> part = split_assignment(one);
      const std::optional<int64_t> size = part ? parse_integer(part->value) : std::nullopt;
      if (!size || *size < 0)
        throw CommandError(
            kUsage, fmt::format("--bind takes a dimension and its size, as in --bind S=512, and "
                                "'{}' is not that",
                                one));
      const auto [at, is_new] = out.emplace(part->name, *size);
      if (!is_new && at->second != *size)
        throw CommandError(
            kUsage, fmt::format("--bind gives {} twice: {} and {}", part->name, at->second, *size));
    }
  }
  return out;
}

// What CLI11 says, as one sentence of ours.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extra = app.remaining();
    const std::string word = extra.empty() ? "" : extra.front();
    message = word.starts_with('-') ? fmt::format("there is no option {}", word)
                                    : fmt::format("what is '{}'? One program at a time", word);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
             message.starts_with("program")) {
    message = "give a program: a .tir file, or - for standard input";
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  return fmt::format("{} ({} --help shows the options)", message, app.get_name());
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options, Reads reads) {
  app.add_option("program", options.program, "A .tir file, or - for standard input")
      ->required()
      ->type_name("");
  if (reads == Reads::program) {
    app.add_option("--bind", options.bind, "Make a dimension's size a constant; may be repeated")
        ->allow_extra_args(false)
        ->type_name("S=512,...");
    app.add_option("--entry", options.entry, "Which entry point of the file")->type_name("NAME");
  }
  app.add_option("--diagnostics", options.diagnostics, "For people, or as a document on stderr")
      ->check(CLI::IsMember({"text", "json", "sarif"}).description(""))
      ->type_name("text|json|sarif");
  app.add_option("--color", options.color, "Colour in diagnostics")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->type_name("auto|always|never");
  app.add_flag("-q,--quiet", options.quiet, "No warnings and no remarks");
}

bool parse_args(CLI::App& app, Invocation& invocation) {
  std::vector<std::string> reversed(invocation.args.rbegin(), invocation.args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    invocation.streams.out += app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    throw CommandError(kUsage, usage_message(app, error));
  }
  return true;
}

void load_program(Invocation& invocation, const std::string& path) {
  invocation.program = path;
  std::string text;
  if (path != "-") {
    text = read_file(path);
    invocation.dependencies.push_back(path);
  } else if (invocation.streams.read_stdin) {
    text = read_standard_input();
  } else {
    text = invocation.streams.in;
  }
  if (text.size() > kLargestProgram)
    throw CommandError(kProgramWrong, fmt::format("{} has {} bytes, and a program at most {}", path,
                                                  text.size(), kLargestProgram));
  invocation.sources.add(path == "-" ? "<stdin>" : path, std::move(text));
}

ParseOptions parse_options(Invocation& invocation, const CommonOptions& options) {
  const std::string folder = folder_of(options.program);
  return {.bind = parse_bindings(options.bind),
          .entry = options.entry,
          .import = [&invocation, folder](const std::string& name) -> std::optional<std::string> {
            const std::string path = folder + name + ".tir";
            try {
              std::string text = read_file(path);
              invocation.dependencies.push_back(path);
              return text;
            } catch (const CommandError&) {
              return std::nullopt;  // the program's own error, at its import
            }
          }};
}

std::optional<Scheduled> checked_program(Invocation& invocation, const CommonOptions& options,
                                         const PassOptions& passes, Trace* trace) {
  FrontEndOptions front = front_end_options(invocation, passes);
  front.parse = parse_options(invocation, options);
  front.trace = trace;
  load_program(invocation, options.program);
  Diagnostics diagnostics;
  lap(invocation.watch, "read");
  std::optional<Scheduled> scheduled = front_end(invocation.sources, 0, front, diagnostics);
  report(invocation, options, diagnostics);
  return scheduled;
}

void report(Invocation& invocation, const CommonOptions& options, const Diagnostics& diagnostics) {
  Diagnostics shown;
  for (const Diagnostic& d : diagnostics.all())
    if (d.severity == Severity::error || !options.quiet) shown.add(d);
  if (invocation.format != DiagnosticsFormat::text) {
    for (const Diagnostic& d : shown.all()) invocation.reported.add(d);
    return;
  }
  const bool color = options.color == "auto" ? invocation.streams.color : options.color == "always";
  invocation.streams.err += render_text(shown, invocation.sources, color);
}

void remark(Invocation& invocation, const CommonOptions& options, const std::string& line) {
  if (!options.quiet && invocation.format == DiagnosticsFormat::text)
    invocation.streams.err += line + "\n";
}

void write_output(Invocation& invocation, const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    invocation.streams.out += text;
  } else {
    write_files({{.path = path, .text = text}});
  }
}

std::optional<Assignment> split_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  return Assignment{.name = text.substr(0, equals), .value = text.substr(equals + 1)};
}

std::optional<int64_t> parse_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace tang
