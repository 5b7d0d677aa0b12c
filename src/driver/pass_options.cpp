#include "driver/pass_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "driver/command.h"
#include "driver/invocation.h"
#include "text/print.h"

namespace tang {

namespace {

const Pass& pass_named(const std::string& name) {
  if (const Pass* pass = find_pass(name)) return *pass;
  std::vector<std::string_view> names;
  for (const Pass& pass : passes()) names.push_back(pass.name);
  throw CommandError(
      kUsage, fmt::format("there is no pass '{}'; there is {}", name, fmt::join(names, ", ")));
}

}  // namespace

void add_pass_options(CLI::App& app, PassOptions& options) {
  app.add_option("-O", options.level, "Optimisation: 0 for none of the passes, else all")
      ->check(CLI::Range(0, 3).description(""))
      ->type_name("0|1|2|3");
  app.add_option_function<std::string>(
         "--passes",
         [&](const std::string& list) {
           options.list = list;
           options.list_given = true;
         },
         "These passes in this order; `tangc passes` lists them")
      ->type_name("A,B,...");
  app.add_option("--after", options.stop_after, "Print the program as it is after a pass")
      ->type_name("PASS");
  app.add_flag("--print-after-all", options.print_all,
               "Print the program after every pass that changes it");
  app.add_flag("--strict", options.strict, "Only rewrites that are exact in floating point");
  app.add_flag("--verify-each", options.verify_each,
               "Check the invariants of graph and kernels after every stage");
}

std::vector<const Pass*> chosen_passes(const PassOptions& options) {
  std::vector<const Pass*> chosen;
  if (options.list_given) {
    size_t begin = 0;
    while (begin < options.list.size()) {
      const size_t comma = std::min(options.list.find(',', begin), options.list.size());
      chosen.push_back(&pass_named(options.list.substr(begin, comma - begin)));
      begin = comma + 1;
    }
  } else if (options.level > 0) {
    for (const Pass& pass : passes()) chosen.push_back(&pass);
  }
  if (options.stop_after.empty()) return chosen;
  const Pass* last = &pass_named(options.stop_after);
  const auto found = std::find(chosen.begin(), chosen.end(), last);
  if (found == chosen.end())
    throw CommandError(kUsage, fmt::format("--after={0}: {0} does not run", options.stop_after));
  chosen.erase(found + 1, chosen.end());
  return chosen;
}

FrontEndOptions front_end_options(Invocation& invocation, const PassOptions& options) {
  FrontEndOptions result;
  result.passes = chosen_passes(options);
  result.rewrite.strict = options.strict;
  result.verify_each = options.verify_each;
  result.watch = invocation.watch;
  if (options.print_all)
    result.after = [&invocation](const Pass& pass, const Program& program) {
      invocation.streams.err += fmt::format("# after {}\n{}\n", pass.name, print(program));
    };
  return result;
}

}  // namespace tang
