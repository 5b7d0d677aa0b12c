#include "driver/native.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "driver/command.h"
#include "driver/files.h"
#include "driver/process.h"
#include "support/panic.h"

namespace tang {
namespace {

bool can_run(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

bool is_on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return can_run(program);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (can_run((folder.empty() ? "." : folder) + "/" + program)) return true;
  return false;
}

std::vector<std::string> words_of(const char* variable) {
  const char* value = std::getenv(variable);
  std::istringstream text(value ? value : "");
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::optional<std::vector<std::string>> c_compiler() {
  std::vector<std::string> words = words_of("CC");
  if (words.empty()) words = {"cc"};
  if (!is_on_path(words[0])) return std::nullopt;
  return words;
}

Built build_library(const std::vector<emit::Artifact>& artifacts, const std::string& stem,
                    const std::string& folder, std::chrono::milliseconds time_limit) {
  const std::optional<std::vector<std::string>> compiler = c_compiler();
  if (!compiler)
    throw CommandError(kUsage,
                       "there is no C compiler: neither $CC nor cc can be run; install one, or use "
                       "--device=interp, which needs none");
  std::vector<OutputFile> files;
  for (const emit::Artifact& artifact : artifacts)
    files.push_back({.path = folder + "/" + stem + artifact.suffix, .text = artifact.text});
  write_files(files);

  Built built{.library = folder + "/" + stem + ".so", .command = {}};
  ProcessResult result;
  for (const bool openmp : {true, false}) {
    std::vector<std::string> words = *compiler;
    const std::vector<std::string> flags = {"-O2", "-std=c11", "-shared", "-fPIC"};
    words.insert(words.end(), flags.begin(), flags.end());
    if (openmp) words.push_back("-fopenmp");
    for (const std::string& flag : words_of("CFLAGS")) words.push_back(flag);
    built.command = fmt::format("{}", fmt::join(words, " "));
    for (const std::string& word :
         {folder + "/" + stem + ".c", std::string("-o"), built.library, std::string("-lm")})
      words.push_back(word);
    result = run_process({.argv = words, .time_limit = time_limit});
    if (result.end != ProcessEnd::exited) break;
    if (result.code == 0) return built;
  }
  switch (result.end) {
    case ProcessEnd::interrupted:
      throw CommandError(kUsage, "interrupted");
    case ProcessEnd::timed_out:
      throw CommandError(kUsage, fmt::format("{} took longer than the time limit", built.command));
    case ProcessEnd::not_started:
    case ProcessEnd::signalled:
      throw CommandError(kUsage, fmt::format("{} cannot be run", built.command));
    case ProcessEnd::exited:
      break;
  }
  TANG_PANIC("{} rejects the emitted C:\n{}", built.command, result.err);
}

}  // namespace tang
