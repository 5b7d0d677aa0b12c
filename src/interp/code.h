// The linear form of a graph, and the machine that runs it at one point.
//
// What a select or a lazy operator needs on one side only is compiled into that side, so that only
// branches taken are evaluated; what several sides need is computed before them, once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "interp/graph.h"
#include "scalar/array.h"

namespace tang::interpreter {

struct Instruction {
  enum class Code : uint8_t {
    form,
    apply,
    pick,         // to = a ? b : c
    move,         // to = a
    jump,         // to instruction `number`
    jump_unless,  // when a is false
    jump_if,      // when a is true
    stop_unless,  // when a is false, the point is not folded
    test,
    locate,  // operands from `a`, one a data coordinate
    fetch,
    fetch_at,
  };
  Code code = Code::move;
  Op op = Op::constant;
  Type operand = Type::f64;
  Type type = Type::f64;
  uint32_t to = 0;  // registers, unless said otherwise
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t number = 0;  // as in Node
  uint32_t form = 0;
  uint32_t n = 0;
};

// Code of a graph, which it keeps: registers are its nodes, then temporaries.
struct Code {
  Graph graph;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> operands;
  std::vector<Value> registers;  // constants in place
  std::vector<bool> computed;    // nodes that every point computes which gets to the end so far
};

Code start_code(Graph graph);
// Appends what computes the roots.
void emit_values(Code& code, const std::vector<uint32_t>& roots);
// Appends: the rest is for points where the node is true.
void emit_stop_unless(Code& code, uint32_t node);
// Appends: registers `to` get the values of `from`, all at once.
void emit_moves(Code& code, const std::vector<uint32_t>& to, const std::vector<uint32_t>& from);

enum class Outcome : uint8_t {
  done,
  skipped,  // by a stop_unless
  missing,  // a value that is not known yet was asked for
};

// Gives element `offset` of a tensor, or says that it is not known.
using Lookup = std::function<bool(TensorId tensor, int64_t offset, Value& value)>;

struct Machine {
  const Program* program = nullptr;
  std::vector<Value> registers;
  std::vector<const Array*> arrays;  // by number of the graph's tensors; null: ask `lookup`
  Lookup lookup;
};

Outcome run(const Code& code, Machine& machine, const int64_t* axes);

}  // namespace tang::interpreter
