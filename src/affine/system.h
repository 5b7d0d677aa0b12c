// The linear system by which the prover sees forms. Internal to affine/.
//
// A column is a distinct product of atoms: a variable, a quotient, or a product of several. A row
// says that an integer combination of columns plus a constant is not negative. What the columns
// mean beyond that is said by more rows: a quotient q = f/k brings k*q <= f <= k*q + k - 1;
// products get bounds from their factors, and known inequalities times factors that are not
// negative.
//
// Rows may be dropped at any limit: fewer rows have more solutions, so a contradiction found in
// them is one of the whole. Intermediate values are 128 bits wide; a row that does not fit is
// dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "affine/form.h"

namespace tang {

__extension__ typedef __int128 Wide;

inline constexpr size_t kMaxColumns = 64;
// Coefficients and bounds beyond this count as none, so that a row's value over a box of bounds,
// at most kMaxColumns products of two, fits 128 bits.
inline constexpr int64_t kFar = int64_t{1} << 60;
inline bool is_near(Wide value) {
  return value >= -kFar && value <= kFar;
}

struct Entry {
  uint32_t column;
  int64_t coefficient;  // never 0
  auto operator<=>(const Entry&) const = default;
};

// sum of coefficient * column, plus constant, >= 0.
struct Row {
  std::vector<Entry> terms;  // sorted by column
  int64_t constant = 0;
};

// The sum of rows times factors, divided by the greatest common divisor of its coefficients, the
// constant rounded down (columns are integers). Nothing when it leaves 64 bits.
struct Weighted {
  const Row* row;
  Wide factor;
};
std::optional<Row> combine(const Weighted& a, const Weighted& b);

// Bounds of an integer; the extreme values of int64_t stand for none.
struct Interval {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  bool has_low() const { return low != INT64_MIN; }
  bool has_high() const { return high != INT64_MAX; }
  bool is_fixed() const { return low == high; }
};
using Box = std::vector<Interval>;  // by column

struct Column {
  std::vector<Atom> atoms;
  std::vector<uint32_t> factors;  // of a product: the columns of its atoms, sorted; else empty
  bool is_variable() const { return factors.empty() && !atoms[0].is_quotient(); }
  bool is_product() const { return !factors.empty(); }
};

class System {
 public:
  explicit System(const Forms& forms) : forms_(&forms) {}

  // The form over columns; nothing at a limit. New quotients bring their rows.
  std::optional<Row> row_of(FormId form);
  std::optional<uint32_t> column_of(std::vector<Atom> atoms);
  void add(Row row) { rows.push_back(std::move(row)); }

  // Bounds of products by bounds of their factors, and rows times nonnegative factors where that
  // gives products which occur. `box` holds bounds from propagate().
  void add_product_rows(const Box& box);

  std::vector<Column> columns;
  std::vector<Row> rows;

 private:
  void add_quotient_rows(uint32_t column, const Atom& atom);
  void add_box_rows(uint32_t column, const Interval& bounds);
  void add_corner_rows(uint32_t product, const Box& box);
  std::optional<Row> multiply(const Row& row, const std::vector<uint32_t>& factors);
  const Forms* forms_;
};

// Tightens bounds by every row and product until nothing changes or `rounds` passed. False: no
// integer point is left.
bool propagate(const System& system, Box& box, int rounds);

// Fourier-Motzkin elimination of all columns but `keep`: the rows over `keep` alone that follow, or
// nothing when the rows contradict each other.
std::optional<std::vector<Row>> eliminate(std::vector<Row> rows, size_t n_columns,
                                          std::optional<uint32_t> keep);

}  // namespace tang
