// Expressions are written with a stack of pieces, since sums may be ten thousand terms long.
#include "text/print_expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/integer.h"
#include "support/panic.h"

namespace tang {

namespace {

Level next(Level level) {
  return static_cast<Level>(static_cast<int>(level) + 1);
}

// The operator's level; `primary` for what is written as a call.
Level level_of_op(Op op) {
  switch (op) {
    case Op::select:
      return Level::choice;
    case Op::logic_or:
      return Level::either;
    case Op::logic_and:
      return Level::both;
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
      return Level::comparison;
    case Op::bit_or:
      return Level::bit_or;
    case Op::bit_xor:
      return Level::bit_xor;
    case Op::bit_and:
      return Level::bit_and;
    case Op::shift_left:
    case Op::shift_right:
      return Level::shift;
    case Op::add:
    case Op::sub:
      return Level::sum;
    case Op::mul:
    case Op::div:
    case Op::mod:
      return Level::product;
    case Op::neg:
    case Op::logic_not:
      return Level::unary;
    default:
      return Level::primary;
  }
}

// Spaces around the operators that Forms::print writes without.
std::string spaced(const std::string& tight) {
  std::string out;
  for (const char c : tight)
    if (c == '*' || c == '/' || c == '%')
      out += fmt::format(" {} ", c);
    else
      out += c;
  return out;
}

// Conversions that the language makes on its own: bool, i32, i64, real.
bool is_implicit(Type from, Type to) {
  const auto rank = [](Type t) {
    return t == Type::boolean ? 0 : t == Type::i32 ? 1 : t == Type::i64 ? 2 : 3;
  };
  return kind_of(from) == from && kind_of(to) == to && rank(from) < rank(to);
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

ExprPrinter::ExprPrinter(const Program& program, const ProgramNames& names, const Comprehension& c,
                         std::vector<std::string> axis_names, std::vector<std::string> state_names)
    : arena_(*program.arena),
      names_(names),
      c_(c),
      axis_names_(std::move(axis_names)),
      state_names_(std::move(state_names)) {}

std::string ExprPrinter::expr(ExprId id, ComponentPlace place) {
  identity_ = place.identity;
  return run(id, {.in_value = place.identity.valid()});
}

std::string ExprPrinter::run(ExprId id, Where where) {
  return run(std::vector<Piece>{{.text = {}, .id = id, .where = where}});
}

std::string ExprPrinter::run(std::vector<Piece> stack) {
  std::string out;
  while (!stack.empty()) {
    const Piece piece = std::move(stack.back());
    stack.pop_back();
    if (!piece.id.valid()) {
      out += piece.text;
      continue;
    }
    pieces_.clear();
    expand(piece.id, piece.where);
    for (size_t i = pieces_.size(); i-- > 0;) stack.push_back(std::move(pieces_[i]));
  }
  return out;
}

void ExprPrinter::expand(ExprId id, Where where) {
  const Expr& e = arena_.exprs[id];
  // What converts without a word is written as what it converts.
  const bool same_text =
      e.op == Op::cast && where.converts && is_implicit(arena_.exprs.type(e.args[0]), e.type);
  if (same_text) {
    operand(e.args[0], where);
    return;
  }
  const bool is_else = e.op == Op::read && where.operand &&
                       arena_.views[c_.reads[e.index()].view].guarded &&
                       !(where.in_value && c_.reads[e.index()].otherwise == identity_);
  const bool bar = where.bar_ends && e.op == Op::bit_or;
  if (!(level_of(e, where.converts) < where.level) && !is_else && !bar) {
    write(e, where);
    return;
  }
  where.bar_ends = false;
  text("(");
  where.level = Level::choice;
  where.operand = false;
  write(e, where);
  text(")");
}

FormId ExprPrinter::copy(FormId id) {
  if (const auto known = copies_.find(id); known != copies_.end()) return known->second;
  const Form& form = arena_.forms[id];
  FormId sum = forms_.constant(form.constant);
  for (const Term& term : form.terms) {
    FormId product = forms_.constant(term.coefficient);
    for (const Atom& atom : term.atoms)
      product = forms_.mul(product, atom.is_quotient()
                                        ? forms_.quotient(copy(atom.numerator), atom.divisor)
                                        : forms_.var(atom.var));
    sum = forms_.add(sum, product);
  }
  copies_.emplace(id, sum);
  return sum;
}

std::string ExprPrinter::form(FormId id) {
  return own_form(copy(id));
}

std::string ExprPrinter::own_form(FormId id) {
  return spaced(forms_.print(id, [this](Var v) {
    switch (v.kind) {
      case VarKind::dim:
        return names_.dims[v.index];
      case VarKind::scalar:
        return names_.scalars[v.index];
      case VarKind::axis:
        return axis_names_[v.index];
      case VarKind::local:
        break;
    }
    TANG_PANIC("a variable of a kernel in a graph");
  }));
}

Level ExprPrinter::level_of_form(FormId id) {
  const std::string text = form(id);
  // Operators outside of parentheses have spaces around them.
  int depth = 0;
  Level level = text.starts_with('-') ? Level::sum : Level::primary;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth > 0 || text[i] != ' ' || i + 1 >= text.size()) continue;
    const char op = text[i + 1];
    if (op == '+' || op == '-') return Level::sum;
    if (op == '*' || op == '/' || op == '%') level = std::min(level, Level::product);
  }
  return level;
}

Level ExprPrinter::level_of(const Expr& e, bool converts) {
  if (e.op != Op::constant && e.op != Op::form) return level_of_op(e.op);
  if (e.type == Type::i64 && !converts) return Level::primary;  // i64(...)
  if (e.op == Op::form) return level_of_form(e.form());
  return constant(e).starts_with('-') ? Level::unary : Level::primary;
}

std::string ExprPrinter::constant(const Expr& e) const {
  if (is_real(e.type)) return real_text(e.value().real);
  if (e.type == Type::boolean) return e.value().integer != 0 ? "true" : "false";
  return fmt::format("{}", e.value().integer);
}

void ExprPrinter::write(const Expr& e, Where where) {
  const OpInfo& info = op_info(e.op);
  switch (e.op) {
    case Op::constant:
    case Op::form: {
      const std::string plain = e.op == Op::form ? form(e.form()) : constant(e);
      text(e.type == Type::i64 && !where.converts ? fmt::format("i64({})", plain) : plain);
      return;
    }
    case Op::scalar:
      text(names_.scalars[e.index()]);
      return;
    case Op::read:
      write_read(e, where);
      return;
    case Op::left:
    case Op::right:
      text(fmt::format("{}.{}", e.op == Op::left ? "x" : "y", state_names_.at(e.index())));
      return;
    case Op::variable:
    case Op::load:
    case Op::call:
    case Op::bitcast:
      TANG_PANIC("{} in a graph", info.name);
    case Op::cast:
      write_cast(e, where);
      return;
    case Op::select: {
      operand(e.args[0], {.level = Level::either, .operand = true, .bar_ends = where.bar_ends});
      const auto [a, b] = conversions(e, e.args[1], e.args[2]);
      Where branch = where;
      branch.level = Level::choice;
      branch.operand = true;
      branch.converts = a;
      text(" ? ");
      operand(e.args[1], branch);
      branch.converts = b;
      text(" : ");
      operand(e.args[2], branch);
      return;
    }
    case Op::neg:
    case Op::logic_not:
      text(e.op == Op::neg ? "-" : "!");
      where.level = Level::unary;
      where.operand = true;
      where.converts = false;
      operand(e.args[0], where);
      return;
    default:
      break;
  }
  const Level level = level_of_op(e.op);
  if (level == Level::primary)
    write_call(e, where);
  else
    write_binary(e, level, where);
}

// Both sides' text must meet in the type of the operation: at most one may convert on its own.
std::pair<bool, bool> ExprPrinter::conversions(const Expr& e, ExprId a, ExprId b) const {
  const auto exact_index = [&](ExprId id) {
    const Expr& x = arena_.exprs[id];
    return (x.op == Op::form || x.op == Op::constant) && x.type == Type::i64;
  };
  const auto widened = [&](ExprId id) {
    const Expr& x = arena_.exprs[id];
    return x.op == Op::cast && x.type == Type::i64 && arena_.exprs.type(x.args[0]) == Type::i32;
  };
  const auto is_form = [&](ExprId id) { return arena_.exprs[id].op == Op::form; };
  // Comparisons with index forms are exact by themselves.
  if (op_info(e.op).cls == OpClass::compare &&
      ((exact_index(a) && exact_index(b)) || (exact_index(a) && is_form(a) && widened(b)) ||
       (exact_index(b) && is_form(b) && widened(a))))
    return {true, true};
  const auto is_weak = [&](ExprId id) {
    const Expr& x = arena_.exprs[id];
    if (x.op == Op::cast) return is_implicit(arena_.exprs.type(x.args[0]), x.type);
    return exact_index(id);
  };
  // Of a number and what needs a word, the number needs none.
  const bool number_a = arena_.exprs.is_constant(a), number_b = arena_.exprs.is_constant(b);
  if (number_a != number_b && is_weak(a) && is_weak(b)) return {number_a, number_b};
  return {!is_weak(b), !is_weak(a)};
}

void ExprPrinter::write_binary(const Expr& e, Level level, Where where) {
  const auto [a, b] = conversions(e, e.args[0], e.args[1]);
  where.operand = true;
  where.level = level == Level::comparison ? next(level) : level;
  where.converts = a;
  operand(e.args[0], where);
  text(fmt::format(" {} ", op_info(e.op).spelling));
  where.level = next(level);
  where.converts = b;
  operand(e.args[1], where);
}

void ExprPrinter::write_call(const Expr& e, Where where) {
  const OpInfo& info = op_info(e.op);
  const bool real = info.cls == OpClass::real;
  Where argument{.in_value = where.in_value};
  std::pair<bool, bool> converts{real, real};
  if (!real && info.arity == 2) converts = conversions(e, e.args[0], e.args[1]);
  text(fmt::format("{}(", info.spelling));
  for (size_t i = 0; i < info.arity; ++i) {
    if (i > 0) text(", ");
    const Expr& x = arena_.exprs[e.args[i]];
    // A whole exponent is written as the integer that it is.
    const bool whole = e.op == Op::pow && i == 1 && x.op == Op::constant &&
                       x.value().real == std::floor(x.value().real) &&
                       std::fabs(x.value().real) < 1e9;
    if (whole) {
      text(fmt::format("{}", static_cast<int64_t>(x.value().real)));
      continue;
    }
    argument.converts = i == 0 ? converts.first : converts.second;
    operand(e.args[i], argument);
  }
  text(")");
}

// A cast to a narrower type and back is one call; so is a conversion that needs a word.
void ExprPrinter::write_cast(const Expr& e, Where where) {
  const Expr& inner = arena_.exprs[e.args[0]];
  const bool narrow = inner.op == Op::cast && kind_of(inner.type) != inner.type;
  text(fmt::format("{}(", type_name(narrow ? inner.type : e.type)));
  const ExprId value = narrow ? inner.args[0] : e.args[0];
  // A cast takes an index form as it is.
  const bool exact_form = arena_.exprs[value].op == Op::form;
  operand(value, {.converts = exact_form, .in_value = where.in_value});
  text(")");
}

bool ExprPrinter::is_rank0_read(ExprId id) const {
  const Expr& e = arena_.exprs[id];
  return e.op == Op::read && arena_.tensors[c_.reads[e.index()].tensor].shape.empty();
}

// name?[coords | guard] else otherwise
void ExprPrinter::write_read(const Expr& e, Where where) {
  const Read& read = c_.reads[e.index()];
  const View& view = arena_.views[read.view];
  const bool by_identity = view.guarded && where.in_value && read.otherwise == identity_;
  write_element(read, by_identity, false);
  if (!view.guarded || by_identity) return;
  text(" else ");
  operand(read.otherwise, {.level = Level::unary, .operand = true, .in_value = where.in_value});
}

std::string ExprPrinter::updated() {
  const Read& into = c_.reads[*c_.into];
  write_element(into, arena_.views[into.view].guarded, true);
  std::vector<Piece> pieces = std::move(pieces_);
  pieces_.clear();
  std::reverse(pieces.begin(), pieces.end());
  return run(std::move(pieces));
}

// ": N" after each coordinate in which one index stands that none before it has.
std::vector<std::string> ExprPrinter::place_ranges(const View& view) {
  std::set<uint32_t> known;
  std::vector<std::string> out;
  for (const Coord& coord : view.coords) {
    std::set<uint32_t> fresh;
    const auto see = [&](FormId f) {
      arena_.forms.for_each_var(f, [&](Var v) {
        if (v.kind == VarKind::axis && !known.contains(v.index)) fresh.insert(v.index);
      });
    };
    std::vector<ExprId> data;
    if (coord.is_gather())
      data.push_back(coord.data);
    else
      see(coord.form);
    while (!data.empty()) {
      const std::vector<ExprId> order = arena_.exprs.post_order(data);
      data.clear();
      for (const ExprId id : order) {
        const Expr& e = arena_.exprs[id];
        if (e.op == Op::form) see(e.form());
        if (e.op != Op::read) continue;
        for (const Coord& inner : arena_.views[c_.reads[e.index()].view].coords)
          if (inner.is_gather())
            data.push_back(inner.data);
          else
            see(inner.form);
      }
    }
    out.push_back(fresh.size() == 1 ? ": " + form(c_.extents[*fresh.begin()]) : "");
    known.insert(fresh.begin(), fresh.end());
  }
  return out;
}

// name?[coords | guard]. The places of an update say the range of an index where it alone is new.
void ExprPrinter::write_element(const Read& read, bool mark, bool places) {
  const View& view = arena_.views[read.view];
  const std::vector<std::string> ranges =
      places ? place_ranges(view) : std::vector<std::string>(view.coords.size());
  text(names_.of(read.tensor));
  if (mark) text("?");
  const bool brackets = !view.coords.empty() || view.guarded;
  Guard guard = arena_.guards[view.guard];
  if (brackets) text("[");
  std::vector<std::string> forms(view.coords.size());
  bool plain = true;
  for (size_t d = 0; d < view.coords.size(); ++d) {
    plain &= ranges[d].empty();
    if (view.coords[d].is_gather()) {
      plain = false;
      continue;
    }
    if (!exact_coordinate(view.coords[d].form, guard.constraints, forms[d]))
      forms[d] = form(view.coords[d].form);
    plain &=
        forms[d].find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
  }
  for (size_t d = 0; d < view.coords.size(); ++d) {
    if (d > 0) text(plain ? "," : ", ");
    if (view.coords[d].is_gather())
      operand(view.coords[d].data, {.bar_ends = true});
    else
      text(forms[d]);
    text(ranges[d]);
  }
  if (!guard.empty()) {
    const std::vector<std::string> facts = conjuncts(guard.constraints);
    text(view.coords.empty() ? "| " : " | ");
    text(fmt::format("{}", fmt::join(facts, " && ")));
    if (guard.condition.valid()) {
      if (!facts.empty()) text(" && ");
      operand(guard.condition,
              {.level = facts.empty() ? Level::choice : Level::both, .operand = !facts.empty()});
    }
  }
  if (brackets) text("]");
}

// A coordinate whose divisibility is part of the guard: (a)/k exact, which takes the constraint.
bool ExprPrinter::exact_coordinate(FormId coord, std::vector<Constraint>& constraints,
                                   std::string& out) {
  const FormId f = copy(coord);
  const Form whole = forms_[f];
  for (const Term& term : whole.terms) {
    if (term.coefficient != 1 || term.atoms.size() != 1 || !term.atoms[0].is_quotient()) continue;
    const Atom atom = term.atoms[0];
    const auto divides =
        std::find_if(constraints.begin(), constraints.end(), [&](const Constraint& c) {
          return c.modulus == atom.divisor && same_multiple(copy(c.form), atom);
        });
    if (divides == constraints.end()) continue;
    const FormId quotient = forms_.quotient(atom.numerator, atom.divisor);
    const FormId dividend =
        forms_.add(forms_.scale(forms_.sub(f, quotient), atom.divisor), atom.numerator);
    std::string text = own_form(dividend);
    const bool single = text.find(' ') == std::string::npos && !text.starts_with('-');
    out = fmt::format("{} / {} exact", single ? text : "(" + text + ")", atom.divisor);
    constraints.erase(divides);
    return true;
  }
  return false;
}

// Whether `form` and the quotient's numerator are multiples of the divisor at the same points:
// their difference is a multiple everywhere.
bool ExprPrinter::same_multiple(FormId form, const Atom& quotient) {
  const Form gap = forms_[forms_.sub(form, quotient.numerator)];
  if (floor_mod(gap.constant, quotient.divisor) != 0) return false;
  return std::all_of(gap.terms.begin(), gap.terms.end(), [&](const Term& t) {
    return floor_mod(t.coefficient, quotient.divisor) == 0;
  });
}

// low <= high with terms that have no minus: the two sides of form >= 0.
ExprPrinter::Sides ExprPrinter::sides(FormId form) {
  const Form whole = forms_[form];
  Sides s{.low = forms_.constant(0), .high = forms_.constant(0)};
  for (const Term& term : whole.terms) {
    FormId product = forms_.constant(term.coefficient < 0 ? -term.coefficient : term.coefficient);
    for (const Atom& atom : term.atoms)
      product =
          forms_.mul(product, atom.is_quotient() ? forms_.quotient(atom.numerator, atom.divisor)
                                                 : forms_.var(atom.var));
    FormId& side = term.coefficient < 0 ? s.low : s.high;
    side = forms_.add(side, product);
  }
  (whole.constant < 0 ? s.low : s.high) =
      whole.constant < 0 ? forms_.add(s.low, -whole.constant) : forms_.add(s.high, whole.constant);
  return s;
}

std::string ExprPrinter::constraint(const Constraint& c) {
  const FormId f = copy(c.form);
  if (c.modulus != 0) {
    const int64_t rest = forms_[f].constant;
    std::string text = own_form(forms_.add(f, -rest));
    if (text.find(' ') != std::string::npos || text.starts_with('-')) text = "(" + text + ")";
    return fmt::format("{} % {} == {}", text, c.modulus, floor_mod(-rest, c.modulus));
  }
  const Sides s = sides(f);
  // i < 5 rather than i <= 4, and j < i rather than j + 1 <= i.
  if (!forms_.as_constant(s.low)) {
    if (forms_[s.low].constant == 1)
      return fmt::format("{} < {}", own_form(forms_.add(s.low, -1)), own_form(s.high));
    if (const auto bound = forms_.as_constant(s.high))
      return fmt::format("{} < {}", own_form(s.low), *bound + 1);
  }
  return fmt::format("{} <= {}", own_form(s.low), own_form(s.high));
}

// form == 0: a number on the right, else a name on the left.
std::string ExprPrinter::equality(FormId form) {
  const Sides s = sides(form);
  const std::string low = own_form(s.low), high = own_form(s.high);
  const bool number_low = forms_.as_constant(s.low).has_value();
  const bool number_high = forms_.as_constant(s.high).has_value();
  const bool name_low = low.find(' ') == std::string::npos;
  const bool name_high = high.find(' ') == std::string::npos;
  const bool low_first = number_low != number_high ? number_high
                         : name_low != name_high   ? name_low
                                                   : low <= high;
  return low_first ? fmt::format("{} == {}", low, high) : fmt::format("{} == {}", high, low);
}

// In the order of their texts, which does not depend on ids; f >= 0 with -f >= 0 is an equality.
std::vector<std::string> ExprPrinter::conjuncts(const std::vector<Constraint>& constraints) {
  std::vector<std::string> out;
  std::vector<bool> done(constraints.size());
  for (size_t i = 0; i < constraints.size(); ++i) {
    const FormId opposite = forms_.scale(copy(constraints[i].form), -1);
    for (size_t j = i + 1; j < constraints.size() && constraints[i].modulus == 0 && !done[i]; ++j) {
      if (done[j] || constraints[j].modulus != 0 || copy(constraints[j].form) != opposite) continue;
      out.push_back(equality(copy(constraints[i].form)));
      done[i] = done[j] = true;
    }
    if (!done[i]) out.push_back(constraint(constraints[i]));
    done[i] = true;
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string ExprPrinter::guard(const Guard& guard) {
  std::string out = fmt::format("{}", fmt::join(conjuncts(guard.constraints), " && "));
  if (!guard.condition.valid()) return out;
  const bool first = out.empty();
  if (!first) out += " && ";
  return out +
         run(guard.condition, {.level = first ? Level::choice : Level::both, .operand = !first});
}

}  // namespace tang
