// An explanation for a terminal, and as JSON for other programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "driver/explanation.h"

namespace tang {

namespace {

std::string plural(size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string summary(const ExplainedProgram& p) {
  return fmt::format("{} in {}, {} bytes between them", plural(p.defs.size(), "definition"),
                     plural(p.n_kernels, "kernel"), p.intermediate);
}

}  // namespace

std::string explain_text(const std::string& name, const Explanation& e) {
  std::string out = fmt::format("{}\n  as written    {}\n  as compiled   {}\n", name,
                                summary(e.before), summary(e.after));
  out += "\nWhat was rewritten\n";
  for (const Explanation::Step& step : e.steps) {
    out += fmt::format("  {}: {}", step.pass, step.says);
    out += step.laws.empty() ? "\n" : fmt::format("  [{}]\n", fmt::join(step.laws, ", "));
  }
  if (e.steps.empty()) out += "  nothing\n";
  if (!e.refusals.empty()) out += "\nWhat was left alone\n";
  for (const Explanation::Refusal& r : e.refusals)
    out += fmt::format("  {}: {}: {}\n", r.name, r.pass, r.why);
  out += "\nKernels\n";
  for (const ExplainedKernel& k : e.kernels) {
    out += fmt::format("  {}\n", k.name);
    for (const std::string& line : k.computes) out += fmt::format("    {}\n", line);
    out += fmt::format("    {}\n", k.schedule);
  }
  out += "\nPlaces\n";
  size_t widest = 0;
  for (const ExplainedDef& def : e.after.defs) widest = std::max(widest, def.name.size());
  for (const ExplainedDef& def : e.after.defs)
    out += fmt::format("  {:<{}}  {}\n", def.name, widest, def.place);
  if (e.laws.empty()) return out + "\nEvery rewrite is exact in floating point.\n";
  out += "\nEqual over the reals, up to rounding in floating point (--strict does without)\n";
  for (const Explanation::Law& law : e.laws)
    out += fmt::format("  {}: {}{}\n", law.name, law.says,
                       law.condition.empty() ? "" : "  where " + law.condition);
  return out;
}

std::string explain_json(const std::string& name, const Explanation& e) {
  using nlohmann::ordered_json;
  const auto program = [](const ExplainedProgram& p) {
    ordered_json defs = ordered_json::array();
    for (const ExplainedDef& def : p.defs)
      defs.push_back({{"name", def.name},
                      {"text", def.text},
                      {"reads", def.reads},
                      {"inputs", def.from},
                      {"output", def.is_output},
                      {"place", def.place}});
    return ordered_json{
        {"definitions", defs}, {"kernels", p.n_kernels}, {"intermediate_bytes", p.intermediate}};
  };
  ordered_json doc{{"program", name},
                   {"before", program(e.before)},
                   {"after", program(e.after)},
                   {"kernels", ordered_json::array()},
                   {"steps", ordered_json::array()},
                   {"refusals", ordered_json::array()},
                   {"laws", ordered_json::array()}};
  for (const ExplainedKernel& k : e.kernels)
    doc["kernels"].push_back(
        {{"name", k.name}, {"computes", k.computes}, {"schedule", k.schedule}});
  for (const Explanation::Step& s : e.steps)
    doc["steps"].push_back({{"pass", s.pass},
                            {"says", s.says},
                            {"laws", s.laws},
                            {"before", s.before},
                            {"after", s.after}});
  for (const Explanation::Refusal& r : e.refusals)
    doc["refusals"].push_back({{"pass", r.pass}, {"name", r.name}, {"why", r.why}});
  for (const Explanation::Law& law : e.laws)
    doc["laws"].push_back({{"name", law.name}, {"says", law.says}, {"condition", law.condition}});
  return doc.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tang
