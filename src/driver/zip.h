// Zip archives in memory, as far as .npz needs them: members stored or deflated, no encryption, no
// parts, sizes below 4 GiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tang {

struct ZipMember {
  std::string name;
  std::string data;
};

// Nothing when the archive is damaged; `error` says how. Every member's checksum is compared.
std::optional<std::vector<ZipMember>> read_zip(std::string_view bytes, std::string& error);
// Members stored as they are. Nothing when the archive would not fit 4 GiB.
std::optional<std::string> write_zip(const std::vector<ZipMember>& members);

// The inverse of deflate (RFC 1951). Nothing when the stream is damaged or does not give `size`
// bytes.
std::optional<std::string> inflate(std::string_view bytes, size_t size);

}  // namespace tang
