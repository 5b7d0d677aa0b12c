// The entry point, and what all parts of the parser share: tokens, errors, and going on after one.
#include "text/syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "text/lexer.h"
#include "text/syntax_parser.h"

namespace tang::syntax {

namespace {

constexpr size_t kMaxQuoted = 40;  // bytes of the program that a message repeats

bool is_reserved(TokenKind kind) {
  return kind >= TokenKind::word_else && kind <= TokenKind::word_false;
}

bool starts_line(const Token& token) {
  return token.first_on_line;
}

}  // namespace

const char* spelling(UnaryOp op) {
  switch (op) {
    case UnaryOp::neg:
      return "-";
    case UnaryOp::logical_not:
      return "!";
  }
  return "";
}

const char* spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::mul:
      return "*";
    case BinaryOp::div:
      return "/";
    case BinaryOp::mod:
      return "%";
    case BinaryOp::add:
      return "+";
    case BinaryOp::sub:
      return "-";
    case BinaryOp::shl:
      return "<<";
    case BinaryOp::shr:
      return ">>";
    case BinaryOp::bit_and:
      return "&";
    case BinaryOp::bit_xor:
      return "^";
    case BinaryOp::bit_or:
      return "|";
    case BinaryOp::eq:
      return "==";
    case BinaryOp::ne:
      return "!=";
    case BinaryOp::lt:
      return "<";
    case BinaryOp::le:
      return "<=";
    case BinaryOp::gt:
      return ">";
    case BinaryOp::ge:
      return ">=";
    case BinaryOp::logical_and:
      return "&&";
    case BinaryOp::logical_or:
      return "||";
  }
  return "";
}

int precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::mod:
      return 10;
    case BinaryOp::add:
    case BinaryOp::sub:
      return kSumPrecedence;
    case BinaryOp::shl:
    case BinaryOp::shr:
      return 8;
    case BinaryOp::bit_and:
      return 7;
    case BinaryOp::bit_xor:
      return 6;
    case BinaryOp::bit_or:
      return kBitOrPrecedence;
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return kComparisonPrecedence;
    case BinaryOp::logical_and:
      return 3;
    case BinaryOp::logical_or:
      return kLogicalOrPrecedence;
  }
  return 0;
}

std::optional<File> parse_syntax(const Sources& sources, uint32_t file, Diagnostics& diagnostics) {
  const size_t n_before = diagnostics.n_errors();
  const Lexed lexed = lex(sources, file, diagnostics);
  if (diagnostics.n_errors() - n_before > kMaxSyntaxErrors) return std::nullopt;
  File out = Parser(sources.text(file), file, lexed, diagnostics).run();
  if (diagnostics.n_errors() != n_before) return std::nullopt;
  return out;
}

File Parser::run() {
  out_.top = parse_items(Context::file);
  return std::move(out_);
}

// ---- Tokens ------------------------------------------------------------------------------------

const Token& Parser::peek(size_t ahead) const {
  const size_t last = tokens_.size() - 1;
  return tokens_[failed_ ? last : std::min(at_ + ahead, last)];
}

// What stands so many tokens after the partner of a bracket; the end if it has none.
const Token& Parser::partner(const Token& bracket, size_t ahead) const {
  const size_t last = tokens_.size() - 1;
  return tokens_[std::min(bracket.match == Token::kNoMatch ? last : bracket.match + ahead, last)];
}

bool Parser::at_word(std::string_view word) const {
  return at(TokenKind::name) && text_of(peek()) == word;
}

bool Parser::accept(TokenKind kind) {
  if (failed_ || !at(kind)) return false;
  advance();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  advance();
  return true;
}

bool Parser::accept_word_here(std::string_view word) {
  return !peek().first_on_line && accept_word(word);
}

void Parser::expect(TokenKind kind) {
  if (accept(kind)) return;
  const std::string_view text = spelling(kind);
  fail_expected(kind == TokenKind::string ? std::string(text) : fmt::format("'{}'", text));
}

bool Parser::more_follows() {
  if (!accept(TokenKind::comma)) return false;
  const Token& next = peek();
  if (next.match != Token::kNoMatch && next.match < at_)
    fail("syntax", span_of(tokens_[at_ - 1]), "nothing follows this comma");
  return true;
}

// Its position, for close().
uint32_t Parser::open(TokenKind kind) {
  const uint32_t position = at_;
  expect(kind);
  return position;
}

// The lexer has paired the bracket, so anything but its partner stands where it should not.
void Parser::close(uint32_t opener, std::string_view expected) {
  if (failed_) return;
  if (tokens_[opener].match == at_) return advance();
  fail_expected(expected, opener);
}

Name Parser::expect_name(const char* what) {
  const Token& token = peek();
  if (token.kind == TokenKind::name) {
    advance();
    return {.text = std::string(text_of(token)), .span = span_of(token)};
  }
  if (is_reserved(token.kind)) {
    fail_reserved(token, what);
  } else if (token.kind == TokenKind::underscore && !failed_) {
    fail("syntax", span_of(token), "_ is no name; it stands on the left and drops a result");
  } else {
    fail_expected(fmt::format("the name of {}", what));
  }
  return {};
}

