#include "rewrite/terms.h"

#include <algorithm>
#include <cmath>

namespace tang {

namespace {

constexpr int kDeep = 64;
constexpr size_t kMostTerms = 64;  // of a sum that a product of sums is expanded to
constexpr double kInfinity = HUGE_VAL;
constexpr double kClose = 1e-13;  // coefficients that differ by rounding alone

}  // namespace

bool folds_by(const Arena& arena, const Comprehension& c, Op op) {
  if (c.is_map() || c.components.size() != 1) return false;
  const Monoid& m = arena.monoids[c.monoid];
  if (m.keeps_lists() || m.types[0] != Type::f64) return false;
  const Expr combine = arena.exprs[m.combine[0]];
  return combine.op == op && arena.exprs[combine.args[0]].op == Op::left &&
         arena.exprs[combine.args[1]].op == Op::right;
}

std::optional<double> constant_of(const Exprs& exprs, ExprId e) {
  const Expr& x = exprs[e];
  if (x.op != Op::constant) return std::nullopt;
  return is_real(x.type) ? x.value().real : static_cast<double>(x.value().integer);
}

bool is_constant(const Exprs& exprs, ExprId e, double value) {
  return constant_of(exprs, e) == value;
}

void Sum::add_term(std::vector<ExprId> factors, double coefficient) {
  std::sort(factors.begin(), factors.end());
  const auto [found, is_new] = terms.emplace(std::move(factors), coefficient);
  if (!is_new) found->second += coefficient;
  if (found->second == 0.0) terms.erase(found);
}

void Sum::add(const Sum& other, double factor) {
  for (const auto& [factors, coefficient] : other.terms) add_term(factors, coefficient * factor);
}

namespace {

// a*b when that is no more than kMostTerms terms and one of them is a single term.
std::optional<Sum> times(const Sum& a, const Sum& b) {
  if (a.terms.size() > 1 && b.terms.size() > 1) return std::nullopt;
  if (a.terms.size() * b.terms.size() > kMostTerms) return std::nullopt;
  Sum product;
  for (const auto& [f, x] : a.terms)
    for (const auto& [g, y] : b.terms) {
      std::vector<ExprId> factors = f;
      factors.insert(factors.end(), g.begin(), g.end());
      product.add_term(std::move(factors), x * y);
    }
  return product;
}

Sum sum_of(Exprs& exprs, ExprId id, int depth) {
  const Expr e = exprs[id];
  Sum sum;
  if (const auto c = constant_of(exprs, id); c && std::isfinite(*c)) {
    if (*c != 0.0) sum.add_term({}, *c);
    return sum;
  }
  const auto part = [&](size_t i) { return sum_of(exprs, e.args[i], depth + 1); };
  if (is_real(e.type) && depth < kDeep) {
    switch (e.op) {
      case Op::add:
      case Op::sub:
        sum = part(0);
        sum.add(part(1), e.op == Op::add ? 1.0 : -1.0);
        return sum;
      case Op::neg:
        sum.add(part(0), -1.0);
        return sum;
      case Op::mul:
        if (const auto product = times(part(0), part(1))) return *product;
        break;
      case Op::div: {
        if (const auto c = constant_of(exprs, e.args[1]); c && std::isfinite(1.0 / *c)) {
          sum.add(part(0), 1.0 / *c);
          return sum;
        }
        Sum inverse;
        inverse.add_term({exprs.make(Op::recip, e.args[1])}, 1.0);
        if (const auto product = times(part(0), inverse)) return *product;
        break;
      }
      case Op::fma:
        if (auto product = times(part(0), part(1))) {
          product->add(part(2));
          return *product;
        }
        break;
      default:
        break;
    }
  }
  sum.add_term({id}, 1.0);
  return sum;
}

}  // namespace

Sum sum_of(Exprs& exprs, ExprId e) {
  return sum_of(exprs, e, 0);
}

ExprId expr_of(Exprs& exprs, const Sum& sum) {
  ExprId total;
  for (const auto& [factors, coefficient] : sum.terms) {
    ExprId term;
    for (const ExprId f : factors) term = term.valid() ? exprs.make(Op::mul, term, f) : f;
    const bool negative = coefficient == -1.0 && term.valid() && total.valid();
    if (!term.valid())
      term = exprs.real(coefficient);
    else if (coefficient != 1.0 && !negative)
      term = exprs.make(Op::mul, term, exprs.real(coefficient));
    total = total.valid() ? exprs.make(negative ? Op::sub : Op::add, total, term) : term;
  }
  return total.valid() ? total : exprs.real(0.0);
}

std::optional<double> ratio(const Sum& a, const Sum& b) {
  if (a.terms.size() != b.terms.size() || a.terms.empty()) return std::nullopt;
  std::optional<double> c;
  auto y = b.terms.begin();
  for (const auto& [factors, coefficient] : a.terms) {
    if (factors != y->first) return std::nullopt;
    const double r = coefficient / y->second;
    if (c && std::abs(r - *c) > kClose * std::abs(*c)) return std::nullopt;
    if (!c || std::abs(r - 1.0) < std::abs(*c - 1.0)) c = r;
    ++y;
  }
  return std::abs(*c - 1.0) <= kClose ? 1.0 : c;
}

Sum unmasked(Exprs& exprs, const Sum& sum, std::vector<ExprId>& masks) {
  Sum result;
  for (const auto& [factors, coefficient] : sum.terms) {
    if (factors.size() == 1 && coefficient > 0) {
      const Expr e = exprs[factors[0]];
      const bool first = e.op == Op::select && is_constant(exprs, e.args[1], -kInfinity);
      const bool second = e.op == Op::select && is_constant(exprs, e.args[2], -kInfinity);
      if (first != second) {
        masks.push_back(first ? exprs.make(Op::logic_not, e.args[0]) : e.args[0]);
        result.add(unmasked(exprs, sum_of(exprs, e.args[first ? 2 : 1]), masks), coefficient);
        continue;
      }
    }
    result.add_term(factors, coefficient);
  }
  return result;
}

namespace {

void multiply(Product& into, const Product& by) {
  into.coefficient *= by.coefficient;
  into.factors.insert(into.factors.end(), by.factors.begin(), by.factors.end());
  into.divisors.insert(into.divisors.end(), by.divisors.begin(), by.divisors.end());
  into.masks.insert(into.masks.end(), by.masks.begin(), by.masks.end());
  into.has_exp |= by.has_exp;
  into.exponent.add(by.exponent);
}

Product product_of(Exprs& exprs, ExprId id, int depth) {
  const Expr e = exprs[id];
  Product p;
  if (const auto c = constant_of(exprs, id); c && std::isfinite(*c)) {
    p.coefficient = *c;
    return p;
  }
  const auto part = [&](size_t i) { return product_of(exprs, e.args[i], depth + 1); };
  if (is_real(e.type) && depth < kDeep) {
    switch (e.op) {
      case Op::neg:
        p = part(0);
        p.coefficient = -p.coefficient;
        return p;
      case Op::mul:
        p = part(0);
        multiply(p, part(1));
        return p;
      case Op::div:
      case Op::recip: {
        Product low = e.op == Op::div ? part(1) : part(0);
        if (e.op == Op::div) p = part(0);
        if (!low.masks.empty() || !std::isfinite(1.0 / low.coefficient)) {
          p.divisors.push_back(e.args[e.op == Op::div ? 1 : 0]);
          return p;
        }
        p.coefficient /= low.coefficient;
        p.factors.insert(p.factors.end(), low.divisors.begin(), low.divisors.end());
        p.divisors.insert(p.divisors.end(), low.factors.begin(), low.factors.end());
        p.has_exp |= low.has_exp;
        p.exponent.add(low.exponent, -1.0);
        return p;
      }
      case Op::exp:
      case Op::exp2:
        p.has_exp = true;
        p.exponent.add(unmasked(exprs, sum_of(exprs, e.args[0]), p.masks),
                       e.op == Op::exp ? 1.0 : std::log(2.0));
        return p;
      case Op::select:
        for (const size_t kept : {1, 2}) {
          if (!is_constant(exprs, e.args[3 - kept], 0.0)) continue;
          p = part(kept);
          if (!p.has_exp) break;
          p.masks.push_back(kept == 1 ? e.args[0] : exprs.make(Op::logic_not, e.args[0]));
          return p;
        }
        p = {};
        break;
      default:
        break;
    }
  }
  p.factors.push_back(id);
  return p;
}

}  // namespace

Product product_of(Exprs& exprs, ExprId e) {
  Product p = product_of(exprs, e, 0);
  std::sort(p.factors.begin(), p.factors.end());
  std::sort(p.divisors.begin(), p.divisors.end());
  return p;
}

std::optional<FormId> form_of(Arena& arena, ExprId id) {
  const Expr e = arena.exprs[id];
  if (e.op == Op::form) return e.form();
  if (e.op == Op::constant && is_integer(e.type)) return arena.forms.constant(e.value().integer);
  if (e.op == Op::cast && e.type == Type::i64 && arena.exprs.type(e.args[0]) == Type::i32)
    return form_of(arena, e.args[0]);
  return std::nullopt;
}

namespace {

void split(Arena& arena, ExprId condition, bool holds, Guard& guard, int depth) {
  Exprs& exprs = arena.exprs;
  const Expr e = exprs[condition];
  const auto rest = [&] {
    guard.condition = exprs.logical_and(
        guard.condition, holds ? condition : exprs.make(Op::logic_not, condition));
  };
  if (depth > kDeep) return rest();
  if (e.op == (holds ? Op::logic_and : Op::logic_or)) {
    split(arena, e.args[0], holds, guard, depth + 1);
    return split(arena, e.args[1], holds, guard, depth + 1);
  }
  if (e.op == Op::logic_not) return split(arena, e.args[0], !holds, guard, depth + 1);
  if (op_info(e.op).cls != OpClass::compare) return rest();
  const auto a = form_of(arena, e.args[0]), b = form_of(arena, e.args[1]);
  Forms& forms = arena.forms;
  if (!a || !b) {
    const Expr m = exprs[e.args[0]];
    const auto of = m.op == Op::mod ? form_of(arena, m.args[0]) : std::nullopt;
    const auto by = m.op == Op::mod ? form_of(arena, m.args[1]) : std::nullopt;
    const auto modulus = by ? forms.as_constant(*by) : std::nullopt;
    if (holds && e.op == Op::eq && of && modulus && *modulus > 0 && b &&
        forms.as_constant(*b).has_value()) {
      guard.constraints.push_back({.form = forms.sub(*of, *b), .modulus = *modulus});
      // x % m == b also says that b is a remainder.
      if (const int64_t r = *forms.as_constant(*b); r < 0 || r >= *modulus)
        guard.constraints.push_back({.form = forms.constant(-1)});
      return;
    }
    return rest();
  }
  const auto at_least = [&](FormId x, FormId y, int64_t more) {
    guard.constraints.push_back({.form = forms.add(forms.sub(x, y), -more)});
  };
  switch (e.op) {
    case Op::lt:
      return holds ? at_least(*b, *a, 1) : at_least(*a, *b, 0);
    case Op::le:
      return holds ? at_least(*b, *a, 0) : at_least(*a, *b, 1);
    case Op::gt:
      return holds ? at_least(*a, *b, 1) : at_least(*b, *a, 0);
    case Op::ge:
      return holds ? at_least(*a, *b, 0) : at_least(*b, *a, 1);
    case Op::eq:
    case Op::ne:
      if ((e.op == Op::eq) != holds) return rest();
      at_least(*a, *b, 0);
      return at_least(*b, *a, 0);
    default:
      return rest();
  }
}

}  // namespace

Guard guard_of(Arena& arena, ExprId condition) {
  Guard guard;
  split(arena, condition, true, guard, 0);
  return arena.guards[arena.guard(std::move(guard))];
}

Guard both(Arena& arena, const Guard& a, const Guard& b) {
  Guard all = a;
  all.constraints.insert(all.constraints.end(), b.constraints.begin(), b.constraints.end());
  all.condition = arena.exprs.logical_and(a.condition, b.condition);
  return arena.guards[arena.guard(std::move(all))];
}

}  // namespace tang
