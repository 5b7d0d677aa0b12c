#include "driver/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "support/integer.h"

namespace tang {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostDimensions = 32;  // as numpy

// ---- The header, which is a Python dictionary ---------------------------------------------------

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  std::optional<Header> read(std::string& error) {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take('{')) return fail(error, "the header is no dictionary");
    while (!take('}')) {
      const std::optional<std::string> key = quoted();
      if (!key || !take(':')) return fail(error, "the header is no dictionary");
      if (*key == "descr") {
        if (peek() == '[') return fail(error, "it holds records, not numbers");
        const std::optional<std::string> value = quoted();
        if (!value) return fail(error, "its header has no type");
        header.descr = *value;
        has_descr = true;
      } else if (*key == "fortran_order") {
        const std::optional<bool> value = boolean();
        if (!value) return fail(error, "its header does not say the order");
        header.fortran_order = *value;
        has_order = true;
      } else if (*key == "shape") {
        if (!tuple(header.shape)) return fail(error, "its header has no valid shape");
        has_shape = true;
      } else {
        return fail(error, "its header has an unknown field");
      }
      if (!take(',') && peek() != '}') return fail(error, "the header is no dictionary");
    }
    if (!has_descr || !has_order || !has_shape)
      return fail(error, "its header lacks the type, the order or the shape");
    if (peek() != '\0') return fail(error, "something follows the dictionary in its header");
    return header;
  }

 private:
  static std::nullopt_t fail(std::string& error, const char* message) {
    error = message;
    return std::nullopt;
  }
  char peek() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool take(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<bool> boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  bool number(int64_t& value) {
    bool any = false;
    value = 0;
    for (char c = peek(); c >= '0' && c <= '9'; c = rest_.empty() ? '\0' : rest_[0]) {
      const std::optional<int64_t> tens = checked_mul(value, 10);
      const std::optional<int64_t> next = tens ? checked_add(*tens, c - '0') : std::nullopt;
      if (!next) return false;
      value = *next;
      any = true;
      rest_.remove_prefix(1);
    }
    if (any && take('L')) return true;  // Python 2 wrote 3L
    return any;
  }
  bool tuple(std::vector<int64_t>& values) {
    if (!take('(')) return false;
    while (!take(')')) {
      int64_t value = 0;
      if (!number(value) || values.size() == kMostDimensions) return false;
      values.push_back(value);
      if (!take(',') && peek() != ')') return false;
    }
    return true;
  }

  std::string_view rest_;
};

// ---- Bytes and shapes ---------------------------------------------------------------------------

template <class T>
T load(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<int64_t> element_count(const std::vector<int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t n = 1;
  for (const int64_t extent : shape) {
    const std::optional<int64_t> product = checked_mul(n, extent);
    if (!product) return std::nullopt;
    n = *product;
  }
  return n;
}

// Kind and width, "f4", of what numpy writes as "<f4"; empty when it is not among ours.
std::string plain_dtype(const std::string& descr, std::string& error) {
  constexpr std::array kKnown = {"f8", "f4", "f2", "i8", "i4", "i2",
                                 "i1", "u8", "u4", "u2", "u1", "b1"};
  const std::string rest = descr.empty() ? "" : descr.substr(1);
  const bool known = std::find(kKnown.begin(), kKnown.end(), rest) != kKnown.end();
  if (!known) {
    error = fmt::format("its type '{}' is none that a program can hold", descr);
    return {};
  }
  const bool one_byte = rest[1] == '1';
  if (descr[0] == '<' || (one_byte && descr[0] == '|')) return rest;
  error = fmt::format("its type '{}' is not little-endian", descr);
  return {};
}

size_t dtype_bytes(const std::string& dtype) {
  return static_cast<size_t>(dtype[1] - '0');
}

// Column-major to row-major.
std::string to_row_major(const std::string& data, const std::vector<int64_t>& shape, size_t width) {
  std::string out(data.size(), '\0');
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t at = 0; at < data.size(); at += width) {
    int64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d) from += index[d] * stride[d];
    std::memcpy(out.data() + at, data.data() + static_cast<size_t>(from) * width, width);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

std::string_view dtype_of(Type type) {
  switch (type) {
    case Type::f64:
      return "f8";
    case Type::f32:
      return "f4";
    case Type::f16:
      return "f2";
    case Type::bf16:
      return "u2";
    case Type::f8e4m3:
    case Type::f8e5m2:
      return "u1";
    case Type::i64:
      return "i8";
    case Type::i32:
      return "i4";
    case Type::i16:
      return "i2";
    case Type::i8:
    case Type::i4:
      return "i1";
    case Type::u8:
      return "u1";
    case Type::boolean:
      return "b1";
  }
  return {};
}

// A format that numpy has no name for, under ours.
bool is_named_format(const std::string& dtype) {
  return dtype == "bf16" || dtype == "f8e4m3" || dtype == "f8e5m2";
}

std::optional<Type> real_type(const std::string& dtype) {
  if (dtype == "f8") return Type::f64;
  if (dtype == "f4") return Type::f32;
  if (dtype == "f2") return Type::f16;
  if (is_named_format(dtype)) return type_from_name(dtype);
  return std::nullopt;
}

// ---- To a storage type --------------------------------------------------------------------------

Array copy_bits(const NpyArray& from, Type type) {
  Array out(type, from.shape);
  // An empty array has no bytes at all, and memcpy wants a place even for none.
  if (!out.data.empty()) std::memcpy(out.data.data(), from.data.data(), out.data.size());
  return out;
}

// False when the value does not fit 64 signed bits.
bool load_integer(const NpyArray& a, size_t index, int64_t& value) {
  const std::string_view bytes = a.data;
  if (a.dtype == "i8") value = load<int64_t>(bytes, index * 8);
  if (a.dtype == "i4") value = load<int32_t>(bytes, index * 4);
  if (a.dtype == "i2") value = load<int16_t>(bytes, index * 2);
  if (a.dtype == "i1") value = load<int8_t>(bytes, index);
  if (a.dtype == "u4") value = load<uint32_t>(bytes, index * 4);
  if (a.dtype == "u2") value = load<uint16_t>(bytes, index * 2);
  if (a.dtype == "u1") value = load<uint8_t>(bytes, index);
  if (a.dtype == "u8") {
    const auto wide = load<uint64_t>(bytes, index * 8);
    value = static_cast<int64_t>(wide);
    return wide <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  }
  return true;
}

std::optional<Array> integers(const NpyArray& from, Type type, std::string& error) {
  Array out(type, from.shape);
  const int64_t n = out.size();
  for (int64_t i = 0; i < n; ++i) {
    int64_t value = 0;
    const bool fits = load_integer(from, static_cast<size_t>(i), value);
    if (!fits || value < integer_min(type) || value > integer_max(type)) {
      error = fmt::format("element {} is {}, which {} cannot hold", i,
                          fits ? fmt::to_string(value) : "above the greatest i64", type_name(type));
      return std::nullopt;
    }
    out.set(i, integer_value(value));
  }
  return out;
}

std::optional<Array> booleans(const NpyArray& from, std::string& error) {
  for (size_t i = 0; i < from.data.size(); ++i) {
    if (static_cast<unsigned char>(from.data[i]) <= 1) continue;
    error = fmt::format("element {} is neither true nor false", i);
    return std::nullopt;
  }
  return copy_bits(from, Type::boolean);
}

std::nullopt_t wrong_type(const NpyArray& from, Type type, std::string& error) {
  error =
      fmt::format("it holds {}, and {} is declared", describe_dtype(from.dtype), type_name(type));
  return std::nullopt;
}

}  // namespace

