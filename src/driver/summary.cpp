#include "driver/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tang {
namespace {

constexpr int64_t kFirstValues = 4;

std::string text_of(Type type, Value value) {
  if (type == Type::boolean) return value.integer ? "true" : "false";
  if (!is_real(type)) return fmt::to_string(value.integer);
  return fmt::format("{:.6g}", value.real);
}

}  // namespace

std::string summarize(const std::string& name, const Array& array) {
  std::string text =
      fmt::format("{}  {}[{}]", name, type_name(array.type), fmt::join(array.shape, ","));
  const int64_t n = array.size();
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  int64_t n_nan = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = array.real(i);
    if (std::isnan(value)) {
      ++n_nan;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  if (n > n_nan)
    text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", low, high,
                        sum / static_cast<double>(n - n_nan));
  if (n_nan > 0) text += fmt::format("  {} NaN", n_nan);
  if (n > 0) text += "  first";
  for (int64_t i = 0; i < std::min(n, kFirstValues); ++i)
    text += " " + text_of(array.type, array.get(i));
  if (n > kFirstValues) text += " ...";
  return text + "\n";
}

Difference compare(const Array& array, const Array& reference) {
  Difference worst;
  for (int64_t i = 0; i < array.size(); ++i) {
    const double value = array.real(i), expected = reference.real(i);
    if (std::isfinite(expected)) worst.reference = std::max(worst.reference, std::fabs(expected));
    if (value == expected || (std::isnan(value) && std::isnan(expected))) continue;
    double error = std::fabs(value - expected);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error > worst.error) {
      worst.error = error;
      worst.at = i;
    }
  }
  return worst;
}

}  // namespace tang
