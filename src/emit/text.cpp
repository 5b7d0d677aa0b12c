#include "emit/text.h"

#include <algorithm>

#include "support/panic.h"

namespace tang::emit {

namespace {

// What the operand of an infix operator must hold together with, beyond the grammar: mixes whose
// precedence few remember get parentheses, as compilers ask for.
Precedence least_left(Precedence op) {
  switch (op) {
    case Precedence::bit_or:
    case Precedence::bit_xor:
    case Precedence::bit_and:
    case Precedence::shift:
      return Precedence::unary;
    case Precedence::compare:
      return Precedence::shift;
    case Precedence::logic_or:
      return Precedence::bit_or;
    case Precedence::conditional:
    case Precedence::logic_and:
    case Precedence::add:
    case Precedence::multiply:
    case Precedence::unary:
    case Precedence::primary:
      return op;
  }
  TANG_PANIC("precedence {}", static_cast<int>(op));
}

Precedence tighter(Precedence p) {
  return static_cast<Precedence>(static_cast<int>(p) + 1);
}

// Operators whose chains need no parentheses on the left.
bool chains(Precedence p) {
  return p == Precedence::logic_or || p == Precedence::bit_or || p == Precedence::bit_xor ||
         p == Precedence::bit_and;
}

}  // namespace

Text at_least(Text t, Precedence least) {
  if (t.precedence >= least) return t;
  return {.text = "(" + std::move(t.text) + ")", .nesting = t.nesting + 1};
}

Text infix(Text a, std::string_view op, Precedence precedence, Text b) {
  const Precedence left = least_left(precedence);
  if (!(chains(precedence) && a.precedence == precedence)) a = at_least(std::move(a), left);
  b = at_least(std::move(b), std::max(left, tighter(precedence)));
  a.text += ' ';
  a.text += op;
  a.text += ' ';
  a.text += b.text;
  return {.text = std::move(a.text),
          .precedence = precedence,
          .nesting = std::max(a.nesting, b.nesting)};
}

Text call(std::string_view function, std::vector<Text> args) {
  Text out{.text = std::string(function) + "("};
  for (size_t i = 0; i < args.size(); ++i) {
    out.text += (i ? ", " : "") + args[i].text;
    out.nesting = std::max(out.nesting, args[i].nesting);
  }
  out.text += ")";
  ++out.nesting;
  return out;
}

Text apply(const Spelling& s, std::vector<Text> args) {
  switch (s.kind) {
    case Spelling::Kind::none:
      break;
    case Spelling::Kind::infix:
      return infix(std::move(args[0]), s.text, s.precedence, std::move(args[1]));
    case Spelling::Kind::prefix: {
      Text a = at_least(std::move(args[0]), Precedence::unary);
      // Two signs in a row would be another operator.
      if (a.text.starts_with(s.text)) {
        a.precedence = Precedence::conditional;
        a = at_least(std::move(a), Precedence::unary);
      }
      return {.text = std::string(s.text) + a.text,
              .precedence = Precedence::unary,
              .nesting = a.nesting};
    }
    case Spelling::Kind::call:
      return call(s.text, std::move(args));
    case Spelling::Kind::not_zero:
      return infix(std::move(args[0]), "!=", Precedence::compare, {.text = "0"});
    case Spelling::Kind::same:
      return std::move(args[0]);
  }
  TANG_PANIC("an operation that the dialect cannot spell");
}

std::string_view mirrored(std::string_view op) {
  if (op == "<") return ">";
  if (op == "<=") return ">=";
  if (op == ">") return "<";
  if (op == ">=") return "<=";
  return op;
}

bool FormPrinter::rounds_down(FormId numerator) const {
  return proves(forms, facts, {.form = numerator});
}

Text FormPrinter::quotient(FormId numerator, int64_t divisor) const {
  Text n = print(numerator), d{.text = std::to_string(divisor)};
  if (!rounds_down(numerator)) {
    const Spelling floor = dialect.floor_quotient();
    needs.add(floor);
    return apply(floor, {std::move(n), std::move(d)});
  }
  n = at_least(std::move(n), Precedence::unary);
  return {.text = n.text + "/" + d.text, .precedence = Precedence::multiply, .nesting = n.nesting};
}

Text FormPrinter::remainder(FormId numerator, int64_t divisor) const {
  Text n = print(numerator), d{.text = std::to_string(divisor)};
  if (!rounds_down(numerator)) {
    const Spelling floor = dialect.floor_remainder();
    needs.add(floor);
    return apply(floor, {std::move(n), std::move(d)});
  }
  n = at_least(std::move(n), Precedence::unary);
  return {.text = n.text + "%" + d.text, .precedence = Precedence::multiply, .nesting = n.nesting};
}

void FormPrinter::add_factor(Summand& s, FormId vars, Text factor, bool alone) const {
  if (!alone) factor = at_least(std::move(factor), Precedence::unary);
  s.product += (s.product.empty() ? "" : "*") + factor.text;
  s.precedence = s.n_factors++ == 0 ? factor.precedence : Precedence::multiply;
  forms.for_each_var(vars, [&](Var v) { s.kind = std::max(s.kind, v.kind); });
}

void FormPrinter::add_atoms(Summand& s, const std::vector<Atom>& atoms, bool alone) const {
  for (const Atom& atom : atoms) {
    if (atom.is_quotient())
      add_factor(s, atom.numerator, quotient(atom.numerator, atom.divisor), alone);
    else
      add_factor(s, forms.var(atom.var), {.text = name(atom.var)}, alone);
  }
}

// m*(f - k*(f/k)) becomes m*(f % k) where that leaves fewer terms; m may hold other atoms.
void FormPrinter::add_remainders(FormId& rest, std::vector<Summand>& out) const {
  const std::vector<Term> terms = forms[rest].terms;
  for (const Term& term : terms) {
    for (size_t a = 0; a < term.atoms.size(); ++a) {
      const Atom& atom = term.atoms[a];
      if (!atom.is_quotient() || term.coefficient % atom.divisor != 0) continue;
      std::vector<Atom> others = term.atoms;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(a));
      const int64_t coefficient = -(term.coefficient / atom.divisor);
      FormId product = forms.scale(forms.remainder(atom.numerator, atom.divisor), coefficient);
      for (const Atom& other : others)
        product =
            forms.mul(product, other.is_quotient() ? forms.quotient(other.numerator, other.divisor)
                                                   : forms.var(other.var));
      const FormId without = forms.sub(rest, product);
      if (forms[without].terms.size() >= forms[rest].terms.size()) continue;
      rest = without;
      Summand s{coefficient, "", Precedence::primary, 0};
      const bool alone = others.empty() && std::abs(coefficient) == 1;
      add_atoms(s, others, false);
      add_factor(s, atom.numerator, remainder(atom.numerator, atom.divisor), alone);
      out.push_back(std::move(s));
      break;
    }
  }
}

