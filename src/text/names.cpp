#include "text/names.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "support/panic.h"

namespace tang {

std::string_view symbol_kind_name(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::faulty:
      return "faulty name";
    case SymbolKind::dim:
      return "dim";
    case SymbolKind::constant:
      return "const";
    case SymbolKind::loop_name:
      return "loop name";
    case SymbolKind::scalar:
      return "scalar";
    case SymbolKind::parameter:
      return "scalar";
    case SymbolKind::tensor:
      return "tensor";
  }
  TANG_PANIC("a symbol of kind {}", static_cast<int>(kind));
}

namespace {

bool is_seen(const Symbol& symbol, Sight sight) {
  return symbol.frame == sight.local || symbol.frame == sight.file;
}

}  // namespace

const Symbol* Scope::find(const std::string& name, Sight sight) const {
  const auto found = symbols_.find(name);
  if (found == symbols_.end()) return nullptr;
  for (auto s = found->second.rbegin(); s != found->second.rend(); ++s)
    if (is_seen(*s, sight)) return &*s;
  return nullptr;
}

void Scope::define(const std::string& name, Symbol symbol) {
  symbols_[name].push_back(std::move(symbol));
  log_.push_back(name);
}

void Scope::replace(const std::string& name, Sight sight, Symbol symbol) {
  auto& meanings = symbols_.at(name);
  for (auto s = meanings.rbegin(); s != meanings.rend(); ++s) {
    if (!is_seen(*s, sight)) continue;
    *s = std::move(symbol);
    return;
  }
  TANG_PANIC("{} has no meaning to replace", name);
}

void Scope::undo_to(size_t mark) {
  while (log_.size() > mark) {
    symbols_.at(log_.back()).pop_back();
    log_.pop_back();
  }
}

std::string Scope::suggestion(const std::string& name, Sight sight) const {
  // In alphabetical order, so that the text does not depend on hashing.
  std::vector<std::string_view> visible;
  for (const auto& [known, meanings] : symbols_)
    if (find(known, sight)) visible.push_back(known);
  std::sort(visible.begin(), visible.end());
  Suggestion suggestion(name);
  for (const std::string_view known : visible) suggestion.consider(known);
  return suggestion.text();
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

void Suggestion::consider(std::string_view candidate) {
  if (candidate != name && same_letters(candidate, name)) {
    distance = 0;
    best = candidate;
    return;
  }
  // A third of the letters may differ, and never all of them.
  const size_t limit = std::min<size_t>(3, (std::max(name.size(), candidate.size()) + 2) / 3);
  const size_t longer = std::max(name.size(), candidate.size());
  const size_t shorter = std::min(name.size(), candidate.size());
  if (candidate == name || longer - shorter > limit || longer > 64 || shorter == 0) return;
  const size_t d = edit_distance(name, candidate);
  // Of equally near names the one as long: letters swap more often than they go missing.
  const bool nearer = d < distance || (d == distance && longer == shorter);
  if (d > limit || d >= shorter || !nearer) return;
  distance = d;
  best = candidate;
}

std::string Suggestion::text() const {
  return best.empty() ? "" : "; did you mean " + best + "?";
}

}  // namespace tang
