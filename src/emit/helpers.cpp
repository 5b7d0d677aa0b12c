#include "emit/helpers.h"

#include <algorithm>

#include "support/panic.h"

namespace tang::emit {

namespace {

constexpr std::string_view kMark = "//: ";

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<Helper> parse_helpers(std::string_view file) {
  std::vector<Helper> all;
  size_t at = file.find(kMark);
  while (at != std::string_view::npos) {
    const size_t end_of_line = file.find('\n', at);
    std::string_view line = file.substr(at + kMark.size(), end_of_line - at - kMark.size());
    Helper helper{.name = next_word(line)};
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (word == "needs") continue;
      (word.starts_with('<') ? helper.headers : helper.needs).push_back(word);
    }
    at = file.find(kMark, end_of_line);
    helper.text = file.substr(end_of_line + 1, at == std::string_view::npos ? std::string_view::npos
                                                                            : at - end_of_line - 1);
    while (helper.text.ends_with("\n\n")) helper.text.remove_suffix(1);
    all.push_back(std::move(helper));
  }
  return all;
}

std::vector<std::string_view> helper_texts(const std::vector<Helper>& all,
                                           const std::vector<std::string_view>& names,
                                           std::set<std::string_view>& headers) {
  std::set<std::string_view> wanted(names.begin(), names.end());
  std::vector<std::string_view> texts;
  // What a helper needs stands above it, so one pass from the end finds everything.
  for (auto helper = all.rbegin(); helper != all.rend(); ++helper) {
    if (wanted.erase(helper->name) == 0) continue;
    wanted.insert(helper->needs.begin(), helper->needs.end());
    headers.insert(helper->headers.begin(), helper->headers.end());
    texts.push_back(helper->text);
  }
  TANG_ASSERT(wanted.empty(), "there is no helper {}", *wanted.begin());
  std::reverse(texts.begin(), texts.end());
  return texts;
}

}  // namespace tang::emit
