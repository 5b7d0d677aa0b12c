// Expressions to meanings. Chains of binary operators lean left and may be ten thousand long, so
// they are walked with a stack; everything else nests no deeper than the parser allows.
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ir/builtin.h"
#include "support/integer.h"
#include "support/panic.h"
#include "text/habits.h"
#include "text/library.h"
#include "text/resolve.h"
#include "text/syntax.h"

namespace tang {

using syntax::BinaryOp;
using syntax::ExprNode;
using syntax::ExprNodeId;

namespace {

constexpr size_t kManyErrors = 50;  // after so many nobody reads suggestions

bool is_logic(BinaryOp op) {
  return op == BinaryOp::logical_and || op == BinaryOp::logical_or;
}

// The functions of a program are the operations whose spelling is a name.
std::optional<Op> function_of(std::string_view name) {
  constexpr Op kOps[] = {
#define OP(op, arity, cls, spelling) Op::op,
#include "scalar/ops.def"
  };
  for (const Op op : kOps) {
    const std::string_view spelling = op_info(op).spelling;
    if (op != Op::fma && spelling == name && std::isalpha(static_cast<unsigned char>(spelling[0])))
      return op;
  }
  return std::nullopt;
}

std::string function_suggestion(const Resolver& r, const std::string& name) {
  if (builtin_monoid_arity(name) || r.find_monoid(name))
    return fmt::format("; it folds the points of an index: {}[i](…)", name);
  if (r.values.find(name, r.sight)) return fmt::format("; its elements are read as {}[…]", name);
  for (const std::string_view file : library_names())
    if (library_text(file)->find(fmt::format("\nfn {}(", name)) != std::string::npos)
      return fmt::format("; import \"{}\" brings it", file);
  if (const std::string_view meant = function_of_habit(name); !meant.empty())
    return fmt::format("; {}", meant);
  Suggestion suggestion(name);
  for (const size_t file : r.visible_files())
    for (const auto& [known, info] : r.libraries[file].functions) suggestion.consider(known);
  suggestion.consider("select");
#define OP(op, arity, cls, spelling) \
  if (function_of(spelling)) suggestion.consider(spelling);
#include "scalar/ops.def"
  for (int t = 0; t < kTypeCount; ++t) suggestion.consider(type_name(static_cast<Type>(t)));
  return suggestion.text();
}

}  // namespace

Meaning Resolver::resolve_in(Place where, ExprNodeId id) {
  const Place outer = std::exchange(place, where);
  const Meaning m = resolve(id);
  place = outer;
  return m;
}

Meaning Resolver::resolve(ExprNodeId id) {
  const ExprNode& n = node(id);
  if (const auto* binary = std::get_if<syntax::Binary>(&n.data))
    return is_logic(binary->op) ? resolve_logic(id) : resolve_chain(id);
  Meaning m = resolve_node(n);
  m.span = n.span;
  return m;
}

// a + b - c ...: down the left spine to its first operand, then up again.
Meaning Resolver::resolve_chain(ExprNodeId id) {
  std::vector<ExprNodeId> spine;
  ExprNodeId first = id;
  for (;;) {
    const auto* binary = std::get_if<syntax::Binary>(&node(first).data);
    if (!binary || is_logic(binary->op)) break;
    spine.push_back(first);
    first = binary->left;
  }
  Meaning m = resolve(first);
  for (auto step = spine.rbegin(); step != spine.rend(); ++step) {
    const ExprNode& n = node(*step);
    const auto& binary = std::get<syntax::Binary>(n.data);
    const auto* left = std::get_if<syntax::Integer>(&node(binary.left).data);
    const auto* right = std::get_if<syntax::Integer>(&node(binary.right).data);
    const bool as_value = place == Place::value || place == Place::constant;
    if (binary.op == BinaryOp::div && as_value && left && right && right->value != 0 &&
        left->value % right->value != 0)
      diagnostics.warning("integer-quotient", n.span,
                          fmt::format("{0}/{1} is the integer {2}; write {0}.0/{1}", left->value,
                                      right->value, floor_div(left->value, right->value)));
    m = apply(binary.op, m, resolve(binary.right), n.span);
    m.span = n.span;
  }
  return m;
}

// a && b && c: each part is evaluated where those before it hold, or for || where they fail.
Meaning Resolver::resolve_logic(ExprNodeId id) {
  const Span whole = node(id).span;
  const BinaryOp op = std::get<syntax::Binary>(node(id).data).op;
  std::vector<ExprNodeId> operands;
  ExprNodeId first = id;
  for (;;) {
    const auto* binary = std::get_if<syntax::Binary>(&node(first).data);
    if (!binary || binary->op != op) break;
    operands.push_back(binary->right);
    first = binary->left;
  }
  operands.push_back(first);
  const size_t known = nest().now_known;
  const bool all = op == BinaryOp::logical_and;
  std::vector<Meaning> parts;
  bool faulty = false;
  for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand) {
    Meaning m = resolve(*operand);
    if (!is_condition(m, all ? "an operand of &&" : "an operand of ||")) {
      faulty = true;
      continue;
    }
    if (operand + 1 != operands.rend()) push_known(truth_of(m, all));
    parts.push_back(std::move(m));
  }
  nest().now_known = known;
  if (faulty) return {.span = whole};
  return join_truths(all, std::move(parts), whole);
}

