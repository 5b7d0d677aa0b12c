// The entry point that libFuzzer calls, for the target that the build names.
#include <cstddef>
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tang::fuzz::TANG_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
