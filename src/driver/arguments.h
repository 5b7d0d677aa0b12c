// What a program runs on: arrays and numbers by name, matched with its declarations and checked
// against all that the program assumes. What is wrong is a diagnostic at the declaration.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/npy.h"
#include "interp/interp.h"
#include "support/diagnostics.h"

namespace tang {

// One argument as it was given: an array from a file, or the text of a number.
struct Argument {
  std::string name;
  std::string given;              // the file's path, or the number's text
  std::optional<NpyArray> array;  // absent: a number
};

// "q=q.npy", "pos=3", "all.npz", "all.safetensors". Throws CommandError when a file cannot be read
// or is malformed.
std::vector<Argument> read_arguments(const std::vector<std::string>& texts);

struct BindOptions {
  bool random = false;  // fill what is not given with random values
  uint64_t seed = 1;
};
// Sizes of dims follow from the shapes that are given. Nothing when something does not fit.
std::optional<Bindings> bind_arguments(const Program& program,
                                       const std::vector<Argument>& arguments,
                                       const BindOptions& options, Diagnostics& diagnostics);

// The parts of bind_arguments that look at values.

// Ranges of dims and scalars, and the assumptions about them.
bool check_sizes(const Program& program, const Bindings& bindings, Diagnostics& diagnostics);
// Declared ranges, `sorted` and `distinct` of one input.
bool check_values(const Program& program, const Bindings& bindings, size_t input,
                  Diagnostics& diagnostics);
// A random array that keeps the input's promises. Nothing when there is none.
std::optional<Array> random_input(const Program& program, const Bindings& bindings, size_t input,
                                  std::vector<int64_t> shape, uint64_t seed,
                                  Diagnostics& diagnostics);
Value random_scalar(const Program& program, const Bindings& bindings, size_t scalar, uint64_t seed);

// A form over the program's dims and scalars.
int64_t evaluate(const Program& program, const Bindings& bindings, FormId form);
// Half-open bounds of a declared range; a side that is open is the type's own.
struct IntegerRange {
  int64_t low, last;  // low <= value <= last
  bool is_empty() const { return last < low; }
};
IntegerRange range_of(const Program& program, const Bindings& bindings, const Range& range,
                      Type type);
// "0 to 7", "1 or more", "nothing".
std::string describe(const IntegerRange& range, Type type);
// Names of the program's dims and scalars, for printing forms.
std::string variable_name(const Program& program, Var v);

}  // namespace tang
