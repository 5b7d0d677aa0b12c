// A fault of tangc: say so, save the program, show how to make it happen again.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "driver/commands.h"

namespace tang {
namespace {

// The path of a copy of the program; empty when there is none or it cannot be written.
std::string save_program(const Invocation& invocation) {
  if (invocation.sources.size() == 0) return {};
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  std::string path = ((error ? "/tmp" : folder) / "tangc-fault-XXXXXX.tir").string();
  const int fd = ::mkstemps(path.data(), 4);
  if (fd < 0) return {};
  ::close(fd);
  try {
    write_files({{.path = path, .text = invocation.sources.text(0)}});
  } catch (const CommandError&) {
    return {};
  }
  return path;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string fault_report(const Invocation& invocation, const std::string& command,
                         const std::exception& fault) {
  const std::string saved = save_program(invocation);
  std::string line = "tangc";
  if (!command.empty()) line += " " + command;
  for (const std::string& arg : invocation.args) {
    const bool is_program = !saved.empty() && arg == invocation.program;
    line += " " + shell_word(is_program ? saved : arg);
  }
  std::string text = fmt::format("tangc: internal error: {}\n", fault.what());
  text += "  This is a fault of tangc " TANG_VERSION ", not of the program.\n";
  if (!saved.empty()) text += fmt::format("  The program is saved in {}.\n", saved);
  return text + fmt::format("  To see it again: {}\n", line);
}

}  // namespace tang
