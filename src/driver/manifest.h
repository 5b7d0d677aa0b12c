// The manifest as JSON, in the order and with the names of docs/manifest.schema.json.
#pragma once

#include <string>

#include "emit/emit.h"

namespace tang {

// Goes up when a reader of the previous version would misread the new one.
inline constexpr int kManifestVersion = 1;

std::string manifest_json(const emit::Manifest& manifest);

}  // namespace tang
