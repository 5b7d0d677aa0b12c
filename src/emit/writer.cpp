#include "emit/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tang::emit {

namespace {

constexpr size_t kColumns = 100;
constexpr int kIndent = 2;
constexpr size_t kContinuation = 4;
constexpr size_t kAlignUpTo = 44;  // a bracket further right is not aligned with

// How well a line breaks at the space `i`: the loosest operator of the fewest brackets is best.
// Nothing where it may not. A break stands after a comma or a binary operator, before `?` and `:`.
std::optional<int> badness(std::string_view text, size_t i, int depth) {
  static constexpr std::pair<std::string_view, int> kOperators[] = {
      {"=", 0},  {"||", 2}, {"&&", 3}, {"|", 4},  {"^", 4}, {"&", 4},
      {"==", 5}, {"!=", 5}, {"<", 5},  {"<=", 5}, {">", 5}, {">=", 5},
      {"+=", 0}, {"+", 6},  {"-", 6},  {"*", 7},  {"/", 7}, {"%", 7}};
  if (text[i] != ' ' || i == 0 || i + 1 >= text.size()) return std::nullopt;
  const int base = 10 * depth;
  if (text[i - 1] == ',' || text[i - 1] == ';') return base;
  if (text.substr(i + 1, 2) == "? " || text.substr(i + 1, 2) == ": ") return base + 1;
  const size_t before = text.rfind(' ', i - 1);
  if (before == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(before + 1, i - before - 1);
  for (const auto& [op, precedence] : kOperators)
    if (word == op) return base + precedence;
  return std::nullopt;
}

struct Break {
  size_t at = 0;       // the space that becomes a line end; 0: none
  size_t bracket = 0;  // column after the innermost bracket around it; 0: none
};

// The best break that leaves at most `room` characters, the last of equals. An index is no good
// place; behind the assignment is the best one where the rest fits the next line, and else better
// than inside two brackets.
Break best_break(std::string_view text, size_t room, size_t next_room) {
  constexpr int kIndexDepth = 4, kLooseAssignment = 18;
  Break best;
  int best_badness = 0, depth = 0;
  std::vector<size_t> brackets;
  for (size_t i = 0; i < text.size() && i <= room; ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') brackets.push_back(i + 1);
    if ((c == ')' || c == ']') && !brackets.empty()) brackets.pop_back();
    depth += (c == '(') - (c == ')') + kIndexDepth * ((c == '[') - (c == ']'));
    std::optional<int> bad = badness(text, i, depth);
    if (!bad) continue;
    const bool assignment = *bad == 0 && text[i - 1] == '=';
    if (assignment && text.size() - i - 1 > next_room) bad = kLooseAssignment;
    if (best.at == 0 || *bad <= best_badness) {
      best = {i, brackets.empty() ? 0 : brackets.back()};
      best_badness = *bad;
    }
  }
  return best;
}

}  // namespace

void Writer::put(std::string_view text, size_t extra) {
  if (text.empty()) {
    text_ += '\n';
    return;
  }
  text_.append(static_cast<size_t>(depth_ * kIndent) + extra, ' ');
  text_ += text;
  text_ += '\n';
}

void Writer::line(std::string_view text) {
  size_t extra = 0;
  while (true) {
    const size_t indent = static_cast<size_t>(depth_ * kIndent) + extra;
    const size_t room = indent < kColumns ? kColumns - indent : 1;
    if (text.size() <= room) break;
    const size_t next_indent = static_cast<size_t>(depth_ * kIndent) + kContinuation;
    const size_t next_room = next_indent < kColumns ? kColumns - next_indent : 1;
    const Break b = best_break(text, room, next_room);
    if (b.at == 0) break;
    put(text.substr(0, b.at), extra);
    text.remove_prefix(b.at + 1);
    if (b.bracket != 0 && extra + b.bracket <= kAlignUpTo)
      extra += b.bracket;
    else
      extra = std::max(extra, kContinuation);
  }
  put(text, extra);
  at_block_start_ = false;
}

void Writer::line(std::string_view text, size_t width, std::string_view comment) {
  std::string whole = fmt::format("{:<{}}  // {}", text, width, comment);
  const bool fits = whole.size() + static_cast<size_t>(depth_ * kIndent) <= kColumns &&
                    whole.find('\n') == std::string::npos;
  if (fits && !comment.empty()) {
    put(whole, 0);
    at_block_start_ = false;
    return;
  }
  if (!comment.empty()) this->comment(comment);
  line(text);
}

void Writer::comment(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    // A backslash at the end of a // comment, or its trigraph, would join the next line to it.
    while (!part.empty() && (part.back() == '\\' || part.back() == '/' || part.back() == ' '))
      part.remove_suffix(1);
    std::string prefix = "// ";
    const size_t indent = std::min(part.find_first_not_of(' '), part.size());
    const std::string hang = "// " + std::string(indent == 0 ? 0 : indent + 4, ' ');
    while (true) {
      const size_t room = kColumns - prefix.size() - static_cast<size_t>(depth_ * kIndent);
      const size_t at = part.size() <= room ? std::string_view::npos : part.rfind(' ', room);
      if (at == std::string_view::npos || part.find_first_not_of(' ') >= at) break;
      put(prefix + std::string(part.substr(0, at)), 0);
      part.remove_prefix(at + 1);
      prefix = hang;
    }
    put(part.empty() ? "//" : prefix + std::string(part), 0);
  }
  at_block_start_ = false;
}

void Writer::blank() {
  if (!text_.empty() && !text_.ends_with("\n\n")) text_ += '\n';
}

void Writer::raw(std::string_view text) {
  text_ += text;
}

void Writer::open(std::string_view head) {
  line(std::string(head) + " {");
  ++depth_;
  at_block_start_ = true;
}

void Writer::close(std::string_view tail) {
  --depth_;
  line("}" + std::string(tail));
}

void Writer::close_and_open(std::string_view word) {
  --depth_;
  open("} " + std::string(word));
}

}  // namespace tang::emit
