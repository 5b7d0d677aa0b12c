// --bless: what the command did becomes what the test expects. The reader of the diff judges it.
//
// CHECK lines become the lines of the output that the program does not already contain, in place of
// the first of them; the others go. COUNT keeps its pattern. Errors, warnings and notes become the
// messages, each in full. CHECK-NOT, UNCHANGED and STATUS are claims, which only a person changes.
#include <fmt/format.h>

#include <set>

#include "judge.h"

namespace tircheck {
namespace {

std::string check_lines(const TestFile& test, const Outcome& outcome) {
  std::set<std::string> known;
  for (const std::string& line : lines_of(test.text)) known.insert(squeeze(line));
  std::string all, changed;
  for (const std::string& line : lines_of(outcome.out)) {
    const std::string text = squeeze(line);
    if (text.empty()) continue;
    all += fmt::format("# CHECK: {}\n", text);
    if (!known.contains(text)) changed += fmt::format("# CHECK: {}\n", text);
  }
  return changed.empty() ? all : changed;
}

std::string message_lines(const Outcome& outcome) {
  std::string out;
  for (const Message& m : messages_of(outcome.err))
    out += m.kind == Kind::note
               ? fmt::format("# NOTE: {} {}\n", m.place, m.text)
               : fmt::format("# {}: {} {}: {}\n", keyword(m.kind), m.place, m.name, m.text);
  return out;
}

}  // namespace

std::string bless(const TestFile& test, const Outcome& outcome) {
  std::string text;
  bool checks = false, messages = false;
  for (const std::string& line : lines_of(test.text)) {
    const Keyed keyed = split_keyword(line);
    if (keyed.key == "CHECK") {
      if (!checks) text += check_lines(test, outcome);
      checks = true;
    } else if (keyed.key == "COUNT") {
      const std::string pattern = parse_count(std::string(keyed.rest)).pattern;
      text += fmt::format("# COUNT: {} {}\n", pattern, count(pattern, outcome.out));
    } else if (keyed.key == "ERROR" || keyed.key == "WARNING" || keyed.key == "NOTE") {
      if (!messages) text += message_lines(outcome);
      messages = true;
    } else {
      text += line + "\n";
    }
  }
  if (test.expectations.empty() && outcome.status == 0) text += check_lines(test, outcome);
  if (!messages) text += message_lines(outcome);
  return text;
}

}  // namespace tircheck
