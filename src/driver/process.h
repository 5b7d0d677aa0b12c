// Runs a program to its end, with a time limit, and never leaves one behind.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tang {

struct ProcessRequest {
  std::vector<std::string> argv;            // argv[0] is found through PATH
  std::string input;                        // its standard input
  int shared_fd = -1;                       // becomes its descriptor kSharedFd
  std::chrono::milliseconds time_limit{0};  // 0: none
};
inline constexpr int kSharedFd = 3;

enum class ProcessEnd : uint8_t {
  exited,       // code: its status
  signalled,    // code: the signal
  timed_out,    // it was killed, with all it had started
  interrupted,  // the same, since we got a signal ourselves
  not_started,  // code: errno
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::exited;
  int code = 0;
  std::string out, err;
};

ProcessResult run_process(const ProcessRequest& request);

// "SIGSEGV (Segmentation fault)".
std::string signal_name(int signal);

// While it lives, a signal that would end tangc (Ctrl-C, a kill) ends the running process instead,
// so that temporary files go in the usual way; its destructor then passes the signal on.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

}  // namespace tang
