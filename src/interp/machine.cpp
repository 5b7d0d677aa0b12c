// Runs code at one point. Every value and every rule of arithmetic comes from evaluate_op.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "interp/code.h"
#include "support/panic.h"

namespace tang::interpreter {

namespace {

[[noreturn]] void out_of_range(const Code& code, const Machine& machine, const Locator& locator,
                               const uint32_t* data, const int64_t* axes) {
  std::vector<int64_t> index, shape;
  for (const Locator::Dimension& d : locator.dimensions) {
    index.push_back(d.is_data ? machine.registers[*data++].integer
                              : code.graph.forms.at(d.form, axes));
    shape.push_back(d.extent);
  }
  const std::string name = machine.program->name_of(locator.tensor);
  TANG_PANIC("the unguarded read {}[{}] is outside of its shape [{}]",
             name.empty() ? "of an unnamed tensor" : name, fmt::join(index, ", "),
             fmt::join(shape, ", "));
}

int64_t locate(const Code& code, const Machine& machine, const Instruction& in,
               const int64_t* axes) {
  const Locator& locator = code.graph.locators[in.number];
  const uint32_t* data = code.operands.data() + in.a;
  int64_t offset = 0;
  for (const Locator::Dimension& d : locator.dimensions) {
    const int64_t c =
        d.is_data ? machine.registers[*data++].integer : code.graph.forms.at(d.form, axes);
    if (c < 0 || c >= d.extent) {
      if (locator.guarded) return -1;
      out_of_range(code, machine, locator, code.operands.data() + in.a, axes);
    }
    offset += c * d.stride;
  }
  return offset;
}

bool fetch(const Code& code, const Machine& machine, uint32_t tensor, int64_t offset,
           Value& value) {
  const Array* array = machine.arrays[tensor];
  if (!array) return machine.lookup(code.graph.tensors[tensor], offset, value);
  if (array->type == Type::f64)  // almost every value
    std::memcpy(&value.real, array->data.data() + offset * 8, 8);
  else
    value = array->get(offset);
  return true;
}

bool all_hold(const Code& code, const Instruction& in, const int64_t* axes) {
  for (uint32_t i = 0; i < in.n; ++i) {
    const Test& test = code.graph.tests[in.number + i];
    if (!test.holds(code.graph.forms.at(test.form, axes))) return false;
  }
  return true;
}

}  // namespace

Outcome run(const Code& code, Machine& machine, const int64_t* axes) {
  Value* r = machine.registers.data();
  const size_t n = code.instructions.size();
  for (size_t pc = 0; pc < n;) {
    const Instruction& in = code.instructions[pc++];
    switch (in.code) {
      case Instruction::Code::form:
        r[in.to].integer = wrap_to(in.type, code.graph.forms.at(in.number, axes));
        break;
      case Instruction::Code::apply: {
        const Value args[3] = {r[in.a], r[in.b], r[in.c]};
        r[in.to] = evaluate_op(in.op, in.operand, in.type, args);
        break;
      }
      case Instruction::Code::pick:
        r[in.to] = r[in.a].integer ? r[in.b] : r[in.c];
        break;
      case Instruction::Code::move:
        r[in.to] = r[in.a];
        break;
      case Instruction::Code::jump:
        pc = in.number;
        break;
      case Instruction::Code::jump_unless:
        if (!r[in.a].integer) pc = in.number;
        break;
      case Instruction::Code::jump_if:
        if (r[in.a].integer) pc = in.number;
        break;
      case Instruction::Code::stop_unless:
        if (!r[in.a].integer) return Outcome::skipped;
        break;
      case Instruction::Code::test:
        r[in.to].integer = all_hold(code, in, axes);
        break;
      case Instruction::Code::locate:
        r[in.to].integer = locate(code, machine, in, axes);
        break;
      case Instruction::Code::fetch:
        if (!fetch(code, machine, in.number, r[in.a].integer, r[in.to])) return Outcome::missing;
        break;
      case Instruction::Code::fetch_at:
        if (!fetch(code, machine, in.number, code.graph.forms.at(in.form, axes), r[in.to]))
          return Outcome::missing;
        break;
    }
  }
  return Outcome::done;
}

}  // namespace tang::interpreter