std::vector<FormPrinter::Summand> FormPrinter::summands(FormId form) const {
  std::vector<Summand> remainders, out;
  FormId rest = form;
  add_remainders(rest, remainders);
  const Form left = forms[rest];
  for (const Term& term : left.terms) {
    Summand s{term.coefficient, "", Precedence::primary, 0};
    add_atoms(s, term.atoms, term.atoms.size() == 1 && std::abs(term.coefficient) == 1);
    out.push_back(std::move(s));
  }
  out.insert(out.end(), remainders.begin(), remainders.end());
  // Larger strides first, as one would write an address.
  std::stable_sort(out.begin(), out.end(), [](const Summand& a, const Summand& b) {
    if (a.n_factors != b.n_factors) return a.n_factors > b.n_factors;
    return std::abs(a.coefficient) > std::abs(b.coefficient);
  });
  if (left.constant != 0 || out.empty()) out.push_back({left.constant, "", Precedence::primary, 0});
  return out;
}

// What is added comes before what is subtracted: S - 1 rather than -1 + S.
Text FormPrinter::sum(std::vector<Summand> list) {
  std::stable_partition(list.begin(), list.end(),
                        [](const Summand& s) { return s.coefficient >= 0; });
  Text out;
  for (const Summand& s : list) {
    const bool first = out.text.empty(), negative = s.coefficient < 0;
    const uint64_t size =
        negative ? 0 - static_cast<uint64_t>(s.coefficient) : static_cast<uint64_t>(s.coefficient);
    Text body{.text = s.product, .precedence = s.precedence};
    if (s.product.empty()) {
      body.text = std::to_string(size);
    } else if (size != 1) {
      body = {.text = std::to_string(size) + "*" + s.product, .precedence = Precedence::multiply};
    } else if (first && negative) {
      body = at_least(std::move(body), Precedence::unary);  // -(a/b) is not -a/b
    }
    out.text += first ? (negative ? "-" : "") : (negative ? " - " : " + ");
    out.text += body.text;
    out.precedence = list.size() > 1 ? Precedence::add
                     : negative      ? std::min(body.precedence, Precedence::unary)
                                     : body.precedence;
  }
  out.nesting = static_cast<int>(std::count(out.text.begin(), out.text.end(), '('));
  return out;
}

Text FormPrinter::print(FormId form) const {
  // The least integer has no literal: its digits are one too large for the sign to apply to.
  if (forms.is_constant(form, INT64_MIN)) return {.text = dialect.integer(INT64_MIN, Type::i64)};
  return sum(summands(form));
}

Text FormPrinter::compare(std::string_view op, FormId form) const {
  std::vector<Summand> left, right;
  int64_t constant = 0;
  VarKind left_kind = VarKind::dim, right_kind = VarKind::dim;
  for (const Summand& s : summands(form)) {
    if (s.product.empty()) {
      constant = s.coefficient;
    } else if (s.coefficient > 0) {
      left.push_back(s);
      left_kind = std::max(left_kind, s.kind);
    } else {
      right.push_back(s);
      right.back().coefficient = -s.coefficient;
      right_kind = std::max(right_kind, s.kind);
    }
  }
  if (constant == INT64_MIN) return infix(print(form), op, Precedence::compare, {.text = "0"});
  if (!right.empty() && (left.empty() || right_kind > left_kind)) {
    std::swap(left, right);
    constant = -constant;
    op = mirrored(op);
  }
  // Now `left + constant OP right`. Of whole numbers, a unit turns strict into not strict.
  const bool drops_unit = !right.empty() && ((constant == -1 && (op == ">=" || op == "<")) ||
                                             (constant == 1 && (op == "<=" || op == ">")));
  if (drops_unit) {
    constant = 0;
    op = op == ">=" ? ">" : op == "<=" ? "<" : op == ">" ? ">=" : "<=";
  }
  const bool constant_left = constant > 0 && !right.empty();
  if (constant_left) left.push_back({constant, "", Precedence::primary, 0});
  if ((constant != 0 && !constant_left) || right.empty())
    right.push_back({-constant, "", Precedence::primary, 0});
  if (left.empty()) left.push_back({0, "", Precedence::primary, 0});
  return infix(sum(std::move(left)), op, Precedence::compare, sum(std::move(right)));
}

}  // namespace tang::emit
