#include "driver/zip.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>

namespace tang {
namespace {

constexpr uint32_t kLocal = 0x04034b50;
constexpr uint32_t kCentral = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr size_t kLongestComment = 0xFFFF;
constexpr uint16_t kStored = 0, kDeflated = 8;

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0u);
    table[i] = value;
  }
  return table;
}();

uint32_t crc32(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

template <class T>
T load(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Entry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint32_t packed_size = 0, size = 0, local_at = 0;
};

// Where the record stands that ends the archive: a comment may follow it.
std::optional<size_t> find_end(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return std::nullopt;
  const size_t last = bytes.size() - kEndBytes;
  const size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (load<uint32_t>(bytes, at) == kEnd) return at;
  return std::nullopt;
}

// One row of the directory; `at` moves behind it.
std::optional<Entry> read_entry(std::string_view bytes, size_t& at) {
  if (bytes.size() - at < kCentralBytes || load<uint32_t>(bytes, at) != kCentral)
    return std::nullopt;
  const size_t name_bytes = load<uint16_t>(bytes, at + 28);
  const size_t rest = name_bytes + load<uint16_t>(bytes, at + 30) + load<uint16_t>(bytes, at + 32);
  if (bytes.size() - at - kCentralBytes < rest) return std::nullopt;
  Entry entry{.name = std::string(bytes.substr(at + kCentralBytes, name_bytes)),
              .flags = load<uint16_t>(bytes, at + 8),
              .method = load<uint16_t>(bytes, at + 10),
              .crc = load<uint32_t>(bytes, at + 16),
              .packed_size = load<uint32_t>(bytes, at + 20),
              .size = load<uint32_t>(bytes, at + 24),
              .local_at = load<uint32_t>(bytes, at + 42)};
  at += kCentralBytes + rest;
  return entry;
}

// The bytes of a member, unpacked; `error` says what is wrong with it.
std::optional<std::string> read_member(std::string_view bytes, const Entry& entry,
                                       std::string& error) {
  const auto fail = [&](std::string_view what) {
    error = fmt::format("its member {} {}", entry.name, what);
    return std::nullopt;
  };
  if (entry.flags & 1) return fail("is encrypted");
  if (entry.packed_size == 0xFFFFFFFFu || entry.size == 0xFFFFFFFFu)
    return fail("has 4 GiB or more");
  if (bytes.size() < kLocalBytes || entry.local_at > bytes.size() - kLocalBytes ||
      load<uint32_t>(bytes, entry.local_at) != kLocal)
    return fail("is damaged");
  const size_t data_at = entry.local_at + kLocalBytes + load<uint16_t>(bytes, entry.local_at + 26) +
                         load<uint16_t>(bytes, entry.local_at + 28);
  if (data_at > bytes.size() || bytes.size() - data_at < entry.packed_size)
    return fail("is damaged");
  const std::string_view packed = bytes.substr(data_at, entry.packed_size);
  std::optional<std::string> data;
  if (entry.method == kStored) {
    if (entry.packed_size != entry.size) return fail("is damaged");
    data = std::string(packed);
  } else if (entry.method == kDeflated) {
    data = inflate(packed, entry.size);
  } else {
    return fail(fmt::format("is packed by method {}, not stored or deflated", entry.method));
  }
  if (!data || crc32(*data) != entry.crc) return fail("is damaged");
  return data;
}

}  // namespace

std::optional<std::vector<ZipMember>> read_zip(std::string_view bytes, std::string& error) {
  const std::optional<size_t> end = find_end(bytes);
  if (!end) {
    error = "it is no zip archive";
    return std::nullopt;
  }
  const size_t count = load<uint16_t>(bytes, *end + 10);
  size_t at = load<uint32_t>(bytes, *end + 16);
  std::vector<ZipMember> members;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<Entry> entry = at <= *end ? read_entry(bytes, at) : std::nullopt;
    if (!entry) {
      error = "the directory of the archive is damaged";
      return std::nullopt;
    }
    std::optional<std::string> data = read_member(bytes, *entry, error);
    if (!data) return std::nullopt;
    members.push_back({.name = entry->name, .data = std::move(*data)});
  }
  return members;
}

std::optional<std::string> write_zip(const std::vector<ZipMember>& members) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  constexpr uint16_t kVersion = 20;
  constexpr uint32_t kDate = 0x00210000;  // 1 January 1980: the same bytes at any time
  std::string out, directory;
  for (const ZipMember& member : members) {
    if (member.data.size() + out.size() > kMost - directory.size() - 1024) return std::nullopt;
    const auto local_at = static_cast<uint32_t>(out.size());
    std::string common;
    append(common, kVersion);
    append(common, uint16_t{0});  // flags
    append(common, kStored);
    append(common, kDate);
    append(common, crc32(member.data));
    append(common, static_cast<uint32_t>(member.data.size()));
    append(common, static_cast<uint32_t>(member.data.size()));
    append(common, static_cast<uint16_t>(member.name.size()));
    append(common, uint16_t{0});  // extra
    append(out, kLocal);
    out += common + member.name + member.data;
    append(directory, kCentral);
    append(directory, kVersion);
    directory += common;
    append(directory, uint16_t{0});  // comment
    append(directory, uint16_t{0});  // disk
    append(directory, uint16_t{0});  // attributes
    append(directory, uint32_t{0});
    append(directory, local_at);
    directory += member.name;
  }
  const auto directory_at = static_cast<uint32_t>(out.size());
  out += directory;
  append(out, kEnd);
  append(out, uint32_t{0});  // disks
  append(out, static_cast<uint16_t>(members.size()));
  append(out, static_cast<uint16_t>(members.size()));
  append(out, static_cast<uint32_t>(directory.size()));
  append(out, directory_at);
  append(out, uint16_t{0});  // comment
  return out;
}

}  // namespace tang
