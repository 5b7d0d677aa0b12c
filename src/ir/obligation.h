// What the text stage leaves to a proof: facts about sizes that `check` discharges by affine/prove
// and reports at the span. Each is one constraint under the facts known where it stands.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "support/diagnostics.h"

namespace tang {

enum class ObligationKind : uint8_t {
  in_range,      // of an unguarded coordinate: 0 <= form < extent
  gather_range,  // the same where the coordinate is data; form is over pseudo-variables
  extent,        // an extent is not negative
  width,         // an index form used as i32 data fits 32 bits
  injective,     // two points of an update that write one element are one: no axis is less
  apart,         // an update reads no element that another point writes: the facts contradict
  satisfiable,   // the assumptions have a solution
};

struct Obligation {
  ObligationKind kind = ObligationKind::in_range;
  FormId form;  // the coordinate, extent or value
  FormId low;   // required: low <= form
  FormId high;  // required: form < high; invalid: no upper bound
  Facts facts;
  Span span;           // of the coordinate
  std::string text;    // the form as the user wrote it
  std::string tensor;  // whose coordinate it is
  uint32_t dimension = 0;
  std::vector<std::string> axis_names;  // for the witness
  std::vector<Note> calls;              // of the functions in whose bodies it stands
};

}  // namespace tang
