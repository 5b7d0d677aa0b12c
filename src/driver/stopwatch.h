// How long the stages of a compile take, for --time-passes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace tang {

class Stopwatch {
 public:
  // What has passed since the last lap, or since the beginning, was spent on `stage`.
  void lap(std::string_view stage) {
    const Clock::time_point now = Clock::now();
    laps_.push_back({std::string(stage), now - last_});
    last_ = now;
  }
  std::string table() const;  // a line a stage, then their sum, in milliseconds

 private:
  using Clock = std::chrono::steady_clock;
  struct Lap {
    std::string stage;
    Clock::duration time;
  };
  std::vector<Lap> laps_;
  Clock::time_point last_ = Clock::now();
};

// Where nobody asked for times there is no stopwatch.
inline void lap(Stopwatch* watch, std::string_view stage) {
  if (watch) watch->lap(stage);
}

}  // namespace tang
