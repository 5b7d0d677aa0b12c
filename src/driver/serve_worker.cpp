// The worker's side of worker.h: load, call, say how it went.
#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "driver/command.h"
#include "driver/files.h"
#include "driver/process.h"
#include "driver/worker.h"

namespace tang {
namespace {

using Json = nlohmann::json;
using Entry = int (*)(const void* args);
using WorkspaceBytes = size_t (*)(const void* args);

template <class Function>
Function symbol(void* library, const std::string& name) {
  Function function = nullptr;
  void* address = ::dlsym(library, name.c_str());
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof function);
  return function;
}

Json error(std::string message) {
  return {{"error", std::move(message)}};
}

// Points the argument struct at the tensors and takes away the pages between them.
bool prepare(const Json& request, std::byte* memory) {
  for (const auto& [slot, at] :
       request.at("pointers").get<std::vector<std::pair<size_t, size_t>>>()) {
    const std::byte* pointer = memory + at;
    std::memcpy(memory + slot, &pointer, sizeof pointer);
  }
  const auto guard_bytes = request.at("guard_bytes").get<size_t>();
  for (const size_t at : request.at("guards").get<std::vector<size_t>>())
    if (::mprotect(memory + at, guard_bytes, PROT_NONE) != 0) return false;
  return true;
}

Json call(const Json& request) {
  const auto bytes = request.at("memory").get<size_t>();
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kSharedFd, 0);
  if (mapped == MAP_FAILED) return error("the worker cannot map the shared memory");
  auto* memory = static_cast<std::byte*>(mapped);
  if (!prepare(request, memory)) return error("the worker cannot protect the guard pages");
  void* library = ::dlopen(request.at("library").get<std::string>().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return error(::dlerror());
  const auto name = request.at("entry").get<std::string>();
  const auto entry = symbol<Entry>(library, name);
  const auto workspace = symbol<WorkspaceBytes>(library, name + "_workspace");
  if (entry == nullptr || workspace == nullptr)
    return error(fmt::format("the library does not have {0} and {0}_workspace", name));
  const size_t expected = request.at("workspace_bytes");
  if (const size_t said = workspace(memory); said != expected)
    return error(fmt::format("{}_workspace gives {} bytes, the module {}", name, said, expected));
  const auto start = std::chrono::steady_clock::now();
  const int code = entry(memory);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {{"code", code}, {"seconds", seconds.count()}};
}

}  // namespace

int serve_worker() {
  const rlimit no_core = {.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);  // the parent reports the crash; a dump would be litter
  // It learns of it by the signal, which no handler (a sanitizer's) may turn into an exit.
  for (const int crash : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::signal(crash, SIG_DFL);
  std::string outcome;
  try {
    const Json request = Json::parse(read_standard_input(), nullptr, false);
    outcome = request.is_object() ? call(request).dump() : "";
  } catch (const std::exception& e) {
    outcome = error(e.what()).dump();
  }
  if (outcome.empty()) {
    std::fprintf(stderr, "tangc: error: --worker is for tangc's own use\n");
    return kUsage;
  }
  std::fwrite(outcome.data(), 1, outcome.size(), stdout);
  return std::fflush(stdout) == 0 ? kSuccess : kFault;
}

}  // namespace tang
