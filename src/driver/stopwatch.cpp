#include "driver/stopwatch.h"

#include <fmt/format.h>

namespace tang {

std::string Stopwatch::table() const {
  std::string text;
  const auto row = [&](std::string_view stage, Clock::duration time) {
    text += fmt::format("{}{:>10.2f} ms  {}", text.empty() ? "" : "\n",
                        std::chrono::duration<double, std::milli>(time).count(), stage);
  };
  Clock::duration total{};
  for (const Lap& l : laps_) {
    row(l.stage, l.time);
    total += l.time;
  }
  row("in all", total);
  return text;
}

}  // namespace tang
