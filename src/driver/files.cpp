#include "driver/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "driver/command.h"

namespace tang {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  // 0, or the error that the file system kept until now.
  int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

// 0 or an errno.
int write_bytes(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    done += static_cast<size_t>(n);
  }
  return 0;
}

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw CommandError(kUsage, fmt::format("cannot write {}: {}", path, why));
}

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw CommandError(kUsage, fmt::format("cannot read {}: {}", path, reason(error)));
}

std::string read_all(int fd, const std::string& shown) {
  std::string text;
  char chunk[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_read(shown, errno);
    if (n == 0) return text;
    text.append(chunk, static_cast<size_t>(n));
  }
}

mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// One file on its way: beside its place until `commit`.
struct Pending {
  std::string shown;      // as the user named it
  std::string place;      // with links followed
  std::string temporary;  // empty: not there, or already in its place
  std::string backup;     // what stood there before; empty: nothing did
};

Pending write_beside(const OutputFile& file) {
  std::error_code ignored;
  const fs::path resolved = fs::weakly_canonical(file.path, ignored);
  Pending pending{.shown = file.path,
                  .place = ignored ? file.path : resolved.string(),
                  .temporary = {},
                  .backup = {}};
  std::string name = pending.place + ".tangc-XXXXXX";
  FileDescriptor fd(::mkostemp(name.data(), O_CLOEXEC));
  if (fd.get() < 0) cannot_write(file.path, reason(errno));
  struct stat old = {};
  const bool exists = ::stat(pending.place.c_str(), &old) == 0;
  int error = write_bytes(fd.get(), file.text);
  if (error == 0 && ::fchmod(fd.get(), exists ? old.st_mode & 07777 : mode_of_new_files()) != 0)
    error = errno;
  if (error == 0) error = fd.close();
  if (error != 0) {
    ::unlink(name.c_str());
    cannot_write(file.path, reason(error));
  }
  pending.temporary = name;
  return pending;
}

void write_in_place(const OutputFile& file) {
  FileDescriptor fd(::open(file.path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) cannot_write(file.path, reason(errno));
  if (const int error = write_bytes(fd.get(), file.text)) cannot_write(file.path, reason(error));
}

// Puts things back as they were; used when a later file fails.
void undo(std::vector<Pending>& all) {
  for (Pending& pending : all) {
    const bool placed = pending.temporary.empty();
    const bool had_old = !pending.backup.empty();
    if (placed && had_old) {
      ::rename(pending.backup.c_str(), pending.place.c_str());
    } else {
      ::unlink(placed ? pending.place.c_str() : pending.temporary.c_str());
      if (had_old) ::unlink(pending.backup.c_str());
    }
  }
}

// A second name for what stands at `place`, so that it can come back.
std::string keep_old(const std::string& place) {
  std::string name = place + ".tangc-old-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return {};
  ::close(fd);
  ::unlink(name.c_str());
  return ::link(place.c_str(), name.c_str()) == 0 ? name : std::string();
}

void put_in_place(std::vector<Pending>& all) {
  for (Pending& pending : all) {
    if (all.size() > 1) pending.backup = keep_old(pending.place);
    if (::rename(pending.temporary.c_str(), pending.place.c_str()) != 0) {
      const int error = errno;
      const std::string shown = pending.shown;
      undo(all);
      cannot_write(shown, reason(error));
    }
    pending.temporary.clear();
  }
  for (const Pending& pending : all)
    if (!pending.backup.empty()) ::unlink(pending.backup.c_str());
}

}  // namespace

std::string read_file(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) cannot_read(path, errno);
  return read_all(fd.get(), path);
}

std::string read_standard_input() {
  return read_all(STDIN_FILENO, "standard input");
}

void write_files(const std::vector<OutputFile>& files) {
  std::vector<Pending> pending;
  std::vector<const OutputFile*> direct;
  try {
    for (const OutputFile& file : files) {
      std::error_code ignored;
      const fs::file_status status = fs::status(file.path, ignored);
      if (fs::is_directory(status)) cannot_write(file.path, "it is a folder");
      if (fs::exists(status) && !fs::is_regular_file(status)) {
        direct.push_back(&file);
      } else {
        pending.push_back(write_beside(file));
      }
    }
    for (const OutputFile* file : direct) write_in_place(*file);
  } catch (const CommandError&) {
    undo(pending);
    throw;
  }
  put_in_place(pending);
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  path_ = (parent / "tangc-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr)
    throw CommandError(kUsage, fmt::format("cannot make a temporary folder in {}: {}",
                                           parent.string(), reason(errno)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tang
