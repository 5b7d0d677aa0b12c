// The standard library: files in the language itself (src/text/library/), built into the compiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tang {

// The text of the file that `import "name"` means when there is none beside the program.
std::optional<std::string> library_text(std::string_view name);

std::vector<std::string_view> library_names();

}  // namespace tang
