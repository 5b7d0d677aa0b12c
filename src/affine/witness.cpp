// The search gives up after a fixed number of steps, so that an undecided question costs no more
// than a decided one.
#include "affine/witness.h"

#include <algorithm>
#include <utility>

namespace tang {

namespace {

constexpr int kMaxSteps = 400;
constexpr int kRounds = 12;
constexpr uint64_t kSmallRange = 12;  // ranges up to this are tried whole

// Which values of a variable to try, the likeliest first.
std::vector<int64_t> candidates(const Interval& x) {
  std::vector<int64_t> out;
  const auto width = static_cast<uint64_t>(x.high) - static_cast<uint64_t>(x.low);
  if (x.has_low() && x.has_high() && width <= kSmallRange) {
    for (int64_t v = x.low; v <= x.high; ++v) out.push_back(v);
    return out;
  }
  const auto from_low = {0, 1, 2, 3, 7, 8, 15, 16, 63, 64, 4096};
  const auto from_high = {0, 1, 2, 3, 7, 15};
  if (!x.has_low() && !x.has_high()) return {0, 1, -1, 2, -2, 3, -3, 8, -8, 16, -16, 64, -64};
  if (x.has_low())
    for (const int64_t step : from_low)
      if (!x.has_high() || step <= x.high - x.low) out.push_back(x.low + step);
  if (x.has_high()) {
    size_t place = 0;
    for (const int64_t step : from_high)
      if (!x.has_low() || step <= x.high - x.low) {
        // Alternate with the values near the lower bound.
        place = std::min(place + 1, out.size());
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(place++), x.high - step);
      }
  }
  if (x.has_low() && x.has_high()) out.push_back(x.low + static_cast<int64_t>(width / 2));
  return out;
}

class Search {
 public:
  Search(const System& system, const std::function<bool(const Point&)>& accept)
      : system_(system), accept_(accept) {
    for (uint32_t c = 0; c < system.columns.size(); ++c)
      if (system.columns[c].is_variable()) variables_.push_back(c);
    // Sizes before the indices that they bound.
    std::sort(variables_.begin(), variables_.end(), [&](uint32_t a, uint32_t b) {
      return system.columns[a].atoms[0].var < system.columns[b].atoms[0].var;
    });
  }

  std::optional<Point> run(Box box) {
    if (++steps_ > kMaxSteps || !propagate(system_, box, kRounds)) return std::nullopt;
    const std::optional<uint32_t> next = narrowest(box);
    if (!next) {
      Point point;
      for (const uint32_t c : variables_) point[system_.columns[c].atoms[0].var] = box[c].low;
      return accept_(point) ? std::optional(std::move(point)) : std::nullopt;
    }
    for (const int64_t value : candidates(box[*next])) {
      Box fixed = box;
      fixed[*next] = {.low = value, .high = value};
      if (std::optional<Point> found = run(std::move(fixed))) return found;
      if (steps_ > kMaxSteps) break;
    }
    return std::nullopt;
  }

 private:
  // The variable with the fewest values left, the first of the order among equals.
  std::optional<uint32_t> narrowest(const Box& box) const {
    std::optional<uint32_t> best;
    uint64_t least = UINT64_MAX;
    for (const uint32_t c : variables_) {
      if (box[c].is_fixed()) continue;
      const auto width = static_cast<uint64_t>(box[c].high) - static_cast<uint64_t>(box[c].low);
      // Ranges too wide to be tried whole count alike: then the order decides.
      const uint64_t rank = width <= kSmallRange                    ? 0
                            : box[c].has_low() && box[c].has_high() ? 1
                            : box[c].has_low() || box[c].has_high() ? 2
                                                                    : 3;
      if (!best || rank < least) {
        best = c;
        least = rank;
      }
    }
    return best;
  }

  const System& system_;
  const std::function<bool(const Point&)>& accept_;
  std::vector<uint32_t> variables_;
  int steps_ = 0;
};

}  // namespace

std::optional<Point> find_point(const System& system,
                                const std::function<bool(const Point&)>& accept) {
  return Search(system, accept).run(Box(system.columns.size()));
}

}  // namespace tang
