// A dense row-major array of any storage type: what programs take and give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scalar/type.h"

namespace tang {

struct Array {
  Type type = Type::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;  // bytes_of(type, size()) bytes, packed

  Array() = default;
  Array(Type t, std::vector<int64_t> s) : type(t), shape(std::move(s)) {
    data.resize(static_cast<size_t>(bytes_of(type, size())));
  }
  int64_t size() const {
    int64_t n = 1;
    for (const int64_t extent : shape) n *= extent;
    return n;
  }
  Value get(int64_t index) const { return load_element(type, data.data(), index); }
  void set(int64_t index, Value value) { store_element(type, data.data(), index, value); }
  // As a real or an integer, whatever the type.
  double real(int64_t index) const {
    const Value v = get(index);
    return is_real(type) ? v.real : static_cast<double>(v.integer);
  }
};

// The array with each element converted by the rules of casts.
inline Array convert(const Array& a, Type to) {
  Array out(to, a.shape);
  for (int64_t i = 0; i < a.size(); ++i) out.set(i, convert(a.type, to, a.get(i)));
  return out;
}

}  // namespace tang
