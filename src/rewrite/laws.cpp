#include "rewrite/laws.h"

namespace tang {

const std::vector<Law>& laws() {
  static const std::vector<Law> all = {
      {law::kDistribute, "sum(a*x) = a*sum(x), sum(x/a) = sum(x)/a",
       "a depends on no reduce index"},
      {law::kExpOfSum, "exp(x + y) = exp(x)*exp(y), exp2(x) = exp(x*log(2))", ""},
      {law::kShift, "sum(exp(x - t)*v) = exp(m - t)*sum(exp(x - m)*v)", "m = max(x) is finite"},
      {law::kNoWeight, "exp(-inf)*v = 0", "v is finite where its weight is exp(-inf)"},
      {law::kLogOfExp, "log(exp(x)) = x, log(exp(x)*y) = x + log(y)", "y is positive"},
      {law::kCommonFactor, "(a*x)/(a*y) = x/y", "a is exp of a finite value"},
  };
  return all;
}

}  // namespace tang
