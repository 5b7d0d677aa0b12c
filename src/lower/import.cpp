// Forms nest only through quotients, whose depth the language limits, so recursion is bounded.
#include "lower/import.h"

namespace tang {

FormId import_form(const Forms& from, FormId form, Forms& to,
                   const std::function<FormId(Var)>& map) {
  const Form& f = from[form];
  FormId out = to.constant(f.constant);
  for (const Term& term : f.terms) {
    FormId product = to.constant(term.coefficient);
    for (const Atom& atom : term.atoms) {
      FormId factor;
      if (atom.is_quotient()) {
        factor = to.quotient(import_form(from, atom.numerator, to, map), atom.divisor);
      } else {
        factor = map(atom.var);
        if (!factor.valid()) factor = to.var(atom.var);
      }
      product = to.mul(product, factor);
    }
    out = to.add(out, product);
  }
  return out;
}

Sides split_by_sign(Forms& forms, FormId form) {
  const Form f = forms[form];
  Sides sides{.positive = forms.constant(0), .negative = forms.constant(0)};
  const auto add = [&](int64_t coefficient, FormId product) {
    FormId& side = coefficient > 0 ? sides.positive : sides.negative;
    side = forms.add(side, forms.scale(product, coefficient > 0 ? coefficient : -coefficient));
  };
  for (const Term& term : f.terms) {
    FormId product = forms.constant(1);
    for (const Atom& atom : term.atoms)
      product = forms.mul(product, atom.is_quotient() ? forms.quotient(atom.numerator, atom.divisor)
                                                      : forms.var(atom.var));
    add(term.coefficient, product);
  }
  add(f.constant, forms.constant(1));
  return sides;
}

}  // namespace tang
