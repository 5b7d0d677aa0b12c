// One definition while it is built: indices whose ranges are not known yet, and the comprehensions
// that its text nests, each with its reads and the conditions that are known where they stand.
//
// Every index of a definition has a number of its own, and stands in forms as the axis of that
// number. Points of the definition come first, then the indices of its own reduction, then those of
// nested ones, so that the outermost comprehension needs no renumbering when it is finished.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/obligation.h"
#include "text/meaning.h"

namespace tang {

inline constexpr size_t kNone = SIZE_MAX;

// A read whose coordinate is exactly an index says that the index runs over that dimension.
struct Vote {
  FormId extent;
  Span span;           // of the coordinate
  std::string tensor;  // as written
  Span declared;       // where the tensor is declared
};

struct IndexInfo {
  std::string name;
  Span span;
  FormId extent;        // invalid until it is given or inferred
  bool faulty = false;  // an error, here or at its only vote, was reported
  std::vector<Vote> strong, weak;
  std::vector<uint32_t> prefix;  // indices bounded by this one in a condition
};

// A condition that holds where something is evaluated: an entry of a list linked by `outer`.
struct Known {
  size_t outer = kNone;
  Truth truth;
  bool in_domain = false;  // of the comprehension's own domain, else of a select, && or ||
};

// A read as written; it becomes a Read when the ranges of all indices are known.
struct Slot {
  TensorId tensor;
  size_t nested = kNone;  // instead of a tensor: the result of a nested comprehension
  std::vector<Coord> coords;
  bool guarded = false;
  Guard guard;
  ExprId otherwise;
  size_t known = kNone;    // what holds where it is evaluated
  bool in_domain = false;  // stands in the condition of its own reduction
  bool by_domain = false;  // its own domain alone keeps it in range
  bool must_hold = false;  // unguarded as written: its coordinates must be in range
  bool early = false;      // guarded only so that it may be evaluated where its place does not hold
  std::string name;        // of the tensor, as written
  std::vector<Span> spans;  // of the coordinates
  bool operator==(const Slot& other) const {
    return tensor == other.tensor && nested == other.nested && coords == other.coords &&
           guarded == other.guarded && guard == other.guard && otherwise == other.otherwise &&
           known == other.known && in_domain == other.in_domain;
  }
};

// An index form that is used as 32-bit data.
struct Width {
  FormId form;
  size_t known = kNone;
  Span span;
};

struct Nest {
  size_t parent = kNone;       // the comprehension that it stands in
  size_t outer_known = kNone;  // what its parent knows there
  std::vector<uint32_t> points, reduce;
  std::vector<int64_t> places;    // of each monoid: the k of topk(k), or 0
  std::vector<size_t> places_of;  // by visible component: the index of its list's places, or kNone
  Truth domain;
  Truth carried;  // the part of the domain that enclosing comprehensions gave
  MonoidId monoid;
  std::vector<ExprId> values;  // of the visible components
  std::vector<Slot> slots;
  std::unordered_multimap<uint64_t, size_t> slots_by_hash;
  std::vector<Known> known;
  size_t now_known = kNone;
  bool in_domain = false;  // its condition is being read
  std::vector<Width> widths;
  Span span;
  ComprehensionId id;  // when finished
};

}  // namespace tang
