// Operators on meanings: which kind the result has, and whether it is still an index form.
#include <fmt/format.h>

#include <numeric>

#include "support/integer.h"
#include "support/panic.h"
#include "text/resolve.h"
#include "text/syntax.h"

namespace tang {

using syntax::BinaryOp;

namespace {

int rank_of(Type kind) {
  switch (kind) {
    case Type::boolean:
      return 0;
    case Type::i32:
      return 1;
    case Type::i64:
      return 2;
    default:
      return 3;
  }
}

// The kind in which two operands of arithmetic meet: a bool counts as an i32.
Type arithmetic_kind(Type a, Type b) {
  return wider_kind(Type::i32, wider_kind(a, b));
}

Op op_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::mul:
      return Op::mul;
    case BinaryOp::div:
      return Op::div;
    case BinaryOp::mod:
      return Op::mod;
    case BinaryOp::add:
      return Op::add;
    case BinaryOp::sub:
      return Op::sub;
    case BinaryOp::shl:
      return Op::shift_left;
    case BinaryOp::shr:
      return Op::shift_right;
    case BinaryOp::bit_and:
      return Op::bit_and;
    case BinaryOp::bit_xor:
      return Op::bit_xor;
    case BinaryOp::bit_or:
      return Op::bit_or;
    case BinaryOp::eq:
      return Op::eq;
    case BinaryOp::ne:
      return Op::ne;
    case BinaryOp::lt:
      return Op::lt;
    case BinaryOp::le:
      return Op::le;
    case BinaryOp::gt:
      return Op::gt;
    case BinaryOp::ge:
      return Op::ge;
    case BinaryOp::logical_and:
      return Op::logic_and;
    case BinaryOp::logical_or:
      return Op::logic_or;
  }
  TANG_PANIC("binary operator {}", static_cast<int>(op));
}

void append(Truth& to, Truth&& from, Exprs& exprs) {
  to.facts.insert(to.facts.end(), from.facts.begin(), from.facts.end());
  to.rest = exprs.logical_and(to.rest, from.rest);
}

}  // namespace

Type wider_kind(Type a, Type b) {
  return rank_of(a) < rank_of(b) ? b : a;
}

Constraint multiple_of(Forms& forms, FormId f, int64_t m) {
  Form form = forms[f];
  int64_t common = m;
  form.constant = floor_mod(form.constant, m);
  common = std::gcd(common, form.constant);
  FormId reduced = forms.constant(0);
  for (Term& term : form.terms) {
    term.coefficient = floor_mod(term.coefficient, m);
    common = std::gcd(common, term.coefficient);
  }
  for (const Term& term : form.terms) {
    FormId product = forms.constant(term.coefficient / common);
    for (const Atom& atom : term.atoms)
      product = forms.mul(product, atom.is_quotient() ? forms.quotient(atom.numerator, atom.divisor)
                                                      : forms.var(atom.var));
    reduced = forms.add(reduced, product);
  }
  reduced = forms.add(reduced, form.constant / common);
  // A multiple of 1: a fact that always holds.
  if (m / common == 1) return {.form = forms.constant(0)};
  return {.form = reduced, .modulus = m / common};
}

std::string_view kind_text(Type kind) {
  switch (kind) {
    case Type::boolean:
      return "a bool";
    case Type::i32:
      return "an i32";
    case Type::i64:
      return "an i64";
    default:
      return "a real";
  }
}

ExprId zero_of(Exprs& exprs, Type kind) {
  return is_real(kind) ? exprs.real(0.0) : exprs.integer(0, kind);
}

Meaning Resolver::of_form(FormId form, Type type, Span span) {
  return {.faulty = false, .type = type, .form = form, .span = span};
}

// Integer constants and forms become forms again, so that a computed constant may be a coordinate,
// and what folds to a form means what the form does.
Meaning Resolver::of_data(ExprId expr, Span span) {
  const Expr e = arena.exprs[expr];
  const Type type = e.type;
  if (is_integer(type) && e.op == Op::constant)
    return of_form(arena.forms.constant(e.value().integer), type, span);
  if (e.op == Op::form) return of_form(e.form(), type, span);
  return {.faulty = false, .type = type, .expr = expr, .span = span};
}

