// Operations on numbers whose rules are the language's and no target's own, as functions of kernel
// IR. Each gives the number of its function in the module, which it adds if it is not there yet.
#pragma once

#include <cstdint>

#include "kernel/module.h"

namespace tang::kernel {

// Of f32, f64, i32 and i64.
uint32_t minimum(Module& module, Type type);  // NaN if one is
uint32_t maximum(Module& module, Type type);
uint32_t sign_of(Module& module, Type type);
// Of i32 and i64.
uint32_t floor_quotient(Module& module, Type type);   // 0 for a zero divisor
uint32_t floor_remainder(Module& module, Type type);  // the dividend for a zero divisor
// From f32 or f64 to an integer type: towards zero, saturating, 0 for NaN. Narrow integers are i32.
uint32_t real_to_integer(Module& module, Type from, Type to);

// Between f32 and the bits of a 16- or 8-bit real, as i32; and f32 rounded to such a type.
uint32_t decode_small(Module& module, Type small);
uint32_t encode_small(Module& module, Type from, Type small);  // from f32 or f64
uint32_t round_to_small(Module& module, Type from, Type small);

}  // namespace tang::kernel
