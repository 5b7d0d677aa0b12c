// What an expression means while a definition is built: an index form, exact, or data.
//
// Integers made of indices, sizes and integer scalars stay forms as long as they can, so that
// coordinates, ranges and conditions are exact; they become data where they meet data.
#pragma once

#include "ir/program.h"

namespace tang {

// A condition as affine facts and, when valid, a boolean expression: it holds exactly where both
// do.
struct Truth {
  Facts facts;
  ExprId rest;
};

struct Meaning {
  bool faulty = true;
  Type type = Type::i32;  // a kind: f64, i64, i32 or boolean
  FormId form;            // valid: an index form, and `expr` is not
  ExprId expr;            // data, over the reads of the comprehension being built
  // Of a bool whose parts are affine: when it holds, and when it does not. Else both follow from
  // `expr`.
  bool affine = false;
  Truth yes, no;
  // Of the remainder of a form by a constant.
  FormId dividend;
  int64_t divisor = 0;
  Span span;

  bool is_form() const { return form.valid(); }
};

}  // namespace tang
