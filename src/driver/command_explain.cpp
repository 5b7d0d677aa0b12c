// `tangc explain`: what was fused, what was not, and why.
#include <CLI/CLI.hpp>

#include "driver/commands.h"
#include "driver/explanation.h"

namespace tang {

int explain_command(Invocation& invocation) {
  CommonOptions common;
  PassOptions passes;
  std::string format = "text", output;
  CLI::App app("Says what the rewrites did to a program, what each kernel computes, and what was "
               "left alone, and why.",
               "tangc explain");
  add_common_options(app, common);
  add_pass_options(app, passes);
  app.add_option("--format", format, "For a terminal, as a page, or for other programs")
      ->check(CLI::IsMember({"text", "html", "json"}).description(""))
      ->type_name("text|html|json");
  app.add_option("-o,--output", output, "Where it goes; standard output if not said")
      ->type_name("FILE");
  if (!parse_args(app, invocation)) return kSuccess;
  Trace trace;
  const std::optional<Scheduled> scheduled = checked_program(invocation, common, passes, &trace);
  if (!scheduled) return kProgramWrong;
  const Explanation e = explain(*scheduled, trace);
  const std::string name = common.program == "-" ? "standard input" : common.program;
  write_output(invocation, output,
               format == "html"   ? explain_html(name, e)
               : format == "json" ? explain_json(name, e)
                                  : explain_text(name, e));
  return kSuccess;
}

}  // namespace tang
