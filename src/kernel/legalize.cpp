#include "kernel/legalize.h"

namespace tang::kernel {

const std::vector<Legalization>& legalizations() {
  static const std::vector<Legalization> table;
  return table;
}

void legalize(Module& module, const Capabilities& capabilities) {
  for (const Legalization& row : legalizations())
    if (row.needed(capabilities)) row.apply(module, capabilities);
}

}  // namespace tang::kernel