// A form that is no integer combination is computed from its parts: i*j, or i/S.
ExprId Resolver::form_as_data(FormId form, Type kind) {
  Forms& forms = arena.forms;
  Exprs& exprs = arena.exprs;
  if (forms.is_coordinate(form)) return exprs.form(forms, form, kind);
  FormId linear = forms.constant(forms[form].constant);
  ExprId sum;
  const Form copy = forms[form];
  for (const Term& term : copy.terms) {
    FormId whole = forms.constant(term.coefficient);
    ExprId product = exprs.integer(term.coefficient, kind);
    for (const Atom& atom : term.atoms) {
      const FormId factor =
          atom.is_quotient() ? forms.quotient(atom.numerator, atom.divisor) : forms.var(atom.var);
      whole = forms.mul(whole, factor);
      const ExprId data = atom.is_quotient() && !forms.is_coordinate(factor)
                              ? exprs.make(Op::div, form_as_data(atom.numerator, kind),
                                           exprs.integer(atom.divisor, kind))
                              : exprs.form(forms, factor, kind);
      product = exprs.make(Op::mul, product, data);
    }
    if (forms.is_coordinate(whole))
      linear = forms.add(linear, whole);
    else
      sum = sum.valid() ? exprs.make(Op::add, sum, product) : product;
  }
  if (forms.is_constant(linear, 0)) return sum;
  return exprs.make(Op::add, exprs.form(forms, linear, kind), sum);
}

ExprId Resolver::as_data(const Meaning& m, Type kind) {
  Exprs& exprs = arena.exprs;
  if (!m.is_form()) return exprs.cast(kind, m.expr);
  if (is_real(kind)) return exprs.cast(kind, form_as_data(m.form, Type::i64));
  if (kind == Type::i32) {
    const auto constant = arena.forms.as_constant(m.form);
    if (!constant || wrap_to(Type::i32, *constant) != *constant)
      nest().widths.push_back({.form = m.form, .known = nest().now_known, .span = m.span});
  }
  return form_as_data(m.form, kind);
}

Meaning Resolver::apply(BinaryOp op, const Meaning& a, const Meaning& b, Span span) {
  if (a.faulty || b.faulty) return {.span = span};
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
      return arithmetic(op, a, b, span);
    case BinaryOp::div:
    case BinaryOp::mod:
      return divide(op, a, b, span);
    case BinaryOp::shl:
    case BinaryOp::shr:
    case BinaryOp::bit_and:
    case BinaryOp::bit_xor:
    case BinaryOp::bit_or:
      return bitwise(op, a, b, span);
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return compare(op, a, b, span);
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;  // resolve_logic: the right operand is evaluated under the left one
  }
  TANG_PANIC("apply of {}", syntax::spelling(op));
}

Meaning Resolver::arithmetic(BinaryOp op, const Meaning& a, const Meaning& b, Span span) {
  const Type kind = arithmetic_kind(a.type, b.type);
  if (!a.is_form() || !b.is_form())
    return of_data(arena.exprs.make(op_of(op), as_data(a, kind), as_data(b, kind)), span);
  Forms& forms = arena.forms;
  const FormId form = op == BinaryOp::add   ? forms.add(a.form, b.form)
                      : op == BinaryOp::sub ? forms.sub(a.form, b.form)
                                            : forms.mul(a.form, b.form);
  return of_form(form, kind, span);
}

// Quotients floor, and stay forms where the divisor is a constant.
namespace {

constexpr size_t kMostParts = 4096;

// Counts the terms of a form and of its quotients, and stops at the limit.
bool has_few_parts(const Forms& forms, FormId form) {
  std::vector<FormId> stack{form};
  for (size_t n = 0; !stack.empty();) {
    const FormId next = stack.back();
    stack.pop_back();
    n += forms[next].terms.size();
    if (n > kMostParts) return false;
    for (const Term& term : forms[next].terms)
      for (const Atom& atom : term.atoms)
        if (atom.is_quotient()) stack.push_back(atom.numerator);
  }
  return true;
}

}  // namespace

