// The right side of a definition: random expressions over the indices in scope.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "names.h"

namespace tang::random {

// The text of an expression, safe to stand as an operand, and the bound of its value if real.
struct Term {
  std::string text;
  Bound bound{};
};

// What a reduction gives: its text, and the kind and bound of each result.
struct Reduction {
  std::string text;
  std::vector<Kind> kinds{};
  std::vector<Bound> bounds{};
  std::vector<int64_t> places{};  // of each result that topk gives, else 0; empty: all 0
};

class Body {
 public:
  Body(const Names& names, Rng& rng) : names_(names), rng_(rng) {}

  // Opens an index of the definition's left side.
  void add_index(const Extent& range) { open_index(range); }
  // "name[i0, i1: N]", once the right side is written: it decides which ranges must be. With an
  // index for the places of topk, if any, last.
  std::string left(const std::string& name, int64_t places);

  // Of an index of the left side, by its position.
  const std::string& index_name(size_t k) const { return indices_[k].name; }

  Term value(Kind kind, int depth);
  // A reduction that is a whole right side, of one result or several.
  Reduction reduction(int depth);

 private:
  // Expressions (body.cpp).
  Term real(int depth);
  Term real_leaf();
  Term real_function(int depth);
  Term exact_real(int depth);
  Term finite_real(int depth);
  Term integer(int depth);
  Term integer_leaf();
  Term boolean(int depth);
  Term any_boolean(int depth);

  // Reads (reads.cpp).
  std::optional<Term> read(Kind kind);
  std::optional<Term> plain_read(const Tensor& tensor);
  Term edge_read(Kind kind, int depth);
  Term guarded_read(const Tensor& tensor);
  std::optional<std::string> inner_coordinate(const Extent& extent);
  std::string index_coordinate(const Extent& extent, Index& index);
  std::string outer_coordinate(const Extent& extent);
  std::string otherwise(Kind kind);

  // Reductions (reductions.cpp).
  struct Scope {
    size_t first_index = 0;
    size_t n_facts = 0;
    int64_t points = 1;  // at the sizes of the run
    std::string condition{};
  };
  Scope open_reduction(int most_indices);
  std::string close_reduction(const Scope& scope, const std::string& monoid,
                              const std::string& values);
  void condition_on(Scope& scope);
  Term folded(const std::string& monoid, Kind kind, const Scope& scope, int depth);
  std::string arg_values(int depth, Reduction& result);
  std::string arg_monoid(Reduction& result);
  Term nested_reduction(Kind kind, int depth);
  Reduction simple(int depth);
  Reduction arg_reduction(int depth);
  Reduction product(int depth);
  Reduction statistics(int depth);

  void open_index(const Extent& range);
  std::string binder(Index& index);

  struct Fact {  // of the place where a term stands: earlier <= later, two indices of one range
    std::string earlier, later;
    Extent range;
  };

  const Names& names_;
  Rng& rng_;
  std::vector<Index> indices_{};  // in scope
  std::vector<Fact> facts_{};
  int n_opened_ = 0;                // indices, ever
  int nesting_ = 0;                 // of reductions
  std::optional<Kind> identity_{};  // kind of the component in which `x?[…]` may stand
  int64_t budget_ = 40;             // operations left
};

}  // namespace tang::random
