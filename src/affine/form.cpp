#include "affine/form.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/integer.h"
#include "support/panic.h"

namespace tang {

uint64_t Form::hash() const {
  uint64_t seed = 17;
  hash_mix(seed, static_cast<uint64_t>(constant));
  for (const Term& term : terms) {
    hash_mix(seed, static_cast<uint64_t>(term.coefficient));
    for (const Atom& a : term.atoms) {
      hash_mix(seed, static_cast<uint64_t>(a.var.kind) << 32 | a.var.index);
      hash_mix(seed, static_cast<uint64_t>(a.divisor));
      hash_mix(seed, a.numerator.value);
    }
  }
  return seed;
}

int64_t Forms::times(int64_t a, int64_t b) {
  if (auto r = checked_mul(a, b)) return *r;
  overflowed_ = true;
  return 0;
}

int64_t Forms::plus(int64_t a, int64_t b) {
  if (auto r = checked_add(a, b)) return *r;
  overflowed_ = true;
  return 0;
}

FormId Forms::intern(Form form) {
  return pool_.intern(std::move(form));
}

FormId Forms::constant(int64_t value) {
  return intern({.constant = value, .terms = {}});
}

FormId Forms::var(Var v) {
  return intern(
      {.constant = 0,
       .terms = {{.coefficient = 1, .atoms = {{.var = v, .numerator = {}, .divisor = 0}}}}});
}

// a + factor * b, by a merge of the two sorted lists.
Form Forms::sum(const Form& a, const Form& b, int64_t factor) {
  Form out{.constant = plus(a.constant, times(factor, b.constant)), .terms = {}};
  if (factor == 0) return a;
  out.terms.reserve(a.terms.size() + b.terms.size());
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].atoms < b.terms[j].atoms)) {
      out.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].atoms < a.terms[i].atoms) {
      out.terms.push_back(b.terms[j++]);
      out.terms.back().coefficient = times(factor, out.terms.back().coefficient);
    } else {
      const int64_t c = plus(a.terms[i].coefficient, times(factor, b.terms[j].coefficient));
      if (c != 0) out.terms.push_back({.coefficient = c, .atoms = a.terms[i].atoms});
      ++i;
      ++j;
    }
  }
  return out;
}

FormId Forms::add(FormId a, FormId b) {
  return intern(sum(pool_[a], pool_[b], 1));
}
FormId Forms::sub(FormId a, FormId b) {
  return intern(sum(pool_[a], pool_[b], -1));
}

FormId Forms::scale(FormId a, int64_t factor) {
  return intern(sum(Form{}, pool_[a], factor));
}

FormId Forms::mul(FormId a, FormId b) {
  const Form& x = pool_[a];
  const Form& y = pool_[b];
  if (x.terms.empty()) return scale(b, x.constant);
  if (y.terms.empty()) return scale(a, y.constant);
  Form out = sum(Form{}, x, y.constant);
  for (const Term& t : y.terms) {
    Form product;
    if (x.constant != 0)
      product.terms.push_back({.coefficient = times(x.constant, t.coefficient), .atoms = t.atoms});
    for (const Term& s : x.terms) {
      Term both{.coefficient = times(s.coefficient, t.coefficient), .atoms = s.atoms};
      both.atoms.insert(both.atoms.end(), t.atoms.begin(), t.atoms.end());
      std::sort(both.atoms.begin(), both.atoms.end());
      if (both.coefficient != 0) product.terms.push_back(std::move(both));
    }
    std::sort(product.terms.begin(), product.terms.end(),
              [](const Term& p, const Term& q) { return p.atoms < q.atoms; });
    out = sum(out, product, 1);
  }
  return intern(std::move(out));
}

