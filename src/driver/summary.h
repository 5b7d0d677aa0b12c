// What `tangc run` says of an output: its values in a line, and how far they are from the meaning.
#pragma once

#include <string>

#include "scalar/array.h"

namespace tang {

// "o  f32[128,64]  min -0.9  max 0.8  mean 0.01  first 0.1 0.2 0.3 ..."
std::string summarize(const std::string& name, const Array& array);

struct Difference {
  double error = 0;      // greatest |value - reference|; infinite where only one of both is NaN
  double reference = 0;  // greatest finite |reference|
  int64_t at = 0;        // where the error is greatest
  // Relative to the greatest reference; to 1 where all of them are 0.
  double relative() const { return reference > 0 ? error / reference : error; }
};
// Arrays of one shape; the reference is in the kind of the values. Equal infinities and NaN in both
// places are no difference.
Difference compare(const Array& array, const Array& reference);

}  // namespace tang
