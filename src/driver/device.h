// Where `tangc run` executes a program.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "driver/pipeline.h"
#include "interp/interp.h"

namespace tang {

struct Execution {
  std::chrono::milliseconds time_limit{60'000};
  bool verify_each = false;
};

struct Executed {
  std::vector<Array> outputs;  // of the program, in order, in their storage types
  std::string remark;          // how it was built and how long it ran
};

struct Device {
  std::string_view name;
  std::string_view description;
  std::string (*unavailable)();  // why it cannot be used here; empty when it can
  Executed (*execute)(const Scheduled&, const Bindings&, const Execution&);
};

const std::vector<Device>& devices();
const Device* find_device(std::string_view name);

}  // namespace tang
