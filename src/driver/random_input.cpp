// Random arrays that keep the promises of their declarations, the same on every machine.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "driver/arguments.h"

namespace tang {
namespace {

constexpr int64_t kUsualValues = 10;  // where no range is declared, integers are 0 to 9

// SplitMix64: a counter, mixed.
class Random {
 public:
  Random(uint64_t seed, std::string_view name) : state_(seed) {
    for (const char c : name) state_ = mix(state_ ^ static_cast<unsigned char>(c));
  }
  uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15ull); }
  // In [-1, 1), with 53 bits.
  double real() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1.0; }
  // In [low, last]; the bias of the remainder is below 2^-32 for ranges below 2^32.
  int64_t integer(IntegerRange range) {
    const uint64_t span = static_cast<uint64_t>(range.last) - static_cast<uint64_t>(range.low) + 1;
    const uint64_t offset = span == 0 ? next() : next() % span;
    return static_cast<int64_t>(static_cast<uint64_t>(range.low) + offset);
  }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

// What to draw from: the declared range; where a side is open, `count` values beside the other.
IntegerRange range_to_draw(const Program& program, const Bindings& bindings, const Range& declared,
                           Type type, int64_t count) {
  IntegerRange range = range_of(program, bindings, declared, type);
  const auto last_of = [&](int64_t low) {
    return low > integer_max(type) - count ? integer_max(type) : low + count - 1;
  };
  if (!declared.present()) return {.low = 0, .last = last_of(0)};
  if (!declared.hi.valid()) range.last = std::min(range.last, last_of(range.low));
  if (!declared.lo.valid())
    range.low = range.last < integer_min(type) + count
                    ? range.low
                    : std::max(range.low, range.last - count + 1);
  return range;
}

// n values, no two alike, in random order; the range holds so many.
std::vector<int64_t> draw_distinct(Random& random, IntegerRange range, int64_t n) {
  const uint64_t span = static_cast<uint64_t>(range.last) - static_cast<uint64_t>(range.low);
  std::vector<int64_t> values;
  if (span / 2 > static_cast<uint64_t>(n)) {  // most draws are new
    std::unordered_set<int64_t> drawn;
    while (static_cast<int64_t>(values.size()) < n) {
      const int64_t value = random.integer(range);
      if (drawn.insert(value).second) values.push_back(value);
    }
    return values;
  }
  for (uint64_t i = 0; i <= span; ++i)
    values.push_back(static_cast<int64_t>(static_cast<uint64_t>(range.low) + i));
  for (int64_t i = 0; i < n; ++i)
    std::swap(values[i],
              values[random.integer({.low = i, .last = static_cast<int64_t>(values.size()) - 1})]);
  values.resize(n);
  return values;
}

bool holds_enough(IntegerRange range, int64_t n, bool distinct) {
  if (n == 0) return true;
  if (range.is_empty()) return false;
  const uint64_t span = static_cast<uint64_t>(range.last) - static_cast<uint64_t>(range.low);
  return !distinct || span >= static_cast<uint64_t>(n) - 1;
}

}  // namespace

std::optional<Array> random_input(const Program& program, const Bindings& bindings, size_t number,
                                  std::vector<int64_t> shape, uint64_t seed,
                                  Diagnostics& diagnostics) {
  const Input& input = program.inputs[number];
  const Type type = program.arena->tensors[input.tensor].type;
  Array array(type, std::move(shape));
  const int64_t n = array.size();
  Random random(seed, input.name);
  if (is_real(type)) {
    for (int64_t i = 0; i < n; ++i) array.set(i, real_value(round_to(type, random.real())));
    return array;
  }
  if (type == Type::boolean) {
    for (int64_t i = 0; i < n; ++i) array.set(i, integer_value(random.next() >> 63));
    return array;
  }
  const IntegerRange range =
      range_to_draw(program, bindings, input.range, type,
                    input.distinct ? std::max(n, kUsualValues) : kUsualValues);
  if (!holds_enough(range, n, input.distinct)) {
    Diagnostic& d = diagnostics.error(
        "input-range", {},
        fmt::format("there are no {} {}values for {} in what the program allows, {}", n,
                    input.distinct ? "distinct " : "", input.name, describe(range, type)));
    d.notes.push_back({.span = input.span, .message = "declared here"});
    return std::nullopt;
  }
  std::vector<int64_t> values;
  if (input.distinct) {
    values = draw_distinct(random, range, n);
  } else {
    for (int64_t i = 0; i < n; ++i) values.push_back(random.integer(range));
  }
  if (input.sorted) std::sort(values.begin(), values.end());
  for (int64_t i = 0; i < n; ++i) array.set(i, integer_value(values[i]));
  return array;
}

Value random_scalar(const Program& program, const Bindings& bindings, size_t number,
                    uint64_t seed) {
  const Scalar& scalar = program.scalars[number];
  Random random(seed, scalar.name);
  if (is_real(scalar.type)) return real_value(round_to(scalar.type, random.real()));
  if (scalar.type == Type::boolean) return integer_value(random.next() >> 63);
  const IntegerRange range =
      range_to_draw(program, bindings, scalar.range, scalar.type, kUsualValues);
  // Out of an empty range: check_sizes says so.
  return integer_value(range.is_empty() ? range.low : random.integer(range));
}

}  // namespace tang
