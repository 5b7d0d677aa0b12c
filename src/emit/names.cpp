#include "emit/names.h"

namespace tang::emit {

std::string Scope::name(std::string_view wanted) {
  std::string base;
  for (const char c : wanted) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (base.empty() && digit) base += 'v';
    base += letter || digit ? c : '_';
  }
  // C keeps names that begin with an underscore for itself, in one scope or another.
  if (base.empty() || base[0] == '_') base.insert(base.begin(), 'v');
  if (dialect_->is_reserved(base)) base += '_';
  std::string name = base;
  for (int n = 2; used_.contains(name) || dialect_->is_reserved(name); ++n)
    name = base + (base.back() == '_' ? "" : "_") + std::to_string(n);
  used_.insert(name);
  return name;
}

}  // namespace tang::emit
