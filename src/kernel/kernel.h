// Kernel IR: small structured programs that every target prints, and that run.h executes.
//
// A kernel is a block of statements over buffers (its parameters, then its local arrays). Values
// are scalar expressions (scalar/expr.h) whose leaves are variables, loads, index forms and
// run-time scalars. Addresses are forms over loop variables ({VarKind::local, VarId}), dims and
// scalars, in elements, flattened; they stay forms to the end. Loops are explicit, and `run` says
// how one executes; nothing else here knows a machine.
//
// Branches of select and right operands of && and || are evaluated only where they are needed. A
// load under such a condition is in range wherever the innermost one around it holds, so that a
// guarded load may be computed before conditions further out are known.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "affine/form.h"
#include "scalar/expr.h"

namespace tang::kernel {

using VarId = Id<struct VariableTag>;
using BufferId = Id<struct BufferTag>;

enum class Run : uint8_t {
  serial,
  unroll,    // expanded by the printer's compiler: the trip count is constant and small
  vector,    // SIMD lanes of one thread of control; iterations are independent
  parallel,  // tasks; iterations are independent
};

struct Variable {
  std::string name;  // unique where it is visible: blocks that do not nest may share names
  Type type = Type::i64;
  bool assigned = false;  // the target of a Set: not const
};

enum class Space : uint8_t { device, group, lane };
enum class Access : uint8_t { read, write, read_write };

struct Buffer {
  std::string name;
  Type type = Type::f32;
  Space space = Space::device;
  Access access = Access::read;  // of parameters
  int64_t size = 0;              // elements, of local arrays (group, lane); 0 for parameters
};

struct Stmt;
using Block = std::vector<Stmt>;

struct For {  // for (var = lo; var < hi; var += step)
  VarId var;
  FormId lo, hi;
  int64_t step = 1;
  Run run = Run::serial;
  Block body;
};
struct If {
  ExprId condition;
  Block then_body, else_body;
};
struct Let {  // declares a variable with its first value; visible to the end of the block
  VarId var;
  ExprId value;
};
struct Set {
  VarId var;
  ExprId value;
};
struct Store {
  BufferId buffer;
  FormId address;
  ExprId value;  // in the arithmetic type of the buffer's type: f32 for f16, i32 for i8, ...
};
struct Comment {
  std::string text;
};

struct Stmt {
  std::variant<For, If, Let, Set, Store, Comment> node;
};

struct Kernel {
  std::string name;
  std::vector<Buffer> buffers;  // parameters first
  uint32_t n_params = 0;
  std::vector<uint32_t> dims;     // of the module, used by the kernel, ascending
  std::vector<uint32_t> scalars;  // of the module, used by the kernel, ascending
  std::vector<Variable> variables;
  Block body;
  uint32_t origin = 0;   // number of the definition it stores, for who fills in the text
  std::string computes;  // the comprehension, for comments
  std::string schedule;  // in words, for comments
  const Buffer& buffer(BufferId id) const { return buffers[id.value]; }
};

// A pure helper: lets over its parameters, then a result. Made by legalizations (math expansions).
struct Function {
  std::string name;
  Type type = Type::f32;
  std::vector<Variable> variables;  // parameters first; Op::variable leaves name them
  uint32_t n_params = 0;
  std::vector<Let> lets;
  ExprId result;
  std::string comment;  // what it computes, with its error in ulp
};

// The type in which a stored value takes part in arithmetic: f32 for every narrower real, i32 for
// narrower integers, else itself. Loads give it, stores take it. A buffer of a real type of 16 or 8
// bits may also be loaded and stored as i32, which is then the element's bits, zero-extended.
Type arithmetic_type(Type stored);

}  // namespace tang::kernel