Meaning Resolver::resolve_node(const ExprNode& n) {
  using namespace syntax;
  return std::visit(
      detail::Overloaded{
          [&](const Integer& e) {
            return of_form(arena.forms.constant(e.value), Type::i32, n.span);
          },
          [&](const Real& e) { return of_data(arena.exprs.real(e.value), n.span); },
          [&](const Constant& e) {
            switch (e.word) {
              case Word::inf:
                return of_data(arena.exprs.real(std::numeric_limits<double>::infinity()), n.span);
              case Word::nan:
                return of_data(arena.exprs.real(std::numeric_limits<double>::quiet_NaN()), n.span);
              case Word::true_:
              case Word::false_:
                return of_data(arena.exprs.boolean(e.word == Word::true_), n.span);
            }
            TANG_PANIC("word {}", static_cast<int>(e.word));
          },
          [&](const NameRef& e) { return resolve_name(e.name); },
          [&](const Member& e) { return resolve_member(e.base, e.member, n.span); },
          [&](const Unary& e) { return resolve_unary(e, n.span); },
          [&](const Binary&) -> Meaning { TANG_PANIC("a binary operator outside of its chain"); },
          [&](const Conditional& e) { return resolve_choice(e.condition, e.yes, e.no, n.span); },
          [&](const Call& e) { return resolve_call(e, n.span); },
          [&](const syntax::Read& e) { return resolve_read(e, n.span); },
          [&](const Reduction& e) { return resolve_reduction(e, n.span); },
      },
      n.data);
}

// Whether it is made of constants and sizes, as an argument of a function may be.
bool Resolver::is_known(const Meaning& m) const {
  if (m.is_form()) return arena.forms.is_extent(m.form);
  const std::vector<ExprId> order = arena.exprs.post_order({m.expr});
  return std::all_of(order.begin(), order.end(), [&](ExprId id) {
    const Expr& e = arena.exprs[id];
    return e.op == Op::form ? arena.forms.is_extent(e.form())
                            : e.op != Op::read && e.op != Op::scalar;
  });
}

Meaning Resolver::resolve_name(const syntax::Name& name) {
  if (const auto found = index_names.find(name.text);
      found != index_names.end() && !found->second.empty()) {
    if (place == Place::range)
      return fail(
          "range-not-constant", name.span,
          fmt::format("a range is built of constants and sizes, and {} is an index", name.text));
    return of_form(arena.forms.axis(found->second.back()), Type::i32, name.span);
  }
  if (states.contains(name.text))
    return fail("component-needed", name.span,
                fmt::format("{0} is a state; its components are {0}.{1}", name.text,
                            fmt::join(states.at(name.text).second->components,
                                      fmt::format(", {}.", name.text))));
  const Symbol* symbol = values.find(name.text, sight);
  if (!symbol) {
    if (name.text == "pi") return of_data(arena.exprs.real(std::numbers::pi), name.span);
    return undefined(name, name.span);
  }
  const bool constant_only = constants_only();
  switch (symbol->kind) {
    case SymbolKind::faulty:
      failed = true;
      return {.span = name.span};
    case SymbolKind::dim:
    case SymbolKind::constant:
    case SymbolKind::loop_name:
      break;
    case SymbolKind::scalar:
    case SymbolKind::parameter:
      if (constant_only && !is_known(symbol->meaning) &&
          !(place == Place::assumption && symbol->meaning.is_form()))
        return fail("not-constant", name.span,
                    fmt::format("{} is not known from constants and dimensions", name.text));
      break;
    case SymbolKind::tensor:
      if (constant_only)
        return fail("not-constant", name.span,
                    fmt::format("{} is not known from constants and dimensions", name.text));
      return read_symbol(name.text, *symbol, nullptr, name.span);
  }
  Meaning m = symbol->meaning;
  if (symbol->kind == SymbolKind::parameter && m.expr.valid())
    m.expr = import_expr(symbol->home, m.expr);
  m.span = name.span;
  return m;
}

