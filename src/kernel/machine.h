// The linear code into which run.cpp translates a kernel before it executes it.
//
// Registers hold values: variables, constants and intermediate results have one each, so nothing is
// allocated while code runs. Branches of select and the right operands of && and || stand behind
// jumps. A node that several branches share is a subroutine that runs at most once a statement,
// which keeps the code as small as the expression's graph.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/module.h"

namespace tang::kernel {

enum class Code : uint8_t {
  evaluate,  // dst = op(a, b, c) by evaluate_op
  add_f32,
  sub_f32,
  mul_f32,
  add_f64,
  sub_f64,
  mul_f64,
  move,        // dst = a; a statement when `target` is 1
  form,        // dst = forms[a], wrapped to `type`
  load,        // dst = buffer a at forms[b]
  store,       // buffer a at forms[b] = c
  jump,        // to target
  jump_false,  // to target when a is false
  jump_true,
  branch,      // as jump_false, but a statement
  call,        // subroutine at target
  ret,         // to the instruction after the last call
  once,        // returns when flag a is set, else sets it
  reset,       // clears flag a
  loop_enter,  // a statement; dst = forms[a], register b = forms[c]
  loop_test,   // to target unless dst < b
  loop_next,   // dst += b's constant step; to target
  task_begin,  // local arrays of the set a hold nothing
  halt,
};

struct Instruction {
  Code code = Code::halt;
  Op op = Op::constant;
  Type operand = Type::f64;
  Type type = Type::f64;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  uint32_t target = 0;
};

// A form with dims and scalars replaced by their values.
struct LinearForm {
  struct Factor {  // a register, or the floor quotient of forms[index]
    uint32_t index = 0;
    int64_t divisor = 0;
  };
  struct Product {
    int64_t coefficient = 0;
    std::vector<Factor> factors;
  };
  int64_t constant = 0;
  std::vector<std::pair<int64_t, uint32_t>> terms;  // coefficient, register
  std::vector<Product> products;
};

// A loop as a range of code, to name the values of loop variables in a fault.
struct LoopRange {
  VarId var;
  uint32_t begin = 0, end = 0;
};

struct Machine {
  std::vector<Instruction> code;
  uint32_t entry = 0;
  std::vector<LinearForm> forms;
  std::vector<std::pair<uint32_t, Value>> presets;  // registers of constants and scalars
  std::vector<LoopRange> loops;                     // outer before inner
  std::vector<std::vector<BufferId>> local_sets;    // of task_begin
  uint32_t n_registers = 0;                         // the kernel's variables stand first
};

Machine translate(const Module& module, const Kernel& kernel, const std::vector<int64_t>& dims,
                  const std::vector<Value>& scalars);

int64_t evaluate(const std::vector<LinearForm>& forms, const LinearForm& form,
                 const std::vector<Value>& registers);

}  // namespace tang::kernel
