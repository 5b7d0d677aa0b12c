// split-fma: for targets without it. The product is rounded then, which changes the last bit.
#include "kernel/legalizations.h"

namespace tang::kernel {

void split_fma(Module& module, const Capabilities& /*capabilities*/) {
  rewrite_expressions(module, [&](const Kernel&, const Expr& old, const auto& args) {
    if (old.op != Op::fma) return ExprId();
    return module.exprs.make(Op::add, module.exprs.make(Op::mul, args[0], args[1]), args[2]);
  });
}

}  // namespace tang::kernel