// A name without a meaning is reported once a definition.
Meaning Resolver::undefined(const syntax::Name& name, Span span) {
  if (!reported.insert(name.text).second) return {.span = span};
  if (prefix + name.text == definition_name && written_names.contains(name.text))
    return fail("undefined", name.span,
                fmt::format("{} is not defined here; a definition cannot read itself", name.text));
  const Span later = defined_later(name);
  std::string hint = later.valid() ? "" : suggestion(name.text);
  if (hint.empty() && !later.valid()) {
    if (defined_in_loop(name.text))
      hint = "; what a loop defines is local to it, unless it was defined before";
    else if (place == Place::range)
      hint = fmt::format("; a size is declared: dim {}", name.text);
    else if (place == Place::coordinate)
      hint = "; an index stands on the left or is bound by a reduction";
    else if (function_of(name.text) || find_function(name.text))
      hint = fmt::format("; {0} is a function, and called as {0}(…)", name.text);
  }
  Diagnostic& d =
      report("undefined", name.span, fmt::format("{} is not defined here{}", name.text, hint));
  if (later.valid())
    d.notes.push_back({later, "it is defined here, and a name is defined before it is used"});
  return {.span = span};
}

namespace {

// The first place where an item defines the name.
Span definition_of(const syntax::ItemData& item, const std::string& name) {
  const auto among = [&](const auto& list) {
    for (const auto& entry : list)
      if (entry.name.text == name) return entry.name.span;
    return Span();
  };
  if (const auto* dims = std::get_if<syntax::Dims>(&item)) return among(dims->dims);
  if (const auto* consts = std::get_if<syntax::Consts>(&item)) return among(consts->consts);
  if (const auto* definition = std::get_if<syntax::Definition>(&item))
    return among(definition->lefts);
  const auto* tensors = std::get_if<syntax::Tensors>(&item);
  const auto* scalars = std::get_if<syntax::Scalars>(&item);
  if (tensors || scalars)
    for (const syntax::Name& known : tensors ? tensors->names : scalars->names)
      if (known.text == name) return known.span;
  return {};
}

}  // namespace

bool Resolver::defined_in_loop(const std::string& name) const {
  if (diagnostics.n_errors() >= kManyErrors) return false;
  for (const syntax::ItemId id : file->top)
    if (const auto* loop = std::get_if<syntax::Loop>(&(*file)[id].data))
      for (const syntax::ItemId inner : loop->body)
        if (definition_of((*file)[inner].data, name).valid()) return true;
  return false;
}

// Where the file defines a name after its use.
Span Resolver::defined_later(const syntax::Name& name) const {
  if (diagnostics.n_errors() >= kManyErrors) return {};
  for (const syntax::ItemId id : file->top) {
    const Span span = definition_of((*file)[id].data, name.text);
    if (span.valid() && span.file == name.span.file && span.begin > name.span.begin) return span;
  }
  return {};
}

std::string Resolver::suggestion(const std::string& name) const {
  // Each search looks at every name.
  return diagnostics.n_errors() < kManyErrors ? values.suggestion(name, sight) : "";
}

Meaning Resolver::resolve_unary(const syntax::Unary& unary, Span span) {
  const Meaning m = resolve(unary.operand);
  if (m.faulty) return {.span = span};
  switch (unary.op) {
    case syntax::UnaryOp::neg:
      if (m.is_form()) return of_form(arena.forms.scale(m.form, -1), m.type, span);
      return apply_function(Op::neg, {m}, span);
    case syntax::UnaryOp::logical_not:
      if (!is_condition(m, "the operand of !")) return {.span = span};
      return negate_truth(m, span);
  }
  TANG_PANIC("unary operator {}", static_cast<int>(unary.op));
}

