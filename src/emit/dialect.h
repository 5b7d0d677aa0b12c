// What differs between targets, as a struct of small typed functions with C's as the default. The
// printer asks it for spellings and never which dialect it is; what a target cannot say at all is a
// legalization's work, done before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emit/emit.h"

namespace tang::emit {

// How tightly a piece of text holds together, loosest first; as in C, whose levels the other
// targets share.
enum class Precedence : uint8_t {
  conditional,  // a ? b : c
  logic_or,
  logic_and,
  bit_or,
  bit_xor,
  bit_and,
  compare,
  shift,
  add,
  multiply,
  unary,  // -a, (float)a
  primary,
};

// How an operation is written: an infix or prefix operator, a function, a comparison with zero, or
// nothing at all. `helper` names the part of the dialect's helper file that the text calls.
struct Spelling {
  enum class Kind : uint8_t { none, infix, prefix, call, not_zero, same };
  Kind kind = Kind::none;
  std::string_view text;
  Precedence precedence = Precedence::primary;  // of an infix operator
  std::string_view helper;
};

// How an element of memory is reached, as a value of a type. A packed type has several elements a
// byte, and functions of (pointer, index) and (pointer, index, value); any other converts the
// element when read and the value before it is assigned.
struct ElementSpelling {
  Spelling read, write;
  bool packed = false;
};

struct Parameter {
  std::string name;
  Type type = Type::f32;
  bool pointer = false;
  bool writable = false;
  bool may_alias = false;  // with another parameter of the kernel, one of them written
};

struct LoopText {
  std::string var, lo, hi;
  bool inclusive = false;  // hi itself is a value of var
  int64_t step = 1;
};

struct LoopHint {
  kernel::Run run = kernel::Run::serial;
  int collapse = 1;  // loops, this one included, that are one space of independent iterations
};

// Everything of a module that was printed, before the target arranges it in files.
struct Printed {
  struct Piece {
    std::string name, text;
  };
  std::vector<Piece> functions;           // of the module that a kernel reaches
  std::vector<Piece> kernels;             // by number
  std::vector<std::string_view> helpers;  // of the dialect's helper file
  bool has_hints = false;                 // a loop hint stands somewhere
};

struct Dialect {
  std::string_view name;
  std::string_view description;  // for `tangc targets`
  std::string_view extension;    // of the source file
  kernel::Capabilities capabilities;

  // Names that the program's may not take: words of the language and what its headers define.
  bool (*is_reserved)(std::string_view name);

  // Types of values, and of elements in memory.
  std::string_view (*value_type)(Type type);
  std::string_view (*element_type)(Type type);

  // Constants. An integer form's constant has the type of indices, i64.
  std::string (*real)(double value, Type type);
  std::string (*integer)(int64_t value, Type type);
  std::string (*boolean)(bool value);

  // Operations; `none` where a legalization should have removed it.
  Spelling (*operation)(Op op, Type operand);
  Spelling (*conversion)(Type from, Type to);
  Spelling (*same_bits)(Type from, Type to);
  ElementSpelling (*element)(Type stored, Type value);
  // Floor quotient and remainder of indices by a positive constant, when the numerator may be
  // negative; otherwise / and % are meant.
  Spelling (*floor_quotient)();
  Spelling (*floor_remainder)();

  // Statements and declarations.
  std::string (*variable)(Type type, std::string_view name, bool constant);
  std::string (*array)(Type type, std::string_view name, int64_t size, kernel::Space space);
  std::string (*loop)(const LoopText& loop);
  std::string (*hint)(const LoopHint& hint);  // a line before the loop; empty for none
  std::string (*parameter)(const Parameter& parameter);
  std::string (*kernel_head)(std::string_view name, const std::string& parameters);
  std::string (*function_head)(Type type, std::string_view name, const std::string& parameters);
  std::string (*unused)(std::string_view name);  // a statement that keeps a parameter from warning

  // The files.
  std::string (*kernel_name)(const kernel::Module& module, std::string_view kernel);
  std::vector<Artifact> (*files)(const kernel::Module& module, const Printed& printed,
                                 const std::string& stem);
};

// One row a dialect, in dialects.def.
#define DIALECT(id) extern const Dialect id;
#include "emit/dialects.def"

}  // namespace tang::emit
