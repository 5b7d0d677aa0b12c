// One pass over the bytes. A lexical error gives a faulty token, so that the parser can stay silent
// about what it leads to.
#include "text/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "text/habits.h"

namespace tang::syntax {

namespace {

constexpr std::array kSpellings = {
#define TOKEN(kind, spelling) std::string_view(spelling),
#include "text/tokens.def"
};

constexpr std::string_view spelled(TokenKind kind) {
  return kSpellings[static_cast<size_t>(kind)];
}

// Longer spellings stand before their prefixes.
constexpr std::array kPunctuation = {
    TokenKind::closed_range,  TokenKind::ellipsis,      TokenKind::range,
    TokenKind::update,        TokenKind::equal,         TokenKind::not_equal,
    TokenKind::less_equal,    TokenKind::greater_equal, TokenKind::shift_left,
    TokenKind::shift_right,   TokenKind::amp_amp,       TokenKind::bar_bar,
    TokenKind::open_paren,    TokenKind::close_paren,   TokenKind::open_bracket,
    TokenKind::close_bracket, TokenKind::open_brace,    TokenKind::close_brace,
    TokenKind::comma,         TokenKind::semicolon,     TokenKind::colon,
    TokenKind::question,      TokenKind::dot,           TokenKind::assign,
    TokenKind::plus,          TokenKind::minus,         TokenKind::star,
    TokenKind::slash,         TokenKind::percent,       TokenKind::caret,
    TokenKind::amp,           TokenKind::bar,           TokenKind::bang,
    TokenKind::less,          TokenKind::greater,
};

struct Spelled {
  std::string_view text;
  TokenKind kind;
};
constexpr auto kSpelled = [] {
  std::array<Spelled, kPunctuation.size()> out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = {spelled(kPunctuation[i]), kPunctuation[i]};
  return out;
}();

constexpr std::array kWords = {TokenKind::word_else, TokenKind::word_inf, TokenKind::word_nan,
                               TokenKind::word_true, TokenKind::word_false};

// Not <cctype>: the language's letters do not depend on a locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c);
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// The length of the UTF-8 character that begins `text`, 0 if there is none (RFC 3629, table 3-7 of
// the Unicode standard: no overlong forms, no surrogates, nothing above 10FFFF).
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

class Lexer {
 public:
  Lexer(std::string_view text, uint32_t file, Diagnostics& diagnostics)
      : text_(text), file_(file), diagnostics_(diagnostics) {}

  Lexed run() {
    if (text_.size() > kMaxFileBytes) {
      error("limit", 0, 1, fmt::format("a file has at most {} bytes", kMaxFileBytes));
      text_ = {};
    }
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // a byte order mark, which editors add
    while (skip_blanks() && n_errors_ <= kMaxSyntaxErrors) next();
    push(TokenKind::end, at_);
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  Diagnostic& error(const char* name, size_t begin, size_t end, std::string message) {
    ++n_errors_;
    return diagnostics_.error(name, span(begin, end), std::move(message));
  }
  Span span(size_t begin, size_t end) const {
    return {
        .file = file_, .begin = static_cast<uint32_t>(begin), .end = static_cast<uint32_t>(end)};
  }

  Token& push(TokenKind kind, size_t begin) {
    Token token;
    token.kind = kind;
    token.first_on_line = new_line_;
    token.begin = static_cast<uint32_t>(begin);
    token.end = static_cast<uint32_t>(at_);
    new_line_ = false;
    out_.tokens.push_back(token);
    return out_.tokens.back();
  }
  void push_invalid(size_t begin) { push(TokenKind::invalid, begin).faulty = true; }

  // Whether anything is left.
  bool skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        new_line_ = true;
      } else if (c == '#') {
        comment();
        --at_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return true;
      }
    }
    return false;
  }

  void comment() {
    const size_t begin = at_;
    bool reported = false;
    while (at_ < text_.size() && text_[at_] != '\n') {
      const size_t length = character_length(text_.substr(at_));
      if (length == 0 && !std::exchange(reported, true))
        error("bad-character", at_, at_ + 1, "this byte is not UTF-8");
      at_ += std::max<size_t>(length, 1);
    }
    size_t end = at_;
    while (end > begin && (text_[end - 1] == '\r' || text_[end - 1] == ' ')) --end;
    out_.comments.push_back({.span = span(begin, end), .own_line = new_line_});
  }

  void next() {
    const char c = peek();
    if (is_letter(c)) return name();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"') return string();
    for (const Spelled& s : kSpelled) {
      if (s.text[0] != c || text_.substr(at_, s.text.size()) != s.text) continue;
      const size_t begin = at_;
      at_ += s.text.size();
      push(s.kind, begin);
      return;
    }
    bad_characters();
  }

