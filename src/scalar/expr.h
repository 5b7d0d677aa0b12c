// Scalar expressions: a hash-consed DAG, one pool for the graph and one for kernels.
//
// Leaves name things that the owner of the pool gives a meaning: reads and states in the graph,
// variables and loads in kernels. Every node has a type; the factory converts nothing and checks
// that types fit, so conversions are explicit `cast` nodes. It folds constants and applies exact
// laws only: equal in IEEE arithmetic for all values (x*1, !!p, select(true, a, b)), never x*0 or
// x-x.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "affine/form.h"
#include "scalar/type.h"
#include "support/hash.h"
#include "support/ids.h"

namespace tang {

enum class Op : uint8_t {
  constant,  // payload: the value's 64 bits (double for reals)
  form,      // payload: FormId; the integer value of an index form (i32 or i64)
  scalar,    // payload: number of a run-time scalar of the program, when it is not an integer form
  read,      // payload: position in the comprehension's list of reads
  left,      // payload: component of the left state, in a monoid's combine
  right,     // payload: component of the right state, in a monoid's combine
  variable,  // payload: variable of a kernel, or parameter of a kernel's function
  load,      // payload: buffer << 32 | address (FormId), in a kernel
  call,      // payload: function of a kernel module
  cast,      // to the node's type, by convert()
  bitcast,   // same bits; kernels only
  select,    // args: condition, then, else; only the branch taken is evaluated
#define OP(name, arity, cls, spelling) name,
#include "scalar/ops.def"
};

enum class OpClass : uint8_t { leaf, special, real, arith, integer, bits, compare, logic };

struct OpInfo {
  std::string_view name;      // of the enumerator
  std::string_view spelling;  // in a program
  uint8_t arity;
  OpClass cls;
};
const OpInfo& op_info(Op op);

using ExprId = Id<struct ExprTag>;

struct Expr {
  Op op = Op::constant;
  Type type = Type::f64;
  uint8_t n_args = 0;
  std::array<ExprId, 3> args{};
  uint64_t payload = 0;

  bool operator==(const Expr&) const = default;
  uint64_t hash() const;
  FormId form() const { return FormId(static_cast<size_t>(payload & 0xFFFFFFFFu)); }
  uint32_t buffer() const { return static_cast<uint32_t>(payload >> 32); }
  uint32_t index() const { return static_cast<uint32_t>(payload); }
  Value value() const;  // of a constant
};

class Exprs {
 public:
  ExprId constant(Type type, Value value);
  ExprId real(double value, Type type = Type::f64) { return constant(type, real_value(value)); }
  ExprId integer(int64_t value, Type type = Type::i32) {
    return constant(type, integer_value(value));
  }
  ExprId boolean(bool value) { return constant(Type::boolean, integer_value(value)); }
  // The value of an index form as data; folds constants.
  ExprId form(const Forms& forms, FormId form, Type type);
  ExprId leaf(Op op, Type type, uint64_t payload);
  ExprId load(Type type, uint32_t buffer, FormId address) {
    return leaf(Op::load, type, static_cast<uint64_t>(buffer) << 32 | address.value);
  }
  ExprId cast(Type to, ExprId a);  // a itself when it has the type
  ExprId bitcast(Type to, ExprId a);
  ExprId select(ExprId condition, ExprId a, ExprId b);
  ExprId call(Type type, uint32_t function, const std::vector<ExprId>& args);  // at most 3
  // An operation of ops.def; the arguments already have the types that its class wants.
  ExprId make(Op op, ExprId a, ExprId b = {}, ExprId c = {});
  ExprId logical_and(ExprId a, ExprId b);  // an invalid id counts as true
  // The same node over other arguments and another type, through the factories above.
  ExprId rebuild(ExprId id, const std::array<ExprId, 3>& args);

  const Expr& operator[](ExprId id) const { return pool_[id]; }
  Type type(ExprId id) const { return pool_[id].type; }
  bool is_constant(ExprId id) const { return pool_[id].op == Op::constant; }
  size_t size() const { return pool_.size(); }

  // Every node reachable from `roots`, arguments before the nodes that use them. Not recursive.
  std::vector<ExprId> post_order(const std::vector<ExprId>& roots) const;
  // Rebuilds the DAG bottom up: `visit` gets a node with its new arguments and gives the new node,
  // or an invalid id for `rebuild`. `memo` may be shared between calls with one `visit`.
  using Memo = std::unordered_map<ExprId, ExprId>;
  ExprId rewrite(ExprId root, Memo& memo,
                 const std::function<ExprId(ExprId old, const std::array<ExprId, 3>& args)>& visit);

 private:
  ExprId intern(Expr e) { return pool_.intern(e); }
  Pool<Expr, ExprTag> pool_;
};

// The result of one operation on values whose type is `operand` (for select and cast: see
// expr.cpp). f32 arithmetic is exact rounding of the exact result for + - * / sqrt fma, and of the
// f64 function for the others. Integers wrap; division by zero as the language says.
Value evaluate_op(Op op, Type operand, Type result, const Value* args);

// Evaluates a DAG from its leaves' values, branches lazily. `leaf` is called for form, scalar,
// read, left, right, variable, load nodes.
Value evaluate(const Exprs& exprs, ExprId root,
               const std::function<Value(ExprId, const Expr&)>& leaf);

}  // namespace tang
