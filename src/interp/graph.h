// The scalar work of a comprehension as one graph of nodes, arguments before their users.
//
// It joins what the IR keeps apart: expressions, the reads they name, and the monoid's combine over
// the values that are folded. Dims and run-time scalars are constants by now.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interp/bound_forms.h"
#include "ir/program.h"

namespace tang::interpreter {

// A program with values for its dims and scalars.
struct Instance {
  const Program& program;
  const std::vector<int64_t>& dims;
  const std::vector<Value>& scalars;

  const Arena& arena() const { return *program.arena; }
  int64_t value_of(Var v) const;  // of a dim or an integer scalar
  int64_t extent(FormId form) const;
  std::vector<int64_t> shape(TensorId tensor) const;
};

// A constraint over axes; modulus as in Constraint.
struct Test {
  uint32_t form = 0;
  int64_t modulus = 0;
  bool holds(int64_t value) const { return modulus == 0 ? value >= 0 : value % modulus == 0; }
};

// Where a read stands in its tensor: for each dimension a form, or the next data coordinate.
struct Locator {
  struct Dimension {
    bool is_data = false;
    uint32_t form = 0;
    int64_t extent = 0;
    int64_t stride = 0;
  };
  std::vector<Dimension> dimensions;
  bool guarded = false;
  TensorId tensor;
};

struct Node {
  enum class Kind : uint8_t {
    constant,  // value
    state,     // what the fold carries
    form,      // number: of the form, as data of the node's type
    apply,     // op of args, whose type is `operand`
    select,    // args: condition, then, else
    both,      // op (logic_and, logic_or) of args, the second one lazily
    test,      // number, n: whether all of n tests hold
    locate,    // number: of the locator; args: data coordinates; an offset, or -1 out of range
    fetch,     // number: of the tensor; args: an offset
    fetch_at,  // number: of the tensor; form: the offset
  };
  Kind kind = Kind::constant;
  Op op = Op::constant;
  Type operand = Type::f64;
  Type type = Type::f64;
  std::vector<uint32_t> args = {};
  uint32_t number = 0;
  uint32_t form = 0;
  uint32_t n = 0;
  Value value = {};
};

class Graph {
 public:
  // `extents` are the concrete ones of the comprehension's axes.
  Graph(const Instance& instance, const Comprehension& comprehension, std::vector<int64_t> extents);

  uint32_t constant(Type type, Value value);
  uint32_t state(Type type);
  // From then on, Op::left and Op::right stand for these nodes, by component.
  void set_states(std::vector<uint32_t> left, std::vector<uint32_t> right);
  uint32_t lower(ExprId root);
  // The offset of the element that a read sees, -1 where it is out of range.
  uint32_t locate(const Read& read);
  // Whether an offset is one.
  uint32_t is_inside(uint32_t offset);
  uint32_t select(Type type, uint32_t condition, uint32_t a, uint32_t b);

  BoundForms forms;
  std::vector<Node> nodes;
  std::vector<Test> tests;
  std::vector<Locator> locators;
  std::vector<TensorId> tensors;  // that fetches name

 private:
  uint32_t add(Node node);
  uint32_t lower_node(const Expr& e);
  uint32_t lower_read(const Read& read);
  Locator locator_of(const Read& read);
  uint32_t locate(const Read& read, Locator locator);
  bool always_in_range(const Locator& locator) const;
  uint32_t number_of(TensorId tensor);

  const Instance* instance_;
  std::vector<int64_t> extents_;
  std::vector<uint32_t> reads_;  // nodes of the comprehension's reads
  std::vector<uint32_t> left_, right_;
  std::unordered_map<ExprId, uint32_t> node_of_;
};

}  // namespace tang::interpreter
