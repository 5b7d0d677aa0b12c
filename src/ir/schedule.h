// A schedule as plain data: where each node is computed, how its axes split over the levels of the
// tile hierarchy, what is staged, and in which formats. It changes rounding and speed, never
// meaning.
//
// Levels, outermost first: grid (tasks, workgroups), group (what one cache or workgroup memory
// holds), lane (threads of a workgroup, SIMD lanes), reg (registers of a lane).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace tang {

enum class Level : uint8_t { grid, group, lane, reg };
inline constexpr int kLevelCount = 4;

enum class At : uint8_t {
  root,     // stored in a buffer of its own; it names a kernel
  inlined,  // substituted at each point that reads it
  placed,   // computed inside another kernel, for the tile of that kernel which reads it
};

struct Place {
  DefId node;
  At at = At::root;
  DefId kernel;              // only when placed
  Level level = Level::reg;  // only when placed
};

// An axis of a kernel: of the root's comprehension, or of a reduction placed in it.
struct AxisRef {
  DefId node;
  uint8_t axis = 0;
  bool operator==(const AxisRef&) const = default;
};

// How many cells of the axis one unit of each level covers. cells[grid] is the whole extent and is
// not stored: 0. A level that covers as much as the level above is not split there; cells[reg] is
// what one lane holds. Example: rows 0..N, cells {0, 64, 16, 4}: a task takes 64 rows, a group of
// lanes passes over them 16 at a time, each lane holds 4.
struct Split {
  AxisRef axis;
  std::array<int64_t, kLevelCount> cells = {0, 0, 0, 1};
};

enum class Multiply : uint8_t { exact };  // the storage's own arithmetic; more with tensor cores

struct Precision {
  DefId node;
  Type store = Type::f32;
  Type accumulate = Type::f32;
  Multiply multiply = Multiply::exact;
};

// A reduction over a prefix of a point axis keeps its state from one point to the next: the kernel
// runs along the axis one by one, and at each point folds only what the prefix gains.
struct Scan {
  AxisRef over;       // the reduce axis, of a reduction of the kernel
  uint8_t along = 0;  // the point axis of that reduction
};

struct KernelSchedule {
  DefId root;
  std::vector<Split> splits;   // axes without an entry run serially, one cell at a time
  std::vector<AxisRef> order;  // of loops within a level; axes not listed follow in their own order
  std::vector<Scan> scans;     // all along one axis of the kernel, whose loop is the innermost
};

struct Schedule {
  std::vector<Place> places;       // one per definition, by DefId
  std::vector<Precision> formats;  // one per definition, by DefId
  std::vector<KernelSchedule> kernels;

  const Place& place(DefId id) const { return places[id.value]; }
  const Precision& format(DefId id) const { return formats[id.value]; }
};

}  // namespace tang
