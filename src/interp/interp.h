// The meaning of a program: every value in f64 (integers in their width), straightforwardly.
//
// Everything else is compared with this. Reductions fold in row-major order of the reduce axes from
// the identity; only branches that are taken are evaluated, only points of the domain are read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "scalar/array.h"

namespace tang {

// What a program runs on, by number of the program's dims, scalars and inputs.
struct Bindings {
  std::vector<int64_t> dims;
  std::vector<Value> scalars;  // in the kind of the scalar
  std::vector<Array> inputs;   // in the declared storage type and shape
};

class Interpreter {
 public:
  // Keeps references: program and bindings outlive it. The bindings fit the program.
  Interpreter(const Program& program, const Bindings& bindings);
  ~Interpreter();

  // All values of a tensor in its kind (f64, i32, i64, boolean), computed once and kept.
  const Array& eval(TensorId tensor);
  // One value, on demand: computes only what it depends on, remembering points already seen.
  Value eval_at(TensorId tensor, std::span<const int64_t> point);
  // The program's outputs in order, converted to their storage types.
  std::vector<Array> outputs();
  // The concrete shape of a tensor.
  std::vector<int64_t> shape(TensorId tensor) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tang