// What is a multiple of the divisor leaves the quotient, common factors cancel, and a quotient of
// a quotient is one: floor(floor(f/a)/b) = floor(f/(a*b)).
FormId Forms::quotient(FormId a, int64_t divisor) {
  TANG_ASSERT(divisor > 0, "quotient by {}", divisor);
  if (divisor == 1) return a;
  const Form& f = pool_[a];
  Form outside{.constant = floor_div(f.constant, divisor), .terms = {}};
  Form inside{.constant = floor_mod(f.constant, divisor), .terms = {}};
  for (const Term& term : f.terms) {
    if (term.coefficient % divisor == 0)
      outside.terms.push_back({.coefficient = term.coefficient / divisor, .atoms = term.atoms});
    else
      inside.terms.push_back(term);
  }
  if (inside.terms.empty()) return intern(std::move(outside));
  int64_t common = divisor;
  for (const Term& term : inside.terms) common = gcd_of(common, term.coefficient);
  if (common > 1) {
    inside.constant = floor_div(inside.constant, common);
    for (Term& term : inside.terms) term.coefficient /= common;
    divisor /= common;
  }
  if (divisor == 1) return intern(sum(outside, inside, 1));
  if (inside.constant == 0 && inside.terms.size() == 1 && inside.terms[0].coefficient == 1 &&
      inside.terms[0].atoms.size() == 1 && inside.terms[0].atoms[0].is_quotient()) {
    const Atom& inner = inside.terms[0].atoms[0];
    if (auto both = checked_mul(inner.divisor, divisor))
      return add(intern(std::move(outside)), quotient(inner.numerator, *both));
  }
  const FormId numerator = intern(std::move(inside));
  Form q{.constant = 0,
         .terms = {{.coefficient = 1,
                    .atoms = {{.var = {}, .numerator = numerator, .divisor = divisor}}}}};
  return intern(sum(outside, q, 1));
}

FormId Forms::remainder(FormId a, int64_t divisor) {
  return sub(a, scale(quotient(a, divisor), divisor));
}

std::optional<int64_t> Forms::as_constant(FormId id) const {
  const Form& f = pool_[id];
  if (!f.terms.empty()) return std::nullopt;
  return f.constant;
}

std::optional<Var> Forms::as_var(FormId id) const {
  const Form& f = pool_[id];
  if (f.constant != 0 || f.terms.size() != 1 || f.terms[0].coefficient != 1 ||
      f.terms[0].atoms.size() != 1 || f.terms[0].atoms[0].is_quotient())
    return std::nullopt;
  return f.terms[0].atoms[0].var;
}

FormId Forms::substitute(FormId id, const std::function<FormId(Var)>& map) {
  const Form f = pool_[id];
  FormId out = constant(f.constant);
  for (const Term& term : f.terms) {
    FormId product = constant(term.coefficient);
    for (const Atom& atom : term.atoms) {
      FormId factor;
      if (atom.is_quotient()) {
        factor = quotient(substitute(atom.numerator, map), atom.divisor);
      } else {
        factor = map(atom.var);
        if (!factor.valid()) factor = var(atom.var);
      }
      product = mul(product, factor);
    }
    out = add(out, product);
  }
  return out;
}

int64_t Forms::evaluate(FormId id, const std::function<int64_t(Var)>& value) const {
  const Form& f = pool_[id];
  auto total = static_cast<uint64_t>(f.constant);
  for (const Term& term : f.terms) {
    auto product = static_cast<uint64_t>(term.coefficient);
    for (const Atom& atom : term.atoms)
      product *= static_cast<uint64_t>(
          atom.is_quotient() ? floor_div(evaluate(atom.numerator, value), atom.divisor)
                             : value(atom.var));
    total += product;
  }
  return static_cast<int64_t>(total);
}

void Forms::for_each_var(FormId id, const std::function<void(Var)>& visit) const {
  for (const Term& term : pool_[id].terms)
    for (const Atom& atom : term.atoms) {
      if (atom.is_quotient())
        for_each_var(atom.numerator, visit);
      else
        visit(atom.var);
    }
}

bool Forms::depends_on(FormId id, Var v) const {
  bool found = false;
  for_each_var(id, [&](Var w) { found |= w == v; });
  return found;
}

bool Forms::depends_on_kind(FormId id, VarKind kind) const {
  bool found = false;
  for_each_var(id, [&](Var w) { found |= w.kind == kind; });
  return found;
}

bool Forms::is_extent(FormId id) const {
  bool only_dims = true;
  for_each_var(id, [&](Var v) { only_dims &= v.kind == VarKind::dim; });
  return only_dims;
}

bool Forms::is_coordinate(FormId id) const {
  for (const Term& term : pool_[id].terms)
    for (const Atom& atom : term.atoms) {
      const bool moves =
          atom.is_quotient() ? !is_extent(atom.numerator) : atom.var.kind != VarKind::dim;
      if (moves && term.atoms.size() > 1) return false;
      if (atom.is_quotient() && !is_coordinate(atom.numerator)) return false;
    }
  return true;
}

