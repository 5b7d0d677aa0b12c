// A program under change: what a pass replaces, adds and drops, applied at once by finish().
//
// Comprehensions name the tensors that they read by id, so a change of one changes the id of all
// that follow. A pass need not care: it speaks of tensors by the ids that it has seen, of the old
// program or of what it added, and finish() carries every change to all readers in one walk.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program.h"
#include "ir/step.h"

namespace tang {

class Edit {
 public:
  Edit(const Program& program, Trace* trace);

  Arena& arena() const { return *program_.arena; }
  const Program& program() const { return program_; }

  // The tensor that a reader of `tensor` reads by now.
  TensorId now(TensorId tensor) const;
  // A definition's comprehension by now, reading what its readers' reads are by now.
  Comprehension current(DefId def) const;
  // What computes the tensor by now, in the same way; nothing for inputs.
  struct Source {
    size_t node;
    Comprehension comprehension;
    uint32_t component;
  };
  std::optional<Source> source(TensorId tensor) const;
  // The definition as data for a Step, reading what it reads by now, and read by that id from now
  // on.
  Def snapshot(DefId def) { return snapshot(size_t{def.value}); }
  Def snapshot(size_t node);  // a Source's

  // The definition is computed by `c`; component k stands for component k.
  void replace(DefId def, Comprehension c, std::vector<std::string> axis_names);
  // The same, with its step in the log.
  struct Reason {
    std::string_view pass;
    std::vector<std::string_view> laws;
    std::string says;
  };
  void replace(DefId def, Comprehension c, const Reason& reason);
  // A further definition, which stands before `before` unless what it reads comes later.
  Def add(DefId before, Comprehension c, std::vector<std::string> names,
          std::vector<std::string> axis_names);
  // All that reads `old` reads `other`, a tensor of the same shape and kind.
  void stand_for(TensorId old, TensorId other);
  // Nothing reads the definition after all changes.
  void drop(DefId def);
  // A name that no definition has yet: the wanted one or wanted_2, wanted_3, ...
  std::string fresh(const std::string& wanted);

  bool changed() const { return changed_; }
  Program finish();

 private:
  struct Node {
    Def def;
    bool dropped = false;
    ComprehensionId made;  // by finish()
  };
  void note(const Def& def);
  size_t node_of(ComprehensionId id) const;
  TensorId finished(TensorId tensor) const;
  void emit(size_t node, std::vector<Def>& defs);
  std::vector<size_t> in_order() const;

  const Program& program_;
  Trace* trace_;
  std::vector<Node> nodes_;                          // those of the program first, by DefId
  std::vector<std::vector<size_t>> added_before_;    // by DefId
  std::unordered_map<uint32_t, size_t> by_id_;       // by ComprehensionId as given
  std::unordered_map<TensorId, TensorId> replaced_;  // a step at a time
  std::unordered_map<uint32_t, size_t> emitted_;     // by final ComprehensionId
  std::unordered_set<std::string> taken_;
  bool changed_ = false;
};

}  // namespace tang
