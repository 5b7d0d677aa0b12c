#include "driver/pipeline.h"

#include "check/check.h"
#include "ir/verify.h"
#include "kernel/legalize.h"
#include "lower/lower.h"
#include "schedule/auto.h"
#include "support/panic.h"

namespace tang {
namespace {

void expect_well_formed(std::string_view stage, const std::vector<std::string>& broken) {
  if (!broken.empty()) TANG_PANIC("after {}: {}", stage, fmt::join(broken, "; "));
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// legalize(), with a look after every row of its table.
void legalize_and_verify(kernel::Module& module, const kernel::Capabilities& capabilities) {
  for (const kernel::Legalization& row : kernel::legalizations()) {
    if (!row.needed(capabilities)) continue;
    row.apply(module, capabilities);
    expect_well_formed(row.name, kernel::verify(module));
  }
}

}  // namespace

std::string default_prefix(std::string_view path) {
  if (path == "-") return "tang";
  std::string_view stem = path.substr(path.find_last_of('/') + 1);
  if (const size_t dot = stem.find_last_of('.'); dot != std::string_view::npos && dot > 0)
    stem = stem.substr(0, dot);
  std::string prefix;
  for (const char c : stem) prefix += is_name_character(c) ? c : '_';
  if (prefix.empty()) return "tang";
  if (prefix[0] >= '0' && prefix[0] <= '9') prefix.insert(0, "_");
  return prefix;
}

std::optional<Program> front_end(Sources& sources, uint32_t file, const ParseOptions& options,
                                 Diagnostics& diagnostics) {
  std::optional<Parsed> parsed = parse(sources, file, options, diagnostics);
  if (!parsed || diagnostics.has_errors()) return std::nullopt;
  if (!check(parsed->program, parsed->obligations, diagnostics)) return std::nullopt;
  return std::move(parsed->program);
}

Compiled back_end(const Program& program, const emit::Target& target, const std::string& prefix,
                  bool verify_each) {
  if (verify_each) expect_well_formed("text", verify(program));
  Schedule schedule = schedule_auto(program);
  kernel::Module module = lower(program, schedule, {.prefix = prefix});
  if (verify_each) {
    expect_well_formed("lower", kernel::verify(module));
    legalize_and_verify(module, target.capabilities);
  } else {
    kernel::legalize(module, target.capabilities);
  }
  return {.program = program, .schedule = std::move(schedule), .module = std::move(module)};
}

}  // namespace tang
