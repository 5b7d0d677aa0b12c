// The value of a comprehension's components at one point: a fold over the points of its domain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interp/code.h"
#include "interp/graph.h"
#include "ir/program.h"

namespace tang::interpreter {

// A constraint coefficient*axis + rest >= 0 that bounds a reduce axis by the axes before it.
struct AxisBound {
  uint32_t form = 0;  // its value where the axis is 0 is the rest
  int64_t coefficient = 0;
};

struct ReduceAxis {
  uint32_t axis = 0;
  int64_t extent = 0;
  std::vector<AxisBound> bounds;
  std::vector<Test> tests;  // constraints whose last axis is this one, but of another shape
};

// Computes those components of a comprehension that have one set of axes, the places of lists
// aside. The monoid's combine may need others, which are folded along.
struct Pass {
  std::vector<uint8_t> points;   // the axes of a point, ascending; of a scan, its own last
  std::vector<uint32_t> stored;  // the components it is for
  std::vector<Test> tests;       // constraints without reduce axes
  std::vector<ReduceAxis> reduce;
  Code code;
  std::vector<uint32_t> states;                // registers of the folded components, ...
  std::vector<Value> identities;               // ... which start like this; empty for a map
  std::vector<std::vector<uint32_t>> results;  // registers of `stored`: one, or one a place
  bool scan = false;  // the first reduce axis runs over a prefix of the last axis of `points`
  // Of an update: the register of the offset it writes. The code skips points that write nothing.
  std::optional<uint32_t> target;
};

// The axes at which a component is folded: its own, without the one of its list's places.
std::vector<uint8_t> point_axes(const Arena& arena, const Comprehension& c, size_t component);

// One pass for each set of axes among the comprehension's components.
std::vector<Pass> plan_passes(const Instance& instance, const Comprehension& comprehension);

// The machine for a pass; its arrays are for the caller to fill in, by code.graph.tensors.
Machine make_machine(const Instance& instance, const Pass& pass);

// Folds the point whose axes are set: the results are then in the machine's registers. With values
// missing, goes on to ask for those that the other points of the domain need, and says `missing`.
Outcome fold(const Pass& pass, Machine& machine, std::vector<int64_t>& axes);

// The same for the next point along a scan: the states go on as the last point left them, from
// place `begin` of the prefix, which moves to the prefix' end.
void fold_on(const Pass& pass, Machine& machine, std::vector<int64_t>& axes, int64_t& begin);

}  // namespace tang::interpreter
