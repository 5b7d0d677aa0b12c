// The syntax of one file, as written: what the parser found and nothing it meant. Names are not
// resolved, kinds and types not checked; parentheses are gone, since the tree says it all.
//
// Nodes are plain data in pools, and refer to each other by typed ids. A node is appended after its
// operands, so an operand's id is always less than its user's: walking ids upwards is a walk from
// the leaves. Trees may be ten thousand deep to the left (a sum of ten thousand terms), so walk by
// ids or with a stack of your own, never by recursion over operands.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "support/diagnostics.h"
#include "support/ids.h"

namespace tang::syntax {

using ExprNodeId = Id<struct ExprNodeTag>;
using ItemId = Id<struct ItemTag>;

// A name and where it stands. Empty text and an invalid span: there is none.
struct Name {
  std::string text;
  Span span;
  bool exists() const { return !text.empty(); }
};

// ---- Expressions -------------------------------------------------------------------------------

enum class Word : uint8_t { inf, nan, true_, false_ };
enum class UnaryOp : uint8_t { neg, logical_not };
enum class BinaryOp : uint8_t {
  // clang-format off
  mul, div, mod,
  add, sub,
  shl, shr,
  bit_and, bit_xor, bit_or,
  eq, ne, lt, le, gt, ge,
  logical_and, logical_or,
  // clang-format on
};

struct Integer {
  int64_t value = 0;  // of hexadecimal digits: the bits of an i32, sign-extended
  bool hexadecimal = false;
};
struct Real {
  double value = 0;
};
struct Constant {  // a reserved word that is a value
  Word word = Word::inf;
};
struct NameRef {  // x
  Name name;
};
struct Member {  // x.c
  Name base, member;
};
struct Unary {
  UnaryOp op = UnaryOp::neg;
  Span op_span;
  ExprNodeId operand;
};
struct Binary {
  BinaryOp op = BinaryOp::add;
  Span op_span;
  ExprNodeId left, right;
};
struct Conditional {  // condition ? yes : no
  ExprNodeId condition, yes, no;
};

struct Argument {
  Name name;  // of a named argument
  ExprNodeId value;
};
struct Call {  // f(e, g = e)
  Name function;
  std::vector<Argument> arguments;
};

// One coordinate: `e`, `e exact` or `b...`.
struct Coord {
  Span span;
  ExprNodeId value;  // absent for `b...`
  Name rest;         // b of `b...`
  bool exact = false;
};
struct Read {  // x.c?[coords | condition] else otherwise
  Name tensor;
  Name member;           // absent most of the time
  bool guarded = false;  // with `?`
  Span coords_span;      // from [ to ]
  std::vector<Coord> coords;
  ExprNodeId condition;  // absent without `|`
  ExprNodeId otherwise;  // absent without `else`
};

// An index of a comprehension: `i`, `i: range` or `b...`.
struct Binder {
  Name name;
  bool rest = false;  // with `...`: as many indices as the parameter's `B...` matched
  ExprNodeId range;   // absent when it is inferred
};
// The value of one monoid: one expression, or a tuple for a monoid of several components.
struct Value {
  Span span;
  bool tuple = false;
  std::vector<ExprNodeId> parts;  // one unless it is a tuple; `(e)` is an expression, not a tuple
};
struct Reduction {                    // monoid[binders | condition](values)
  std::vector<Name> monoids;          // at least one
  bool parenthesised = false;         // (max, sum): several monoids at once
  std::vector<ExprNodeId> arguments;  // of each: k of topk(k); absent without parentheses
  std::vector<Binder> binders;
  ExprNodeId condition;  // absent without `|`
  std::vector<Value> values;
};

using ExprData = std::variant<Integer, Real, Constant, NameRef, Member, Unary, Binary, Conditional,
                              Call, Read, Reduction>;
struct ExprNode {
  Span span;  // without parentheses around it
  ExprData data;
};

// ---- Items -------------------------------------------------------------------------------------

struct Range {  // low .. high or low ..= high
  Span span;    // of the whole range
  ExprNodeId low, high;
  bool closed = false;
  bool exists() const { return low.valid(); }
};
// A type with a shape: `f32[N, 2]`, `bool[]` or `i32`. Whether the type exists is not checked.
struct TypeRef {
  Name type;
  bool brackets = false;
  std::vector<ExprNodeId> shape;
};
struct Block {
  Span span;  // from { to }; invalid for the items of the file itself
  std::vector<ItemId> items;
  auto begin() const { return items.begin(); }
  auto end() const { return items.end(); }
  size_t size() const { return items.size(); }
  bool empty() const { return items.empty(); }
};

struct DimDecl {
  Name name;
  Range range;               // may be absent
  bool has_modulus = false;  // name % modulus == remainder
  Span modulus_span;
  int64_t modulus = 0, remainder = 0;
};
struct Dims {
  std::vector<DimDecl> dims;
};
struct Assume {
  ExprNodeId condition;
};
struct ConstDecl {
  Name name;
  ExprNodeId value;
};
struct Consts {
  std::vector<ConstDecl> consts;
};
struct Tensors {  // input or inout
  bool inout = false;
  std::vector<Name> names;
  TypeRef type;
  Range range;  // of the values, may be absent
  bool sorted = false, distinct = false;
};
struct Scalars {
  std::vector<Name> names;
  Name type;
  Range range;  // may be absent
};
struct Outputs {
  std::vector<Name> names;
  Name type;  // may be absent
};
struct Import {
  Name file;  // without its quotes; the span has them
};

struct ParamDim {  // `B...` or an expression
  Name rest;
  ExprNodeId extent;  // absent for `B...`
};
struct Param {  // x, x[B..., C] or x = e
  Name name;
  bool brackets = false;
  std::vector<ParamDim> shape;
  ExprNodeId initial;  // the default of a scalar, may be absent
};
struct Function {
  Name name;
  std::vector<Param> params;
  Block body;
};
struct Return {
  Value values;  // `return a, b` or `return (a, b)`
};

struct Component {  // A[N, N]: f32
  Name name;
  bool brackets = false;
  std::vector<ExprNodeId> shape;
  Name type;  // may be absent
};
struct MonoidPart {  // the value of identity or combine: a tuple or a block
  Span span;         // from its word; invalid: not given
  bool is_block = false;
  std::vector<ExprNodeId> tuple;
  Block block;
};
struct Monoid {
  Name name;
  std::vector<Component> components;
  MonoidPart identity, combine;
  Name left, right;  // the states that combine names
  bool commutative = false;
  Span commutative_span;
  Span body;  // from { to }
};
struct Entry {
  Name name;
  Block body;
};
struct Loop {
  Name index;
  Range range;
  Block body;
};
struct Grad {  // grad results = output wrt inputs seed cotangent
  std::vector<Name> results;
  Name output;
  std::vector<Name> wrt;
  Name seed;  // may be absent
};

struct ScheduleWord {  // NAME, INT, NAME = NAME or NAME = INT
  Span span;
  Name name;               // absent: a number alone, which is in `number`
  bool has_value = false;  // name = value
  Name value;              // the value when it is a name
  int64_t number = 0;      // else the number
};
struct Schedule {
  Name target;
  ExprNodeId when;  // may be absent
  std::vector<std::vector<ScheduleWord>> clauses;
};

struct Left {  // _ or y or y[i, j: N, b...]
  Span span;
  Name name;  // absent: `_`, the result is dropped
  bool brackets = false;
  std::vector<Binder> indices;
};
struct Definition {
  std::vector<Left> lefts;  // at least one
  ExprNodeId value;
};
struct Place {  // a coordinate of an update, with the range of its new index or without
  Coord coord;
  ExprNodeId range;
};
struct Update {  // c?[places | condition] := value
  Name tensor;
  bool guarded = false;
  bool brackets = false;
  std::vector<Place> places;
  ExprNodeId condition;  // may be absent
  ExprNodeId value;
};

using ItemData = std::variant<Dims, Assume, Consts, Tensors, Scalars, Outputs, Import, Function,
                              Return, Monoid, Entry, Loop, Grad, Schedule, Definition, Update>;
struct Item {
  Span span;  // from its first token to its last
  ItemData data;
};

struct Comment {
  Span span;              // from # to the end of the line, without the newline
  bool own_line = false;  // nothing stands before it on its line
};

struct File {
  uint32_t file = Span::kNoFile;  // its number in the Sources
  std::vector<ExprNode> exprs;
  std::vector<Item> items;  // a block's items stand before the item that has the block
  Block top;                // the items of the file itself, in order
  std::vector<Comment> comments;

  const ExprNode& operator[](ExprNodeId id) const { return exprs[id.value]; }
  const Item& operator[](ItemId id) const { return items[id.value]; }
};

}  // namespace tang::syntax
