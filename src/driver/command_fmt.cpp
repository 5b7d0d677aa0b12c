// `tangc fmt`: a program in its canonical form, comments kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "driver/commands.h"
#include "text/format.h"
#include "text/syntax.h"

namespace tang {

int fmt_command(Invocation& invocation) {
  CommonOptions options;
  bool write = false, check = false;
  CLI::App app("Writes a program in its canonical form to standard output.", "tangc fmt");
  add_common_options(app, options, Reads::text);
  app.add_flag("-w,--write", write, "Write it back to the file instead");
  app.add_flag("--check", check, "Write nothing; the status is 1 when it would change");
  if (!parse_args(app, invocation)) return kSuccess;
  if (write && options.program == "-")
    throw CommandError(kUsage, "--write needs a file, and standard input is none");

  load_program(invocation, options.program);
  Diagnostics diagnostics;
  const std::optional<syntax::File> file = syntax::parse_syntax(invocation.sources, 0, diagnostics);
  report(invocation, options, diagnostics);
  if (!file) return kProgramWrong;
  std::string text = syntax::format(invocation.sources, *file);
  const bool same = text == invocation.sources.text(0);
  if (check) {
    if (!same)
      remark(invocation, options, fmt::format("{} is not in canonical form", options.program));
    return same ? kSuccess : kProgramWrong;
  }
  if (!write) {
    invocation.streams.out += text;
  } else if (!same) {
    write_files({{.path = options.program, .text = std::move(text)}});
  }
  return kSuccess;
}

}  // namespace tang
