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

}  // namespace tang
