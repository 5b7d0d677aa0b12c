// Carries forms from the graph's pool to the module's.
#pragma once

#include <functional>

#include "affine/form.h"

namespace tang {

// The form with each variable replaced by what `map` gives in `to`; dims and scalars keep their
// numbers when `map` gives an invalid id.
FormId import_form(const Forms& from, FormId form, Forms& to,
                   const std::function<FormId(Var)>& map);

// form = positive - negative, neither with a negative coefficient: how people write inequalities.
struct Sides {
  FormId positive, negative;
};
Sides split_by_sign(Forms& forms, FormId form);

}  // namespace tang
