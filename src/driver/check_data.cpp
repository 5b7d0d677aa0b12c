// Do the sizes and values of a run keep what the program declares about them?
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "driver/arguments.h"
#include "support/integer.h"

namespace tang {
namespace {

void error(Diagnostics& diagnostics, std::string name, Span declaration, std::string message) {
  Diagnostic& d = diagnostics.error(std::move(name), {}, std::move(message));
  if (declaration.valid()) d.notes.push_back({.span = declaration, .message = "declared here"});
}

bool holds(const Program& program, const Bindings& bindings, const Constraint& constraint) {
  const int64_t value = evaluate(program, bindings, constraint.form);
  return constraint.modulus == 0 ? value >= 0 : value % constraint.modulus == 0;
}

// A fact of the form `k*v + c >= 0` about one dim and nothing else.
struct OneDim {
  uint32_t dim;
  int64_t coefficient, constant;
};
std::optional<OneDim> about_one_dim(const Program& program, const Constraint& fact) {
  const Form& form = program.arena->forms[fact.form];
  if (fact.modulus != 0 || form.terms.size() != 1 || form.terms[0].atoms.size() != 1)
    return std::nullopt;
  const Atom& atom = form.terms[0].atoms[0];
  if (atom.is_quotient() || atom.var.kind != VarKind::dim) return std::nullopt;
  return OneDim{
      .dim = atom.var.index, .coefficient = form.terms[0].coefficient, .constant = form.constant};
}

// The sizes that facts about a dim alone allow; a dim is never negative.
IntegerRange allowed_sizes(const Program& program, uint32_t dim) {
  IntegerRange range{.low = 0, .last = integer_max(Type::i64)};
  for (const Constraint& fact : program.assumptions) {
    const std::optional<OneDim> one = about_one_dim(program, fact);
    if (!one || one->dim != dim) continue;
    // k*v >= -c: a lower bound for k > 0, an upper one for k < 0.
    if (one->coefficient > 0)
      range.low = std::max(range.low, ceil_div(-one->constant, one->coefficient));
    else
      range.last = std::min(range.last, floor_div(one->constant, -one->coefficient));
  }
  return range;
}

// "S is 3, T is 5": the variables of a form.
std::string values_in(const Program& program, const Bindings& bindings, FormId form) {
  std::vector<Var> seen;
  std::vector<std::string> parts;
  program.arena->forms.for_each_var(form, [&](Var v) {
    if (std::find(seen.begin(), seen.end(), v) != seen.end()) return;
    seen.push_back(v);
    const int64_t value =
        v.kind == VarKind::dim ? bindings.dims[v.index] : bindings.scalars[v.index].integer;
    parts.push_back(fmt::format("{} is {}", variable_name(program, v), value));
  });
  return fmt::format("{}", fmt::join(parts, ", "));
}

void check_dims(const Program& program, const Bindings& bindings, Diagnostics& diagnostics) {
  for (uint32_t i = 0; i < program.dims.size(); ++i) {
    const IntegerRange range = allowed_sizes(program, i);
    const int64_t size = bindings.dims[i];
    if (size >= range.low && size <= range.last) continue;
    error(diagnostics, "dim-range", program.dims[i].span,
          fmt::format("{} is {}, and the program allows {}", program.dims[i].name, size,
                      describe(range, Type::i64)));
  }
}

void check_scalars(const Program& program, const Bindings& bindings, Diagnostics& diagnostics) {
  for (size_t i = 0; i < program.scalars.size(); ++i) {
    const Scalar& scalar = program.scalars[i];
    if (!scalar.range.present()) continue;
    const IntegerRange range = range_of(program, bindings, scalar.range, scalar.type);
    const int64_t value = bindings.scalars[i].integer;
    if (value >= range.low && value <= range.last) continue;
    error(diagnostics, "input-range", scalar.span,
          fmt::format("{} is {}, and the program allows {}", scalar.name, value,
                      describe(range, scalar.type)));
  }
}

std::string element_name(const Input& input, const Array& array, int64_t at) {
  std::vector<int64_t> index(array.shape.size());
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = at % array.shape[d];
    at /= array.shape[d];
  }
  return index.empty() ? input.name : fmt::format("{}[{}]", input.name, fmt::join(index, ","));
}

}  // namespace

