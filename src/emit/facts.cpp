#include "emit/facts.h"

#include <algorithm>
#include <limits>

namespace tang::emit {

namespace {

// What a scalar's own type allows is no condition, but for i4, whose argument is a whole byte.
void add_scalar_checks(const kernel::Module& module, uint32_t number, Forms& forms,
                       std::vector<kernel::Check>& checks) {
  const kernel::ModuleScalar& scalar = module.scalars[number];
  if (!is_integer(scalar.type)) return;
  const FormId value = forms.var({VarKind::scalar, number});
  if (scalar.type == Type::i4) {
    checks.push_back({.form = forms.add(value, 8), .message = scalar.name + " has four bits"});
    checks.push_back(
        {.form = forms.sub(forms.constant(7), value), .message = scalar.name + " has four bits"});
  }
  if (scalar.range_lo.valid())
    checks.push_back(
        {.form = forms.sub(value, scalar.range_lo), .message = scalar.name + " is in its range"});
  if (scalar.range_hi.valid())
    checks.push_back({.form = forms.sub(forms.add(scalar.range_hi, -1), value),
                      .message = scalar.name + " is in its range"});
}

}  // namespace

std::vector<kernel::Check> entry_checks(const kernel::Module& module, Forms& forms) {
  std::vector<kernel::Check> all;
  for (uint32_t d = 0; d < module.dims.size(); ++d) {
    const kernel::ModuleDim& dim = module.dims[d];
    const FormId value = forms.var({VarKind::dim, d});
    const int64_t low = std::max<int64_t>(dim.low.value_or(0), 0);
    all.push_back({.form = forms.add(value, -low),
                   .message = dim.name + " is at least " + std::to_string(low)});
    if (dim.high && *dim.high != std::numeric_limits<int64_t>::max())
      all.push_back({.form = forms.sub(forms.constant(*dim.high), value),
                     .message = dim.name + " is at most " + std::to_string(*dim.high)});
  }
  for (uint32_t s = 0; s < module.scalars.size(); ++s) add_scalar_checks(module, s, forms, all);
  all.insert(all.end(), module.checks.begin(), module.checks.end());

  std::vector<kernel::Check> checks;
  for (const kernel::Check& check : all) {
    // A condition that holds whatever the arguments are is no check; one that never holds is.
    const std::optional<int64_t> value = forms.as_constant(check.form);
    if (value && (check.modulus != 0 ? *value % check.modulus == 0 : *value >= 0)) continue;
    const bool known = std::any_of(checks.begin(), checks.end(), [&](const kernel::Check& c) {
      return c.form == check.form && c.modulus == check.modulus;
    });
    if (known) continue;
    checks.push_back(check);
  }
  return checks;
}

Facts facts_of(const std::vector<kernel::Check>& checks) {
  Facts facts;
  for (const kernel::Check& check : checks)
    facts.push_back({.form = check.form, .modulus = check.modulus});
  return facts;
}

FormId tensor_bytes(const kernel::ModuleTensor& tensor, Forms& forms) {
  const int64_t bits = type_bits(tensor.type);
  if (bits % 8 == 0) return forms.scale(tensor.elements, bits / 8);
  return forms.ceil_quotient(tensor.elements, 8 / bits);
}

}  // namespace tang::emit
