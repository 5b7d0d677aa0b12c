// The part of the entry point that refuses bad arguments: rows of the module's table of checks.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "emit/c_interface.h"
#include "emit/facts.h"
#include "support/panic.h"

namespace tang::emit::c {

namespace {

using kernel::Check;
using kernel::ModuleTensor;
using kernel::TensorRole;

// A little below 2^63, which covers the rounding of the doubles in which sizes are judged.
constexpr double kTooLarge = 9e18;
constexpr const char* kTooLargeText = "9e18";

std::set<Var> variables(const Interface& face, const Check& check) {
  std::set<Var> vars;
  face.forms.for_each_var(check.form, [&](Var v) { vars.insert(v); });
  return vars;
}

void refuse_if(HostBody& body, const std::string& condition, std::string_view status) {
  constexpr size_t kLine = 98;
  const std::string leave = "return " + body.face.status(status) + ";";
  if (condition.size() + leave.size() + 6 <= kLine) {
    body.out.line("if (" + condition + ") " + leave);
    return;
  }
  body.out.open("if (" + condition + ")");
  body.out.line(leave);
  body.out.close();
}

// Neighbours share an `if` as long as it fits on a line; those of one variable always do.
void refuse(HostBody& body, const std::vector<Check>& checks, std::string_view status) {
  constexpr size_t kRoom = 60;
  std::string condition;
  const auto flush = [&] {
    if (!condition.empty()) refuse_if(body, condition, status);
    condition.clear();
  };
  for (size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    const bool goes_on =
        i > 0 && variables(body.face, check) == variables(body.face, checks[i - 1]);
    if (!goes_on && condition.size() > kRoom) flush();
    condition += condition.empty() ? "" : " || ";
    if (check.modulus == 0)
      condition += body.forms().compare("<", check.form).text;
    else
      condition += fmt::format("{} % {} != 0",
                               at_least(body.forms().print(check.form), Precedence::unary).text,
                               check.modulus);
  }
  flush();
}

// An upper bound of a size that no dims exceed; infinity where a dim has no bound.
double greatest(const kernel::Module& module, const Forms& forms, FormId form) {
  double total = std::abs(static_cast<double>(forms[form].constant));
  for (const Term& term : forms[form].terms) {
    double product = std::abs(static_cast<double>(term.coefficient));
    for (const Atom& atom : term.atoms) {
      if (atom.is_quotient()) {
        product *= 1 + greatest(module, forms, atom.numerator) / static_cast<double>(atom.divisor);
      } else {
        const std::optional<int64_t> high = module.dims[atom.var.index].high;
        product *= high ? static_cast<double>(*high) : std::numeric_limits<double>::infinity();
      }
    }
    total += product;
  }
  return total;
}

// The sum of the magnitudes of a form's terms, in doubles: no step of computing it is greater.
std::string magnitude(HostBody& body, FormId form) {
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  const Form f = body.face.forms[form];
  for (const Term& term : f.terms) {
    std::string product;
    const double coefficient = std::abs(static_cast<double>(term.coefficient));
    if (coefficient != 1) product = fmt::format("{:.1f}", coefficient);
    for (const Atom& atom : term.atoms) {
      product += product.empty() ? "" : " * ";
      product += atom.is_quotient()
                     ? fmt::format("(({}) / {:.1f})", magnitude(body, atom.numerator),
                                   static_cast<double>(atom.divisor))
                     : "(double)" + body.local(atom.var);
    }
    add(product);
  }
  if (f.constant != 0 || f.terms.empty())
    add(fmt::format("{:.1f}", std::abs(static_cast<double>(f.constant))));
  return text;
}

// Tensors' and the workspace's bytes must fit 63 bits, so that indices and offsets do. Sizes that
// another one covers are left out; `known` is what was checked before.
void refuse_large_sizes(HostBody& body, const Facts& known) {
  Interface& face = body.face;
  std::vector<FormId> sizes;
  const auto covers = [&](FormId a, FormId b) {
    return proves(face.forms, known, {.form = face.forms.sub(a, b)});
  };
  const auto add = [&](FormId size) {
    if (greatest(face.module, face.forms, size) < kTooLarge) return;
    for (const FormId other : sizes)
      if (covers(other, size)) return;
    std::erase_if(sizes, [&](FormId other) { return covers(size, other); });
    sizes.push_back(size);
  };
  for (const ModuleTensor& tensor : face.module.tensors)
    if (tensor.role != TensorRole::workspace) add(tensor_bytes(tensor, face.forms));
  if (face.module.workspace_bytes.valid()) add(face.module.workspace_bytes);
  for (const FormId size : sizes)
    refuse_if(body, magnitude(body, size) + " > " + kTooLargeText, "TOO_LARGE");
}

bool is_scalar_check(const Interface& face, const Check& check) {
  return face.forms.depends_on_kind(check.form, VarKind::scalar);
}

// A number that is positive where the size is, of fewer digits: S for 64*S.
FormId without_factor(Forms& forms, FormId size) {
  const Form f = forms[size];
  if (f.constant != 0 || f.terms.size() != 1 || f.terms[0].coefficient < 2) return size;
  FormId out = forms.constant(1);
  for (const Atom& atom : f.terms[0].atoms)
    out = forms.mul(out, atom.is_quotient() ? forms.quotient(atom.numerator, atom.divisor)
                                            : forms.var(atom.var));
  return out;
}

}  // namespace

void refuse_bad_dims(HostBody& body) {
  const Interface& face = body.face;
  std::vector<Check> simple, compound;
  for (const Check& check : face.checks) {
    if (is_scalar_check(face, check)) continue;
    const std::vector<Term>& terms = face.forms[check.form].terms;
    const bool one_dim = terms.size() == 1 && !terms[0].atoms[0].is_quotient();
    (one_dim ? simple : compound).push_back(check);
  }
  // Sizes are judged once each dim is known to be in its range, and before sums of dims are taken.
  refuse(body, simple, "BAD_DIM");
  refuse_large_sizes(body, facts_of(simple));
  refuse(body, compound, "BAD_DIM");
}

void refuse_bad_scalars(HostBody& body) {
  std::vector<Check> checks;
  std::copy_if(body.face.checks.begin(), body.face.checks.end(), std::back_inserter(checks),
               [&](const Check& c) { return is_scalar_check(body.face, c); });
  refuse(body, checks, "BAD_SCALAR");
}

// Tensors of one size are tested together, and where the dims allow that size to be 0, only if it
// is not.
void refuse_null_tensors(HostBody& body) {
  Interface& face = body.face;
  struct Group {
    FormId elements;
    std::string nulls;
    bool several = false;
  };
  std::vector<Group> groups;
  for (size_t t = 0; t < face.module.tensors.size(); ++t) {
    const ModuleTensor& tensor = face.module.tensors[t];
    if (tensor.role == TensorRole::workspace || face.forms.is_constant(tensor.elements, 0))
      continue;
    const bool never_empty =
        proves(face.forms, face.facts, {.form = face.forms.add(tensor.elements, -1)});
    const FormId key = never_empty ? FormId() : tensor.elements;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.elements == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{key, "", false});
    group->several = !group->nulls.empty();
    group->nulls += (group->several ? " || args->" : "args->") + face.tensor_names[t] + " == NULL";
  }
  for (const Group& g : groups) {
    std::string condition = g.nulls;
    if (g.elements.valid())
      condition = body.forms().compare(">", without_factor(face.forms, g.elements)).text + " && " +
                  (g.several ? "(" + g.nulls + ")" : g.nulls);
    refuse_if(body, condition, "NULL_TENSOR");
  }
}

