// `tangc passes`, `tangc targets`, `tangc devices`: the tables that the compiler itself reads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "driver/commands.h"
#include "driver/device.h"
#include "emit/emit.h"
#include "rewrite/rewrite.h"

namespace tang {
namespace {

bool only_help(Invocation& invocation, const std::string& name, const std::string& purpose) {
  CLI::App app(purpose, name);
  return parse_args(app, invocation);
}

std::string row(std::string_view name, std::string_view description) {
  return fmt::format("  {:<19} {}\n", name, description);
}

}  // namespace

int passes_command(Invocation& invocation) {
  if (!only_help(invocation, "tangc passes", "Lists the passes and legalizations in order."))
    return kSuccess;
  std::string& out = invocation.streams.out;
  out += "Passes over the graph, in the order in which they run:\n";
  for (const Pass& pass : passes()) out += row(pass.name, pass.purpose);
  out += "Legalizations of kernels, in the order in which they run where a target needs them:\n";
  for (const kernel::Legalization& legalization : kernel::legalizations()) {
    std::vector<std::string_view> needed_by;
    for (const emit::Target& target : emit::targets())
      if (legalization.needed(target.capabilities)) needed_by.push_back(target.name);
    out += row(legalization.name,
               fmt::format("{} ({})", legalization.purpose,
                           needed_by.empty() ? "no target needs it"
                                             : fmt::format("{}", fmt::join(needed_by, ", "))));
  }
  return kSuccess;
}

int targets_command(Invocation& invocation) {
  if (!only_help(invocation, "tangc targets", "Lists the languages that tangc writes."))
    return kSuccess;
  for (const emit::Target& target : emit::targets())
    invocation.streams.out += row(target.name, target.description);
  return kSuccess;
}

int devices_command(Invocation& invocation) {
  if (!only_help(invocation, "tangc devices", "Lists where `tangc run` can execute."))
    return kSuccess;
  for (const Device& device : devices()) {
    const std::string why = device.unavailable();
    invocation.streams.out +=
        row(device.name, why.empty() ? std::string(device.description)
                                     : fmt::format("{} (not here: {})", device.description, why));
  }
  return kSuccess;
}

}  // namespace tang
