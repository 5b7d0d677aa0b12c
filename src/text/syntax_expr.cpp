// Expressions. Binary operators are grouped on an explicit stack, so that a sum of any length costs
// no recursion; brackets, prefixes, `? :` and `else` recurse, and their nesting is limited.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "text/syntax.h"
#include "text/syntax_parser.h"

namespace tang::syntax {

namespace {

std::optional<BinaryOp> binary_op(TokenKind kind) {
  switch (kind) {
    case TokenKind::star:
      return BinaryOp::mul;
    case TokenKind::slash:
      return BinaryOp::div;
    case TokenKind::percent:
      return BinaryOp::mod;
    case TokenKind::plus:
      return BinaryOp::add;
    case TokenKind::minus:
      return BinaryOp::sub;
    case TokenKind::shift_left:
      return BinaryOp::shl;
    case TokenKind::shift_right:
      return BinaryOp::shr;
    case TokenKind::amp:
      return BinaryOp::bit_and;
    case TokenKind::caret:
      return BinaryOp::bit_xor;
    case TokenKind::bar:
      return BinaryOp::bit_or;
    case TokenKind::equal:
      return BinaryOp::eq;
    case TokenKind::not_equal:
      return BinaryOp::ne;
    case TokenKind::less:
      return BinaryOp::lt;
    case TokenKind::less_equal:
      return BinaryOp::le;
    case TokenKind::greater:
      return BinaryOp::gt;
    case TokenKind::greater_equal:
      return BinaryOp::ge;
    case TokenKind::amp_amp:
      return BinaryOp::logical_and;
    case TokenKind::bar_bar:
      return BinaryOp::logical_or;
    default:
      return std::nullopt;  // most tokens are no binary operator
  }
}

}  // namespace

ExprNodeId Parser::add(Span span, ExprData data) {
  if (out_.exprs.size() >= kMaxExprNodes)
    fail("limit", span, fmt::format("a program has at most {} expression nodes", kMaxExprNodes));
  out_.exprs.push_back({.span = span, .data = std::move(data)});
  return ExprNodeId(out_.exprs.size() - 1);
}

ExprNodeId Parser::parse_sum() {
  return parse_binary(kSumPrecedence).id;
}

// What follows the `|` of a pair of brackets, if there is one. Further bars in it are bit-ors.
ExprNodeId Parser::parse_condition() {
  if (!accept(TokenKind::bar)) return {};
  const WithMode mode(*this, {});
  return parse_expr();
}

Parser::Operand Parser::parse_conditional() {
  const Operand condition = parse_binary(kLogicalOrPrecedence);
  if (!accept(TokenKind::question)) return condition;
  const Nested nested(*this);
  const Operand yes = parse_conditional();
  expect(TokenKind::colon);
  const Operand no = parse_conditional();
  const Span span = join(condition.outer, no.outer);
  const ExprNodeId id =
      add(span, Conditional{.condition = condition.id, .yes = yes.id, .no = no.id});
  return {.id = id, .outer = span};
}

// The operator that stands here, if it continues an expression of this level.
std::optional<Parser::PendingOp> Parser::binary_operator(int min_level) const {
  const Token& token = peek();
  const std::optional<BinaryOp> op = binary_op(token.kind);
  if (!op || precedence(*op) < min_level) return std::nullopt;
  if (mode_.bar_ends && token.kind == TokenKind::bar) return std::nullopt;
  if (mode_.modulus_ends && token.kind == TokenKind::percent && at(TokenKind::integer, 1) &&
      at(TokenKind::equal, 2))
    return std::nullopt;
  return PendingOp{.op = *op, .span = span_of(token), .level = precedence(*op)};
}

Parser::Operand Parser::parse_binary(int min_level) {
  const size_t n_pending = operators_.size();
  operands_.push_back(parse_unary());
  while (const std::optional<PendingOp> op = binary_operator(min_level)) {
    while (operators_.size() > n_pending && operators_.back().level >= op->level) reduce();
    operators_.push_back(*op);
    advance();
    operands_.push_back(parse_unary());
  }
  while (operators_.size() > n_pending) reduce();
  const Operand result = operands_.back();
  operands_.pop_back();
  return result;
}

// Joins the last two operands by the last pending operator.
void Parser::reduce() {
  const PendingOp op = operators_.back();
  operators_.pop_back();
  const Operand right = operands_.back();
  operands_.pop_back();
  const Operand left = operands_.back();
  if (failed_) return;  // its operands may be absent
  check_chained(op, left, right);
  const Span span = join(left.outer, right.outer);
  const ExprNodeId id =
      add(span, Binary{.op = op.op, .op_span = op.span, .left = left.id, .right = right.id});
  operands_.back() = {.id = id, .outer = span};
}

void Parser::check_chained(const PendingOp& op, Operand left, Operand right) {
  if (op.level != kComparisonPrecedence) return;
  const auto* inner = std::get_if<Binary>(&out_[left.id].data);
  const bool in_parentheses = left.outer != out_[left.id].span;
  if (!inner || in_parentheses || precedence(inner->op) != kComparisonPrecedence) return;
  const std::string middle = quoted(text_of(out_[inner->right].span));
  report("chained-comparison", op.span,
         fmt::format("comparisons do not chain; write {} {} {} && {} {} {}",
                     quoted(text_of(out_[inner->left].span)), spelling(inner->op), middle, middle,
                     spelling(op.op), quoted(text_of(right.outer))));
}

Parser::Operand Parser::parse_unary() {
  const uint32_t first = at_;
  while (at(TokenKind::minus) || at(TokenKind::bang)) advance();
  const uint32_t n_prefixes = at_ - first;
  const Nested nested(*this, n_prefixes);
  Operand operand = parse_primary();
  for (uint32_t i = n_prefixes; i-- > 0 && !failed_;) {
    const Token& token = tokens_[first + i];
    const UnaryOp op = token.kind == TokenKind::minus ? UnaryOp::neg : UnaryOp::logical_not;
    const Span span = join(span_of(token), operand.outer);
    const ExprNodeId id =
        add(span, Unary{.op = op, .op_span = span_of(token), .operand = operand.id});
    operand = {.id = id, .outer = span};
  }
  return operand;
}

Parser::Operand Parser::parse_primary() {
  switch (peek().kind) {
    case TokenKind::integer:
    case TokenKind::real:
      return parse_number();
    case TokenKind::word_inf:
      return parse_constant(Word::inf);
    case TokenKind::word_nan:
      return parse_constant(Word::nan);
    case TokenKind::word_true:
      return parse_constant(Word::true_);
    case TokenKind::word_false:
      return parse_constant(Word::false_);
    case TokenKind::name:
      return parse_name();
    case TokenKind::open_paren:
      if (partner(peek(), 1).kind == TokenKind::open_bracket) return parse_reduction();
      return parse_parenthesised();
    case TokenKind::word_else:
      fail_reserved(peek(), "a tensor");
      return {};
    default:
      fail_expected("an expression");
      return {};  // no other token begins one
  }
}

Parser::Operand Parser::parse_number() {
  const Token& token = peek();
  const Span span = span_of(token);
  advance();
  const std::string_view digits = text_of(token);
  if (token.kind == TokenKind::integer) {
    const bool hexadecimal = digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X');
    const int64_t value = integer_value(token);
    return {.id = add(span, Integer{.value = value, .hexadecimal = hexadecimal}), .outer = span};
  }
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc() || std::isinf(value))
    report("limit", span, fmt::format("{} is out of the range of a 64-bit real", quoted(digits)));
  return {.id = add(span, Real{.value = value}), .outer = span};
}