int64_t Parser::expect_integer() {
  const Token& token = peek();
  if (!accept(TokenKind::integer)) {
    fail_expected("an integer");
    return 0;
  }
  const int64_t value = integer_value(token);
  // Eight hexadecimal digits may be a negative number, which has no spelling here.
  if (value < 0)
    report("bad-number", span_of(token),
           fmt::format("{} is {}, and no negative number can stand here", text_of(token), value));
  return value;
}

int64_t Parser::integer_value(const Token& token) {
  std::string_view digits = text_of(token);
  if (digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X')) {
    uint32_t bits = 0;
    std::from_chars(digits.data() + 2, digits.data() + digits.size(), bits, 16);
    return static_cast<int32_t>(bits);
  }
  int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc())
    report("limit", span_of(token), fmt::format("{} does not fit 64 bits", quoted(digits)));
  return value;
}

std::string_view Parser::text_of(const Token& token) const {
  return text_.substr(token.begin, token.end - token.begin);
}

std::string_view Parser::text_of(Span span) const {
  return text_.substr(span.begin, span.end - span.begin);
}

Span Parser::span_of(const Token& token) const {
  return {.file = out_.file, .begin = token.begin, .end = token.end};
}

Span Parser::span_from(uint32_t first) const {
  if (at_ <= first) return span_of(tokens_[first]);
  return join(span_of(tokens_[first]), span_of(tokens_[at_ - 1]));
}

// ---- Errors ------------------------------------------------------------------------------------

// So much of the program as a message can repeat: a piece of one line.
std::string quoted(std::string_view text) {
  const std::string_view line = text.substr(0, text.find_first_of("#\n"));
  if (line.size() == text.size() && text.size() <= kMaxQuoted) return std::string(text);
  return fmt::format("{}…", line.substr(0, kMaxQuoted));
}

Diagnostic& Parser::report(const char* name, Span span, std::string message) {
  ++n_errors_;
  return diagnostics_.error(name, span, std::move(message));
}

// `about`: the token that a note points to when it stands on an earlier line.
void Parser::fail(const char* name, Span span, std::string message, uint32_t about) {
  if (failed_) return;
  failed_ = true;
  // What an earlier error of this item leads to is no news.
  if (std::any_of(tokens_.begin() + item_start_, tokens_.begin() + at_ + 1,
                  [](const Token& token) { return token.faulty; }))
    return;
  Diagnostic& d = report(name, span, std::move(message));
  const bool later_line =
      at_ > about && std::any_of(tokens_.begin() + about + 1, tokens_.begin() + at_, starts_line);
  if (later_line) d.notes.push_back({span_of(tokens_[about]), "it belongs to what begins here"});
}

void Parser::fail(const char* name, Span span, std::string message) {
  fail(name, span, std::move(message), item_start_);
}

void Parser::fail_expected(std::string_view expected) {
  fail_expected(expected, item_start_);
}

void Parser::fail_expected(std::string_view expected, uint32_t about) {
  if (failed_) return;
  Span span = span_of(tokens_[at_]);
  if (ends_line()) {
    const uint32_t after = tokens_[at_ - 1].end;
    span = {.file = out_.file, .begin = after, .end = after};
  }
  fail("syntax", span, fmt::format("expected {}, found {}{}", expected, found(), hint(expected)),
       about);
}

// Whether what was found is that the line ended, rather than what begins the next one.
bool Parser::ends_line() const {
  const Token& token = tokens_[at_];
  return at_ > item_start_ && (token.first_on_line || token.kind == TokenKind::end);
}

std::string Parser::found() const {
  const Token& token = tokens_[at_];
  if (token.kind == TokenKind::end) return std::string(spelling(token.kind));
  if (ends_line()) return "the end of the line";
  return fmt::format("'{}'", quoted(text_of(token)));
}

void Parser::fail_nesting() {
  fail("limit", span_of(tokens_[at_]),
       fmt::format("brackets, blocks, unary operators, ?: and else nest more than {} deep here",
                   kMaxNesting));
}

void Parser::fail_reserved(const Token& token, const char* what) {
  fail("reserved-word", span_of(token),
       fmt::format("{} is a word of the language and cannot be {}", text_of(token), what));
}

// Skips the rest of the item that begins at `start`: to a line after the error that stands in none
// of the item's brackets and begins like an item, or to the end of the block around.
void Parser::recover(uint32_t start) {
  const uint32_t error = at_;
  const auto last = static_cast<uint32_t>(tokens_.size() - 1);
  failed_ = false;
  if (n_errors_ > kMaxSyntaxErrors) {
    report("limit", span_of(tokens_[error]), "too many errors; reading ends here");
    at_ = last;
    return;
  }
  for (at_ = start; at_ < last; ++at_) {
    const Token& token = tokens_[at_];
    const bool begins =
        token.kind == TokenKind::name || token.kind == TokenKind::underscore || token.faulty;
    if (at_ >= error && at_ > start && token.first_on_line && begins) return;
    if (token.match == Token::kNoMatch) continue;
    if (token.match > at_)
      at_ = token.match;
    else if (token.kind == TokenKind::close_brace)
      return;  // of the block around, since the item's own are jumped over
  }
}

}  // namespace tang::syntax
