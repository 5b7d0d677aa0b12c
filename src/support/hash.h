// Hashing of plain data and the pool that gives equal values equal ids.
#pragma once

#include <cstdint>
#include <deque>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "support/ids.h"

namespace tang {

inline void hash_mix(uint64_t& seed, uint64_t value) {
  value *= 0x9E3779B97F4A7C15ull;
  value ^= value >> 32;
  seed = (seed ^ value) * 0xD6E8FEB86659FD93ull;
  seed ^= seed >> 29;
}

// An append-only pool of values of T. T has `uint64_t hash() const` and `==`. References stay valid
// for the life of the pool, since a deque never moves its elements.
template <class T, class Tag>
class Pool {
 public:
  Id<Tag> intern(T value) {
    const uint64_t key = value.hash();
    auto [first, last] = index_.equal_range(key);
    for (; first != last; ++first)
      if (items_[first->second] == value) return Id<Tag>(static_cast<size_t>(first->second));
    const Id<Tag> id(items_.size());
    index_.emplace(key, id.value);
    items_.push_back(std::move(value));
    return id;
  }
  const T& operator[](Id<Tag> id) const { return items_[id.value]; }
  size_t size() const { return items_.size(); }

 private:
  std::deque<T> items_;
  std::unordered_multimap<uint64_t, uint32_t> index_;
};

}  // namespace tang
