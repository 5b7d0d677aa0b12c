// Names for everything that a printed program mentions: the program's own where they are unique and
// legal, numbered ones where passes left two things with one name, or one without.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program.h"

namespace tang {

struct ProgramNames {
  explicit ProgramNames(const Program& program);

  // Of an input, or of a result of a definition; "_" for a result that nothing reads.
  const std::string& of(TensorId tensor) const;
  // Of all axes of a definition. They hide neither sizes nor scalars nor tensors of rank 0.
  std::vector<std::string> axes_of(const Program& program, const Def& def) const;

  std::vector<std::string> dims, scalars;

 private:
  std::string unique(const std::string& wanted);

  std::unordered_map<TensorId, std::string> tensors_;
  std::unordered_set<std::string> taken_;
  std::unordered_set<std::string> hidden_by_no_index_;
  std::string dropped_ = "_";
};

}  // namespace tang