Meaning Resolver::divide(BinaryOp op, const Meaning& a, const Meaning& b, Span span) {
  const Type kind = arithmetic_kind(a.type, b.type);
  if (op == BinaryOp::mod && is_real(kind)) {
    const Meaning& real = is_real(a.type) ? a : b;
    return fail("type", real.span,
                fmt::format("% needs integers, {} is a real", source_text(real.span)));
  }
  if (is_real(kind))
    return of_data(arena.exprs.make(Op::div, as_data(a, kind), as_data(b, kind)), span);
  Forms& forms = arena.forms;
  const auto divisor = b.is_form() ? forms.as_constant(b.form) : std::nullopt;
  if (divisor == 0)
    return fail("division-by-zero", b.span,
                fmt::format("{} divides by the constant 0", source_text(span)));
  if (!a.is_form() || !divisor || *divisor == INT64_MIN)
    return of_data(arena.exprs.make(op_of(op), as_data(a, kind), as_data(b, kind)), span);
  // a / -c is -a / c, both rounded down.
  const int64_t c = *divisor < 0 ? -*divisor : *divisor;
  const FormId dividend = *divisor < 0 ? forms.scale(a.form, -1) : a.form;
  // A remainder holds its dividend twice, so a chain of them would double a form at every step.
  if (!has_few_parts(forms, dividend))
    return fail(
        "limit", span,
        fmt::format("written out as quotients, an index form has at most {} parts", kMostParts));
  if (op == BinaryOp::div) return of_form(forms.quotient(dividend, c), kind, span);
  Meaning m = of_form(forms.remainder(dividend, c), kind, span);
  if (*divisor < 0) {
    m.form = forms.scale(m.form, -1);
  } else {
    m.dividend = dividend;
    m.divisor = c;
  }
  return m;
}

Meaning Resolver::bitwise(BinaryOp op, const Meaning& a, const Meaning& b, Span span) {
  const bool shift = op == BinaryOp::shl || op == BinaryOp::shr;
  for (const Meaning* m : {&a, &b})
    if (is_real(m->type) || (m->type == Type::boolean && (shift || a.type != b.type)))
      return fail("type", m->span,
                  fmt::format("{} needs integers{}, {} is a {}", syntax::spelling(op),
                              shift ? "" : " or two bools", source_text(m->span),
                              is_real(m->type) ? "real" : "bool"));
  const Type kind = wider_kind(a.type, b.type);
  return of_data(arena.exprs.make(op_of(op), as_data(a, kind), as_data(b, kind)), span);
}

namespace {

// a op b as affine facts, for the six comparisons.
Facts comparison_facts(Forms& forms, BinaryOp op, FormId a, FormId b) {
  const auto at_least = [&](FormId x, FormId y, int64_t gap) {
    return Constraint{.form = forms.add(forms.sub(x, y), -gap)};
  };
  switch (op) {
    case BinaryOp::eq:
      return {at_least(a, b, 0), at_least(b, a, 0)};
    case BinaryOp::lt:
      return {at_least(b, a, 1)};
    case BinaryOp::le:
      return {at_least(b, a, 0)};
    case BinaryOp::gt:
      return {at_least(a, b, 1)};
    case BinaryOp::ge:
      return {at_least(a, b, 0)};
    default:
      return {};  // != is no conjunction
  }
}

BinaryOp opposite(BinaryOp op) {
  switch (op) {
    case BinaryOp::eq:
      return BinaryOp::ne;
    case BinaryOp::ne:
      return BinaryOp::eq;
    case BinaryOp::lt:
      return BinaryOp::ge;
    case BinaryOp::le:
      return BinaryOp::gt;
    case BinaryOp::gt:
      return BinaryOp::le;
    case BinaryOp::ge:
      return BinaryOp::lt;
    default:
      TANG_PANIC("the opposite of {}", syntax::spelling(op));
  }
}

}  // namespace

Meaning Resolver::compare(BinaryOp op, const Meaning& a, const Meaning& b, Span span) {
  if ((a.type == Type::boolean) != (b.type == Type::boolean)) {
    const Meaning& other = a.type == Type::boolean ? b : a;
    return fail("type", other.span,
                fmt::format("a bool is compared with a bool only, and {} is a {}",
                            source_text(other.span), is_real(other.type) ? "real" : "number"));
  }
  const Op made = op_of(op);
  if (!a.is_form() || !b.is_form()) {
    // A form is exact here too, whatever the width of the data that it meets.
    const Meaning& form = a.is_form() ? a : b;
    const bool exact = form.is_form() && !arena.forms.as_constant(form.form);
    const Type kind = wider_kind(wider_kind(a.type, b.type), exact ? Type::i64 : Type::i32);
    return of_data(arena.exprs.make(made, as_data(a, kind), as_data(b, kind)), span);
  }
  // Index forms are exact in conditions, hence 64 bits.
  Forms& forms = arena.forms;
  Meaning m = of_data(
      arena.exprs.make(made, form_as_data(a.form, Type::i64), form_as_data(b.form, Type::i64)),
      span);
  if (arena.exprs.is_constant(m.expr)) return m;
  const bool only_sizes = place == Place::assumption;
  if (!only_sizes && !forms.is_coordinate(forms.sub(a.form, b.form))) return m;
  m.affine = true;
  m.yes.facts = comparison_facts(forms, op, a.form, b.form);
  m.no.facts = comparison_facts(forms, opposite(op), a.form, b.form);
  if (op == BinaryOp::ne) m.yes.rest = m.expr;
  if (op == BinaryOp::eq) m.no.rest = arena.exprs.make(Op::logic_not, m.expr);
  // f % k == r says that f - r is a multiple of k.
  const Meaning& remainder = a.dividend.valid() ? a : b;
  const auto rest = forms.as_constant(a.dividend.valid() ? b.form : a.form);
  if (remainder.dividend.valid() && rest && *rest >= 0 && *rest < remainder.divisor) {
    const Constraint multiple =
        multiple_of(forms, forms.add(remainder.dividend, -*rest), remainder.divisor);
    if (op == BinaryOp::eq) m.yes.facts = {multiple};
    if (op == BinaryOp::ne) m.no.facts = {multiple};
  }
  return m;
}

