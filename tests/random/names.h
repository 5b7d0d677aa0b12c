// What a generated program has named so far, and how an index can stand in a coordinate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bound.h"
#include "rng.h"

namespace tang::random {

enum class Kind { real, integer, boolean };

// A size that is a number or a symbolic dim, plus an offset: what ranges and shapes are made of.
struct Extent {
  std::string base;    // "N", or "" for a number
  int64_t offset = 0;  // "N + 2", or the number
  int64_t value = 0;   // at the sizes of the run
  int64_t least = 0;   // at all allowed sizes
  std::string text() const;
  bool same_base(const Extent& other) const { return base == other.base; }
  bool operator==(const Extent& other) const {
    return base == other.base && offset == other.offset;
  }
  Extent plus(int64_t n) const { return {base, offset + n, value + n, least + n}; }
};

struct Tensor {
  std::string name;
  Kind kind = Kind::real;
  std::vector<Extent> shape;
  Bound bound{};                  // of reals
  std::optional<Extent> below{};  // an integer tensor declared `in 0..below`
};

struct Scalar {
  std::string name;
  Kind kind = Kind::real;
  Bound bound{};
  int64_t below = 0;  // an integer declared `in 0..below`
};

// An index in scope. Its range is written out unless a plain coordinate tells it.
struct Index {
  std::string name;
  Extent range;
  bool told = false;     // stands alone in an unguarded coordinate of its own range
  bool written = false;  // stands alone in one of another range, so its own must be written
};

struct Names {
  std::vector<Extent> sizes;  // that ranges are picked from
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  bool f64 = false;  // real inputs are f64
};

}  // namespace tang::random
