// The manifest: a module's tables, with extents as expressions of the dims in the program's words.
#include <algorithm>

#include "emit/facts.h"

#include "emit/emit.h"

namespace tang::emit {

namespace {

using kernel::Module;

std::string role_name(kernel::TensorRole role) {
  switch (role) {
    case kernel::TensorRole::input:
      return "input";
    case kernel::TensorRole::inout:
      return "inout";
    case kernel::TensorRole::output:
      return "output";
    case kernel::TensorRole::workspace:
      return "workspace";
  }
  return "";
}

std::string access_name(kernel::Access access) {
  switch (access) {
    case kernel::Access::read:
      return "read";
    case kernel::Access::write:
      return "write";
    case kernel::Access::read_write:
      return "read_write";
  }
  return "";
}

struct Filling {
  const Module& module;
  Forms forms;

  std::string text(FormId form) const {
    return form.valid() ? forms.print(form, [&](Var v) { return module.name_of(v); }) : "";
  }
  ManifestTensor tensor(const kernel::ModuleTensor& t);
  ManifestKernel kernel(uint32_t number) const;
};

ManifestTensor Filling::tensor(const kernel::ModuleTensor& t) {
  ManifestTensor out{.name = t.name,
                     .type = std::string(type_name(t.type)),
                     .role = role_name(t.role),
                     .range_lo = text(t.range_lo),
                     .range_hi = text(t.range_hi),
                     .sorted = t.sorted,
                     .distinct = t.distinct,
                     .checked = t.checked};
  for (const FormId extent : t.shape) out.shape.push_back(text(extent));
  out.bytes = text(tensor_bytes(t, forms));
  if (t.role == kernel::TensorRole::workspace) out.offset = text(t.workspace_offset);
  return out;
}

ManifestKernel Filling::kernel(uint32_t number) const {
  const kernel::Kernel& k = module.kernels[number];
  ManifestKernel out{.name = k.name, .computes = k.computes, .schedule = k.schedule};
  for (uint32_t p = 0; p < k.n_params; ++p) {
    ManifestKernel::Argument argument{.name = k.buffers[p].name,
                                      .type = std::string(type_name(k.buffers[p].type)),
                                      .access = access_name(k.buffers[p].access)};
    out.arguments.push_back(std::move(argument));
  }
  for (const uint32_t d : k.dims) out.dims.push_back(module.dims[d].name);
  for (const uint32_t s : k.scalars) out.scalars.push_back(module.scalars[s].name);
  return out;
}

}  // namespace

Manifest manifest(const Target& target, const Module& module) {
  Filling filling{module, module.forms};
  Manifest out{.target = std::string(target.name), .entry = module.entry, .prefix = module.prefix};
  for (const kernel::ModuleDim& dim : module.dims)
    out.dims.push_back({dim.name, dim.low, dim.high});
  for (const kernel::ModuleScalar& scalar : module.scalars)
    out.scalars.push_back({.name = scalar.name,
                           .type = std::string(type_name(scalar.type)),
                           .range_lo = filling.text(scalar.range_lo),
                           .range_hi = filling.text(scalar.range_hi)});
  for (const kernel::ModuleTensor& tensor : module.tensors)
    out.tensors.push_back(filling.tensor(tensor));
  for (uint32_t k = 0; k < module.kernels.size(); ++k) out.kernels.push_back(filling.kernel(k));
  for (const kernel::Launch& launch : module.launches) {
    ManifestLaunch to{.kernel = module.kernels[launch.kernel].name};
    for (size_t p = 0; p < launch.args.size(); ++p)
      to.arguments.push_back(
          {.tensor = module.tensors[launch.args[p]].name,
           .offset = p < launch.offsets.size() ? filling.text(launch.offsets[p]) : "0"});
    out.launches.push_back(std::move(to));
  }
  out.workspace_bytes = module.workspace_bytes.valid() ? filling.text(module.workspace_bytes) : "0";
  return out;
}

}  // namespace tang::emit
