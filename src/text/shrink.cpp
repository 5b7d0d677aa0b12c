#include "text/shrink.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "text/format.h"
#include "text/lexer.h"
#include "text/syntax.h"

namespace tang {

namespace {

constexpr size_t kLongestRun = 12;  // tokens that are left out together

using syntax::Token;
using syntax::TokenKind;

// The tokens of a program as text, each with whether it begins a line.
struct Word {
  std::string text;
  bool first_on_line = false;
  size_t match = SIZE_MAX;  // of a bracket
};

std::vector<Word> words_of(const std::string& text) {
  Sources sources;
  Diagnostics ignored;
  const syntax::Lexed lexed = syntax::lex(sources, sources.add("", text), ignored);
  std::vector<Word> words;
  for (const Token& token : lexed.tokens) {
    if (token.kind == TokenKind::end) break;
    words.push_back({.text = text.substr(token.begin, token.end - token.begin),
                     .first_on_line = token.first_on_line,
                     .match = token.match == Token::kNoMatch ? SIZE_MAX : token.match});
  }
  return words;
}

std::string text_of(const std::vector<Word>& words) {
  std::string text;
  for (const Word& word : words) {
    if (!text.empty()) text += word.first_on_line ? '\n' : ' ';
    text += word.text;
  }
  return text + "\n";
}

std::string formatted(const std::string& text) {
  Sources sources;
  Diagnostics ignored;
  const auto file = syntax::parse_syntax(sources, sources.add("", text), ignored);
  return file && !ignored.has_errors() ? syntax::format(sources, *file) : text;
}

class Shrinker {
 public:
  Shrinker(const std::function<bool(const std::string&)>& shows, int limit)
      : shows_(shows), limit_(limit) {}

  std::string run(const std::string& text) {
    best_ = words_of(text);
    if (!shows_(text_of(best_))) return text;  // a comment takes part
    for (bool smaller = true; smaller && limit_ > 0;) {
      const size_t before = best_.size();
      leave_out_items();
      follow_copies();
      put_constants();
      leave_out_tokens();
      smaller = best_.size() < before;
    }
    const std::string small = text_of(best_), neat = formatted(small);
    return shows_(neat) ? neat : small;
  }

 private:
  bool accept(const std::vector<Word>& words) {
    if (words.size() >= best_.size() || limit_-- <= 0) return false;
    const std::string text = text_of(words);
    if (!shows_(text)) return false;
    best_ = words_of(text);  // with its brackets matched
    return true;
  }

  // Where items begin: lines outside of brackets.
  static std::vector<size_t> items_of(const std::vector<Word>& words) {
    std::vector<size_t> begins;
    size_t closed = 0;  // the end of the bracket that was opened last at the outermost level
    for (size_t n = 0; n < words.size(); ++n) {
      if (n >= closed && words[n].first_on_line) begins.push_back(n);
      if (n >= closed && words[n].match != SIZE_MAX && words[n].match > n) closed = words[n].match;
    }
    begins.push_back(words.size());
    return begins;
  }

  static std::vector<Word> without(const std::vector<Word>& words, size_t begin, size_t end) {
    std::vector<Word> rest(words.begin(), words.begin() + static_cast<ptrdiff_t>(begin));
    rest.insert(rest.end(), words.begin() + static_cast<ptrdiff_t>(end), words.end());
    // A line goes on being one.
    if (begin < rest.size() && begin < words.size() && words[begin].first_on_line)
      rest[begin].first_on_line = true;
    return rest;
  }

  // Runs of items, half of them, a quarter, ... and one by one from the last.
  void leave_out_items() {
    std::vector<size_t> items = items_of(best_);
    for (size_t run = std::max<size_t>(1, items.size() / 2); run > 0; run /= 2)
      for (size_t n = items.size(); n-- > 0;) {
        if (n + run >= items.size()) continue;
        if (!accept(without(best_, items[n], items[n + run]))) continue;
        items = items_of(best_);
        n = std::min(n, items.size() - 1);
      }
  }

  // An item `y[i] = x[i]` or `y = x` is left out, and x stands for y.
  void follow_copies() {
    for (size_t n = 0; n + 2 < best_.size(); ++n) {
      if (!best_[n].first_on_line) continue;
      const std::vector<size_t> items = items_of(best_);
      const auto next = std::upper_bound(items.begin(), items.end(), n);
      const size_t length = next == items.end() ? 0 : *next - n, half = length / 2;
      if (length < 3 || length % 2 == 0 || best_[n + half].text != "=") continue;
      bool copy = true;
      for (size_t k = 1; k < half; ++k) copy &= best_[n + k].text == best_[n + half + 1 + k].text;
      if (!copy) continue;
      const std::string name = best_[n].text, source = best_[n + half + 1].text;
      std::vector<Word> rest = without(best_, n, n + length);
      for (Word& word : rest)
        if (word.text == name) word.text = source;
      if (accept(rest)) --n;
    }
  }

  // A parenthesis, and what it belongs to (a call, a reduction), becomes a constant or its inside.
  void put_constants() {
    for (size_t n = 0; n < best_.size(); ++n) {
      if (best_[n].text != "(" || best_[n].match == SIZE_MAX) continue;
      size_t begin = n;
      if (begin > 0 && best_[begin - 1].text == "]" && best_[begin - 1].match != SIZE_MAX)
        begin = best_[begin - 1].match;
      const bool named =
          begin > 0 && std::isalpha(static_cast<unsigned char>(best_[begin - 1].text[0])) != 0;
      if (named && !best_[begin].first_on_line) --begin;
      for (const char* constant : {"1.0", "1", "true", "0.5", "false"}) {
        std::vector<Word> rest = without(best_, begin, best_[n].match + 1);
        const Word word{.text = constant, .first_on_line = best_[begin].first_on_line};
        rest.insert(rest.begin() + static_cast<ptrdiff_t>(begin), word);
        if (accept(rest)) break;
      }
    }
  }

  void leave_out_tokens() {
    for (size_t run = kLongestRun; run > 0; --run)
      for (size_t n = best_.size(); n-- > 0;)
        if (n + run <= best_.size()) accept(without(best_, n, n + run));
  }

  const std::function<bool(const std::string&)>& shows_;
  int limit_;
  std::vector<Word> best_;
};

}  // namespace

std::string shrink(const std::string& text, const std::function<bool(const std::string&)>& shows,
                   int limit) {
  return Shrinker(shows, limit).run(text);
}

}  // namespace tang