// condition ? yes : no, each branch evaluated where it is taken.
Meaning Resolver::resolve_choice(ExprNodeId condition, ExprNodeId yes, ExprNodeId no, Span span) {
  const Meaning c = resolve_in(place == Place::value ? Place::condition : place, condition);
  const size_t known = nest().now_known;
  const bool usable = is_condition(c, "a condition");
  if (usable) push_known(truth_of(c, true));
  const Meaning a = resolve(yes);
  nest().now_known = known;
  if (usable) push_known(truth_of(c, false));
  const Meaning b = resolve(no);
  nest().now_known = known;
  if (!usable || a.faulty || b.faulty) return {.span = span};
  if ((a.type == Type::boolean) != (b.type == Type::boolean)) {
    const Meaning& other = a.type == Type::boolean ? b : a;
    return fail("type", other.span,
                fmt::format("one branch is a bool, and {} is a {}", source_text(other.span),
                            is_real(other.type) ? "real" : "number"));
  }
  const Type kind = wider_kind(a.type, b.type);
  if (arena.exprs.is_constant(c.expr)) {
    const Meaning& taken = arena.exprs[c.expr].value().integer != 0 ? a : b;
    if (taken.is_form() && is_integer(kind)) return of_form(taken.form, kind, span);
    return of_data(as_data(taken, kind), span);
  }
  return of_data(arena.exprs.select(c.expr, as_data(a, kind), as_data(b, kind)), span);
}

Meaning Resolver::resolve_call(const syntax::Call& call, Span span) {
  const std::string& name = call.function.text;
  if (const FunctionInfo* info = find_function(name)) {
    if (is_scalar_function(*info)) return inline_call(call, *info, span);
    return fail("call-in-expression", span,
                fmt::format("{} takes or defines tensors, so a call of it is a whole right side or "
                            "argument",
                            name));
  }
  const auto argument_count = [&](const std::string& wanted) {
    return fail("argument-count", span,
                fmt::format("{} takes {}, {} given", name, wanted, call.arguments.size()));
  };
  const std::optional<Type> type = type_from_name(name);
  const std::optional<Op> op = function_of(name);
  if (!type && !op && name != "select")
    return fail("unknown-function", call.function.span,
                fmt::format("there is no function {}{}", name, function_suggestion(*this, name)));
  for (const syntax::Argument& a : call.arguments)
    if (a.name.exists())
      return fail("bad-argument", a.name.span,
                  fmt::format("{} has no argument with the name {}", name, a.name.text));
  if (name == "select") {
    if (call.arguments.size() != 3) return argument_count("3 arguments");
    return resolve_choice(call.arguments[0].value, call.arguments[1].value, call.arguments[2].value,
                          span);
  }
  const bool many = op == Op::min || op == Op::max;
  const size_t arity = type ? 1 : op_info(*op).arity, given = call.arguments.size();
  if (many && given == 1)
    return fail(
        "argument-count", span,
        fmt::format("{0} takes 2 or more arguments, 1 given; over an index it is {0}[i](…)", name));
  if (many ? given == 0 : given != arity)
    return argument_count(many         ? "2 or more arguments"
                          : arity == 1 ? "1 argument"
                                       : fmt::format("{} arguments", arity));
  std::vector<Meaning> args;
  for (const syntax::Argument& a : call.arguments) args.push_back(resolve(a.value));
  if (type) return resolve_cast(*type, args[0], span);
  return apply_function(*op, std::move(args), span);
}

Meaning Resolver::fail(std::string name, Span span, std::string message) {
  report(std::move(name), span, std::move(message));
  return {.span = span};
}

// An error, with a note for each call that it stands in.
Diagnostic& Resolver::report(std::string name, Span span, std::string message) {
  failed = true;
  Diagnostic& d = diagnostics.error(std::move(name), span, std::move(message));
  d.notes = call_notes(span);
  return d;
}

// By which calls a mistake in a function's body was reached, the innermost first.
std::vector<Note> Resolver::call_notes(Span at) const {
  constexpr size_t kMostCalls = 5;
  std::vector<Note> notes;
  for (size_t i = 0; i < calls.size() && i < kMostCalls; ++i) {
    const ActiveCall& call = calls[calls.size() - 1 - i];
    if (call.span != at)
      notes.push_back({call.span, fmt::format("in this call of {}", call.function->name.text)});
  }
  return notes;
}

std::string Resolver::source_text(Span span) const {
  if (!span.valid()) return "it";
  std::string text = sources.text(span.file).substr(span.begin, span.end - span.begin);
  // One line of text, as an error message is.
  std::string line;
  for (const char c : text)
    if (c != '\n')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  return line.size() <= 80 ? line : line.substr(0, 77) + "...";
}

}  // namespace tang
