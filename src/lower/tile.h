// The tile tree of one kernel: loops over the parts of its axes, and the pieces of work that hang
// in them. Built from a schedule, then peeled, then printed as kernel IR.
//
// An axis splits over the levels of the hierarchy (ir/schedule.h); each part that is really split
// is a loop, outermost level first. A part below the level of a state's buffer is no loop of the
// tree: the buffer has it as a dimension, and the pieces that touch the buffer iterate it
// themselves. So a register tile, the lanes of a split reduction and the carried values of a tuple
// reduction are all dimensions of a state.
//
// Forms of a tree live in the module's pool. {VarKind::axis, AxisId} stands for the current
// coordinate of an axis: the variable of the innermost loop over it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/schedule.h"
#include "kernel/module.h"

namespace tang::tile {

using AxisId = Id<struct TileAxisTag>;

struct Axis {
  std::string name;
  FormId extent;  // in dims
  bool reduce = false;
  std::array<int64_t, kLevelCount> cells{};  // as in Split; 0: the whole axis
};

// A dimension of a state: the part of an axis that its pieces iterate.
struct OwnAxis {
  AxisId axis;
  int64_t count = 1;    // of units
  int64_t step = 1;     // cells of the axis that a unit covers
  bool lanes = false;   // units are lanes of a split reduction, which Join combines
  bool places = false;  // units are the places of a list
};

struct State {
  Type type = Type::f32;
  std::vector<OwnAxis> own;  // empty: a scalar
  std::string name;
};

// A comprehension with a monoid that is computed in this kernel.
struct Reduction {
  DefId node;
  std::vector<AxisId> axes;        // of the kernel, by axis of the node's comprehension
  std::vector<uint32_t> states;    // by component; UINT32_MAX where the kernel does not need it
  std::vector<Constraint> guards;  // of its domain, not said by loop bounds; in the graph's forms
  // A scan: the reduce axis whose prefix grows along a point axis, by axes of the node.
  std::optional<Scan> scan;
};

struct Init {  // state = identity
  uint32_t reduction = 0;
};
struct Fold {  // state = combine(state, value at the current point)
  uint32_t reduction = 0;
};
struct Join {  // the lanes' states become one, by a tree
  uint32_t reduction = 0;
};
struct Write {  // stores a result of the root
  uint32_t component = 0;
};

struct Loop;
using Item = std::variant<Init, Fold, Join, Write, Loop>;

struct Loop {
  AxisId axis;
  Level level = Level::group;
  kernel::Run run = kernel::Run::serial;
  // The outermost loop of an axis runs from the greatest `lo` to the least `hi`; a deeper one runs
  // over its unit of the loop above, clipped by the axis' end unless that loop is `whole`.
  std::vector<FormId> lo, hi;
  int64_t step = 1;
  bool whole = false;  // full units only: what is below needs no clipping
  bool edge = false;   // the rest after a whole loop over the same axis: at most one unit
  std::vector<Item> body;
};

struct Tree {
  DefId root;
  std::vector<uint32_t> components;  // of the root, that this kernel stores
  std::vector<Axis> axes;            // the root's point axes first
  std::vector<AxisId> root_axes;     // by axis of the root's comprehension; invalid where absent
  std::vector<State> states;
  std::vector<Reduction> reductions;
  std::vector<Item> body;
};

// "sum" for the only state of a sum, "running_m" for a named one of several.
std::string state_name(const Program& program, DefId node, uint32_t component);

// Where the tensors of the program are stored: numbers of the module's tensors.
struct Storage {
  DefIndex index;                                             // which definition computes each
  std::unordered_map<TensorId, uint32_t> read;                // where readers find it
  std::unordered_map<TensorId, std::vector<uint32_t>> write;  // every place its kernel writes
};

// The trees of the kernel rooted at `kernel.root`: one, or one for each set of point axes that its
// stored components have, where the schedule does not hold the other axes in registers.
std::vector<Tree> build_trees(const Program& program, const Schedule& schedule,
                              const KernelSchedule& kernel, const Storage& storage,
                              kernel::Module& module);

// Splits serial loops over partial units into full ones and at most one that is clipped.
void peel(Tree& tree, const Forms& forms);

// Drops values and arrays that nothing uses.
void drop_unused(kernel::Kernel& kernel, kernel::Module& module);

struct Written {
  kernel::Kernel kernel;
  std::vector<uint32_t> args;  // module tensors, by the kernel's parameters
};

// Prints a tree as a kernel for the module.
Written write_kernel(const Program& program, const Schedule& schedule, const Tree& tree,
                     const Storage& storage, kernel::Module& module);

}  // namespace tang::tile
