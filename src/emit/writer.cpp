#include "emit/writer.h"

#include <algorithm>

namespace tang::emit {

namespace {

constexpr size_t kColumns = 100;
constexpr int kIndent = 2;
constexpr int kContinuation = 4;

// Where `text` may be broken: after a comma, or before an operator that stands between spaces.
bool may_break_at(std::string_view text, size_t i) {
  if (text[i] != ' ' || i == 0 || i + 1 >= text.size()) return false;
  if (text[i - 1] == ',') return true;
  const size_t end = text.find(' ', i + 1);
  if (end == std::string_view::npos) return false;
  static constexpr std::string_view kOperators[] = {"+",  "-",  "*",  "/",  "%",  "?",
                                                    ":",  "&",  "|",  "^",  "<",  ">",
                                                    "==", "!=", "<=", ">=", "&&", "||"};
  const std::string_view word = text.substr(i + 1, end - i - 1);
  for (const std::string_view op : kOperators)
    if (word == op) return true;
  return false;
}

// The break with the fewest brackets around it among those that leave at most `room` characters on
// the line; the last of equals. 0 when there is none.
size_t best_break(std::string_view text, size_t room) {
  size_t best = 0;
  int depth = 0, best_depth = 0;
  for (size_t i = 0; i < text.size() && i <= room; ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    // The first third of a line is no place to break for the sake of brackets.
    if (!may_break_at(text, i)) continue;
    if (best == 0 || depth <= best_depth || best < room / 3) {
      best = i;
      best_depth = depth;
    }
  }
  return best;
}

}  // namespace

void Writer::put(std::string_view text, int extra) {
  if (text.empty()) {
    text_ += '\n';
    return;
  }
  text_.append(static_cast<size_t>(depth_ * kIndent + extra), ' ');
  text_ += text;
  text_ += '\n';
}

void Writer::line(std::string_view text) {
  int extra = 0;
  while (true) {
    const size_t indent = static_cast<size_t>(depth_ * kIndent + extra);
    const size_t room = indent < kColumns ? kColumns - indent : 1;
    const size_t at = text.size() <= room ? 0 : best_break(text, room);
    if (at == 0) break;
    put(text.substr(0, at), extra);
    text.remove_prefix(at + 1);
    extra = kContinuation;
  }
  put(text, extra);
  at_block_start_ = false;
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