  void name() {
    const size_t begin = at_;
    while (is_word(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "_") {
      push(TokenKind::underscore, begin);
      return;
    }
    if (word.size() > kMaxNameBytes) {
      error("limit", begin, at_, fmt::format("a name has at most {} characters", kMaxNameBytes));
      return push_invalid(begin);
    }
    const auto reserved = std::find_if(kWords.begin(), kWords.end(),
                                       [&](TokenKind kind) { return spelled(kind) == word; });
    push(reserved == kWords.end() ? TokenKind::name : *reserved, begin);
  }

  // An integer, a real, or something that begins like one.
  void number() {
    const size_t begin = at_;
    TokenKind kind = TokenKind::integer;
    const char* hint = "";
    bool good = true;
    const auto digits = [&] {
      const size_t from = at_;
      while (is_digit(peek())) ++at_;
      return at_ - from;
    };
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
      const size_t from = at_;
      while (is_hex(peek())) ++at_;
      good = at_ > from && at_ - from <= 8;
      if (at_ - from > 8) hint = ": up to eight hexadecimal digits are the bits of an i32";
    } else {
      good = digits() > 0;
      if (!good) hint = "; a digit stands before the point too";
      if (peek() == '.' && peek(1) != '.') {  // `0..n` is a range
        ++at_;
        kind = TokenKind::real;
        if (digits() == 0) {
          good = false;
          hint = "; a digit stands after the point too";
        }
      }
      if (peek() == 'e' || peek() == 'E') {
        const bool sign = peek(1) == '+' || peek(1) == '-';
        if (is_digit(peek(sign ? 2 : 1))) {
          at_ += sign ? 2 : 1;
          kind = TokenKind::real;
          digits();
        }
      }
    }
    const auto goes_on = [&] { return is_word(peek()) || (peek() == '.' && is_digit(peek(1))); };
    if (good && !goes_on()) {
      push(kind, begin);
      return;
    }
    while (goes_on()) ++at_;
    const std::string_view shown = text_.substr(begin, std::min<size_t>(at_ - begin, 40));
    error("bad-number", begin, at_,
          fmt::format("{} is neither a number nor a name{}", shown, hint));
    push_invalid(begin);
  }

  // On one line, without escapes: it names a file.
  void string() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
    if (peek() != '"') {
      error("unbalanced", begin, begin + 1, "this \" is never closed");
      return push_invalid(begin);
    }
    ++at_;
    const std::string_view body = text_.substr(begin + 1, at_ - begin - 2);
    const bool printable =
        std::all_of(body.begin(), body.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!printable || body.empty()) {
      error("bad-character", begin, at_,
            body.empty() ? "this string names no file" : "a file's name is ASCII text here");
      return push_invalid(begin);
    }
    push(TokenKind::string, begin);
  }

  // A run of characters that mean nothing is one error.
  void bad_characters() {
    const size_t begin = at_;
    const auto meaningless = [&](char c) {
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#' || c == '"') return false;
      return !is_word(c) && !std::any_of(kSpelled.begin(), kSpelled.end(),
                                         [c](const Spelled& s) { return s.text[0] == c; });
    };
    const std::string_view rest = text_.substr(begin);
    const size_t length = character_length(rest);
    const auto code = static_cast<unsigned char>(rest[0]);
    std::string message;
    if (length == 0) {
      message = "this byte is not UTF-8";
    } else if (code < 0x20 || code == 0x7F) {
      message = fmt::format("the control character {:#04x} has no meaning here", code);
    } else {
      const std::string_view character = rest.substr(0, length);
      const std::string_view meant = character_of_habit(character);
      message = fmt::format("the character '{}' has no meaning here{}{}", character,
                            meant.empty() ? "" : "; ", meant);
    }
    error("bad-character", begin, begin + std::max<size_t>(length, 1), std::move(message));
    while (at_ < text_.size() && meaningless(text_[at_])) ++at_;
    push_invalid(begin);
  }

  std::string_view text_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  size_t n_errors_ = 0;
  bool new_line_ = true;
  Lexed out_;
};

}  // namespace

std::string_view spelling(TokenKind kind) {
  return spelled(kind);
}

Lexed lex(const Sources& sources, uint32_t file, Diagnostics& diagnostics) {
  Lexed out = Lexer(sources.text(file), file, diagnostics).run();
  match_brackets(out.tokens, file, diagnostics);
  return out;
}

}  // namespace tang::syntax
