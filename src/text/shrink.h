// A smaller program that still shows what a larger one does.
#pragma once

#include <functional>
#include <string>

namespace tang {

// Leaves out items, puts constants in place of bracketed parts, and leaves out tokens, as long as
// `shows` holds of what is left; until nothing more can go. `shows` holds of `text`. Comments go
// first. Deterministic; `shows` is called at most `limit` times.
std::string shrink(const std::string& text, const std::function<bool(const std::string&)>& shows,
                   int limit = 20000);

}  // namespace tang