std::optional<Forms::Linear> Forms::linear_in(FormId id, Var v) {
  const Form f = pool_[id];
  Form rest{.constant = f.constant, .terms = {}};
  FormId coefficient = constant(0);
  for (const Term& term : f.terms) {
    size_t times_seen = 0;
    FormId others = constant(term.coefficient);
    for (const Atom& atom : term.atoms) {
      if (atom.is_quotient()) {
        if (depends_on(atom.numerator, v)) return std::nullopt;
        others = mul(others, quotient(atom.numerator, atom.divisor));
      } else if (atom.var == v) {
        ++times_seen;
      } else {
        others = mul(others, var(atom.var));
      }
    }
    if (times_seen > 1) return std::nullopt;
    if (times_seen == 1)
      coefficient = add(coefficient, others);
    else
      rest.terms.push_back(term);
  }
  return Linear{.coefficient = coefficient, .rest = intern(std::move(rest))};
}

namespace {

bool is_single(const Form& f) {  // prints without an operator
  if (f.terms.empty()) return f.constant >= 0;
  return f.constant == 0 && f.terms.size() == 1 && f.terms[0].coefficient == 1 &&
         f.terms[0].atoms.size() == 1 && !f.terms[0].atoms[0].is_quotient();
}

// One signed summand: an empty product is the constant itself.
void append_summand(std::string& out, int64_t coefficient, const std::string& product) {
  const bool negative = coefficient < 0;
  const uint64_t size = negative ? 0 - static_cast<uint64_t>(coefficient) : coefficient;
  const char* sign = out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
  if (product.empty())
    out += fmt::format("{}{}", sign, size);
  else if (size == 1)
    out += sign + product;
  else
    out += fmt::format("{}{}*{}", sign, size, product);
}

}  // namespace

std::string Forms::print(FormId id, const std::function<std::string(Var)>& name) const {
  const auto operand = [&](FormId f) {
    const std::string text = print(f, name);
    return is_single(pool_[f]) ? text : "(" + text + ")";
  };
  // m*(f - k*(f/k)) is printed as m*(f % k) when that leaves fewer terms. Work on a scratch copy,
  // so that printing interns nothing.
  Form rest = pool_[id];
  std::vector<std::pair<int64_t, std::string>> remainders;
  Forms scratch;  // only for its arithmetic
  for (const Term& term : pool_[id].terms) {
    if (term.atoms.size() != 1 || !term.atoms[0].is_quotient()) continue;
    const Atom& atom = term.atoms[0];
    if (term.coefficient % atom.divisor != 0) continue;
    const int64_t m = -(term.coefficient / atom.divisor);
    Form without = scratch.sum(rest, pool_[atom.numerator], -m);
    std::erase_if(without.terms, [&](const Term& t) { return t.atoms == term.atoms; });
    if (without.terms.size() >= rest.terms.size()) continue;
    rest = std::move(without);
    remainders.emplace_back(m, fmt::format("{}%{}", operand(atom.numerator), atom.divisor));
  }
  struct Summand {
    int64_t coefficient;
    std::string product;
  };
  std::vector<Summand> summands;
  for (const Term& term : rest.terms) {
    const bool bare = term.atoms.size() == 1 && term.coefficient == 1;
    std::string product;
    for (const Atom& atom : term.atoms) {
      if (!product.empty()) product += "*";
      if (!atom.is_quotient())
        product += name(atom.var);
      else
        product += fmt::format("{}{}/{}{}", bare ? "" : "(", operand(atom.numerator), atom.divisor,
                               bare ? "" : ")");
    }
    summands.push_back({term.coefficient, std::move(product)});
  }
  for (auto& [m, text] : remainders) summands.push_back({m, m == 1 ? text : "(" + text + ")"});
  // Positive summands first, so that S - 1 - i does not print as -i + S - 1.
  const auto negatives = std::stable_partition(summands.begin(), summands.end(),
                                               [](const Summand& s) { return s.coefficient > 0; });
  std::string out;
  const bool constant_first = negatives == summands.begin() && rest.constant > 0;
  if (constant_first) append_summand(out, rest.constant, "");
  for (const Summand& s : summands) append_summand(out, s.coefficient, s.product);
  if (!constant_first && (rest.constant != 0 || out.empty()))
    append_summand(out, rest.constant, "");
  return out;
}

}  // namespace tang
