// Items: what a line of a program can be. All words but the five reserved ones mean something only
// in their place, so a word begins an item of its own kind only where a name follows on its line.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/syntax.h"
#include "text/syntax_parser.h"

namespace tang::syntax {

namespace {

const char* describe(Context context) {
  switch (context) {
    case Context::file:
      return "outside of functions and monoids";
    case Context::function:
      return "in a function, which holds definitions, updates, const, for, grad and return";
    case Context::monoid:
      return "in a monoid's block, which holds definitions and return";
    case Context::loop:
      return "in a loop, which holds definitions, updates, const, for and grad";
    case Context::entry:
      return "in an entry, which holds declarations, assumptions, definitions, updates, for, grad, "
             "outputs and schedules";
  }
  return "";
}

// Whether a word at the beginning of an item is its keyword, by the token after it.
bool begins_item(std::string_view word, const Token& next) {
  const TokenKind kind = next.kind;
  if (word == "return") {  // wherever it can be no left side
    return kind != TokenKind::open_bracket && kind != TokenKind::assign &&
           kind != TokenKind::comma && kind != TokenKind::update && kind != TokenKind::question;
  }
  if (next.first_on_line) return false;
  // A reserved word, `_` or something faulty cannot follow a left side's name: the keyword's own
  // error says more.
  if (kind == TokenKind::name || kind == TokenKind::invalid || kind == TokenKind::underscore ||
      (kind >= TokenKind::word_else && kind <= TokenKind::word_false))
    return true;
  if (word == "import") return kind == TokenKind::string;
  if (word != "assume") return false;
  return kind == TokenKind::integer || kind == TokenKind::real || kind == TokenKind::open_paren ||
         kind == TokenKind::minus || kind == TokenKind::bang;
}

}  // namespace

// ---- Lists of items ----------------------------------------------------------------------------

// Up to the brace that closes the block, or the end of the file.
Block Parser::parse_items(Context context) {
  Block block;
  const uint32_t outer_start = item_start_;
  while (true) {
    while (accept(TokenKind::semicolon)) {
    }
    if (at(TokenKind::end)) break;
    if (at(TokenKind::close_brace)) {
      if (context != Context::file) break;
      advance();  // closes nothing, or an item given up: reported either way
      continue;
    }
    item_start_ = at_;
    const ItemId item = parse_item(context);
    end_of_item(context);
    if (failed_)
      recover(item_start_);
    else
      block.items.push_back(item);
  }
  item_start_ = outer_start;
  return block;
}

Block Parser::parse_block(Context context) {
  const Nested nested(*this);
  const uint32_t opener = open(TokenKind::open_brace);
  const bool unclosed = tokens_[opener].match == Token::kNoMatch;
  n_unclosed_ += unclosed;
  Block block = parse_items(context);
  n_unclosed_ -= unclosed;
  close(opener, "an item or '}'");
  block.span = span_from(opener);
  return block;
}

// Where an operator ended a line, and what it then took for its operand begins an item, by its
// word's column: that line; else the first.
uint32_t Parser::line_without_operand() const {
  const auto column = [&](const Token& token) {
    return token.begin - (text_.substr(0, token.begin).rfind('\n') + 1);
  };
  for (uint32_t i = at_; i-- > item_start_ + 1;) {
    if (!tokens_[i].first_on_line) continue;
    const TokenKind last = tokens_[i - 1].kind;
    const bool open = last == TokenKind::comma || last == TokenKind::question ||
                      last == TokenKind::colon || last >= TokenKind::assign;
    const bool item =
        tokens_[i].kind == TokenKind::name && column(tokens_[i]) <= column(tokens_[item_start_]);
    return open && item ? i : item_start_;
  }
  return item_start_;
}

void Parser::end_of_item(Context context) {
  if (failed_ || peek().first_on_line || at(TokenKind::end) || at(TokenKind::semicolon)) return;
  if (at(TokenKind::close_brace) && context != Context::file) return;
  if (const uint32_t line = line_without_operand(); line != item_start_) {
    at_ = line;
    const Token& before = tokens_[line - 1];
    if (before.kind == TokenKind::comma)
      return fail("syntax", span_of(before), "nothing follows this comma");
    return fail_expected("an expression");
  }
  const bool after_block = tokens_[at_ - 1].kind == TokenKind::close_brace;
  fail_expected(after_block ? "the end of the line" : "an operator or the end of the line");
}

ItemId Parser::parse_item(Context context) {
  const uint32_t first = at_;
  ItemData data = parse_item_data(context);
  out_.items.push_back({.span = span_from(first), .data = std::move(data)});
  return ItemId(out_.items.size() - 1);
}

ItemData Parser::parse_item_data(Context context) {
  if (!at(TokenKind::name)) return parse_assignment(context);
  const std::string_view word = text_of(peek());
  const auto keyword = std::find_if(kKeywords.begin(), kKeywords.end(),
                                    [&](const Keyword& k) { return k.word == word; });
  if (keyword == kKeywords.end() || !begins_item(word, peek(1))) return parse_assignment(context);
  check_place(word, keyword->contexts, context);
  advance();
  if (word == "dim") return parse_dims();
  if (word == "assume") return Assume{.condition = parse_expr()};
  if (word == "const") return parse_consts();
  if (word == "input" || word == "inout") return parse_tensors(word == "inout");
  if (word == "scalar") return parse_scalars();
  if (word == "output") return parse_outputs();
  if (word == "import") return parse_import();
  if (word == "fn") return parse_function();
  if (word == "return") return parse_return();
  if (word == "monoid") return parse_monoid();
  if (word == "entry") return parse_entry();
  if (word == "for") return parse_loop();
  if (word == "grad") return parse_grad();
  return parse_schedule();
}

// The item is read all the same.
void Parser::check_place(std::string_view word, unsigned contexts, Context context) {
  if (contexts & bit(context) || n_unclosed_ > 0) return;  // else it may stand behind the block
  report("misplaced-item", span_of(peek()),
         fmt::format("{} cannot stand {}", word, describe(context)));
}

// ---- Declarations ------------------------------------------------------------------------------

std::vector<Name> Parser::parse_names(const char* what) {
  std::vector<Name> names;
  do {
    names.push_back(expect_name(what));
  } while (accept(TokenKind::comma));
  return names;
}

Range Parser::parse_range(bool modulus_ends) {
  const uint32_t first = at_;
  Range range;
  range.low = parse_sum();
  range.closed = at(TokenKind::closed_range);
  if (!accept(TokenKind::closed_range) && !accept(TokenKind::range)) fail_expected("'..' or '..='");
  const WithMode mode(*this, {.modulus_ends = modulus_ends});
  range.high = parse_sum();
  range.span = span_from(first);
  return range;
}

// In the brackets that open here.
std::vector<ExprNodeId> Parser::parse_shape() {
  const Nested nested(*this);
  std::vector<ExprNodeId> shape;
  const uint32_t opener = open(TokenKind::open_bracket);
  while (!at(TokenKind::close_bracket) && !failed_) {
    shape.push_back(parse_sum());
    if (!more_follows()) break;
  }
  close(opener, "an operator, ',' or ']'");
  return shape;
}

TypeRef Parser::parse_type() {
  TypeRef type;
  type.type = expect_name("a storage type");
  type.brackets = at(TokenKind::open_bracket);
  if (type.brackets) type.shape = parse_shape();
  return type;
}

ItemData Parser::parse_dims() {
  Dims item;
  do {
    item.dims.push_back(parse_dim());
  } while (accept(TokenKind::comma));
  return item;
}

DimDecl Parser::parse_dim() {
  DimDecl dim;
  dim.name = expect_name("a dimension");
  if (accept_word_here("in")) dim.range = parse_range(true);
  if (!at(TokenKind::percent)) return dim;
  const uint32_t first = at_;
  advance();
  dim.has_modulus = true;
  dim.modulus = expect_integer();
  expect(TokenKind::equal);
  dim.remainder = expect_integer();
  dim.modulus_span = span_from(first);
  return dim;
}

ItemData Parser::parse_consts() {
  Consts item;
  do {
    ConstDecl decl;
    decl.name = expect_name("a constant");
    expect(TokenKind::assign);
    decl.value = parse_expr();
    item.consts.push_back(std::move(decl));
  } while (accept(TokenKind::comma));
  return item;
}

ItemData Parser::parse_tensors(bool inout) {
  Tensors item;
  item.inout = inout;
  item.names = parse_names("a tensor");
  expect(TokenKind::colon);
  item.type = parse_type();
  if (accept_word_here("in")) item.range = parse_range();
  while (true) {
    if (accept_word_here("sorted"))
      item.sorted = true;
    else if (accept_word_here("distinct"))
      item.distinct = true;
    else
      return item;
  }
}

ItemData Parser::parse_scalars() {
  Scalars item;
  item.names = parse_names("a scalar");
  expect(TokenKind::colon);
  item.type = expect_name("a storage type");
  if (at(TokenKind::open_bracket)) {
    report("scalar-with-shape", span_of(peek()),
           fmt::format("{} is a scalar and has no shape; an array is an input",
                       item.names.front().text));
    parse_shape();
  }
  if (accept_word_here("in")) item.range = parse_range();
  return item;
}

ItemData Parser::parse_outputs() {
  Outputs item;
  item.names = parse_names("an output");
  if (accept(TokenKind::colon)) item.type = expect_name("a storage type");
  return item;
}

ItemData Parser::parse_import() {
  const Token& token = peek();
  expect(TokenKind::string);
  if (failed_) return Import{};
  const std::string_view quotes = text_of(token);
  return Import{
      .file = {.text = std::string(quotes.substr(1, quotes.size() - 2)), .span = span_of(token)}};
}

// ---- Functions, monoids, entries, loops --------------------------------------------------------

ItemData Parser::parse_function() {
  Function item;
  item.name = expect_name("a function");
  const uint32_t opener = open(TokenKind::open_paren);
  while (!at(TokenKind::close_paren) && !failed_) {
    item.params.push_back(parse_param());
    if (!more_follows()) break;
  }
  close(opener, "',' or ')'");
  item.body = parse_block(Context::function);
  return item;
}

Param Parser::parse_param() {
  Param param;
  param.name = expect_name("a parameter");
  if (accept(TokenKind::assign)) {
    param.initial = parse_expr();
    return param;
  }
  param.brackets = at(TokenKind::open_bracket);
  if (!param.brackets) return param;
  const Nested nested(*this);
  const uint32_t opener = open(TokenKind::open_bracket);
  while (!at(TokenKind::close_bracket) && !failed_) {
    ParamDim dim;
    if (at(TokenKind::name) && at(TokenKind::ellipsis, 1)) {
      dim.rest = expect_name("a dimension");
      advance();
    } else {
      dim.extent = parse_sum();
    }
    param.shape.push_back(std::move(dim));
    if (!more_follows()) break;
  }
  close(opener, "an operator, ',' or ']'");
  return param;
}

// `return (a, b)` is a tuple where the parentheses are all that is returned.
ItemData Parser::parse_return() {
  Return item;
  const uint32_t first = at_;
  const Token& after = partner(peek(), 1);
  const bool next_item =
      after.first_on_line && (after.kind == TokenKind::name || after.kind == TokenKind::underscore);
  const bool whole = next_item || after.kind == TokenKind::semicolon ||
                     after.kind == TokenKind::close_brace || after.kind == TokenKind::end;
  if (at(TokenKind::open_paren) && whole) {
    const Nested nested(*this);
    const uint32_t opener = open(TokenKind::open_paren);
    item.values.parts = parse_exprs();
    item.values.tuple = item.values.parts.size() > 1;
    close(opener, "an operator, ',' or ')'");
  } else {
    item.values.parts = parse_exprs();
  }
  item.values.span = span_from(first);
  return item;
}

ItemData Parser::parse_monoid() {
  Monoid item;
  item.name = expect_name("a monoid");
  const uint32_t opener = open(TokenKind::open_paren);
  do {
    item.components.push_back(parse_component());
  } while (accept(TokenKind::comma));
  close(opener, "',' or ')'");
  const Nested nested(*this);
  const uint32_t body = open(TokenKind::open_brace);
  while (!at(TokenKind::close_brace) && !at(TokenKind::end))
    if (!accept(TokenKind::semicolon)) parse_monoid_clause(item);
  close(body, "'}'");
  item.body = span_from(body);
  return item;
}

Component Parser::parse_component() {
  Component component;
  component.name = expect_name("a component");
  component.brackets = at(TokenKind::open_bracket);
  if (component.brackets) component.shape = parse_shape();
  if (accept(TokenKind::colon)) component.type = expect_name("a storage type");
  return component;
}

void Parser::parse_monoid_clause(Monoid& monoid) {
  const uint32_t first = at_;
  const auto once = [&](Span given) {
    if (!given.valid()) return;
    report("redefinition", span_of(tokens_[first]),
           fmt::format("{} is already given for {}", text_of(tokens_[first]), monoid.name.text))
        .notes.push_back({given, "it is first given here"});
  };
  if (accept_word("identity")) {
    once(monoid.identity.span);
    monoid.identity = parse_monoid_part(false);
    monoid.identity.span = span_from(first);
  } else if (accept_word("combine")) {
    once(monoid.combine.span);
    const uint32_t opener = open(TokenKind::open_paren);
    monoid.left = expect_name("a state");
    expect(TokenKind::comma);
    monoid.right = expect_name("a state");
    close(opener, "')'");
    monoid.combine = parse_monoid_part(true);
    monoid.combine.span = span_from(first);
  } else if (accept_word("commutative")) {
    once(monoid.commutative_span);
    monoid.commutative = true;
    monoid.commutative_span = span_from(first);
  } else {
    fail_expected("identity, combine or commutative");
  }
}

// A tuple, after `=` where it is assigned, or a block.
MonoidPart Parser::parse_monoid_part(bool assigned) {
  MonoidPart part;
  part.is_block = at(TokenKind::open_brace);
  if (part.is_block) {
    part.block = parse_block(Context::monoid);
    return part;
  }
  if (assigned && !accept(TokenKind::assign)) fail_expected("'=' or '{'");
  const Nested nested(*this);
  if (!at(TokenKind::open_paren)) fail_expected(assigned ? "'('" : "'(' or '{'");
  const uint32_t opener = open(TokenKind::open_paren);
  part.tuple = parse_exprs();
  close(opener, "an operator, ',' or ')'");
  return part;
}

ItemData Parser::parse_entry() {
  Entry item;
  item.name = expect_name("an entry point");
  item.body = parse_block(Context::entry);
  return item;
}

ItemData Parser::parse_loop() {
  Loop item;
  item.index = expect_name("a loop's counter");
  if (!accept_word("in")) fail_expected("in");
  item.range = parse_range();
  item.body = parse_block(Context::loop);
  return item;
}

// ---- Gradients and schedules -------------------------------------------------------------------

ItemData Parser::parse_grad() {
  Grad item;
  item.results = parse_names("a gradient");
  expect(TokenKind::assign);
  item.output = expect_name("a definition");
  if (!accept_word("wrt")) fail_expected("wrt");
  item.wrt = parse_names("a tensor");
  if (accept_word_here("seed")) item.seed = expect_name("a tensor");
  return item;
}

ItemData Parser::parse_schedule() {
  Schedule item;
  item.target = expect_name("a definition");
  if (accept_word("when")) item.when = parse_expr();
  const uint32_t opener = open(TokenKind::open_brace);
  bool more = !at(TokenKind::close_brace);
  while (more && !failed_) {
    std::vector<ScheduleWord> clause;
    while (at(TokenKind::name) || at(TokenKind::integer)) clause.push_back(parse_schedule_word());
    if (clause.empty()) fail_expected("a clause of the schedule");
    item.clauses.push_back(std::move(clause));
    more = accept(TokenKind::comma);
  }
  close(opener, "a word, a number, ',' or '}'");
  return item;
}

ScheduleWord Parser::parse_schedule_word() {
  const uint32_t first = at_;
  ScheduleWord word;
  if (at(TokenKind::integer)) {
    word.number = expect_integer();
  } else {
    word.name = expect_name("a clause");
    word.has_value = accept(TokenKind::assign);
    if (word.has_value && at(TokenKind::integer))
      word.number = expect_integer();
    else if (word.has_value)
      word.value = expect_name("a value");
  }
  word.span = span_from(first);
  return word;
}

}  // namespace tang::syntax
