#include "emit/expression.h"

#include <utility>

#include "kernel/branches.h"
#include "support/panic.h"

namespace tang::emit {

namespace {

// A reader's limits, and clang's: it gives up at 256 nested brackets.
constexpr int kMaxNesting = 24;
constexpr size_t kMaxLength = 240;
// What may stand twice in one statement. Legalization names what is used twice, but for short or
// conditional parts; this keeps text from doubling at every level whatever it leaves.
constexpr size_t kMaxRepeated = 80;

bool is_comparison(const Expr& e) {
  return op_info(e.op).cls == OpClass::compare;
}

struct Printing {
  Body& body;
  const Exprs& exprs;
  std::unordered_map<ExprId, int> uses = {};
  std::unordered_map<ExprId, Text> done = {};

  Text run(ExprId root);
  Text spell(ExprId id);
  Text operand(ExprId id);
  Text leaf(const Expr& e);
  Text load(const Expr& e);
  Text cast(const Expr& e);
  Text constant(const Expr& e) const;
  Text arithmetic(const Expr& e);
  Text select(const Expr& e);
  bool index_comparison(const Expr& e, Text& out);
  FormId as_index(ExprId id);
};

// An index form or an integer constant, as a form.
FormId Printing::as_index(ExprId id) {
  const Expr& e = exprs[id];
  if (e.op == Op::form) return e.form();
  if (e.op == Op::constant && is_integer(e.type)) return body.forms.constant(e.value().integer);
  return {};
}

// Forms are exact, whatever the type they have as data, so they are compared as they are.
bool Printing::index_comparison(const Expr& e, Text& out) {
  if (!is_comparison(e)) return false;
  const FormId a = as_index(e.args[0]), b = as_index(e.args[1]);
  if (!a.valid() || !b.valid()) return false;
  out = body.form_printer().compare(op_info(e.op).spelling, body.forms.sub(a, b));
  return true;
}

Text Printing::constant(const Expr& e) const {
  const Dialect& d = body.dialect;
  Text out;
  if (e.type == Type::boolean)
    out.text = d.boolean(e.value().integer != 0);
  else if (is_integer(e.type))
    out.text = d.integer(e.value().integer, e.type);
  else
    out.text = d.real(e.value().real, e.type);
  if (out.text.starts_with("-") || out.text.starts_with("(")) out.precedence = Precedence::unary;
  return out;
}

Text Printing::load(const Expr& e) {
  TANG_ASSERT(body.buffers != nullptr, "a load in a function");
  body.buffer_used[e.buffer()] = true;
  const std::string& name = body.buffer_names[e.buffer()];
  const ElementSpelling element = body.dialect.element((*body.buffers)[e.buffer()].type, e.type);
  body.needs.add(element.read);
  Text address = body.form_printer().print(e.form());
  if (element.packed) return apply(element.read, {{.text = name}, std::move(address)});
  Text out{.text = name + "[" + address.text + "]", .nesting = address.nesting + 1};
  return apply(element.read, {std::move(out)});
}

Text Printing::leaf(const Expr& e) {
  switch (e.op) {
    case Op::constant:
      return constant(e);
    case Op::form: {
      const Spelling conversion = body.dialect.conversion(Type::i64, e.type);
      return apply(conversion, {body.form_printer().print(e.form())});
    }
    case Op::scalar: {
      const Type type = scalar_parameter_type(body.module.scalars[e.index()].type);
      const Spelling conversion = body.dialect.conversion(type, e.type);
      return apply(conversion, {{.text = body.name_of({VarKind::scalar, e.index()})}});
    }
    case Op::variable:
      return {.text = body.variable_names[e.index()]};
    case Op::load:
      return load(e);
    default:
      TANG_PANIC("{} is no leaf of a kernel", op_info(e.op).name);
  }
}

Text Printing::operand(ExprId id) {
  const Expr& e = exprs[id];
  if (e.op == Op::form) return leaf(e);
  Text& text = done.at(id);
  // A part with one use is not needed again.
  return uses.at(id) > 1 ? text : std::move(text);
}

// A form is converted from its 64 bits; a scalar from the type of its parameter.
Text Printing::cast(const Expr& e) {
  const Expr& a = exprs[e.args[0]];
  Type from = a.type;
  Text text;
  if (a.op == Op::form && e.type != Type::boolean) {
    from = Type::i64;
    text = body.form_printer().print(a.form());
  } else if (a.op == Op::scalar && is_real(a.type) && is_real(e.type)) {
    from = scalar_parameter_type(body.module.scalars[a.index()].type);
    text.text = body.name_of({VarKind::scalar, a.index()});
  } else {
    text = operand(e.args[0]);
  }
  const Spelling conversion = body.dialect.conversion(from, e.type);
  body.needs.add(conversion);
  return apply(conversion, {std::move(text)});
}

Text Printing::select(const Expr& e) {
  Text condition = at_least(operand(e.args[0]), Precedence::logic_or);
  Text yes = at_least(operand(e.args[1]), Precedence::logic_or);
  Text no = operand(e.args[2]);
  return {.text = condition.text + " ? " + yes.text + " : " + no.text,
          .precedence = Precedence::conditional,
          .nesting = std::max({condition.nesting, yes.nesting, no.nesting}) + 1};
}

Text Printing::arithmetic(const Expr& e) {
  const Type type = exprs[e.args[0]].type;
  Op op = e.op;
  std::vector<Text> args;
  for (size_t i = 0; i < e.n_args; ++i) args.push_back(operand(e.args[i]));
  // a + -c is a - c, in IEEE too.
  if ((op == Op::add || op == Op::sub) && is_real(type) && exprs.is_constant(e.args[1]) &&
      args[1].text.starts_with("-")) {
    op = op == Op::add ? Op::sub : Op::add;
    args[1] = {.text = args[1].text.substr(1)};
  }
  const Spelling spelling = body.dialect.operation(op, type);
  TANG_ASSERT(spelling.kind != Spelling::Kind::none, "{} of {} reached the printer of {}",
              op_info(op).name, type_name(type), body.dialect.name);
  body.needs.add(spelling);
  return apply(spelling, std::move(args));
}

Text Printing::spell(ExprId id) {
  const Expr& e = exprs[id];
  Text out;
  if (index_comparison(e, out)) return out;
  if (e.op == Op::select) return select(e);
  if (e.op == Op::cast) return cast(e);
  if (e.op == Op::bitcast) {
    const Spelling bits = body.dialect.same_bits(exprs[e.args[0]].type, e.type);
    body.needs.add(bits);
    return apply(bits, {operand(e.args[0])});
  }
  if (e.op == Op::call) {
    std::vector<Text> args;
    for (size_t i = 0; i < e.n_args; ++i) args.push_back(operand(e.args[i]));
    return call(body.functions[e.index()], std::move(args));
  }
  return e.n_args == 0 ? leaf(e) : arithmetic(e);
}

Text Printing::run(ExprId root) {
  const std::vector<ExprId> order = exprs.post_order({root});
  const kernel::Branches branches(exprs, root, order);
  for (const ExprId id : order)
    for (size_t i = 0; i < exprs[id].n_args; ++i) ++uses[exprs[id].args[i]];
  for (const ExprId id : order) {
    const Expr& e = exprs[id];
    if (e.op == Op::form && id != root) continue;  // printed where it is used
    Text text = spell(id);
    const size_t longest = uses[id] > 1 ? kMaxRepeated : kMaxLength;
    const bool long_winded = text.nesting > kMaxNesting || text.text.size() > longest;
    // What needs a guarded load stays within its guard, however long.
    if (id != root && e.n_args > 0 && long_winded && branches.is_safe(id)) {
      const std::string name = body.scope.name(e.type == Type::boolean ? "holds" : "t");
      body.out.line(body.dialect.variable(e.type, name, true) + " = " + text.text + ";");
      text = {.text = name};
    }
    done.insert_or_assign(id, std::move(text));
  }
  return std::move(done.at(root));
}

}  // namespace

std::string Body::name_of(Var v) {
  switch (v.kind) {
    case VarKind::dim:
      dim_used[v.index] = true;
      return dim_names[v.index];
    case VarKind::scalar:
      scalar_used[v.index] = true;
      return scalar_names[v.index];
    case VarKind::local:
      return variable_names[v.index];
    case VarKind::axis:
      break;
  }
  TANG_PANIC("an axis of the graph in kernel {}", v.index);
}

Type scalar_parameter_type(Type scalar) {
  return is_integer(scalar) ? Type::i64 : kernel::arithmetic_type(scalar);
}

Text print_expression(Body& body, ExprId root) {
  return Printing{.body = body, .exprs = body.module.exprs}.run(root);
}

}  // namespace tang::emit
