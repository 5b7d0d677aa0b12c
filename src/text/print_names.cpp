#include "text/print_names.h"

#include <fmt/format.h>

namespace tang {

namespace {

bool is_reserved(const std::string& name) {
  return name.empty() || name == "_" || name == "else" || name == "inf" || name == "nan" ||
         name == "true" || name == "false";
}

}  // namespace

std::string ProgramNames::unique(const std::string& wanted) {
  const std::string stem = is_reserved(wanted) ? "t" : wanted;
  std::string name = stem;
  for (size_t n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", stem, n);
  return name;
}

ProgramNames::ProgramNames(const Program& program) {
  const Arena& arena = *program.arena;
  for (const Dim& dim : program.dims) dims.push_back(unique(dim.name));
  for (const Scalar& scalar : program.scalars) scalars.push_back(unique(scalar.name));
  for (const Input& input : program.inputs) tensors_[input.tensor] = unique(input.name);
  for (const Def& def : program.defs)  // versions go by their inout's name
    if (arena.comprehensions[def.id].is_update()) {
      const TensorId version = program.arena->component(def.id, 0);
      tensors_[version] = tensors_.at(arena.base_of(version));
    }
  // Outputs have the first choice, since callers know them by name.
  for (const Output& output : program.outputs)
    if (!tensors_.contains(output.tensor)) tensors_[output.tensor] = unique(output.name);
  std::unordered_set<TensorId> used;
  for (const Def& def : program.defs)
    for (const Read& read : arena.comprehensions[def.id].reads) used.insert(read.tensor);
  for (const Def& def : program.defs) {
    const Comprehension& c = arena.comprehensions[def.id];
    const size_t n = c.is_map() ? 1 : arena.monoids[c.monoid].n_visible();
    for (size_t k = 0; k < n; ++k) {
      const TensorId tensor = program.arena->component(def.id, static_cast<uint32_t>(k));
      const std::string wanted = k < def.names.size() ? def.names[k] : "";
      if (tensors_.contains(tensor) || (wanted.empty() && !used.contains(tensor))) continue;
      tensors_[tensor] = unique(wanted);
    }
  }
  for (const std::vector<std::string>* list : {&dims, &scalars})
    hidden_by_no_index_.insert(list->begin(), list->end());
  for (const auto& [tensor, name] : tensors_)
    if (arena.tensors[tensor].shape.empty()) hidden_by_no_index_.insert(name);
}

const std::string& ProgramNames::of(TensorId tensor) const {
  const auto found = tensors_.find(tensor);
  return found == tensors_.end() ? dropped_ : found->second;
}

std::vector<std::string> ProgramNames::axes_of(const Program& program, const Def& def) const {
  const size_t n_axes = program.arena->comprehensions[def.id].n_axes();
  std::vector<std::string> names;
  std::unordered_set<std::string> here;
  for (size_t a = 0; a < n_axes; ++a) {
    std::string stem = a < def.axis_names.size() ? def.axis_names[a] : "";
    if (is_reserved(stem)) stem = "i";
    std::string name = stem;
    for (size_t n = 2; hidden_by_no_index_.contains(name) || !here.insert(name).second; ++n)
      name = fmt::format("{}_{}", stem, n);
    names.push_back(name);
  }
  return names;
}

}  // namespace tang