void refuse_null_workspace(HostBody& body) {
  Interface& face = body.face;
  const FormId bytes = face.module.workspace_bytes;
  if (!bytes.valid() || face.forms.is_constant(bytes, 0)) return;
  std::string condition = "args->workspace == NULL";
  if (!proves(face.forms, face.facts, {.form = face.forms.add(bytes, -1)}))
    condition += " && " + face.symbol + "_workspace(args) > 0";
  refuse_if(body, condition, "NULL_WORKSPACE");
}

void refuse_bad_elements(HostBody& body) {
  Interface& face = body.face;
  for (size_t t = 0; t < face.module.tensors.size(); ++t) {
    const ModuleTensor& tensor = face.module.tensors[t];
    if (!tensor.checked) continue;
    const auto element_at = [&](const std::string& index) {
      const ElementSpelling spelling =
          kC.element(tensor.type, kernel::arithmetic_type(tensor.type));
      body.needs.add(spelling.read);
      const std::string array = "args->" + face.tensor_names[t];
      return spelling.packed ? apply(spelling.read, {{.text = array}, {.text = index}}).text
                             : apply(spelling.read, {{.text = array + "[" + index + "]"}}).text;
    };
    const std::string &i = face.position_name, &element = face.element_name;
    std::string condition;
    const auto add = [&](const std::string& text) {
      condition += (condition.empty() ? "" : " || ") + text;
    };
    if (tensor.range_lo.valid()) add(element + " < " + body.forms().print(tensor.range_lo).text);
    if (tensor.range_hi.valid()) add(element + " >= " + body.forms().print(tensor.range_hi).text);
    if (tensor.sorted)
      add(fmt::format("({0} > 0 && {1} < {2})", i, element, element_at(i + " - 1")));
    body.out.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", i,
                              body.forms().print(tensor.elements).text));
    body.out.line(fmt::format("const int64_t {} = {};", element, element_at(i)));
    refuse_if(body, condition, "BAD_ELEMENT");
    body.out.close();
  }
}

}  // namespace tang::emit::c
