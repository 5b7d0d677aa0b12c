// Searches for an integer point of a linear system. Internal to affine/.
#pragma once

#include <functional>
#include <map>

#include "affine/system.h"

namespace tang {

using Point = std::map<Var, int64_t>;

// Gives values to the system's variables one after another, near their bounds, with propagation
// in between. `accept` says whether a point is a solution, since a system's rows say less than
// the forms they came from. Nothing when a fixed number of steps finds none.
std::optional<Point> find_point(const System& system,
                                const std::function<bool(const Point&)>& accept);

}  // namespace tang
