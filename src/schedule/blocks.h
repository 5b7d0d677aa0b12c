// Schedules as text: blocks laid over the schedule that the rules choose, and the blocks that say
// what a schedule is.
//
//   place s=root|inline|register   s: a definition that this kernel reads. `register`: a reduction
//                                  that the kernel's map reads point for point
//   tile i=64                      a task takes 64 cells of a point index
//   lane i=16                      of these, 16 at a time; of a reduce index: 16 cells over lanes
//   register i=4                   of these, 4 in the registers of one lane
//   scan u=t                       a reduction over the prefix u <= t runs along t and keeps its
//                                  state; the rules do so wherever t is not split
//   order i j                      of the loops of one level; indices not listed follow
//   store f16                      the format of the tensor in the workspace
//   accumulate f64                 the format of arithmetic and running states
//
// A block names a definition that is stored. Where it splits an index, it says all the splits of
// its kernel: what it does not name runs one by one. What it does not speak of, the rules choose.
#pragma once

#include <optional>
#include <vector>

#include "ir/schedule.h"
#include "support/diagnostics.h"

namespace tang {

// The rules' schedule with the program's blocks laid over it; nothing when a block is wrong.
std::optional<Schedule> schedule_program(const Program& program, Diagnostics& diagnostics);

// One block a kernel, in the order of the kernels. The program with these blocks in place of its
// own has the same schedule. The names of indices are those of the definitions.
std::vector<ScheduleBlock> blocks_of(const Program& program, const Schedule& schedule);

}  // namespace tang
