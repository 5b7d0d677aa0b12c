// The process around run_command: arguments in, bytes out, an exit status.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "driver/command.h"
#include "driver/worker.h"

namespace {

void write_all(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 1 && args[0] == "--worker") return tang::serve_worker();
  tang::Streams streams{.read_stdin = true, .color = isatty(STDERR_FILENO) != 0};
  const int status = tang::run_command(args, streams);
  write_all(stdout, streams.out);
  write_all(stderr, streams.err);
  // A full disk behind `>` is an error like any other.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "tangc: error: cannot write to standard output\n");
    return tang::kUsage;
  }
  return status;
}
