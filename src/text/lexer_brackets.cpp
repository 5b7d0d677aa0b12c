// Which brackets belong together, and which one the user forgot when they do not.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "text/lexer.h"

namespace tang::syntax {

namespace {

std::optional<TokenKind> closer_of(TokenKind kind) {
  if (kind == TokenKind::open_paren) return TokenKind::close_paren;
  if (kind == TokenKind::open_bracket) return TokenKind::close_bracket;
  if (kind == TokenKind::open_brace) return TokenKind::close_brace;
  return std::nullopt;
}

bool is_closer(TokenKind kind) {
  return kind == TokenKind::close_paren || kind == TokenKind::close_bracket ||
         kind == TokenKind::close_brace;
}

// Pairs brackets. A bracket without a partner is faulty.
class Matcher {
 public:
  Matcher(std::vector<Token>& tokens, uint32_t file, Diagnostics& diagnostics)
      : tokens_(tokens), file_(file), diagnostics_(diagnostics) {}

  void run() {
    for (uint32_t i = 0; i < tokens_.size() && n_errors_ <= kMaxSyntaxErrors; ++i) {
      if (closer_of(tokens_[i].kind))
        open_.push_back(i);
      else if (is_closer(tokens_[i].kind))
        close(i);
    }
    for (uint32_t i : open_)
      if (n_errors_ <= kMaxSyntaxErrors) never_closed(i);
  }

 private:
  void close(uint32_t i) {
    const TokenKind kind = tokens_[i].kind;
    if (!open_.empty() && closer_of(tokens_[open_.back()].kind) == kind) return pair(i);
    // What stands open inside a bracket that this one closes was forgotten. But brackets within a
    // block cannot close it, and a block cannot be closed by them.
    size_t partner = open_.size();
    bool found = false;
    while (partner > 0 && !found) {
      const TokenKind opener = tokens_[open_[partner - 1]].kind;
      found = closer_of(opener) == kind;
      if (!found && opener == TokenKind::open_brace) break;
      if (!found) --partner;
    }
    if (found) {
      while (open_.size() > partner) {
        never_closed(open_.back(), i);
        open_.pop_back();
      }
      return pair(i);
    }
    Token& token = tokens_[i];
    token.faulty = true;
    Diagnostic& d = error(token, fmt::format("this {} closes nothing", spelling(kind)));
    if (open_.empty() || tokens_[open_.back()].kind == TokenKind::open_brace) return;
    // Most likely the wrong shape was typed: take it as closing what stands open.
    Token& opened = tokens_[open_.back()];
    d.notes.push_back(
        {span(opened), fmt::format("the {} that stands open", spelling(opened.kind))});
    opened.faulty = true;
    pair(i);
  }

  void pair(uint32_t i) {
    tokens_[i].match = open_.back();
    tokens_[open_.back()].match = i;
    open_.pop_back();
  }

  void never_closed(uint32_t opener, uint32_t instead = Token::kNoMatch) {
    Token& token = tokens_[opener];
    token.faulty = true;
    Diagnostic& d = error(token, fmt::format("this {} is never closed", spelling(token.kind)));
    if (instead == Token::kNoMatch) return;
    d.notes.push_back({span(tokens_[instead]), fmt::format("this {} closes what is around it",
                                                           spelling(tokens_[instead].kind))});
  }

  Span span(const Token& token) const {
    return {.file = file_, .begin = token.begin, .end = token.end};
  }
  Diagnostic& error(const Token& token, std::string message) {
    ++n_errors_;
    return diagnostics_.error("unbalanced", span(token), std::move(message));
  }

  std::vector<Token>& tokens_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  std::vector<uint32_t> open_;
  size_t n_errors_ = 0;
};

}  // namespace

void match_brackets(std::vector<Token>& tokens, uint32_t file, Diagnostics& diagnostics) {
  Matcher(tokens, file, diagnostics).run();
}

}  // namespace tang::syntax
