// limit-unroll: what is unrolled has few trips, and their number is known.
#include "kernel/legalizations.h"
#include "kernel/walk.h"
#include "support/integer.h"

namespace tang::kernel {

void limit_unroll(Module& module, const Capabilities& capabilities) {
  for (Kernel& kernel : module.kernels)
    for_each_statement(kernel.body, [&](Stmt& stmt) {
      auto* loop = std::get_if<For>(&stmt.node);
      if (!loop || loop->run != Run::unroll) return;
      const auto length = module.forms.as_constant(module.forms.sub(loop->hi, loop->lo));
      if (!length || ceil_div(*length, loop->step) > capabilities.max_unroll)
        loop->run = Run::serial;
    });
}

}  // namespace tang::kernel
