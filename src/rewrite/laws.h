// The real laws: equalities over the real numbers that floating point keeps only up to rounding.
// Passes name the ones they use; `--strict` compiles with none. Everything else that a pass does is
// exact: equal in IEEE arithmetic for all values.
//
// No law turns a finite result into one that is not finite, and none relies on 0*x = 0 or x-x = 0
// for operands of the program.
#pragma once

#include <string_view>
#include <vector>

namespace tang {

struct Law {
  std::string_view name;
  std::string_view says;       // the equality
  std::string_view condition;  // "" when it always holds over the reals
};

namespace law {
inline constexpr std::string_view kDistribute = "distribute";
inline constexpr std::string_view kExpOfSum = "exp-of-sum";
inline constexpr std::string_view kShift = "shift-of-exponents";
inline constexpr std::string_view kNoWeight = "no-weight";
inline constexpr std::string_view kLogOfExp = "log-of-exp";
inline constexpr std::string_view kCommonFactor = "common-factor";
}  // namespace law

const std::vector<Law>& laws();

}  // namespace tang
