// What was probably meant where a token was not expected: habits from Python, C, Fortran, einsum.
// A hint ends the sentence that names what was found, and is "" where nothing is likely.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/builtin.h"
#include "scalar/type.h"
#include "text/habits.h"
#include "text/syntax_parser.h"

namespace tang::syntax {

namespace {

bool is_monoid_name(std::string_view name) {
  const auto names = builtin_monoid_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool begins_operand(TokenKind kind) {
  return kind == TokenKind::name || kind == TokenKind::integer || kind == TokenKind::real ||
         kind == TokenKind::minus || kind == TokenKind::open_brace;
}

}  // namespace

std::string Parser::hint(std::string_view expected) const {
  const Token& token = tokens_[at_];
  if (ends_line() || at_ == item_start_) {
    if (token.kind == TokenKind::slash) return "; a comment begins with #";
    return hint_about_word(at_ > item_start_ ? text_of(tokens_[at_ - 1]) : "");
  }
  const Token& before = tokens_[at_ - 1];
  const bool adjacent = before.end == token.begin;
  const bool in_expression = expected.starts_with("an operator") || expected == "an expression";
  if (token.kind == TokenKind::name)
    if (std::string about = hint_about_word(text_of(token)); !about.empty()) return about;
  if (std::string about = hint_about_word(text_of(before)); !about.empty()) return about;
  if (expected.starts_with("'=' or")) return hint_about_left_side();
  if (mode_.bar_ends) return hint_about_coordinates(expected);
  switch (token.kind) {
    case TokenKind::star:
      if (before.kind == TokenKind::star && adjacent) return "; a power is written pow(x, n)";
      break;
    case TokenKind::slash:
      if (before.kind == TokenKind::slash && adjacent)
        return "; integers divide downwards with one /";
      break;
    case TokenKind::equal:
    case TokenKind::assign: {
      const std::string_view word = text_of(tokens_[item_start_]);
      if (word == "dim")
        return fmt::format("; a fixed size is a const: const {} = …", text_of(before));
      if (word == "output") return "; a definition stands on a line of its own";
      if (word == "input" || word == "inout") return "; values are given when the program runs";
      if (word == "fn") return "; a body stands in braces: { return … }";
      if (in_expression && token.kind == TokenKind::assign) return "; a comparison is written ==";
      break;
    }
    case TokenKind::open_bracket:
      if (before.kind == TokenKind::close_bracket)
        return "; all coordinates of a read stand in one pair of brackets";
      if (text_of(tokens_[item_start_]) == "output")
        return "; an output is named without its indices";
      if (expected == "':'") return "; the shape follows the type, as in x: f32[4]";
      if (expected == "an expression")
        return "; there are no lists: a tensor is an input or defined";
      break;
    case TokenKind::open_paren:
      if (type_from_name(std::string(text_of(before)))) return "; a shape stands in brackets";
      if (at_ >= item_start_ + 2 && tokens_[at_ - 2].kind == TokenKind::dot)
        return fmt::format("; a function has no prefix: {}(…)", text_of(before));
      break;
    case TokenKind::colon:
      if (text_of(tokens_[item_start_]) == "fn" && expected == "',' or ')'")
        return "; a parameter has no type";
      if (expected == "'{'") return "; a block stands in braces";
      break;
    case TokenKind::minus:
      if (expected == "'{'") return "; what a function returns has no type";
      break;
    case TokenKind::open_brace:
      if (text_of(tokens_[item_start_]) == "for") return "; a range is written 0..n";
      if (expected == "'('") return "; parameters stand in parentheses, as in fn f(x)";
      if (is_monoid_name(text_of(before)))
        return fmt::format("; indices stand in brackets: {}[i](…)", text_of(before));
      break;
    case TokenKind::word_else:
      return "; else follows a read, as in x[i - 1] else 0";
    case TokenKind::name:
      if (defines_here() && in_expression) return "; items on one line are separated by ;";
      if (expected == "':'") return "; a declaration is written name: type, as in input x: f32[4]";
      break;
    case TokenKind::string:
      return "; strings name imported files only";
    default:
      break;  // most tokens tell nothing
  }
  // sum[i] x[i]
  if (before.kind == TokenKind::close_bracket && begins_operand(token.kind) &&
      before.match != Token::kNoMatch && before.match > item_start_) {
    const std::string_view name = text_of(tokens_[before.match - 1]);
    if (is_monoid_name(name))
      return fmt::format("; what {0} folds stands in parentheses: {0}[…](…)", name);
  }
  return "";
}

// Whether what was found begins a definition.
bool Parser::defines_here() const {
  const uint32_t next = at_ + 1;
  const bool brackets = tokens_[next].kind == TokenKind::open_bracket;
  return (brackets ? partner(tokens_[next], 1) : tokens_[next]).kind == TokenKind::assign;
}

// Of a word that was found, or stands before what was.
std::string Parser::hint_about_word(std::string_view word) const {
  if (word == "and") return "; and is written &&";
  if (word == "or") return "; or is written ||";
  if (word == "not") return "; not is written !";
  if (word == "if" || word == "then") return "; a choice is written condition ? a : b";
  if (word == "lambda")
    return "; a function is declared on a line of its own: fn f(a) { return … }";
  return "";
}

// In the brackets of a read, a left side or a reduction.
std::string Parser::hint_about_coordinates(std::string_view expected) const {
  const Token& token = tokens_[at_];
  if (token.kind == TokenKind::colon || token.kind == TokenKind::ellipsis)
    return "; there are no slices: each dimension takes an index, as in y[i] = x[i,0]";
  if (text_of(token) == "in" || token.kind == TokenKind::range ||
      token.kind == TokenKind::closed_range)
    return "; an index runs from 0, and its range is written i: n";
  if (token.kind == TokenKind::assign)
    return expected.starts_with("an operator") ? "; a comparison is written =="
                                               : "; a range is written i: n";
  if (token.kind == TokenKind::less || token.kind == TokenKind::less_equal ||
      token.kind == TokenKind::greater || token.kind == TokenKind::greater_equal)
    return "; a condition follows a bar, as in sum[i | i < n](…)";
  return "";
}

// After a name, or a name and brackets, at the beginning of a line.
std::string Parser::hint_about_left_side() const {
  const Token& token = tokens_[at_];
  const std::string_view word = text_of(tokens_[item_start_]);
  if (token.kind == TokenKind::name) {
    if (const std::string_view meant = item_of_habit(word); !meant.empty())
      return fmt::format("; {}", meant);
    return "";
  }
  switch (token.kind) {
    case TokenKind::equal:
      return "; a definition has one =";
    case TokenKind::colon:
      return "; a storage type stands at the output, as in output y: f16";
    case TokenKind::open_paren:
      return "; indices stand in brackets";
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::star:
    case TokenKind::slash:
      return "; a tensor is defined once, and sums are reductions: y[i] = sum[k](…)";
    default:
      return "";
  }
}

}  // namespace tang::syntax
