// A result as one comprehension over what its program is given: maps in place of reads of them, the
// component by itself, axes in the order of its dimensions. Two programs over one arena with the
// same inputs have the same result where their normal forms are one.
#pragma once

#include <optional>

#include "ir/program.h"

namespace tang {

// What computes component k alone: with the components that its fold needs, whichever stand beside
// it. Nothing for updates.
std::optional<Comprehension> component_alone(Arena& arena, const Comprehension& c, uint32_t k);

// Nothing where the tensor is an input, or computed by an update.
std::optional<ComprehensionId> normal_form(const Program& program, TensorId tensor);

}  // namespace tang
