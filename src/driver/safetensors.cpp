#include "driver/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "support/integer.h"

namespace tang {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kLargestHeader = 100'000'000;  // as the format's own reader allows
constexpr size_t kAlignment = 8;                // of the elements in the file
constexpr size_t kMostDimensions = 32;          // as for .npy

struct Dtype {
  std::string_view name;   // in the file
  std::string_view dtype;  // in NpyArray
  int64_t bytes;
};
constexpr std::array kDtypes = {
    Dtype{"F64", "f8", 8},    Dtype{"F32", "f4", 4},         Dtype{"F16", "f2", 2},
    Dtype{"BF16", "bf16", 2}, Dtype{"F8_E4M3", "f8e4m3", 1}, Dtype{"F8_E5M2", "f8e5m2", 1},
    Dtype{"I64", "i8", 8},    Dtype{"I32", "i4", 4},         Dtype{"I16", "i2", 2},
    Dtype{"I8", "i1", 1},     Dtype{"U64", "u8", 8},         Dtype{"U32", "u4", 4},
    Dtype{"U16", "u2", 2},    Dtype{"U8", "u1", 1},          Dtype{"BOOL", "b1", 1},
};

std::string_view dtype_of(Type type) {
  switch (type) {
    case Type::f64:
      return "F64";
    case Type::f32:
      return "F32";
    case Type::f16:
      return "F16";
    case Type::bf16:
      return "BF16";
    case Type::f8e4m3:
      return "F8_E4M3";
    case Type::f8e5m2:
      return "F8_E5M2";
    case Type::i64:
      return "I64";
    case Type::i32:
      return "I32";
    case Type::i16:
      return "I16";
    case Type::i8:
    case Type::i4:
      return "I8";
    case Type::u8:
      return "U8";
    case Type::boolean:
      return "BOOL";
  }
  return {};
}

// What a header says of one tensor; `begin` and `end` count from the first element.
struct Entry {
  std::string name;
  const Dtype* dtype = nullptr;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

// A list of whole numbers, none negative; nothing when it is anything else.
std::optional<std::vector<int64_t>> numbers_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_array() || at->size() > kMostDimensions) return std::nullopt;
  std::vector<int64_t> values;
  for (const Json& item : *at) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t{INT64_MAX})
      return std::nullopt;
    values.push_back(item.get<int64_t>());
  }
  return values;
}

std::optional<int64_t> bytes_of_entry(const Entry& entry) {
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return 0;
  std::optional<int64_t> bytes = entry.dtype->bytes;
  for (const int64_t extent : entry.shape)
    if (bytes) bytes = checked_mul(*bytes, extent);
  return bytes;
}

// Empty when all is well.
std::string read_entry(const Json& said, Entry& entry) {
  if (!said.is_object()) return fmt::format("its header has no object for {}", entry.name);
  const auto type = said.find("dtype");
  if (type == said.end() || !type->is_string())
    return fmt::format("its header has no type for {}", entry.name);
  const auto name = type->get<std::string>();
  const auto known = std::find_if(kDtypes.begin(), kDtypes.end(),
                                  [&](const Dtype& dtype) { return dtype.name == name; });
  if (known == kDtypes.end())
    return fmt::format("the type '{}' of {} is none that a program can hold", name, entry.name);
  entry.dtype = &*known;
  const auto shape = numbers_of(said, "shape");
  const auto offsets = numbers_of(said, "data_offsets");
  if (!shape) return fmt::format("its header has no valid shape for {}", entry.name);
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return fmt::format("its header has no valid place for {}", entry.name);
  entry.shape = *shape;
  entry.begin = static_cast<uint64_t>((*offsets)[0]);
  entry.end = static_cast<uint64_t>((*offsets)[1]);
  const std::optional<int64_t> bytes = bytes_of_entry(entry);
  if (!bytes) return fmt::format("the shape of {} is larger than memory", entry.name);
  if (entry.end - entry.begin != static_cast<uint64_t>(*bytes))
    return fmt::format("{} has {} bytes, and {} [{}] needs {}", entry.name, entry.end - entry.begin,
                       name, fmt::join(entry.shape, ","), *bytes);
  return {};
}

// The header as JSON, in which no name stands twice.
std::optional<Json> parse_header(std::string_view text, std::string& error) {
  std::set<std::string> names;
  const auto note_names = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == 1 && event == Json::parse_event_t::key &&
        !names.insert(parsed.get<std::string>()).second)
      error = fmt::format("its header has {} twice", parsed.get<std::string>());
    return true;
  };
  Json header = Json::parse(text.begin(), text.end(), note_names, false);
  if (!error.empty()) return std::nullopt;
  if (header.is_object()) return header;
  error = "its header is no JSON object";
  return std::nullopt;
}

// The tensors must follow each other from the first byte to the last.
std::string misplaced(const std::vector<Entry>& sorted, size_t data_bytes) {
  uint64_t at = 0;
  for (const Entry& entry : sorted) {
    if (entry.end > data_bytes)
      return fmt::format("{} ends at byte {}, and {} are there", entry.name, entry.end, data_bytes);
    if (entry.begin < at) return fmt::format("{} overlaps another tensor", entry.name);
    if (entry.begin > at) return fmt::format("nothing uses the bytes before {}", entry.name);
    at = entry.end;
  }
  return at == data_bytes ? "" : fmt::format("nothing uses its last {} bytes", data_bytes - at);
}

}  // namespace

std::optional<std::vector<NamedArray>> read_safetensors(std::string_view bytes,
                                                        std::string& error) {
  error.clear();
  const auto fail = [&](std::string message) {
    error = std::move(message);
    return std::nullopt;
  };
  if (bytes.size() < kLengthBytes) return fail("it is too short for a .safetensors file");
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint8_t>(bytes[i]);
  if (length > kLargestHeader) return fail(fmt::format("its header would have {} bytes", length));
  if (length > bytes.size() - kLengthBytes) return fail("it ends within its header");
  const std::optional<Json> header = parse_header(bytes.substr(kLengthBytes, length), error);
  if (!header) return std::nullopt;
  const std::string_view data = bytes.substr(kLengthBytes + length);

  std::vector<Entry> entries;
  for (const auto& [name, said] : header->items()) {
    if (name == "__metadata__") continue;
    Entry entry{.name = name};
    if (std::string wrong = read_entry(said, entry); !wrong.empty()) return fail(std::move(wrong));
    entries.push_back(std::move(entry));
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  if (std::string wrong = misplaced(entries, data.size()); !wrong.empty())
    return fail(std::move(wrong));
  std::vector<NamedArray> arrays;
  for (Entry& entry : entries)
    arrays.push_back(
        {.name = std::move(entry.name),
         .array = {.dtype = std::string(entry.dtype->dtype),
                   .shape = std::move(entry.shape),
                   .data = std::string(data.substr(entry.begin, entry.end - entry.begin))}});
  return arrays;
}

std::string write_safetensors(const std::vector<NamedOutput>& arrays) {
  Json header = Json::object();
  std::string data;
  for (const NamedOutput& output : arrays) {
    const Array& array = *output.array;
    const size_t begin = data.size();
    data += element_bytes(array);
    header[output.name] = {{"dtype", dtype_of(array.type)},
                           {"shape", array.shape},
                           {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  std::string out;
  for (size_t i = 0; i < kLengthBytes; ++i) out += static_cast<char>(text.size() >> 8 * i & 0xFF);
  return out + text + data;
}

}  // namespace tang
