// Files of the .safetensors format, in and out: eight bytes that give the length of a header, the
// header, which is JSON (each tensor's type, shape and place), and the elements of all tensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/npy.h"

namespace tang {

// Nothing when the bytes are no such file; `error` then says what is wrong, without its name.
// Tensors in the order of their elements. They must cover the file without overlap or hole.
std::optional<std::vector<NamedArray>> read_safetensors(std::string_view bytes, std::string& error);

// i4, which the format does not have, is written as I8.
std::string write_safetensors(const std::vector<NamedOutput>& arrays);

}  // namespace tang
