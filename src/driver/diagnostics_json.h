// Diagnostics for other programs: one JSON document, tangc's own (docs/diagnostics.md) or SARIF's.
#pragma once

#include <string>

#include "support/diagnostics.h"

namespace tang {

// `failure` is what stopped the command besides the diagnostics, a file that cannot be read, say;
// empty when nothing did.
std::string diagnostics_json(const Diagnostics& diagnostics, const Sources& sources,
                             const std::string& failure);
// SARIF 2.1.0. Rules are the names of the diagnostics that occur.
std::string diagnostics_sarif(const Diagnostics& diagnostics, const Sources& sources,
                              const std::string& failure);

}  // namespace tang
