// The graph: views, comprehensions and programs, in one arena of append-only pools with typed ids.
//
// A comprehension computes, at every point of its point axes, a fold over its reduce axes (or, with
// no monoid, a plain value). Axes are positions: axis a of a form is {VarKind::axis, a}, point axes
// first, then reduce axes. It reads tensors through views; its scalar expressions name those reads
// by position (Op::read), and forms, run-time scalars and the monoid's states by the other leaves.
//
// An update of an `inout` is a map too: its value at each point replaces the element of the old
// version that one of its reads sees, and its result is the new version, in the same storage.
//
// Equal terms have equal ids, comprehensions included, so a rewrite is a function from ids to ids,
// and common subexpressions are one node by construction. Names and places in the text belong to
// the definitions of a Program, never to nodes. verify.h states the invariants.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "affine/form.h"
#include "affine/prove.h"
#include "ir/schedule_block.h"
#include "scalar/expr.h"
#include "support/diagnostics.h"
#include "support/hash.h"

namespace tang {

using ViewId = Id<struct ViewTag>;
using GuardId = Id<struct GuardTag>;
using MonoidId = Id<struct MonoidTag>;
using ComprehensionId = Id<struct ComprehensionTag>;

// What a read may name.
enum class TensorKind : uint8_t {
  input,      // declared `input` or `inout`; source: number of the declaration in its Program
  component,  // source: ComprehensionId; component: which result
};

struct Tensor {
  TensorKind kind = TensorKind::input;
  uint32_t source = 0;
  uint32_t component = 0;
  Type type = Type::f64;  // inputs: the declared storage; else the kind (f64, i32, i64, boolean)
  std::vector<FormId> shape;  // extents
  bool operator==(const Tensor&) const = default;
  uint64_t hash() const;
};

// A conjunction of affine constraints and, when valid, a boolean expression over the same reads.
struct Guard {
  std::vector<Constraint> constraints;  // sorted, no duplicates
  ExprId condition;
  bool operator==(const Guard&) const = default;
  uint64_t hash() const;
  bool empty() const { return constraints.empty() && !condition.valid(); }
};

// One source coordinate: an index form, or data (an i32 or i64 expression over earlier reads).
struct Coord {
  FormId form;
  ExprId data;
  bool is_gather() const { return data.valid(); }
  bool operator==(const Coord&) const = default;
};

// How a comprehension sees a tensor. A guarded view is out of range where any coordinate is outside
// of the tensor or `guard` fails; a plain view has an empty guard and is in range wherever it is
// evaluated.
struct View {
  std::vector<Coord> coords;
  bool guarded = false;
  GuardId guard;  // always valid
  bool operator==(const View&) const = default;
  uint64_t hash() const;
};

struct Read {
  TensorId tensor;
  ViewId view;
  ExprId otherwise;  // of a guarded read: its value out of range, in the kind of the tensor
  bool operator==(const Read&) const = default;
};

// Combines two states, component by component. Its expressions use Op::left and Op::right with the
// component's number. Hidden components follow the visible ones: bookkeeping that no program reads.
//
// A component may keep a list of its first few elements in an order, instead of one folded value.
// Its last axis is a point axis of that extent, on which no value depends: the place in the list.
// Identity and combine are then of one place: combine is select(p, right, left), where p says that
// an element (right) goes before the one at a place (left). Components with one p move together.
struct Monoid {
  std::string name;              // "sum", "argmax", a user's own; products: "(max, sum)"
  std::vector<Type> types;       // kinds
  std::vector<ExprId> identity;  // constants
  std::vector<ExprId> combine;
  uint8_t n_hidden = 0;
  bool commutative = false;
  std::vector<int64_t> places = {};  // of each component's list, 0: it folds; empty: all fold
  bool operator==(const Monoid&) const = default;
  uint64_t hash() const;
  size_t n_components() const { return types.size(); }
  size_t n_visible() const { return types.size() - n_hidden; }
  bool keeps_list(size_t k) const { return k < places.size() && places[k] != 0; }
  bool keeps_lists() const { return !places.empty(); }
};

struct Component {
  ExprId value;               // what is folded, or the value of a map
  std::vector<uint8_t> axes;  // its own point axes, in the order of its dimensions
  bool operator==(const Component&) const = default;
};

struct Comprehension {
  std::vector<FormId> extents;  // of all axes; extents in dims only
  uint8_t n_points = 0;         // the first n_points axes are point axes
  std::vector<Read> reads;      // a read's data coordinates use earlier reads only
  GuardId domain;               // of the reduction: points where it holds are folded; always valid
  MonoidId monoid;              // invalid: a map
  std::vector<Component>
      components;  // one per component of the monoid, hidden ones too; 1 for a map
  // Of an update: the read whose element the value replaces. Where that read is out of range, the
  // point is skipped. The result has the shape of the tensor that it reads.
  std::optional<uint32_t> into;
  bool operator==(const Comprehension&) const = default;
  uint64_t hash() const;
  bool is_map() const { return !monoid.valid(); }
  bool is_update() const { return into.has_value(); }
  size_t n_axes() const { return extents.size(); }
};

// The pools. One arena a compile.
struct Arena {
  Forms forms;
  Exprs exprs;
  Pool<Tensor, TensorTag> tensors;
  Pool<Guard, GuardTag> guards;
  Pool<View, ViewTag> views;
  Pool<Monoid, MonoidTag> monoids;
  Pool<Comprehension, ComprehensionTag> comprehensions;

