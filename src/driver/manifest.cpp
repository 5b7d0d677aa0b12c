#include "driver/manifest.h"

#include <nlohmann/json.hpp>

namespace tang {
namespace {

using Json = nlohmann::ordered_json;

// A range `lo <= value < hi`, with the sides that are declared.
void put_range(Json& to, const std::string& low, const std::string& high) {
  if (low.empty() && high.empty()) return;
  Json range = Json::object();
  if (!low.empty()) range["low"] = low;
  if (!high.empty()) range["below"] = high;
  to["range"] = std::move(range);
}

Json json_of(const emit::ManifestDim& dim) {
  Json out = {{"name", dim.name}};
  if (dim.low) out["low"] = *dim.low;
  if (dim.high) out["high"] = *dim.high;
  return out;
}

Json json_of(const emit::ManifestScalar& scalar) {
  Json out = {{"name", scalar.name}, {"type", scalar.type}};
  put_range(out, scalar.range_lo, scalar.range_hi);
  return out;
}

Json json_of(const emit::ManifestTensor& tensor) {
  Json out = {{"name", tensor.name},
              {"role", tensor.role},
              {"type", tensor.type},
              {"shape", tensor.shape},
              {"bytes", tensor.bytes}};
  if (!tensor.offset.empty()) out["offset"] = tensor.offset;
  put_range(out, tensor.range_lo, tensor.range_hi);
  if (tensor.sorted) out["sorted"] = true;
  if (tensor.distinct) out["distinct"] = true;
  if (tensor.checked) out["checked"] = true;
  return out;
}

Json json_of(const emit::ManifestKernel& kernel) {
  Json arguments = Json::array();
  for (const emit::ManifestKernel::Argument& a : kernel.arguments)
    arguments.push_back({{"name", a.name}, {"type", a.type}, {"access", a.access}});
  return {{"name", kernel.name},         {"computes", kernel.computes},
          {"schedule", kernel.schedule}, {"arguments", std::move(arguments)},
          {"dims", kernel.dims},         {"scalars", kernel.scalars}};
}

Json json_of(const emit::ManifestLaunch& launch) {
  Json arguments = Json::array();
  for (const emit::ManifestLaunch::Argument& a : launch.arguments)
    arguments.push_back({{"tensor", a.tensor}, {"offset", a.offset}});
  return {{"kernel", launch.kernel}, {"arguments", std::move(arguments)}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(json_of(item));
  return out;
}

}  // namespace

std::string manifest_json(const emit::Manifest& manifest) {
  const Json out = {{"version", kManifestVersion},
                    {"generator", "tangc " TANG_VERSION},
                    {"target", manifest.target},
                    {"entry", manifest.entry},
                    {"prefix", manifest.prefix},
                    {"dims", list_of(manifest.dims)},
                    {"scalars", list_of(manifest.scalars)},
                    {"tensors", list_of(manifest.tensors)},
                    {"kernels", list_of(manifest.kernels)},
                    {"launches", list_of(manifest.launches)},
                    {"workspace_bytes", manifest.workspace_bytes}};
  // Text that is not UTF-8 can only come from a comment or a file name; it must not stop us.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tang
