// Legalizations: kernel IR to kernel IR that a target can say. Each is a row of one table; a
// dialect states the capabilities that decide which rows it needs, and a check asserts the result.
//
// What is left for a dialect to spell:
//
//   reals (f32, f64)  + - * / neg abs sqrt floor ceil round (ties to even), comparisons
//   f64 with libm_f64 exp exp2 log log2 sin cos tan atan2 tanh erf pow
//   with fma          fma
//   integers          + - * neg abs, wrapping; & | ^; << >> with a count modulo the width, >> keeps
//                     the sign; comparisons
//   in functions      / of integers, of a dividend that is not negative by a positive divisor (or
//   of
//                     0), so that rounding down and towards zero agree
//   bools             && || ! & | ^ == !=
//   choice            select, of which one branch is evaluated
//   conversions       between f32, f64, i32, i64; bool to any; any to bool is != 0; integers to
//   i16,
//                     i8, u8, i4 and back wrap. Reals to i32 and i64 stand in functions only, where
//                     the value fits: there the target's own conversion towards zero is right.
//   bitcast           f32 and i32, f64 and i64
//   loads and stores  f64 f32 i64 i32 bool by their type; i16 i8 u8 i4 as i32; f16 bf16 f8e4m3
//                     f8e5m2 by their bits as i32, of which stores take the low ones
//   calls             of the module's functions, which stand before their callers
//
// A value used more than once in a statement is a variable, but for short index arithmetic and for
// guarded loads, which may stand in several branches; so are parts of a statement with more than 64
// operations, or 32 within each other. Statements stay as they were; unroll has constant trips.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/module.h"

namespace tang::kernel {

struct Capabilities {
  bool libm_f64 = true;  // the target has f64 math functions of its own
  bool fma = true;       // fused multiply-add as an operation
  int max_unroll = 16;   // trips of an unrolled loop
};

struct Legalization {
  std::string_view name;
  std::string_view purpose;
  bool (*needed)(const Capabilities&);
  void (*apply)(Module&, const Capabilities&);
};

const std::vector<Legalization>& legalizations();  // in the order in which they run
// Applies the rows that are needed, and panics if something illegal is left.
void legalize(Module& module, const Capabilities& capabilities);

// One sentence for each operation that is not in the list above; empty for a legal module.
std::vector<std::string> why_not_legal(const Module& module, const Capabilities& capabilities);

}  // namespace tang::kernel