Parser::Operand Parser::parse_constant(Word word) {
  const Token& token = peek();
  const Span span = span_of(token);
  advance();
  if (at(TokenKind::open_bracket) || at(TokenKind::open_paren)) {
    fail_reserved(token, "a tensor");
    return {};
  }
  return {.id = add(span, Constant{.word = word}), .outer = span};
}

Parser::Operand Parser::parse_name() {
  const bool member = at(TokenKind::dot, 1);
  const size_t after = member ? 3 : 1;
  const Token& next = peek(after);
  if (next.kind == TokenKind::question && at(TokenKind::open_bracket, after + 1))
    return parse_read();
  if (next.kind == TokenKind::open_bracket) {
    if (!member && partner(next, 1).kind == TokenKind::open_paren) return parse_reduction();
    return parse_read();
  }
  if (next.kind == TokenKind::open_paren && !member) {
    if (partner(next, 1).kind == TokenKind::open_bracket) return parse_reduction();
    return parse_call();
  }
  const uint32_t first = at_;
  Name name = expect_name("a tensor");
  if (!member) {
    const Span span = name.span;
    return {.id = add(span, NameRef{.name = std::move(name)}), .outer = span};
  }
  expect(TokenKind::dot);
  Name part = expect_name("a component");
  const Span span = span_from(first);
  return {.id = add(span, Member{.base = std::move(name), .member = std::move(part)}),
          .outer = span};
}

Parser::Operand Parser::parse_parenthesised() {
  const Nested nested(*this);
  const WithMode mode(*this, {});
  const uint32_t first = open(TokenKind::open_paren);
  Operand inner = parse_conditional();
  if (at(TokenKind::comma))
    fail("tuple-in-expression", span_of(peek()),
         "a tuple is no value of an expression; it holds the values of one monoid");
  close(first, "an operator or ')'");
  inner.outer = span_from(first);
  return inner;
}

