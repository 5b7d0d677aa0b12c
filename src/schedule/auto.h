// A schedule by rule, with no measurement and no device: which definitions are kernels, which are
// computed inside their readers, and how each kernel's axes split.
#pragma once

#include "ir/schedule.h"

namespace tang {

Schedule schedule_auto(const Program& program);
// The kernels of given places, each split by rule.
std::vector<KernelSchedule> choose_kernels(const Program& program,
                                           const std::vector<Place>& places);
// Tasks that take `cells` cells of a point axis each never write to one byte, also where elements
// are smaller than one.
bool tasks_store_whole_bytes(const Program& program, DefId root, size_t axis, int64_t cells);
// A definition whose readers compute it after what it reads was overwritten by an update.
std::optional<DefId> read_too_late(const Program& program, const std::vector<Place>& places);
// Without its scans where an axis is split that they take one by one.
void keep_legal_scans(const Program& program, KernelSchedule& kernel);
// Why a definition cannot run in the registers of a kernel that reads it; "" when it can.
std::string why_not_epilogue(const Program& program, DefId node, DefId kernel);

}  // namespace tang
