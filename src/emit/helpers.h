// A dialect's helper file: parts of real source that emitted text carries where it uses them. A
// part begins with a line `//: name  needs OTHER... <HEADER>...`.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tang::emit {

struct Helper {
  std::string_view name;
  std::vector<std::string_view> needs;    // names of other helpers
  std::vector<std::string_view> headers;  // "<string.h>"
  std::string_view text;
};

// In the order of the file.
std::vector<Helper> parse_helpers(std::string_view file);

// The named helpers and what they need, in the order of the file; their headers go to `headers`.
std::vector<std::string_view> helper_texts(const std::vector<Helper>& all,
                                           const std::vector<std::string_view>& names,
                                           std::set<std::string_view>& headers);

}  // namespace tang::emit
