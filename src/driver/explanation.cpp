#include "driver/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lower/lower.h"
#include "rewrite/laws.h"
#include "schedule/auto.h"
#include "text/print.h"

namespace tang {

namespace {

std::string name_of(const Def& def) {
  for (const std::string& name : def.names)
    if (!name.empty()) return name;
  return "_";
}

std::string place_of(const Program& program, const Schedule& schedule, size_t d,
                     const std::vector<std::vector<size_t>>& readers) {
  const Place& place = schedule.places[d];
  if (place.at == At::root) return "stored";
  if (place.at == At::placed) return "inside " + name_of(program.def(place.kernel));
  std::string names;
  for (const size_t reader : readers[d])
    names += (names.empty() ? "" : " and ") + name_of(program.defs[reader]);
  return names.empty() ? "not needed" : "where " + names + " reads it";
}

// The bytes of the workspace's tensors, in sizes.
std::string intermediate_bytes(kernel::Module& module) {
  FormId total = module.forms.constant(0);
  for (const kernel::ModuleTensor& t : module.tensors)
    if (t.role == kernel::TensorRole::workspace) {
      FormId elements = module.forms.constant(1);
      for (const FormId extent : t.shape) elements = module.forms.mul(elements, extent);
      const int bits = type_bits(t.type);
      total = module.forms.add(total, bits % 8 == 0
                                          ? module.forms.scale(elements, bits / 8)
                                          : module.forms.ceil_quotient(elements, 8 / bits));
    }
  return module.forms.print(total, [&](Var v) { return module.name_of(v); });
}

ExplainedProgram picture_of(const Program& program, const Schedule& schedule) {
  ExplainedProgram result;
  const DefIndex index(program);
  const std::vector<std::string> printed = print_defs(program);
  std::vector<std::vector<size_t>> readers(program.defs.size());
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const Comprehension& c = program.comprehension(DefId(d));
    std::vector<std::string> names = program.defs[d].names;
    std::erase(names, "");
    ExplainedDef def{.name = name_of(program.defs[d]),
                     .names = fmt::format("{}", fmt::join(names, ", ")),
                     .text = printed[d],
                     .reads = {},
                     .from = {},
                     .folds = !c.is_map(),
                     .is_output = false,
                     .place = ""};
    std::set<size_t> seen;
    std::set<std::string> inputs;
    for (const Read& read : c.reads) {
      const auto from = index.of(read.tensor);
      if (from && seen.insert(from->value).second) {
        def.reads.push_back(from->value);
        readers[from->value].push_back(d);
      }
      if (!from && inputs.insert(program.name_of(read.tensor)).second)
        def.from.push_back(program.name_of(read.tensor));
    }
    result.defs.push_back(std::move(def));
  }
  for (const Output& output : program.outputs)
    if (const auto def = index.of(output.tensor)) result.defs[def->value].is_output = true;
  for (size_t d = 0; d < program.defs.size(); ++d)
    result.defs[d].place = place_of(program, schedule, d, readers);
  kernel::Module module = lower(program, schedule, {.prefix = "tang"});
  result.n_kernels = module.launches.size();
  result.intermediate = intermediate_bytes(module);
  return result;
}

// A definition of a step, printed in a program of its own.
std::vector<std::string> print_side(const Program& around, const Trace& trace, const Step& step,
                                    Side side) {
  return print_defs(fragment(around, trace, step, side));
}

}  // namespace

Explanation explain(const Scheduled& scheduled, const Trace& trace) {
  Explanation e;
  Program plain = scheduled.source;
  plain.schedules.clear();
  e.before = picture_of(plain, schedule_auto(plain));
  e.after = picture_of(scheduled.program, scheduled.schedule);
  const Compiled compiled = back_end(scheduled, *emit::find_target("c"), {});
  for (const kernel::Kernel& k : compiled.module.kernels) {
    ExplainedKernel kernel{.name = k.name, .computes = {}, .schedule = k.schedule};
    for (size_t begin = 0; begin < k.computes.size();) {
      const size_t end = std::min(k.computes.find('\n', begin), k.computes.size());
      kernel.computes.push_back(k.computes.substr(begin, end - begin));
      begin = end + 1;
    }
    e.kernels.push_back(std::move(kernel));
  }
  std::set<std::string_view> used;
  for (const Step& step : trace.steps) {
    Explanation::Step s{.pass = std::string(step.pass),
                        .says = step.says,
                        .laws = {step.laws.begin(), step.laws.end()},
                        .before = print_side(scheduled.source, trace, step, Side::before),
                        .after = print_side(scheduled.source, trace, step, Side::after)};
    used.insert(step.laws.begin(), step.laws.end());
    e.steps.push_back(std::move(s));
  }
  for (const Law& law : laws())
    if (used.contains(law.name))
      e.laws.push_back({std::string(law.name), std::string(law.says), std::string(law.condition)});
  // What a later pass did after all is no refusal.
  std::set<std::string> there;
  for (const Def& def : scheduled.program.defs)
    for (const std::string& name : def.names) there.insert(name);
  std::set<std::pair<std::string, std::string>> said;
  for (size_t n = trace.refusals.size(); n-- > 0;) {
    const Refusal& r = trace.refusals[n];
    if (there.contains(r.name) && said.emplace(r.pass, r.name).second)
      e.refusals.insert(e.refusals.begin(), {std::string(r.pass), r.name, r.why});
  }
  return e;
}

}  // namespace tang
