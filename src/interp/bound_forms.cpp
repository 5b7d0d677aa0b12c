#include "interp/bound_forms.h"

#include <algorithm>

#include "support/integer.h"

namespace tang::interpreter {

namespace {

int64_t plus_times(int64_t a, int64_t factor, int64_t b) {  // a + factor*b, wrapping
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(factor) * static_cast<uint64_t>(b));
}

}  // namespace

void BoundForms::add_linear(Bound& to, int64_t factor, AxisTerm term) {
  for (AxisTerm& mine : to.linear)
    if (mine.axis == term.axis) {
      mine.coefficient = plus_times(mine.coefficient, factor, term.coefficient);
      return;
    }
  to.linear.push_back({.axis = term.axis, .coefficient = plus_times(0, factor, term.coefficient)});
}

uint32_t BoundForms::add(FormId id) {
  if (const auto found = number_.find(id); found != number_.end()) return found->second;
  const Form& form = (*forms_)[id];
  Bound bound{.constant = form.constant, .linear = {}, .products = {}};
  for (const Term& term : form.terms) {
    int64_t coefficient = term.coefficient;
    std::vector<Factor> factors;
    for (const Atom& atom : term.atoms) {
      if (atom.is_quotient()) {
        const uint32_t numerator = add(atom.numerator);
        if (!last_axis(numerator))
          coefficient =
              plus_times(0, coefficient, floor_div(bound_[numerator].constant, atom.divisor));
        else
          factors.push_back({.axis_or_form = numerator, .divisor = atom.divisor});
      } else if (atom.var.kind == VarKind::axis) {
        factors.push_back({.axis_or_form = atom.var.index});
      } else {
        coefficient = plus_times(0, coefficient, known_(atom.var));
      }
    }
    if (factors.empty())
      bound.constant = plus_times(bound.constant, 1, coefficient);
    else if (factors.size() == 1 && factors[0].divisor == 0)
      add_linear(bound, 1, {.axis = factors[0].axis_or_form, .coefficient = coefficient});
    else
      bound.products.push_back({.coefficient = coefficient, .factors = std::move(factors)});
  }
  // Coefficients that dims made zero: (S - 4)*i at S = 4.
  std::erase_if(bound.linear, [](const AxisTerm& t) { return t.coefficient == 0; });
  std::erase_if(bound.products, [](const Product& p) { return p.coefficient == 0; });
  bound_.push_back(std::move(bound));
  const auto number = static_cast<uint32_t>(bound_.size() - 1);
  number_.emplace(id, number);
  return number;
}

uint32_t BoundForms::constant(int64_t value) {
  bound_.push_back({.constant = value, .linear = {}, .products = {}});
  return static_cast<uint32_t>(bound_.size() - 1);
}

uint32_t BoundForms::add_scaled(uint32_t form, int64_t factor, uint32_t other) {
  Bound sum = bound_[form];
  const Bound& more = bound_[other];
  sum.constant = plus_times(sum.constant, factor, more.constant);
  for (const AxisTerm& t : more.linear) add_linear(sum, factor, t);
  for (const Product& p : more.products)
    sum.products.push_back(
        {.coefficient = plus_times(0, factor, p.coefficient), .factors = p.factors});
  bound_.push_back(std::move(sum));
  return static_cast<uint32_t>(bound_.size() - 1);
}

int64_t BoundForms::factor_at(const Factor& f, const int64_t* axes) const {
  return f.divisor == 0 ? axes[f.axis_or_form] : floor_div(at(f.axis_or_form, axes), f.divisor);
}

uint64_t BoundForms::products_at(const Bound& f, const int64_t* axes) const {
  uint64_t total = 0;
  for (const Product& p : f.products) {
    auto product = static_cast<uint64_t>(p.coefficient);
    for (const Factor& factor : p.factors)
      product *= static_cast<uint64_t>(factor_at(factor, axes));
    total += product;
  }
  return total;
}

std::optional<Interval> BoundForms::factor_range(const Factor& f,
                                                 const std::vector<int64_t>& extents) const {
  if (f.divisor == 0) return Interval{.low = 0, .high = extents[f.axis_or_form] - 1};
  const auto numerator = range(f.axis_or_form, extents);
  if (!numerator) return std::nullopt;
  return Interval{.low = floor_div(numerator->low, f.divisor),
                  .high = floor_div(numerator->high, f.divisor)};
}

std::optional<Interval> BoundForms::range(uint32_t form,
                                          const std::vector<int64_t>& extents) const {
  const Bound& f = bound_[form];
  Interval total{.low = f.constant, .high = f.constant};
  const auto add_scaled_interval = [&](int64_t c, Interval i) {
    const auto a = checked_mul(c, i.low), b = checked_mul(c, i.high);
    if (!a || !b) return false;
    const auto low = checked_add(total.low, std::min(*a, *b));
    const auto high = checked_add(total.high, std::max(*a, *b));
    if (low && high) total = {.low = *low, .high = *high};
    return low && high;
  };
  for (const AxisTerm& t : f.linear)
    if (!add_scaled_interval(t.coefficient, {.low = 0, .high = extents[t.axis] - 1}))
      return std::nullopt;
  for (const Product& p : f.products) {
    if (p.factors.size() != 1) return std::nullopt;
    const auto factor = factor_range(p.factors[0], extents);
    if (!factor || !add_scaled_interval(p.coefficient, *factor)) return std::nullopt;
  }
  return total;
}

bool BoundForms::occurs(uint32_t form, uint32_t axis) const {
  const Bound& f = bound_[form];
  for (const AxisTerm& t : f.linear)
    if (t.axis == axis) return true;
  for (const Product& p : f.products)
    for (const Factor& factor : p.factors)
      if (factor.divisor == 0 ? factor.axis_or_form == axis : occurs(factor.axis_or_form, axis))
        return true;
  return false;
}

std::optional<uint32_t> BoundForms::last_axis(uint32_t form) const {
  std::optional<uint32_t> last;
  const auto see = [&](std::optional<uint32_t> axis) {
    if (axis && (!last || *axis > *last)) last = axis;
  };
  for (const AxisTerm& t : bound_[form].linear) see(t.axis);
  for (const Product& p : bound_[form].products)
    for (const Factor& factor : p.factors)
      see(factor.divisor == 0 ? factor.axis_or_form : last_axis(factor.axis_or_form));
  return last;
}

std::optional<int64_t> BoundForms::coefficient(uint32_t form, uint32_t axis) const {
  const Bound& f = bound_[form];
  for (const Product& p : f.products)
    for (const Factor& factor : p.factors)
      if (factor.divisor == 0 ? factor.axis_or_form == axis : occurs(factor.axis_or_form, axis))
        return std::nullopt;
  for (const AxisTerm& t : f.linear)
    if (t.axis == axis) return t.coefficient;
  return 0;
}

}  // namespace tang::interpreter
