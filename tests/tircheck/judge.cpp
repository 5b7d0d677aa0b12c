// The expectations one kind at a time; each failure shows the output around where it should be.
#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace tircheck {
namespace {

constexpr size_t kContext = 3;  // lines of output shown before and after the place in question

// How many characters two lines share at their beginnings and ends: a cheap likeness.
size_t likeness(const std::string& a, const std::string& b) {
  const size_t n = std::min(a.size(), b.size());
  size_t front = 0, back = 0;
  while (front < n && a[front] == b[front]) ++front;
  while (back < n - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return front + back;
}

std::string around(const std::vector<std::string>& lines, size_t at) {
  if (lines.empty()) return "    (no output)\n";
  const size_t from = at < kContext ? 0 : at - kContext;
  const size_t to = std::min(lines.size(), at + kContext + 1);
  std::string out;
  for (size_t i = from; i < to; ++i)
    out += fmt::format("  {} {:4} | {}\n", i == at ? '>' : ' ', i + 1, lines[i]);
  return out;
}

class Judge {
 public:
  Judge(const TestFile& test, const Outcome& outcome)
      : test_(test), outcome_(outcome), lines_(lines_of(outcome.out)) {}

  std::vector<std::string> run() {
    failures_ = test_.faults;
    if (outcome_.status != test_.status)
      fail(fmt::format("exit status {} instead of {}", outcome_.status, test_.status));
    for (const Expectation& e : test_.expectations) judge_output(e);
    judge_messages();
    if (outcome_.reprinted)
      same("what was printed reads back as another program", outcome_.reprint);
    if (!failures_.empty() && !outcome_.err.empty()) fail("standard error was\n" + outcome_.err);
    return std::move(failures_);
  }

 private:
  void fail(std::string text) { failures_.push_back(std::move(text)); }

  void judge_output(const Expectation& e) {
    switch (e.kind) {
      case Kind::check:
        return judge_check(e);
      case Kind::check_not:
        return judge_check_not(e);
      case Kind::count:
        return judge_count(e);
      case Kind::unchanged:
        return same(fmt::format("{}: UNCHANGED: {}", e.line, e.text), outcome_.plain);
      case Kind::error:
      case Kind::warning:
      case Kind::note:
      case Kind::status:
        return;
    }
  }

  void judge_check(const Expectation& e) {
    const std::string wanted = squeeze(e.text);
    for (size_t i = next_; i < lines_.size(); ++i) {
      if (squeeze(lines_[i]) != wanted) continue;
      next_ = i + 1;
      return;
    }
    size_t nearest = std::min(next_, lines_.empty() ? 0 : lines_.size() - 1), best = 0;
    for (size_t i = next_; i < lines_.size(); ++i) {
      const size_t like = likeness(squeeze(lines_[i]), wanted);
      if (like > best) best = like, nearest = i;
    }
    fail(fmt::format("{}: CHECK: no line {} is\n      {}\n    the output{} is\n{}", e.line,
                     next_ == 0 ? "of the output" : fmt::format("after line {}", next_), wanted,
                     best > 0 ? ", its most similar line marked," : "", around(lines_, nearest)));
  }

  void judge_check_not(const Expectation& e) {
    const std::string unwanted = squeeze(e.text);
    for (size_t i = 0; i < lines_.size(); ++i)
      if (squeeze(lines_[i]).find(unwanted) != std::string::npos)
        fail(fmt::format("{}: CHECK-NOT: a line contains {}\n{}", e.line, unwanted,
                         around(lines_, i)));
  }

  void judge_count(const Expectation& e) {
    const WordCount wanted = parse_count(e.text);
    const size_t n = count(wanted.pattern, outcome_.out);
    if (n != wanted.n)
      fail(fmt::format("{}: COUNT: {} is {} times in the output instead of {}\n{}", e.line,
                       wanted.pattern, n, wanted.n, outcome_.out));
  }

  void same(const std::string& what, const std::string& wanted) {
    if (outcome_.out == wanted) return;
    const std::vector<std::string> other = lines_of(wanted);
    size_t i = 0;
    while (i < lines_.size() && i < other.size() && lines_[i] == other[i]) ++i;
    fail(fmt::format("{}; the first line that differs:\n{}    against\n{}", what, around(lines_, i),
                     around(other, i)));
  }

  void judge_messages() {
    const std::vector<Message> messages = messages_of(outcome_.err);
    std::vector<bool> seen(messages.size(), false);
    size_t owner = messages.size();  // the last error or warning that was expected and found
    for (const Expectation& e : test_.expectations) {
      if (e.kind != Kind::error && e.kind != Kind::warning && e.kind != Kind::note) continue;
      const size_t at = find_message(messages, seen, e, owner);
      if (at == messages.size()) {
        fail(fmt::format("{}: {}: {}: there is no such message", e.line, keyword(e.kind), e.text));
      } else {
        seen[at] = true;
      }
      if (e.kind != Kind::note) owner = at;
    }
    for (size_t i = 0; i < messages.size(); ++i)
      if (!seen[i] && messages[i].kind != Kind::note)
        fail(fmt::format("unexpected {} at {}: {}: {}",
                         messages[i].kind == Kind::error ? "error" : "warning", messages[i].place,
                         messages[i].name, messages[i].text));
  }

  // The first message not seen yet that is the expected one; a note must follow its owner directly.
  static size_t find_message(const std::vector<Message>& messages, const std::vector<bool>& seen,
                             const Expectation& e, size_t owner) {
    const size_t from = e.kind == Kind::note ? std::min(owner + 1, messages.size()) : 0;
    for (size_t i = from; i < messages.size(); ++i) {
      if (e.kind == Kind::note && messages[i].kind != Kind::note) break;
      if (!seen[i] && messages[i].kind == e.kind && fits(messages[i], e.text)) return i;
    }
    return messages.size();
  }

  static bool fits(const Message& m, std::string_view expected) {
    const size_t blank = std::min(expected.find(' '), expected.size());
    if (expected.substr(0, blank) != m.place) return false;
    expected.remove_prefix(std::min(blank + 1, expected.size()));
    if (m.kind != Kind::note) {
      const std::string name = m.name + ":";
      if (!expected.starts_with(name)) return false;
      expected.remove_prefix(std::min(name.size() + 1, expected.size()));
    }
    return m.text.find(expected) != std::string::npos;
  }

  const TestFile& test_;
  const Outcome& outcome_;
  std::vector<std::string> lines_;
  std::vector<std::string> failures_;
  size_t next_ = 0;  // CHECK lines go on here
};

// "dir/a.tir:4:22: " to "4:22"; nothing to "-".
std::string place_of(const std::string& prefix) {
  static const std::regex kPlace(R"((\d+:\d+): $)");
  std::smatch match;
  return std::regex_search(prefix, match, kPlace) ? match[1].str() : "-";
}

}  // namespace

std::vector<Message> messages_of(const std::string& err) {
  static const std::regex kLine(R"(^(\S+:\d+:\d+: )?(error|warning|note): (.*)$)");
  static const std::regex kNamed(R"(^(.*) \[([a-z0-9-]+)\]$)");
  std::vector<Message> messages;
  for (const std::string& line : lines_of(err)) {
    std::smatch match;
    if (!std::regex_match(line, match, kLine)) continue;
    Message m{.place = place_of(match[1].str()), .text = match[3].str()};
    m.kind = match[2] == "error" ? Kind::error : match[2] == "note" ? Kind::note : Kind::warning;
    std::smatch named;
    if (m.kind != Kind::note && std::regex_match(m.text, named, kNamed)) {
      m.name = named[2].str();
      m.text = std::string(named[1].str());
    }
    messages.push_back(std::move(m));
  }
  return messages;
}

WordCount parse_count(const std::string& text) {
  const size_t blank = text.find_last_of(' ');
  if (blank == std::string::npos) return {.pattern = text};
  return {.pattern = squeeze(text.substr(0, blank)),
          .n = std::strtoul(text.c_str() + blank, nullptr, 10)};
}

size_t count(const std::string& pattern, const std::string& text) {
  const bool is_word = std::all_of(pattern.begin(), pattern.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  const std::regex regex(is_word ? "\\b" + pattern + "\\b" : pattern);
  size_t n = 0;
  // Line by line: std::regex recurses over what it matches.
  for (const std::string& line : lines_of(text))
    n += static_cast<size_t>(std::distance(std::sregex_iterator(line.begin(), line.end(), regex),
                                           std::sregex_iterator()));
  return n;
}

std::vector<std::string> judge(const TestFile& test, const Outcome& outcome) {
  return Judge(test, outcome).run();
}

}  // namespace tircheck
