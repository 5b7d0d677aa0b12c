// Index forms with the program's dims and scalars filled in, so that what is left to evaluate at a
// point depends on the axes only: a constant, a linear part, and, where a form has them, quotients
// and products.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "affine/form.h"

namespace tang::interpreter {

struct Interval {
  int64_t low, high;
};

class BoundForms {
 public:
  // `known` gives the value of a dim or scalar.
  BoundForms(const Forms& forms, std::function<int64_t(Var)> known)
      : forms_(&forms), known_(std::move(known)) {}

  // The number by which the form is evaluated here; equal forms have one number.
  uint32_t add(FormId form);
  // form + factor * other, as a form of its own.
  uint32_t add_scaled(uint32_t form, int64_t factor, uint32_t other);
  uint32_t constant(int64_t value);

  int64_t at(uint32_t form, const int64_t* axes) const {
    const Bound& f = bound_[form];
    auto total = static_cast<uint64_t>(f.constant);
    for (const AxisTerm& t : f.linear)
      total += static_cast<uint64_t>(t.coefficient) * static_cast<uint64_t>(axes[t.axis]);
    if (!f.products.empty()) total += products_at(f, axes);
    return static_cast<int64_t>(total);
  }
  // All values lie within, when every axis runs over 0..extent with extent > 0; nothing when
  // unknown.
  std::optional<Interval> range(uint32_t form, const std::vector<int64_t>& extents) const;
  // The greatest axis that occurs, or nothing for a constant.
  std::optional<uint32_t> last_axis(uint32_t form) const;
  // f = c*axis + rest where axis does not occur in rest; nothing when it is not of this shape.
  std::optional<int64_t> coefficient(uint32_t form, uint32_t axis) const;

 private:
  struct AxisTerm {
    uint32_t axis = 0;
    int64_t coefficient = 0;
  };
  struct Factor {  // an axis, or a quotient of another form when divisor > 0
    uint32_t axis_or_form = 0;
    int64_t divisor = 0;
  };
  struct Product {
    int64_t coefficient = 0;
    std::vector<Factor> factors;
  };
  struct Bound {
    int64_t constant = 0;
    std::vector<AxisTerm> linear;
    std::vector<Product> products;
  };

  static void add_linear(Bound& to, int64_t factor, AxisTerm term);
  uint64_t products_at(const Bound& f, const int64_t* axes) const;
  int64_t factor_at(const Factor& f, const int64_t* axes) const;
  bool occurs(uint32_t form, uint32_t axis) const;
  std::optional<Interval> factor_range(const Factor& f, const std::vector<int64_t>& extents) const;

  const Forms* forms_;
  std::function<int64_t(Var)> known_;
  std::vector<Bound> bound_;
  std::unordered_map<FormId, uint32_t> number_;
};

}  // namespace tang::interpreter
