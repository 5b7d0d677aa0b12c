// Kernel IR to source text. One printer holds what the targets share; a Dialect says what differs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/legalize.h"
#include "kernel/module.h"

namespace tang::emit {

struct Target {
  std::string_view name;         // "c"
  std::string_view description;  // for `tangc targets`
  std::string_view extension;    // of the source: ".c"
  kernel::Capabilities capabilities;
};
const std::vector<Target>& targets();
const Target* find_target(std::string_view name);

struct Artifact {
  std::string suffix;  // ".c", ".h"
  std::string text;
};

// Prints a legalized module. `stem` is the file name without its extension, for #include.
std::vector<Artifact> emit(const Target& target, const kernel::Module& module,
                           const std::string& stem);

// What the manifest says, as data; the driver writes it as JSON (docs/manifest.schema.json).
struct ManifestTensor {
  std::string name, type, role;
  std::vector<std::string> shape;  // expressions of the dims
  std::string bytes, offset;       // offset: of workspace tensors
  std::string range_lo, range_hi;
  bool sorted = false, distinct = false, checked = false;
};
struct ManifestKernel {
  std::string name, computes, schedule;
  struct Argument {
    std::string name, type, access;
  };
  std::vector<Argument> arguments;
  std::vector<std::string> dims, scalars;
};
struct ManifestDim {
  std::string name;
  std::optional<int64_t> low, high;
};
struct ManifestScalar {
  std::string name, type, range_lo, range_hi;
};
struct ManifestLaunch {
  std::string kernel;
  struct Argument {
    std::string tensor, offset;  // offset: in elements
  };
  std::vector<Argument> arguments;  // by the kernel's
};
struct Manifest {
  std::string target, entry, prefix;
  std::vector<ManifestDim> dims;
  std::vector<ManifestScalar> scalars;
  std::vector<ManifestTensor> tensors;
  std::vector<ManifestKernel> kernels;
  std::vector<ManifestLaunch> launches;  // in the order in which they run
  std::string workspace_bytes;
};
Manifest manifest(const Target& target, const kernel::Module& module);

}  // namespace tang::emit
