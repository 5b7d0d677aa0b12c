// Fourier-Motzkin elimination over the rationals, with every row tightened to integers.
//
// Eliminating a column joins each row that bounds it from below with each that bounds it from
// above. The column that makes the fewest new rows goes first. A column that would make too many is
// given up: its rows are dropped, which can only lose a contradiction.
#include <algorithm>
#include <array>
#include <limits>

#include "affine/system.h"
#include "support/integer.h"

namespace tang {

namespace {

constexpr size_t kMaxRows = 300;
constexpr size_t kMaxWork = 6000;  // joined pairs in one elimination

Wide gcd_wide(Wide a, Wide b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  if (a == 1 || b == 1) return 1;
  while (b != 0) {
    // Division of 128 bits is slow, and seldom needed.
    if (a <= INT64_MAX && b <= INT64_MAX)
      return gcd_of(static_cast<int64_t>(a), static_cast<int64_t>(b));
    const Wide r = a % b;
    a = b;
    b = r;
  }
  return a;
}

struct WideEntry {
  uint32_t column;
  Wide coefficient;
};

int64_t coefficient_of(const Row& row, uint32_t column) {
  for (const Entry& e : row.terms)
    if (e.column == column) return e.coefficient;
  return 0;
}

// Of rows with equal terms only the tightest stays, of those without terms none.
// False when one says that a negative constant is not negative.
bool tidy(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.terms != b.terms ? a.terms < b.terms : a.constant < b.constant;
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const Row& a, const Row& b) { return a.terms == b.terms; }),
             rows.end());
  if (!rows.empty() && rows[0].terms.empty()) {
    if (rows[0].constant < 0) return false;
    rows.erase(rows.begin());
  }
  return true;
}

struct Use {
  size_t n_above = 0, n_below = 0;            // rows that bound the column from below, from above
  bool unit_above = true, unit_below = true;  // their coefficients are all of size one
};

// How many rows more there are after eliminating a column; elimination with unit coefficients on
// one side is exact over the integers and goes first among equals.
int64_t cost(const Use& use) {
  const auto above = static_cast<int64_t>(use.n_above), below = static_cast<int64_t>(use.n_below);
  return 2 * (above * below - above - below) + (use.unit_above || use.unit_below ? 0 : 1);
}

std::optional<uint32_t> cheapest_column(const std::vector<Row>& rows, size_t n_columns,
                                        std::optional<uint32_t> keep) {
  std::vector<Use> uses(n_columns);
  for (const Row& row : rows)
    for (const Entry& e : row.terms) {
      Use& use = uses[e.column];
      if (e.coefficient > 0) {
        ++use.n_above;
        use.unit_above &= e.coefficient == 1;
      } else {
        ++use.n_below;
        use.unit_below &= e.coefficient == -1;
      }
    }
  std::optional<uint32_t> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (uint32_t c = 0; c < n_columns; ++c) {
    const Use& use = uses[c];
    if (use.n_above + use.n_below == 0 || keep == c) continue;
    if (cost(use) < least) {
      least = cost(use);
      best = c;
    }
  }
  return best;
}

}  // namespace

std::optional<Row> combine(const Weighted& a, const Weighted& b) {
  std::array<WideEntry, kMaxColumns> terms;
  size_t n_terms = 0;
  auto i = a.row->terms.begin(), j = b.row->terms.begin();
  const auto i_end = a.row->terms.end(), j_end = b.row->terms.end();
  while (i != i_end || j != j_end) {
    if (j == j_end || (i != i_end && i->column < j->column)) {
      terms[n_terms++] = {i->column, a.factor * i->coefficient};
      ++i;
    } else if (i == i_end || j->column < i->column) {
      terms[n_terms++] = {j->column, b.factor * j->coefficient};
      ++j;
    } else {
      const Wide sum = a.factor * i->coefficient + b.factor * j->coefficient;
      if (sum != 0) terms[n_terms++] = {i->column, sum};
      ++i;
      ++j;
    }
  }
  Wide constant = a.factor * a.row->constant + b.factor * b.row->constant;
  Wide common = 0;
  for (size_t t = 0; t < n_terms && common != 1; ++t)
    common = gcd_wide(common, terms[t].coefficient);
  if (common > 1) constant = constant / common - (constant % common < 0 ? 1 : 0);
  if (!is_near(constant)) return std::nullopt;
  Row out{.terms = {}, .constant = static_cast<int64_t>(constant)};
  out.terms.reserve(n_terms);
  for (size_t t = 0; t < n_terms; ++t) {
    const Wide c = common > 1 ? terms[t].coefficient / common : terms[t].coefficient;
    if (!is_near(c)) return std::nullopt;
    out.terms.push_back({terms[t].column, static_cast<int64_t>(c)});
  }
  return out;
}

std::optional<std::vector<Row>> eliminate(std::vector<Row> rows, size_t n_columns,
                                          std::optional<uint32_t> keep) {
  const Row nothing;
  for (Row& row : rows)
    if (std::optional<Row> tight = combine({&row, 1}, {&nothing, 1})) row = std::move(*tight);
  if (!tidy(rows)) return std::nullopt;
  size_t work = 0;
  while (const std::optional<uint32_t> column = cheapest_column(rows, n_columns, keep)) {
    std::vector<Row> above, below, next;
    for (Row& row : rows) {
      const int64_t c = coefficient_of(row, *column);
      (c > 0 ? above : c < 0 ? below : next).push_back(std::move(row));
    }
    work += above.size() * below.size();
    if (next.size() + above.size() * below.size() <= kMaxRows && work <= kMaxWork) {
      for (const Row& a : above)
        for (const Row& b : below) {
          const Wide ca = coefficient_of(a, *column), cb = -Wide{coefficient_of(b, *column)};
          const Wide common = gcd_wide(ca, cb);
          if (std::optional<Row> joined = combine({&a, cb / common}, {&b, ca / common}))
            next.push_back(std::move(*joined));
        }
    }
    rows = std::move(next);
    if (!tidy(rows)) return std::nullopt;
  }
  return rows;
}

}  // namespace tang