int64_t evaluate(const Program& program, const Bindings& bindings, FormId form) {
  return program.arena->forms.evaluate(form, [&](Var v) -> int64_t {
    return v.kind == VarKind::dim ? bindings.dims[v.index] : bindings.scalars[v.index].integer;
  });
}

std::string variable_name(const Program& program, Var v) {
  return v.kind == VarKind::dim ? program.dims[v.index].name : program.scalars[v.index].name;
}

IntegerRange range_of(const Program& program, const Bindings& bindings, const Range& range,
                      Type type) {
  IntegerRange out{.low = integer_min(type), .last = integer_max(type)};
  if (range.lo.valid()) out.low = std::max(out.low, evaluate(program, bindings, range.lo));
  if (range.hi.valid()) {
    const int64_t high = evaluate(program, bindings, range.hi);
    out.last = high <= integer_min(Type::i64) ? high : std::min(out.last, high - 1);
  }
  return out;
}

std::string describe(const IntegerRange& range, Type type) {
  if (range.is_empty()) return "nothing";
  if (range.low == range.last) return fmt::format("{} only", range.low);
  if (range.last == integer_max(type)) return fmt::format("{} or more", range.low);
  if (range.low == integer_min(type)) return fmt::format("{} or less", range.last);
  return fmt::format("{} to {}", range.low, range.last);
}

namespace {

// form >= 0 as people write it: the terms with a minus on the other side.
std::string inequality(Forms& forms, FormId form, const std::function<std::string(Var)>& name) {
  const Form whole = forms[form];
  FormId low = forms.constant(0);
  for (const Term& term : whole.terms) {
    if (term.coefficient > 0) continue;
    FormId product = forms.constant(-term.coefficient);
    for (const Atom& atom : term.atoms)
      product = forms.mul(product, atom.is_quotient() ? forms.quotient(atom.numerator, atom.divisor)
                                                      : forms.var(atom.var));
    low = forms.add(low, product);
  }
  if (whole.constant < 0) low = forms.add(low, -whole.constant);
  return fmt::format("{} <= {}", forms.print(low, name), forms.print(forms.add(form, low), name));
}

}  // namespace

bool check_sizes(const Program& program, const Bindings& bindings, Diagnostics& diagnostics) {
  const size_t before = diagnostics.n_errors();
  check_dims(program, bindings, diagnostics);
  if (diagnostics.n_errors() == before) check_scalars(program, bindings, diagnostics);
  if (diagnostics.n_errors() != before) return false;
  const auto name = [&](Var v) { return variable_name(program, v); };
  for (const Constraint& fact : program.assumptions) {
    if (holds(program, bindings, fact)) continue;
    Forms& forms = program.arena->forms;
    const std::string assumed =
        fact.modulus == 0
            ? inequality(forms, fact.form, name)
            : fmt::format("({}) % {} == 0", forms.print(fact.form, name), fact.modulus);
    error(diagnostics, "assumption-broken", {},
          fmt::format("the program assumes {}, and {}", assumed,
                      values_in(program, bindings, fact.form)));
  }
  return diagnostics.n_errors() == before;
}

bool check_values(const Program& program, const Bindings& bindings, size_t number,
                  Diagnostics& diagnostics) {
  const Input& input = program.inputs[number];
  const Array& array = bindings.inputs[number];
  if (!input.range.present() && !input.sorted && !input.distinct) return true;
  const IntegerRange range = range_of(program, bindings, input.range, array.type);
  std::unordered_map<int64_t, int64_t> first_at;
  for (int64_t i = 0; i < array.size(); ++i) {
    const int64_t value = array.get(i).integer;
    std::string broken;
    if (value < range.low || value > range.last)
      broken = fmt::format("the program allows {}", describe(range, array.type));
    else if (input.sorted && i > 0 && array.get(i - 1).integer > value)
      broken = fmt::format("{} is {}: it is not sorted", element_name(input, array, i - 1),
                           array.get(i - 1).integer);
    else if (input.distinct && !first_at.emplace(value, i).second)
      broken = fmt::format("{} is too: its values are not distinct",
                           element_name(input, array, first_at[value]));
    if (broken.empty()) continue;
    error(diagnostics, "input-range", input.span,
          fmt::format("{} is {}, and {}", element_name(input, array, i), value, broken));
    return false;
  }
  return true;
}

}  // namespace tang
