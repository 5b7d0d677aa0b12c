// Building a linear system from forms, and bounds of its columns by interval propagation.
#include "affine/system.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/integer.h"

namespace tang {

namespace {

constexpr size_t kMaxProductRows = 64;

Wide floor_div_wide(Wide a, Wide b) {  // b > 0
  if (b == 1) return a;
  if (is_near(a) && is_near(b)) return floor_div(static_cast<int64_t>(a), static_cast<int64_t>(b));
  const Wide q = a / b;
  return q - (a % b < 0 ? 1 : 0);
}

int64_t as_low(Wide value) {
  if (value < -kFar) return INT64_MIN;
  return static_cast<int64_t>(std::min<Wide>(value, kFar));
}

int64_t as_high(Wide value) {
  if (value > kFar) return INT64_MAX;
  return static_cast<int64_t>(std::max<Wide>(value, -kFar));
}

}  // namespace

std::optional<Row> System::row_of(FormId form) {
  const Form& f = (*forms_)[form];
  if (!is_near(f.constant)) return std::nullopt;
  Row row{.terms = {}, .constant = f.constant};
  for (const Term& term : f.terms) {
    const std::optional<uint32_t> column = column_of(term.atoms);
    if (!column || !is_near(term.coefficient)) return std::nullopt;
    row.terms.push_back({*column, term.coefficient});
  }
  std::sort(row.terms.begin(), row.terms.end());
  return row;
}

std::optional<uint32_t> System::column_of(std::vector<Atom> atoms) {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].atoms == atoms) return static_cast<uint32_t>(i);
  std::vector<uint32_t> factors;
  if (atoms.size() > 1) {
    for (const Atom& atom : atoms) {
      const std::optional<uint32_t> factor = column_of({atom});
      if (!factor) return std::nullopt;
      factors.push_back(*factor);
    }
    std::sort(factors.begin(), factors.end());
  }
  if (columns.size() >= kMaxColumns) return std::nullopt;
  const auto column = static_cast<uint32_t>(columns.size());
  columns.push_back({.atoms = std::move(atoms), .factors = std::move(factors)});
  const Atom first = columns.back().atoms[0];
  if (!columns.back().is_product() && first.is_quotient()) add_quotient_rows(column, first);
  return column;
}

// k*q <= f and f <= k*q + k - 1.
void System::add_quotient_rows(uint32_t column, const Atom& atom) {
  const std::optional<Row> numerator = row_of(atom.numerator);
  if (!numerator || !is_near(atom.divisor)) return;
  const Row quotient{.terms = {{column, 1}}, .constant = 0};
  const Row slack{.terms = {{column, atom.divisor}}, .constant = atom.divisor - 1};
  if (auto low = combine({&*numerator, 1}, {&quotient, -Wide{atom.divisor}})) add(std::move(*low));
  if (auto high = combine({&slack, 1}, {&*numerator, -1})) add(std::move(*high));
}

void System::add_box_rows(uint32_t column, const Interval& bounds) {
  if (bounds.has_low() && is_near(bounds.low))
    add({.terms = {{column, 1}}, .constant = -bounds.low});
  if (bounds.has_high() && is_near(bounds.high))
    add({.terms = {{column, -1}}, .constant = bounds.high});
}

// For x*y: (x - a)*(y - b) is not negative when a and b are both lower or both upper bounds, and
// not positive when one is a lower and one an upper bound.
void System::add_corner_rows(uint32_t product, const Box& box) {
  const uint32_t x = columns[product].factors[0];
  const uint32_t y = columns[product].factors[1];
  if (x == y) return;
  const auto corner = [&](bool known_a, int64_t a, bool known_b, int64_t b, int sign) {
    const Wide constant = Wide{a} * b * sign;
    if (!known_a || !known_b || !is_near(constant) || !is_near(a) || !is_near(b)) return;
    Row row{.terms = {{product, sign}}, .constant = static_cast<int64_t>(constant)};
    if (b != 0) row.terms.push_back({x, -sign * b});
    if (a != 0) row.terms.push_back({y, -sign * a});
    std::sort(row.terms.begin(), row.terms.end());
    add(std::move(row));
  };
  const Interval p = box[x], q = box[y];
  corner(p.has_low(), p.low, q.has_low(), q.low, 1);
  corner(p.has_high(), p.high, q.has_high(), q.high, 1);
  corner(p.has_low(), p.low, q.has_high(), q.high, -1);
  corner(p.has_high(), p.high, q.has_low(), q.low, -1);
}

std::optional<Row> System::multiply(const Row& row, const std::vector<uint32_t>& factors) {
  const auto times = [&](const std::vector<Atom>& atoms) {
    std::vector<Atom> all = atoms;
    for (const uint32_t f : factors) all.push_back(columns[f].atoms[0]);
    std::sort(all.begin(), all.end());
    return column_of(std::move(all));
  };
  Row out;
  for (const Entry& e : row.terms) {
    const std::optional<uint32_t> column = times(columns[e.column].atoms);
    if (!column) return std::nullopt;
    out.terms.push_back({*column, e.coefficient});
  }
  if (row.constant != 0) {
    const std::optional<uint32_t> column = times({});
    if (!column) return std::nullopt;
    out.terms.push_back({*column, row.constant});
  }
  std::sort(out.terms.begin(), out.terms.end());
  return out;
}

