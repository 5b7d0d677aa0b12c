#include "rewrite/rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/passes.h"
#include "support/panic.h"

namespace tang {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      {"cse", "one definition for what is computed twice", cse},
      {"substitute-maps", "the body of a map in place of reads of it", substitute_maps},
      {"reshape-as-view", "quotients and remainders that undo each other", reshape_as_view},
      {"masks-to-domain", "terms masked to the identity are left out of a reduction",
       masks_to_domain},
      {"hoist-invariant-factors", "what depends on no reduce index leaves the sum",
       hoist_invariant_factors},
      {"stabilize-softmax", "a maximum and the sums of shifted exponentials in one pass",
       stabilize_softmax},
      {"merge-siblings", "reductions over one space, for the same readers, as one", merge_siblings},
      {"simplify", "logarithms of exponentials", simplify},
      {"dce", "without what no output needs", dce},
  };
  return all;
}

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : passes())
    if (pass.name == name) return &pass;
  return nullptr;
}

Program rewrite(Program program, const std::vector<const Pass*>& list,
                const RewriteOptions& options, Trace* trace,
                const std::function<void(const Pass&, const Program&)>& after) {
  for (const Pass* pass : list) {
    program = pass->apply(program, options, trace);
    if (after) after(*pass, program);
  }
  return program;
}

Overwrites::Overwrites(const Program& program) {
  for (size_t d = 0; d < program.defs.size(); ++d)
    if (const Comprehension& c = program.comprehension(DefId(d)); c.is_update())
      updates_.emplace(program.arena->updated(c), d);
}

size_t Overwrites::deadline(const Comprehension& c) const {
  size_t first = SIZE_MAX;
  for (uint32_t k = 0; k < c.reads.size(); ++k)
    if (const auto found = updates_.find(c.reads[k].tensor);
        found != updates_.end() && c.into != k)
      first = std::min(first, found->second);
  return first;
}

std::string name_of(const Def& def) {
  for (const std::string& name : def.names)
    if (!name.empty()) return name;
  return "_";
}

namespace {

// The inputs and definitions of a fragment, tensors of definitions outside of it made inputs.
class Fragment {
 public:
  Fragment(const Program& around, const Trace& trace, const Step& step)
      : around_(around), trace_(trace), step_(step), arena_(*around.arena) {
    // Inputs of both sides, so that they are the same.
    for (const auto* side : {&step.before, &step.after})
      for (const Def& def : *side) inside_.emplace(def.id.value, ComprehensionId());
    result_ = around;
    result_.entry = "run";
    result_.inputs.clear();
    result_.defs.clear();
    result_.outputs.clear();
    result_.schedules.clear();
    for (const auto* side : {&step.before, &step.after})
      for (const Def& def : *side)
        for (const Read& read : arena_.comprehensions[def.id].reads) input_of(read.tensor);
  }

  Program side(Side which) {
    for (const Def& given : which == Side::before ? step_.before : step_.after) {
      Def def = given;
      Comprehension c = arena_.comprehensions[def.id];
      for (Read& read : c.reads) read.tensor = here(read.tensor);
      def.id = arena_.comprehensions.intern(std::move(c));
      inside_[given.id.value] = def.id;
      result_.defs.push_back(def);
    }
    for (size_t i = 0; i < step_.equal.size(); ++i) {
      const auto& [before, after] = step_.equal[i];
      const TensorId tensor = here(which == Side::before ? before : after);
      result_.outputs.push_back({.name = fmt::format("result_{}", i + 1),
                                 .tensor = tensor,
                                 .type = kind_of(arena_.tensors[tensor].type),
                                 .span = {}});
    }
    return std::move(result_);
  }

 private:
  bool is_inside(TensorId tensor) const {
    const Tensor& t = arena_.tensors[tensor];
    return t.kind == TensorKind::component && inside_.contains(t.source);
  }

  void input_of(TensorId tensor) {
    if (is_inside(tensor) || inputs_.contains(tensor)) return;
    const Tensor t = arena_.tensors[tensor];
    Input input{.name = "", .tensor = {}, .role = Role::input, .range = {}, .span = {}};
    if (t.kind == TensorKind::input) {
      input = around_.inputs[t.source];
      input.role = Role::inout == input.role ? Role::inout : Role::input;
    } else if (const auto def = trace_.defs.find(t.source); def != trace_.defs.end()) {
      if (t.component < def->second.names.size()) input.name = def->second.names[t.component];
    }
    input.tensor = arena_.tensors.intern({.kind = TensorKind::input,
                                          .source = static_cast<uint32_t>(result_.inputs.size()),
                                          .component = 0,
                                          .type = t.type,
                                          .shape = t.shape});
    inputs_.emplace(tensor, input.tensor);
    result_.inputs.push_back(std::move(input));
  }

  TensorId here(TensorId tensor) const {
    if (const auto found = inputs_.find(tensor); found != inputs_.end()) return found->second;
    const Tensor& t = arena_.tensors[tensor];
    if (t.kind == TensorKind::input) return tensor;
    const ComprehensionId made = inside_.at(t.source);
    TANG_ASSERT(made.valid(), "a fragment reads a definition of its other side");
    return arena_.component(made, t.component);
  }

  const Program& around_;
  const Trace& trace_;
  const Step& step_;
  Arena& arena_;
  std::unordered_map<uint32_t, ComprehensionId> inside_;
  std::unordered_map<TensorId, TensorId> inputs_;
  Program result_;
};

}  // namespace

Program fragment(const Program& around, const Trace& trace, const Step& step, Side side) {
  return Fragment(around, trace, step).side(side);
}

}  // namespace tang
