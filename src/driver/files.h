// Files, read whole and written whole: what is written appears complete or not at all.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace tang {

// What stops a command other than a wrong program: one sentence for the user, and the exit status.
class CommandError : public std::runtime_error {
 public:
  CommandError(int exit_status, const std::string& message)
      : std::runtime_error(message), status(exit_status) {}
  int status;
};

std::string read_file(const std::string& path);
std::string read_standard_input();

struct OutputFile {
  std::string path;
  std::string text;
};
// All of them, or, when one cannot be written, none: files that stood there before stay as they
// were. Each is written beside its place and then renamed. Devices and pipes are written directly.
void write_files(const std::vector<OutputFile>& files);

// A private folder for files of known names, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tang
