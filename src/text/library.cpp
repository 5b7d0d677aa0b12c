#include "text/library.h"

#include <utility>

namespace tang {

namespace embedded {
extern const std::vector<std::pair<std::string_view, std::string_view>> kLibrary;
}  // namespace embedded

std::optional<std::string> library_text(std::string_view name) {
  for (const auto& [known, text] : embedded::kLibrary)
    if (known == name) return std::string(text);
  return std::nullopt;
}

std::vector<std::string_view> library_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, text] : embedded::kLibrary) names.push_back(name);
  return names;
}

}  // namespace tang
