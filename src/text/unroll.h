// Comprehensions of constant size as scalar expressions: the tensors of a monoid's state, cell by
// cell.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace tang {

class Unroller {
 public:
  explicit Unroller(Arena& arena) : arena_(arena) {}

  // Says what the cells of a tensor are, row-major, before it is read.
  void give(TensorId tensor, std::vector<ExprId> cells) { cells_[tensor] = std::move(cells); }
  // The cells of a tensor that `give` or `unroll` has made known; null for others.
  const std::vector<ExprId>* cells(TensorId tensor) const;
  // The cells of all results of a comprehension that reads known tensors. False, with a reason,
  // when one of its reads is of another tensor, or where it reads is data, or it grows too large.
  bool unroll(ComprehensionId id, std::string& why_not);

 private:
  struct Point;
  ExprId value(Point& point, ExprId root);
  ExprId read(Point& point, uint32_t number);
  std::optional<int64_t> at(const Point& point, FormId form) const;
  ExprId holds(Point& point, const Guard& guard);
  void fold(const Comprehension& c, std::vector<int64_t>& axes, std::vector<ExprId>& state);
  void fold_axes(const Comprehension& c, std::vector<int64_t>& axes, size_t axis,
                 std::vector<ExprId>& state);
  void refuse(const std::string& why);

  Arena& arena_;
  std::unordered_map<TensorId, std::vector<ExprId>> cells_;
  std::string why_not_;
};

}  // namespace tang
