#include "driver/worker.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "driver/command.h"
#include "driver/files.h"
#include "driver/process.h"
#include "support/panic.h"

namespace tang {
namespace {

using Json = nlohmann::json;

constexpr std::byte kPoison{0xFF};
constexpr int64_t kPointerBytes = 8;
constexpr size_t kGuardBytes = size_t{1} << 20;  // address space only: no memory stands behind it

size_t page_bytes() {
  return static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Memory that two processes see.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes) : bytes_(bytes) {
    fd_ = ::memfd_create("tangc", MFD_CLOEXEC);
    if (fd_ < 0 || ::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail();
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (data == MAP_FAILED) fail();
    data_ = static_cast<std::byte*>(data);
  }
  ~SharedMemory() {
    if (data_) ::munmap(data_, bytes_);
    if (fd_ >= 0) ::close(fd_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  int fd() const { return fd_; }
  std::byte* at(size_t offset) const { return data_ + offset; }

 private:
  [[noreturn]] void fail() {
    const std::string why = std::generic_category().message(errno);
    if (fd_ >= 0) ::close(fd_);
    throw CommandError(
        kUsage, fmt::format("cannot share {} bytes of memory with the worker: {}", bytes_, why));
  }
  int fd_ = -1;
  size_t bytes_;
  std::byte* data_ = nullptr;
};

// Pages of their own for one pointer argument.
struct Region {
  size_t at = 0;
  size_t bytes = 0;   // used
  size_t padded = 0;  // up to the guard
};

struct Layout {
  std::string arguments;                            // the struct's bytes, pointers left 0
  std::vector<std::pair<size_t, size_t>> pointers;  // place in the struct, place in the memory
  std::vector<Region> regions;                      // of the tensors, then the workspace
  size_t total = 0;
};

// Appends a member as a C compiler places it.
size_t append_member(std::string& bytes, const void* value, size_t size) {
  bytes.resize(round_up(bytes.size(), size), '\0');
  const size_t at = bytes.size();
  bytes.append(static_cast<const char*>(value), size);
  return at;
}

Layout lay_out(const WorkerCall& call, const std::vector<Array>& tensors, size_t workspace_bytes) {
  Layout layout;
  for (const int64_t dim : call.dims) append_member(layout.arguments, &dim, sizeof dim);
  for (size_t i = 0; i < call.scalars.size(); ++i) {
    const Type type = call.module->scalars[i].type;
    const uint64_t bits = encode(type, call.scalars[i]);
    append_member(layout.arguments, &bits, static_cast<size_t>(bytes_of(type, 1)));
  }
  const size_t page = page_bytes();
  std::vector<size_t> sizes;
  for (const Array& tensor : tensors) sizes.push_back(tensor.data.size());
  sizes.push_back(workspace_bytes);
  const uint64_t null = 0;
  std::vector<size_t> slots;
  for (size_t i = 0; i < sizes.size(); ++i)
    slots.push_back(append_member(layout.arguments, &null, kPointerBytes));
  layout.total = round_up(layout.arguments.size(), page) + kGuardBytes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Region region{.at = layout.total,
                        .bytes = sizes[i],
                        .padded = round_up(std::max(sizes[i], size_t{1}), page)};
    layout.pointers.emplace_back(slots[i], region.at);
    layout.regions.push_back(region);
    layout.total = region.at + region.padded + kGuardBytes;
  }
  return layout;
}

bool is_output(const kernel::ModuleTensor& tensor) {
  return tensor.role == kernel::TensorRole::output;
}

void fill(const SharedMemory& memory, const Layout& layout, const kernel::Module& module,
          const std::vector<Array>& tensors) {
  std::memcpy(memory.at(0), layout.arguments.data(), layout.arguments.size());
  for (size_t i = 0; i < layout.regions.size(); ++i) {
    const Region& region = layout.regions[i];
    std::fill_n(memory.at(region.at), region.padded, kPoison);
    if (i < tensors.size() && !is_output(module.tensors[i]) && region.bytes > 0)
      std::memcpy(memory.at(region.at), tensors[i].data.data(), region.bytes);
  }
}

std::string kernel_names(const kernel::Module& module) {
  std::vector<std::string> names;
  for (const kernel::Launch& launch : module.launches) {
    const std::string& name = module.kernels[launch.kernel].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string entry_name(const kernel::Module& module) {
  return module.prefix + "_" + module.entry;
}

// Throws unless the kernels left alone what is not theirs to write.
void expect_untouched(const SharedMemory& memory, const Layout& layout,
                      const kernel::Module& module, const std::vector<Array>& tensors) {
  for (size_t i = 0; i < layout.regions.size(); ++i) {
    const Region& region = layout.regions[i];
    const std::string name = i < tensors.size() ? module.tensors[i].name : "the workspace";
    const std::byte* rest = memory.at(region.at + region.bytes);
    if (std::any_of(rest, rest + (region.padded - region.bytes),
                    [](std::byte b) { return b != kPoison; }))
      TANG_PANIC("{} wrote behind the end of {} ({})", entry_name(module), name,
                 kernel_names(module));
    if (i < tensors.size() && module.tensors[i].role == kernel::TensorRole::input &&
        region.bytes > 0 &&
        std::memcmp(memory.at(region.at), tensors[i].data.data(), region.bytes) != 0)
      TANG_PANIC("{} wrote to its input {} ({})", entry_name(module), name, kernel_names(module));
  }
}

// The tangc that this program is, or that stands beside or above it (as for a test in the build
// tree), or on PATH.
std::string worker_program() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return "tangc";
  if (self.filename() == "tangc") return self;
  fs::path folder = self.parent_path();
  for (int up = 0; up < 4 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    const fs::path candidate = folder / "tangc";
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return "tangc";
}

Json request_of(const WorkerCall& call, const Layout& layout, size_t workspace_bytes) {
  Json guards = {layout.regions.front().at - kGuardBytes};
  for (const Region& region : layout.regions) guards.push_back(region.at + region.padded);
  return {{"library", call.library},     {"entry", entry_name(*call.module)},
          {"memory", layout.total},      {"workspace_bytes", workspace_bytes},
          {"pointers", layout.pointers}, {"guards", std::move(guards)},
          {"guard_bytes", kGuardBytes}};
}

// The outcome of the process, or an exception that says what went wrong.
Json outcome_of(const WorkerCall& call, const ProcessResult& result, const std::string& program) {
  const std::string entry = entry_name(*call.module);
  const std::string kernels = kernel_names(*call.module);
  switch (result.end) {
    case ProcessEnd::signalled:
      TANG_PANIC("{} crashed with {} (kernels: {}){}{}", entry, signal_name(result.code), kernels,
                 result.err.empty() ? "" : "\n", result.err);
    case ProcessEnd::timed_out:
      throw CommandError(
          kProgramWrong,
          fmt::format("{} (kernels: {}) ran for more than {} s and was stopped; "
                      "--timeout=SECONDS allows more",
                      entry, kernels, static_cast<double>(call.time_limit.count()) / 1000));
    case ProcessEnd::interrupted:
      throw CommandError(kUsage, "interrupted");
    case ProcessEnd::not_started:
      throw CommandError(kUsage, fmt::format("cannot start the worker {}: {}", program,
                                             std::generic_category().message(result.code)));
    case ProcessEnd::exited:
      break;
  }
  const Json outcome = Json::parse(result.out, nullptr, false);
  if (result.code != 0 || !outcome.is_object())
    TANG_PANIC("the worker running {} (kernels: {}) ended with status {}{}{}", entry, kernels,
               result.code, result.err.empty() ? "" : "\n", result.err);
  if (outcome.contains("error")) TANG_PANIC("{}: {}", entry, outcome["error"].get<std::string>());
  return outcome;
}

}  // namespace

double call_in_worker(const WorkerCall& call, std::vector<Array>& tensors) {
  const kernel::Module& module = *call.module;
  const auto value = [&](Var v) -> int64_t {
    return v.kind == VarKind::dim ? call.dims[v.index] : call.scalars[v.index].integer;
  };
  const FormId size = module.workspace_bytes;
  const auto workspace_bytes =
      static_cast<size_t>(size.valid() ? module.forms.evaluate(size, value) : 0);
  const Layout layout = lay_out(call, tensors, workspace_bytes);
  const SharedMemory memory(layout.total);
  fill(memory, layout, module, tensors);

  const std::string program = worker_program();
  const ProcessResult result =
      run_process({.argv = {program, "--worker"},
                   .input = request_of(call, layout, workspace_bytes).dump(),
                   .shared_fd = memory.fd(),
                   .time_limit = call.time_limit});
  const Json outcome = outcome_of(call, result, program);
  if (const int code = outcome.value("code", 0); code != 0)
    TANG_PANIC("{} refused its arguments with code {}", entry_name(module), code);
  expect_untouched(memory, layout, module, tensors);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (module.tensors[i].role != kernel::TensorRole::input && layout.regions[i].bytes > 0)
      std::memcpy(tensors[i].data.data(), memory.at(layout.regions[i].at), layout.regions[i].bytes);
  return outcome.value("seconds", 0.0);
}

}  // namespace tang
