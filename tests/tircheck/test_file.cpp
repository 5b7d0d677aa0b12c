// Reads a test file: the lines `# KEYWORD: ...` and the command.
#include "test_file.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <sstream>

namespace tircheck {
namespace {

struct KindName {
  Kind kind;
  std::string_view name;
};
constexpr std::array kKinds = {
    KindName{Kind::check, "CHECK"}, KindName{Kind::check_not, "CHECK-NOT"},
    KindName{Kind::count, "COUNT"}, KindName{Kind::unchanged, "UNCHANGED"},
    KindName{Kind::error, "ERROR"}, KindName{Kind::warning, "WARNING"},
    KindName{Kind::note, "NOTE"},   KindName{Kind::status, "STATUS"},
};

std::optional<Kind> kind_of(std::string_view name) {
  for (const KindName& k : kKinds)
    if (k.name == name) return k.kind;
  return std::nullopt;
}

std::string_view trim(std::string_view s) {
  const size_t from = s.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return s.substr(from, s.find_last_not_of(" \t\r") - from + 1);
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

void read_command(TestFile& test, std::string_view command, size_t line) {
  std::istringstream words{std::string(command)};
  std::string word;
  words >> word;
  if (word != "tangc")
    test.faults.push_back(fmt::format("{}: a RUN line starts with `tangc`", line));
  if (!test.args.empty()) test.faults.push_back(fmt::format("{}: a second RUN line", line));
  while (words >> word) {
    const size_t at = word.find("%s");
    if (at != std::string::npos) word.replace(at, 2, test.path);
    test.args.push_back(word);
  }
}

}  // namespace

std::string_view keyword(Kind kind) {
  for (const KindName& k : kKinds)
    if (k.kind == kind) return k.name;
  return {};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string squeeze(std::string_view line) {
  std::string out;
  for (const char c : trim(line)) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank) out += c;
    if (blank && out.back() != ' ') out += ' ';
  }
  return out;
}

Keyed split_keyword(std::string_view line) {
  if (!line.starts_with("# ")) return {};
  line.remove_prefix(2);
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view key = line.substr(0, colon);
  if (key != "RUN" && !kind_of(key)) return {};
  return {key, trim(line.substr(colon + 1))};
}

TestFile parse_test(std::string path, std::string text) {
  TestFile test{.path = std::move(path), .text = std::move(text)};
  test.status = file_name(test.path).starts_with("fail_") ? 1 : 0;
  const std::vector<std::string> lines = lines_of(test.text);
  for (size_t i = 0; i < lines.size(); ++i) {
    const Keyed keyed = split_keyword(lines[i]);
    if (keyed.key.empty()) continue;
    if (keyed.key == "RUN") {
      read_command(test, keyed.rest, i + 1);
      continue;
    }
    const Kind kind = *kind_of(keyed.key);
    if (kind == Kind::status) test.status = std::atoi(std::string(keyed.rest).c_str());
    test.expectations.push_back({.kind = kind, .text = std::string(keyed.rest), .line = i + 1});
  }
  if (test.args.empty()) test.faults.push_back("no RUN line");
  if (test.expectations.empty()) test.faults.push_back("nothing is expected");
  if (lines.empty() || !lines.front().starts_with("# "))
    test.faults.push_back("the first line is no comment that says what the test shows");
  return test;
}

}  // namespace tircheck
