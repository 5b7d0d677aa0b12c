// Carries expressions, views and guards from one comprehension into another: substitution of forms,
// or data, for axes. All that rewrites do to views is here, for plain, guarded and gathered ones
// alike.
//
// Where an axis becomes data (the read went through a gather), a coordinate that uses it becomes
// data too, and a constraint on it a condition.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"

namespace tang {

// The reads of a comprehension in the making: equal ones once, each after those that its data
// coordinates use.
class ReadList {
 public:
  explicit ReadList(Arena& arena) : arena_(arena) {}
  // The leaf that names the read.
  ExprId add(Read read);
  std::vector<Read> reads;

 private:
  Arena& arena_;
};

// What stands for an axis: one of both. Data is i32 or i64, over the target's reads.
using AxisImage = Coord;

class Carrier {
 public:
  // `images`: one per axis of `from`. Neither reference is kept beyond the Carrier's life.
  Carrier(Arena& arena, const Comprehension& from, std::vector<AxisImage> images, ReadList& to);

  // What stands for a read of `from`; an invalid id carries the read itself. Set before any use.
  std::function<ExprId(uint32_t read)> instead;

  ExprId expr(ExprId e);
  ExprId read(uint32_t k);
  Coord coord(const Coord& c);
  // Constraints on data become part of the condition.
  Guard guard(GuardId g);

 private:
  Coord form(FormId f);
  ExprId form_as_data(FormId f, Type type);
  ExprId carry_read(uint32_t k);

  Arena& arena_;
  const Comprehension& from_;
  std::vector<AxisImage> images_;
  ReadList& to_;
  Exprs::Memo memo_;
  std::vector<ExprId> reads_;  // by read of `from`; invalid: not yet
};

// Axes that stand for themselves, moved up by `offset`.
std::vector<AxisImage> same_axes(Arena& arena, size_t n, size_t offset = 0);

// A condition that says what the guard says.
ExprId as_condition(Arena& arena, const Guard& guard);

// The comprehension with reads, extents and axes as they are, whose expressions are rebuilt by
// `visit` (as in Exprs::rewrite); reads that nothing needs any more are gone.
Comprehension rebuilt(Arena& arena, const Comprehension& c,
                      const std::function<ExprId(ExprId, const std::array<ExprId, 3>&)>& visit);

// Without the reads that nothing uses, equal reads once.
Comprehension tidy(Arena& arena, const Comprehension& c);

// The reads of `c` that stand in its expressions, as the language evaluates them: once each.
std::vector<bool> used_reads(const Arena& arena, const Comprehension& c);

// Why read k of `reader` cannot be replaced by the body of the map that it reads; "" when it can.
std::string why_not_splice(const Arena& arena, const Comprehension& reader, uint32_t k,
                           const Comprehension& map);

// `reader` with the bodies of maps in place of some reads: maps[k] for read k, null to keep it.
// A guarded read's body stands under what guards it, but for conditions that always hold.
Comprehension splice(const Program& program, const Comprehension& reader,
                     const std::vector<const Comprehension*>& maps);

}  // namespace tang
