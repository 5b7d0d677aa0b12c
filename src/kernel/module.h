// What lowering gives: kernels, and the host program as data. Printers turn it into source, run.h
// executes it; both need nothing else, so it owns its pools and names everything it holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace tang::kernel {

enum class TensorRole : uint8_t { input, inout, output, workspace };

struct ModuleTensor {
  std::string name;
  Type type = Type::f32;
  TensorRole role = TensorRole::input;
  std::vector<FormId> shape;  // extents in dims
  FormId elements;            // their product
  FormId workspace_offset;    // bytes, of workspace tensors
  FormId range_lo, range_hi;  // lo <= value < hi, where declared (preconditions)
  bool sorted = false, distinct = false;
  bool checked = false;  // the entry point checks range and order before anything is written
};

struct ModuleDim {
  std::string name;
  std::optional<int64_t> low, high;  // low <= value <= high
};

struct ModuleScalar {
  std::string name;
  Type type = Type::f32;
  FormId range_lo, range_hi;
};

struct Launch {
  uint32_t kernel = 0;
  std::vector<uint32_t> args;   // module tensors, by the kernel's parameters
  std::vector<FormId> offsets;  // elements at which each argument begins; empty: all at 0
};

// A condition on dims and scalars that the entry point checks before anything is written.
struct Check {
  FormId form;  // >= 0, or a multiple of modulus
  int64_t modulus = 0;
  std::string message;  // "S is at most 8192"
};

struct Module {
  Forms forms;
  Exprs exprs;
  std::string prefix = "tang";
  std::string entry = "run";
  std::vector<ModuleDim> dims;
  std::vector<ModuleScalar> scalars;
  std::vector<ModuleTensor> tensors;  // inputs, inouts, outputs in program order, then workspace
  std::vector<Function> functions;    // callees before callers
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;
  std::vector<Check> checks;
  FormId workspace_bytes;
  std::string program;  // the program's text, for the banner

  // The name of a module variable (dim or scalar) for printing forms.
  std::string name_of(Var v) const;
  // The same for a variable of a kernel of this module, where locals have names too.
  std::string name_of(const Kernel& kernel, Var v) const;
};

// Multi-line text of a module or kernel for people: --emit=kernel.
std::string print(const Module& module);
std::string print(const Module& module, const Kernel& kernel);

// The invariants: variables are declared once, before use, and used in their scope; addresses and
// types fit; parameters written have write access; dims and scalars are listed; functions call only
// functions before them; launches match parameters. One sentence for each broken one.
std::vector<std::string> verify(const Module& module);

}  // namespace tang::kernel
