// An .npz is a zip archive of .npy files, each named after its array.
#include <fmt/format.h>

#include "driver/npy.h"
#include "driver/zip.h"

namespace tang {

std::optional<std::vector<NamedArray>> read_npz(std::string_view bytes, std::string& error) {
  const std::optional<std::vector<ZipMember>> members = read_zip(bytes, error);
  if (!members) return std::nullopt;
  std::vector<NamedArray> arrays;
  for (const ZipMember& member : *members) {
    if (!member.name.ends_with(".npy")) continue;
    std::optional<NpyArray> array = read_npy(member.data, error);
    if (!array) {
      error = fmt::format("its member {}: {}", member.name, error);
      return std::nullopt;
    }
    arrays.push_back(
        {.name = member.name.substr(0, member.name.size() - 4), .array = std::move(*array)});
  }
  return arrays;
}

std::optional<std::string> write_npz(const std::vector<NamedOutput>& arrays) {
  std::vector<ZipMember> members;
  for (const NamedOutput& output : arrays)
    members.push_back({.name = output.name + ".npy", .data = write_npy(*output.array)});
  return write_zip(members);
}

}  // namespace tang