Truth Resolver::truth_of(const Meaning& condition, bool holds) {
  Exprs& exprs = arena.exprs;
  if (condition.affine) return holds ? condition.yes : condition.no;
  const ExprId expr = holds ? condition.expr : exprs.make(Op::logic_not, condition.expr);
  if (!exprs.is_constant(expr)) return {.facts = {}, .rest = expr};
  if (exprs[expr].value().integer != 0) return {};
  return {.facts = {{.form = arena.forms.constant(-1)}}, .rest = {}};
}

// && of all parts, or ||, whose affine side is what all failing says.
Meaning Resolver::join_truths(bool all, std::vector<Meaning> parts, Span span) {
  Meaning m{.faulty = false, .type = Type::boolean, .affine = true, .span = span};
  Truth conjunction;
  for (Meaning& part : parts) {
    m.expr = m.expr.valid()
                 ? arena.exprs.make(all ? Op::logic_and : Op::logic_or, m.expr, part.expr)
                 : part.expr;
    append(conjunction, truth_of(part, all), arena.exprs);
  }
  for (Meaning& part : parts) {
    if (part.expr != m.expr) continue;  // the others say nothing more
    part.span = span;
    return std::move(part);
  }
  Truth other{.facts = {}, .rest = all ? arena.exprs.make(Op::logic_not, m.expr) : m.expr};
  m.yes = all ? std::move(conjunction) : std::move(other);
  m.no = all ? std::move(other) : std::move(conjunction);
  if (arena.exprs.is_constant(m.expr)) m.affine = false;
  return m;
}

Meaning Resolver::negate_truth(const Meaning& m, Span span) {
  Meaning out = m;
  out.expr = arena.exprs.make(Op::logic_not, m.expr);
  out.span = span;
  std::swap(out.yes, out.no);
  return out;
}

Meaning Resolver::apply_function(Op op, std::vector<Meaning> args, Span span) {
  const OpInfo& row = op_info(op);
  Type kind = row.cls == OpClass::real ? Type::f64 : Type::i32;
  for (const Meaning& m : args) {
    if (m.faulty) return {.span = span};
    kind = wider_kind(kind, m.type);
  }
  std::vector<ExprId> data;
  for (const Meaning& m : args) data.push_back(as_data(m, kind));
  ExprId result = row.arity == 1 ? arena.exprs.make(op, data[0]) : data[0];
  for (size_t i = 1; i < data.size(); ++i) result = arena.exprs.make(op, result, data[i]);
  return of_data(result, span);
}

// The cast itself, then back to the kind, so that rounding is part of the meaning.
Meaning Resolver::resolve_cast(Type type, const Meaning& value, Span span) {
  if (value.faulty) return {.span = span};
  Exprs& exprs = arena.exprs;
  if (value.is_form() && type == Type::i64) return of_form(value.form, Type::i64, span);
  if (type == Type::boolean) {
    if (value.type == Type::boolean) return value;
    const Meaning zero = of_form(arena.forms.constant(0), Type::i32, span);
    return compare(BinaryOp::ne, value, zero, span);
  }
  const ExprId data = value.is_form() ? form_as_data(value.form, Type::i64) : value.expr;
  return of_data(exprs.cast(kind_of(type), exprs.cast(type, data)), span);
}

bool Resolver::is_condition(const Meaning& m, const char* what) {
  if (m.faulty) return false;
  if (m.type == Type::boolean) return true;
  fail("type", m.span,
       fmt::format("{} is a bool, and {} is a{}", what, source_text(m.span),
                   is_real(m.type) ? " real" : "n integer"));
  return false;
}

}  // namespace tang