void System::add_product_rows(const Box& box) {
  const size_t n_rows = rows.size();
  const size_t n_columns = columns.size();
  std::set<std::pair<size_t, std::vector<uint32_t>>> done;
  for (uint32_t p = 0; p < n_columns; ++p) {
    if (!columns[p].is_product()) continue;
    add_box_rows(p, box[p]);
    if (columns[p].factors.size() == 2) add_corner_rows(p, box);
    for (size_t r = 0; r < n_rows && done.size() < kMaxProductRows; ++r) {
      const std::vector<Entry> terms = rows[r].terms;
      for (const Entry& e : terms) {
        // The row mentions a part of the product: multiply it by the rest.
        const std::vector<uint32_t> part =
            columns[e.column].is_product() ? columns[e.column].factors : std::vector{e.column};
        const std::vector<uint32_t>& whole = columns[p].factors;
        if (part.size() >= whole.size() ||
            !std::includes(whole.begin(), whole.end(), part.begin(), part.end()))
          continue;
        std::vector<uint32_t> rest;
        std::set_difference(whole.begin(), whole.end(), part.begin(), part.end(),
                            std::back_inserter(rest));
        if (!std::all_of(rest.begin(), rest.end(), [&](uint32_t f) { return box[f].low >= 0; }))
          continue;
        if (!done.emplace(r, rest).second) continue;
        const Row row = rows[r];
        if (std::optional<Row> product = multiply(row, rest)) add(std::move(*product));
      }
    }
  }
}

namespace {

// Greatest value of a term, or nothing when unbounded.
std::optional<Wide> greatest(const Entry& e, const Interval& x) {
  if (e.coefficient > 0)
    return x.has_high() ? std::optional<Wide>(Wide{e.coefficient} * x.high) : std::nullopt;
  return x.has_low() ? std::optional<Wide>(Wide{e.coefficient} * x.low) : std::nullopt;
}

bool raise(Interval& x, int64_t low) {
  if (low <= x.low) return false;
  x.low = low;
  return true;
}

bool lower(Interval& x, int64_t high) {
  if (high >= x.high) return false;
  x.high = high;
  return true;
}

// Each term is at least what the greatest values of the others leave.
bool tighten_by_row(const Row& row, Box& box) {
  Wide total = row.constant;
  size_t n_open = 0;
  for (const Entry& e : row.terms) {
    if (const std::optional<Wide> g = greatest(e, box[e.column]))
      total += *g;
    else
      ++n_open;
  }
  if (n_open > 1) return false;
  bool changed = false;
  for (const Entry& e : row.terms) {
    Interval& x = box[e.column];
    const std::optional<Wide> own = greatest(e, x);
    if (own && n_open > 0) continue;
    const Wide others = own ? total - *own : total;
    // coefficient * x >= -others
    if (e.coefficient > 0)
      changed |= raise(x, as_low(-floor_div_wide(others, e.coefficient)));
    else
      changed |= lower(x, as_high(floor_div_wide(others, -Wide{e.coefficient})));
  }
  return changed;
}

Interval product_of(const Interval& a, const Interval& b) {
  if (a.low >= 0 && b.low >= 0) {
    const bool bounded = (a.has_high() && b.has_high()) || a.high == 0 || b.high == 0;
    return {.low = as_low(Wide{a.low} * b.low),
            .high = bounded ? as_high(Wide{a.high} * b.high) : INT64_MAX};
  }
  if (!a.has_low() || !a.has_high() || !b.has_low() || !b.has_high()) return {};
  const Wide corners[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                          Wide{a.high} * b.high};
  return {.low = as_low(*std::min_element(corners, corners + 4)),
          .high = as_high(*std::max_element(corners, corners + 4))};
}

// A product from its factors, and a factor from the product where the others are positive.
bool tighten_by_product(const Column& column, uint32_t id, Box& box) {
  Interval forward{.low = 1, .high = 1};
  for (const uint32_t f : column.factors) forward = product_of(forward, box[f]);
  bool changed = raise(box[id], forward.low);
  changed |= lower(box[id], forward.high);
  const Interval whole = box[id];
  for (size_t i = 0; i < column.factors.size(); ++i) {
    Interval rest{.low = 1, .high = 1};
    bool repeated = false;
    for (size_t j = 0; j < column.factors.size(); ++j) {
      if (j == i) continue;
      repeated |= column.factors[j] == column.factors[i];
      rest = product_of(rest, box[column.factors[j]]);
    }
    if (repeated || rest.low < 1 || rest.high < rest.low) continue;
    Interval& x = box[column.factors[i]];
    if (whole.has_high()) {
      // x*rest <= high: the weakest x is over the least rest when high >= 0, else the greatest.
      if (whole.high >= 0)
        changed |= lower(x, as_high(floor_div_wide(whole.high, rest.low)));
      else
        changed |= lower(x, rest.has_high() ? as_high(floor_div_wide(whole.high, rest.high)) : -1);
    }
    if (whole.has_low()) {
      if (whole.low > 0)
        changed |=
            raise(x, rest.has_high() ? as_low(-floor_div_wide(-Wide{whole.low}, rest.high)) : 1);
      else
        changed |= raise(x, as_low(-floor_div_wide(-Wide{whole.low}, rest.low)));
    }
  }
  return changed;
}

}  // namespace

bool propagate(const System& system, Box& box, int rounds) {
  box.resize(system.columns.size());
  for (int round = 0; round < rounds; ++round) {
    bool changed = false;
    for (const Row& row : system.rows) {
      if (row.terms.empty() && row.constant < 0) return false;
      changed |= tighten_by_row(row, box);
    }
    for (uint32_t c = 0; c < system.columns.size(); ++c)
      if (system.columns[c].is_product()) changed |= tighten_by_product(system.columns[c], c, box);
    for (const Interval& x : box)
      if (x.low > x.high) return false;
    if (!changed) break;
  }
  return true;
}

}  // namespace tang