std::optional<NpyArray> read_npy(std::string_view bytes, std::string& error) {
  const auto fail = [&](std::string message) {
    error = std::move(message);
    return std::nullopt;
  };
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) return fail("it is not an .npy file");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return fail(fmt::format("its format version is {}", version));
  const size_t header_at = version == 1 ? 10 : 12;
  if (bytes.size() < header_at) return fail("it ends within its header");
  const size_t header_bytes = version == 1 ? load<uint16_t>(bytes, 8) : load<uint32_t>(bytes, 8);
  if (bytes.size() - header_at < header_bytes) return fail("it ends within its header");
  const std::optional<Header> header =
      HeaderReader(bytes.substr(header_at, header_bytes)).read(error);
  if (!header) return std::nullopt;
  NpyArray out{.dtype = plain_dtype(header->descr, error), .shape = header->shape, .data = {}};
  if (out.dtype.empty()) return std::nullopt;
  const size_t width = dtype_bytes(out.dtype);
  const std::optional<int64_t> n = element_count(out.shape);
  const std::optional<int64_t> size =
      n ? checked_mul(*n, static_cast<int64_t>(width)) : std::nullopt;
  if (!size) return fail("its shape is larger than memory");
  const std::string_view data = bytes.substr(header_at + header_bytes);
  if (data.size() != static_cast<uint64_t>(*size))
    return fail(fmt::format("its shape ({}) needs {} bytes, and {} are there",
                            fmt::join(out.shape, ", "), *size, data.size()));
  out.data = std::string(data);
  if (header->fortran_order && out.shape.size() > 1)
    out.data = to_row_major(out.data, out.shape, width);
  return out;
}

std::string describe_dtype(const std::string& dtype) {
  if (is_named_format(dtype)) return dtype;
  if (dtype == "u1") return "u8";
  if (dtype == "b1") return "bool";
  const char kind = dtype[0];
  const std::string bits = fmt::to_string(8 * dtype_bytes(dtype));
  return kind == 'u' ? "unsigned " + bits + "-bit integers" : kind + bits;
}

std::optional<Array> from_npy(const NpyArray& array, Type type, std::string& error) {
  const char kind = array.dtype[0];
  if (is_integer(type)) {
    if (kind != 'i' && kind != 'u') return wrong_type(array, type, error);
    return integers(array, type, error);
  }
  if (type == Type::boolean) {
    if (array.dtype != "b1") return wrong_type(array, type, error);
    return booleans(array, error);
  }
  if (array.dtype == dtype_of(type) || array.dtype == type_name(type))
    return copy_bits(array, type);
  // A narrower format into a wider one; f32 into bf16 by rounding, since numpy has no bf16.
  const std::optional<Type> given = real_type(array.dtype);
  const bool wider = given && type_bits(*given) < type_bits(type) && type != Type::bf16;
  if (!wider && !(type == Type::bf16 && given == Type::f32)) return wrong_type(array, type, error);
  return convert(copy_bits(array, *given), type);
}

std::string write_npy(const Array& array) {
  const std::string_view dtype = dtype_of(array.type);
  std::string shape;
  for (const int64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   dtype[1] == '1' ? '|' : '<', dtype, shape);
  // The data begin at a multiple of 64 bytes; the header ends in a newline.
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  return out + element_bytes(array);
}

std::string element_bytes(const Array& array) {
  if (array.type != Type::i4)
    return {reinterpret_cast<const char*>(array.data.data()), array.data.size()};
  std::string out;
  for (int64_t i = 0; i < array.size(); ++i)
    out += static_cast<char>(static_cast<int8_t>(array.get(i).integer));
  return out;
}

}  // namespace tang