Parser::Operand Parser::parse_call() {
  const Nested nested(*this);
  const WithMode mode(*this, {});
  const uint32_t first = at_;
  Call call;
  call.function = expect_name("a function");
  const uint32_t opener = open(TokenKind::open_paren);
  while (!at(TokenKind::close_paren) && !failed_) {
    Argument argument;
    if (at(TokenKind::name) && at(TokenKind::assign, 1)) {
      argument.name = expect_name("a parameter");
      expect(TokenKind::assign);
    }
    argument.value = parse_expr();
    call.arguments.push_back(std::move(argument));
    if (!more_follows()) break;
  }
  close(opener, "an operator, ',' or ')'");
  const Span span = span_from(first);
  return {.id = add(span, std::move(call)), .outer = span};
}

Coord Parser::parse_coord() {
  const uint32_t first = at_;
  Coord coord;
  if (at(TokenKind::name) && at(TokenKind::ellipsis, 1)) {
    coord.rest = expect_name("an index");
    advance();
  } else {
    coord.value = parse_expr();
    coord.exact = accept_word("exact");
  }
  coord.span = span_from(first);
  return coord;
}

Parser::Operand Parser::parse_read() {
  const uint32_t first = at_;
  Read read;
  read.tensor = expect_name("a tensor");
  if (accept(TokenKind::dot)) read.member = expect_name("a component");
  read.guarded = accept(TokenKind::question);
  {
    const Nested nested(*this);
    const WithMode mode(*this, {.bar_ends = true});
    const uint32_t opener = open(TokenKind::open_bracket);
    while (!at(TokenKind::close_bracket) && !at(TokenKind::bar) && !failed_) {
      read.coords.push_back(parse_coord());
      if (!more_follows()) break;
    }
    read.condition = parse_condition();
    close(opener, read.condition.valid() ? "an operator or ']'" : "an operator, ',' or ']'");
    read.coords_span = span_from(opener);
  }
  Span span = span_from(first);
  if (accept(TokenKind::word_else)) {
    const Nested nested(*this);
    const Operand otherwise = parse_unary();
    read.otherwise = otherwise.id;
    span = join(span, otherwise.outer);
  }
  return {.id = add(span, std::move(read)), .outer = span};
}

Binder Parser::parse_binder(int range_level) {
  Binder binder;
  binder.name = expect_name("an index");
  binder.rest = accept(TokenKind::ellipsis);
  if (accept(TokenKind::colon)) binder.range = parse_binary(range_level).id;
  return binder;
}

// sum, or topk(2).
void Parser::parse_monoid(Reduction& reduction) {
  reduction.monoids.push_back(expect_name("a monoid"));
  reduction.arguments.emplace_back();
  if (!at(TokenKind::open_paren)) return;
  const WithMode mode(*this, {});
  const uint32_t opener = open(TokenKind::open_paren);
  reduction.arguments.back() = parse_expr();
  close(opener, "an operator or ')'");
}

Parser::Operand Parser::parse_reduction() {
  const uint32_t first = at_;
  const Nested nested(*this);
  Reduction reduction;
  if (at(TokenKind::open_paren)) {
    reduction.parenthesised = true;
    const uint32_t opener = open(TokenKind::open_paren);
    do {
      parse_monoid(reduction);
    } while (accept(TokenKind::comma));
    close(opener, "',' or ')'");
  } else {
    parse_monoid(reduction);
  }
  const uint32_t brackets = open(TokenKind::open_bracket);
  {
    const WithMode mode(*this, {.bar_ends = true});
    // Over no index it has one point; a pack of no dimensions comes to that.
    if (!at(TokenKind::close_bracket) && !at(TokenKind::bar)) do {
        reduction.binders.push_back(parse_binder(kBitOrPrecedence));
      } while (accept(TokenKind::comma));
    reduction.condition = parse_condition();
    close(brackets, reduction.condition.valid() ? "an operator or ']'" : "',', '|' or ']'");
  }
  const WithMode mode(*this, {});
  const uint32_t values = open(TokenKind::open_paren);
  do {
    reduction.values.push_back(parse_value());
  } while (accept(TokenKind::comma));
  close(values, "an operator, ',' or ')'");
  const Span span = span_from(first);
  return {.id = add(span, std::move(reduction)), .outer = span};
}

// `(v, k)` is a tuple where the parentheses are the whole value; `(v)` is an expression.
Value Parser::parse_value() {
  const uint32_t first = at_;
  Value value;
  const TokenKind after = partner(peek(), 1).kind;
  if (at(TokenKind::open_paren) && (after == TokenKind::comma || after == TokenKind::close_paren)) {
    const Nested nested(*this);
    const uint32_t opener = open(TokenKind::open_paren);
    value.parts = parse_exprs();
    value.tuple = value.parts.size() > 1;
    close(opener, "an operator, ',' or ')'");
  } else {
    value.parts.push_back(parse_expr());
  }
  value.span = span_from(first);
  return value;
}

std::vector<ExprNodeId> Parser::parse_exprs() {
  std::vector<ExprNodeId> exprs;
  do {
    exprs.push_back(parse_expr());
  } while (accept(TokenKind::comma));
  return exprs;
}

}  // namespace tang::syntax