  // Sorts, drops duplicates and what always holds; what never does is one constraint, -1 >= 0.
  GuardId guard(Guard g);
  GuardId no_guard() { return guard({}); }
  // The tensor that holds component `component` of a comprehension; its shape and kind follow.
  TensorId component(ComprehensionId id, uint32_t component);
  // The old version that an update replaces elements of.
  TensorId updated(const Comprehension& update) const { return update.reads[*update.into].tensor; }
  // The tensor in whose storage a version lies: the `inout` itself; any other tensor is its own.
  TensorId base_of(TensorId tensor) const;
};

enum class Role : uint8_t { input, inout };

struct Dim {
  std::string name;
  Span span;
};

// A bound of a declared range, half-open: lo <= value < hi; absent sides are open.
struct Range {
  FormId lo, hi;
  bool present() const { return lo.valid() || hi.valid(); }
};

struct Scalar {
  std::string name;
  Type type = Type::f32;
  Range range;
  Span span;
};

struct Input {
  std::string name;
  TensorId tensor;
  Role role = Role::input;
  Range range;  // of its values, when integers
  bool sorted = false;
  bool distinct = false;
  Span span;
};

using DefId = Id<struct DefTag>;

struct Def {
  ComprehensionId id;
  std::vector<std::string> names;       // of the visible components; empty where dropped
  std::vector<std::string> axis_names;  // of all axes, for printing
  Span span;
};

struct Output {
  std::string name;
  TensorId tensor;
  Type type = Type::f32;  // storage
  Span span;
};

// Values are cheap to copy; rewrites return new programs over the same arena.
struct Program {
  std::shared_ptr<Arena> arena;
  std::string entry = "run";
  std::vector<Dim> dims;        // {VarKind::dim, position}
  std::vector<Scalar> scalars;  // {VarKind::scalar, position}
  std::vector<Input> inputs;    // Tensor.source of input tensors
  Facts assumptions;            // about dims and integer scalars, ranges of both included
  std::vector<Def> defs;        // in order: each reads inputs and results of earlier ones only
  std::vector<Output> outputs;  // the last versions of the inouts, in their order; then the rest
  std::vector<ScheduleBlock> schedules;  // what the text asks for; never changes the meaning

  const Def& def(DefId id) const { return defs[id.value]; }
  const Comprehension& comprehension(DefId id) const { return arena->comprehensions[def(id).id]; }
  // The definition that computes a component tensor; nothing for inputs.
  std::optional<DefId> def_of(TensorId tensor) const;
  // An inout, or a version of one.
  bool is_inout(TensorId tensor) const;
  // The name by which the program knows a tensor; "" when it has none.
  std::string name_of(TensorId tensor) const;
};

// def_of for many tensors: one pass over the definitions.
class DefIndex {
 public:
  explicit DefIndex(const Program& program);
  std::optional<DefId> of(TensorId tensor) const;

 private:
  const Arena* arena_;
  std::unordered_map<uint32_t, DefId> by_comprehension_;
};

// Which definitions the outputs need, by DefId.
std::vector<bool> live_defs(const Program& program, const DefIndex& index);

}  // namespace tang
