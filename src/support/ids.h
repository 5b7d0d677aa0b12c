// Typed 32-bit ids: positions in append-only pools. An id of one pool cannot be used in another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tang {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t position) : value(static_cast<uint32_t>(position)) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace tang

template <class Tag>
struct std::hash<tang::Id<Tag>> {
  size_t operator()(const tang::Id<Tag>& id) const noexcept { return id.value; }
};
