#include "text/data_forms.h"

#include <algorithm>
#include <cstdlib>

#include "support/integer.h"

namespace tang {

namespace {

Constraint at_least(Forms& forms, FormId a, FormId b) {
  return {.form = forms.sub(a, b)};
}

}  // namespace

Bounds hull(const std::optional<Bounds>& a, const Bounds& b) {
  if (!a) return b;
  Bounds out;
  if (a->low && b.low) out.low = std::min(*a->low, *b.low);
  if (a->high && b.high) out.high = std::max(*a->high, *b.high);
  return out;
}

DataForms::DataForms(Resolver& resolver_in, size_t nest_in, Facts base_in)
    : resolver(resolver_in), nest(nest_in), base(std::move(base_in)) {
  for (const Constraint& fact : base) note_bound(fact);
}

// v + c >= 0 and c - v >= 0 bound a variable.
void DataForms::note_bound(const Constraint& fact) {
  const Form& f = resolver.arena.forms[fact.form];
  if (fact.modulus != 0 || f.terms.size() != 1 || f.terms[0].atoms.size() != 1 ||
      f.terms[0].atoms[0].is_quotient() || f.constant == INT64_MIN)
    return;
  Bounds& b = intervals[f.terms[0].atoms[0].var];
  if (f.terms[0].coefficient == 1) b.low = std::max(b.low.value_or(INT64_MIN), -f.constant);
  if (f.terms[0].coefficient == -1) b.high = std::min(b.high.value_or(INT64_MAX), f.constant);
}

// Bounds by intervals alone.
Bounds DataForms::interval_of(FormId form) {
  const Form f = resolver.arena.forms[form];
  Bounds sum{.low = f.constant, .high = f.constant};
  const auto add = [](std::optional<int64_t>& to, std::optional<int64_t> value, int64_t factor) {
    const auto product = value ? checked_mul(*value, factor) : std::nullopt;
    to = to && product ? checked_add(*to, *product) : std::nullopt;
  };
  for (const Term& term : f.terms) {
    if (term.atoms.size() != 1) return {};
    const Atom& atom = term.atoms[0];
    Bounds b;
    if (atom.is_quotient()) {
      b = interval_of(atom.numerator);
      if (b.low) b.low = floor_div(*b.low, atom.divisor);
      if (b.high) b.high = floor_div(*b.high, atom.divisor);
    } else if (const auto known = intervals.find(atom.var); known != intervals.end()) {
      b = known->second;
    }
    const bool up = term.coefficient > 0;
    add(sum.low, up ? b.low : b.high, term.coefficient);
    add(sum.high, up ? b.high : b.low, term.coefficient);
  }
  return sum;
}

// Elimination may find more than intervals do, but takes long among many facts.
Bounds DataForms::bounds_of(FormId form, const Facts& known) {
  constexpr size_t kMostFacts = 200;
  const Bounds quick = interval_of(form);
  const bool is_single =
      resolver.arena.forms.as_constant(form) || resolver.arena.forms.as_var(form);
  if ((quick.low && quick.high && is_single && known.empty()) ||
      base.size() + facts.size() + known.size() > kMostFacts)
    return quick;
  Facts all = base;
  all.insert(all.end(), known.begin(), known.end());
  all.insert(all.end(), facts.begin(), facts.end());
  return bounds(resolver.arena.forms, all, form);
}

FormId DataForms::between(Type kind, std::optional<int64_t> low, std::optional<int64_t> high) {
  Forms& f = resolver.arena.forms;
  const FormId v = f.var({VarKind::local, n_unknown++});
  if (kind == Type::i32) {
    low = std::max(low.value_or(INT32_MIN), int64_t{INT32_MIN});
    high = std::min(high.value_or(INT32_MAX), int64_t{INT32_MAX});
  }
  if (low) facts.push_back({.form = f.sub(v, f.constant(*low))});
  if (low) note_bound(facts.back());
  if (high) facts.push_back({.form = f.sub(f.constant(*high), v)});
  if (high) note_bound(facts.back());
  return v;
}

Facts DataForms::facts_about(const Facts& wanted, FormId form) const {
  const Forms& f = resolver.arena.forms;
  std::unordered_map<Var, std::vector<size_t>> by_var;
  for (size_t i = 0; i < facts.size(); ++i)
    f.for_each_var(facts[i].form, [&](Var v) {
      if (v.kind == VarKind::local) by_var[v].push_back(i);
    });
  std::vector<Var> stack;
  const auto want = [&](Var v) {
    if (v.kind == VarKind::local && by_var.contains(v)) stack.push_back(v);
  };
  f.for_each_var(form, want);
  for (const Constraint& c : wanted) f.for_each_var(c.form, want);
  std::vector<bool> taken(facts.size());
  while (!stack.empty()) {
    const auto found = by_var.find(stack.back());
    stack.pop_back();
    if (found == by_var.end()) continue;
    const std::vector<size_t> about = std::move(found->second);
    by_var.erase(found);
    for (const size_t i : about) {
      if (!taken[i]) f.for_each_var(facts[i].form, want);
      taken[i] = true;
    }
  }
  Facts out;
  for (size_t i = 0; i < facts.size(); ++i)
    if (taken[i]) out.push_back(facts[i]);
  return out;
}

FormId DataForms::unknown(Type kind) {
  return between(kind, std::nullopt, std::nullopt);
}

bool DataForms::fits(FormId form, Type kind) {
  const auto within = [&](const Bounds& b) {
    return b.low && b.high && *b.low >= integer_min(kind) && *b.high <= integer_max(kind);
  };
  return within(interval_of(form)) || within(bounds_of(form));
}

FormId DataForms::of_read(const Slot& slot, Type kind) {
  Forms& f = resolver.arena.forms;
  const Type storage = resolver.arena.tensors[slot.tensor].type;
  const FormId v = is_integer(storage) && storage != Type::i64
                       ? between(kind, integer_min(storage), integer_max(storage))
                       : unknown(kind);
  const auto found = resolver.tensors.find(slot.tensor);
  if (found == resolver.tensors.end()) return v;
  const Range& range = found->second.range;
  // Out of range the read gives another value, which must be within the bounds as well.
  FormId otherwise;
  if (slot.guarded && !slot.early) otherwise = of(slot.otherwise);
  if (range.lo.valid() && (!otherwise.valid() || proves(f, base, at_least(f, otherwise, range.lo))))
    facts.push_back(at_least(f, v, range.lo));
  if (range.hi.valid() &&
      (!otherwise.valid() || proves(f, base, at_least(f, range.hi, f.add(otherwise, 1)))))
    facts.push_back(at_least(f, range.hi, f.add(v, 1)));
  return v;
}

// The exact value less a multiple of 2^32, so that conditions may still show that it did not wrap.
FormId DataForms::wrapped(Type kind, FormId exact) {
  constexpr size_t kMostWrapped = 32;
  const FormId v = unknown(kind);
  if (kind != Type::i32 || n_wrapped == kMostWrapped) return v;
  ++n_wrapped;
  Forms& f = resolver.arena.forms;
  const FormId turns = f.var({VarKind::local, n_unknown++});
  const FormId gap = f.sub(f.sub(exact, v), f.scale(turns, int64_t{1} << 32));
  facts.push_back({.form = gap});
  facts.push_back({.form = f.scale(gap, -1)});
  return v;
}

// + - * wrap, so the exact result counts only where it fits.
FormId DataForms::of_arithmetic(const Expr& e, FormId a, FormId b) {
  Forms& f = resolver.arena.forms;
  const FormId exact = e.op == Op::add ? f.add(a, b) : e.op == Op::sub ? f.sub(a, b) : f.mul(a, b);
  if (!f.is_coordinate(exact)) return unknown(e.type);
  if (!fits(exact, e.type)) return wrapped(e.type, exact);
  // A long sum is known by its bounds alone, so that sums of thousands take no quadratic time.
  constexpr size_t kMostTerms = 16;
  if (f[exact].terms.size() <= kMostTerms) return exact;
  const Bounds known = interval_of(exact);
  return between(e.type, known.low, known.high);
}

FormId DataForms::of_extreme(const Expr& e, FormId first, FormId second) {
  Forms& f = resolver.arena.forms;
  const Bounds a = bounds_of(first), b = bounds_of(second);
  const bool is_max = e.op == Op::max;
  // One bound needs both sides, the other is known from either.
  const auto both = [&](std::optional<int64_t> x, std::optional<int64_t> y) {
    if (!x || !y) return std::optional<int64_t>();
    return std::optional(is_max ? std::max(*x, *y) : std::min(*x, *y));
  };
  const auto either = [&](std::optional<int64_t> x, std::optional<int64_t> y) {
    return x && y ? both(x, y) : x ? x : y;
  };
  const FormId v = is_max ? between(e.type, either(a.low, b.low), both(a.high, b.high))
                          : between(e.type, both(a.low, b.low), either(a.high, b.high));
  for (const FormId side : {first, second})
    facts.push_back(is_max ? at_least(f, v, side) : at_least(f, side, v));
  // The bound that needs both sides may be a size, not a number.
  const Constraint order = at_least(f, first, second), turned = at_least(f, second, first);
  choices[*f.as_var(v)] = {{{.facts = {is_max ? order : turned}, .splits = {}}, first},
                           {{.facts = {is_max ? turned : order}, .splits = {}}, second}};
  return v;
}

FormId DataForms::of_select(const Expr& e) {
  Alternatives branches;
  std::optional<Bounds> whole;
  for (const bool taken : {true, false}) {
    const Conjunction& holds = conjunction_of(e.args[0], taken);
    if (holds.never) continue;
    const FormId value = forms.at(e.args[taken ? 1 : 2]);
    whole = hull(whole, bounds_of(value, holds.facts));
    branches.push_back({holds, value});
  }
  if (!whole) return unknown(e.type);
  const FormId v = between(e.type, whole->low, whole->high);
  choices[*resolver.arena.forms.as_var(v)] = std::move(branches);
  return v;
}

FormId DataForms::of_absolute(Type kind, FormId a) {
  Forms& f = resolver.arena.forms;
  const FormId negated = f.scale(a, -1);
  if (!fits(negated, kind)) return unknown(kind);
  const Bounds b = bounds_of(a);
  const FormId v = between(kind, 0, std::max(std::abs(*b.low), std::abs(*b.high)));
  choices[*f.as_var(v)] = {{{.facts = {{.form = a}}, .splits = {}}, a},
                           {{.facts = {{.form = negated}}, .splits = {}}, negated}};
  return v;
}

// Where the divisor is not a known number: at least 0 and less than it, if it is positive.
FormId DataForms::of_remainder(Type kind, FormId divisor) {
  Forms& f = resolver.arena.forms;
  if (!proves(f, base, {.form = f.add(divisor, -1)})) return unknown(kind);
  const FormId v = between(kind, 0, std::nullopt);
  facts.push_back({.form = f.add(f.sub(divisor, v), -1)});
  return v;
}

FormId DataForms::of_node(const Expr& e) {
  Forms& f = resolver.arena.forms;
  const auto arg = [&](size_t i) { return forms.at(e.args[i]); };
  const auto constant = [&](size_t i) { return f.as_constant(arg(i)); };
  switch (e.op) {
    case Op::constant:
      return f.constant(e.value().integer);
    case Op::form:
      return e.form();
    case Op::read:
      return of_read(resolver.nests[nest].slots[e.index()], e.type);
    case Op::add:
    case Op::sub:
    case Op::mul:
      return of_arithmetic(e, arg(0), arg(1));
    case Op::div:
      if (const auto c = constant(1); c && *c > 0) return f.quotient(arg(0), *c);
      break;
    case Op::mod:
      if (const auto c = constant(1); c && *c > 0) return f.remainder(arg(0), *c);
      if (!constant(1)) return of_remainder(e.type, arg(1));
      break;
    case Op::neg:
      return of_arithmetic({.op = Op::sub, .type = e.type}, f.constant(0), arg(0));
    case Op::abs:
      return of_absolute(e.type, arg(0));
    case Op::shift_right:
      if (const auto c = constant(1); c && *c >= 0 && *c < 31)
        return f.quotient(arg(0), int64_t{1} << *c);
      break;
    case Op::bit_and:
      for (size_t i = 0; i < 2; ++i)
        if (const auto c = constant(i); c && *c >= 0) return between(e.type, 0, *c);
      break;
    case Op::min:
    case Op::max:
      return of_extreme(e, arg(0), arg(1));
    case Op::select:
      return of_select(e);
    case Op::cast: {
      const Type from = resolver.arena.exprs.type(e.args[0]);
      if (from == Type::boolean) return between(e.type, 0, 1);
      if (is_integer(from) && fits(arg(0), e.type)) return arg(0);
      if (is_integer(e.type) && e.type != Type::i64)
        return between(e.type, integer_min(e.type), integer_max(e.type));
      break;
    }
    default:
      break;  // nothing is known but the type
  }
  return unknown(e.type);
}

FormId DataForms::of_canonical(ExprId expr) {
  if (const auto known = forms.find(expr); known != forms.end()) return known->second;
  const Exprs& exprs = resolver.arena.exprs;
  for (const ExprId id : exprs.post_order({expr})) {
    if (forms.contains(id)) continue;
    const Expr e = exprs[id];
    // Nodes of other kinds are never looked at by integer operations, but casts and selects.
    const FormId form = is_integer(e.type) ? of_node(e) : resolver.arena.forms.constant(0);
    forms.emplace(id, form);
  }
  return forms.at(expr);
}

FormId DataForms::of(ExprId expr) {
  return of_canonical(canonical(expr));
}

}  // namespace tang
