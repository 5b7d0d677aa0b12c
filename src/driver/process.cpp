#include "driver/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "driver/command.h"
#include "driver/files.h"

namespace tang {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr size_t kMostOutput = size_t{1} << 24;  // bytes kept of each stream

// Written by the handler, which may only touch such things.
volatile sig_atomic_t g_signal = 0;
int g_wake_pipe[2] = {-1, -1};
struct sigaction g_previous[kEndingSignals.size()];

void remember_signal(int signal) {
  const int saved = errno;
  g_signal = signal;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(g_wake_pipe[1], &byte, 1);
  errno = saved;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0)
      throw CommandError(
          kUsage, fmt::format("cannot make a pipe: {}", std::generic_category().message(errno)));
    read = fds[0];
    write = fds[1];
  }
  ~Pipe() {
    close(read);
    close(write);
  }
  static void close(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

// Runs in the child between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* argv, int in, int out, int err, int shared, int report) {
  ::setpgid(0, 0);  // so that a kill reaches what it starts
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_DFL);
  for (const int signal : kEndingSignals) ::signal(signal, SIG_DFL);
  // Out of the way first: a source may have the number of another's target.
  if (shared >= 0) shared = ::fcntl(shared, F_DUPFD_CLOEXEC, 10);
  in = ::fcntl(in, F_DUPFD_CLOEXEC, 10);
  out = ::fcntl(out, F_DUPFD_CLOEXEC, 10);
  err = ::fcntl(err, F_DUPFD_CLOEXEC, 10);
  report = ::fcntl(report, F_DUPFD_CLOEXEC, 10);
  if (::dup2(in, 0) >= 0 && ::dup2(out, 1) >= 0 && ::dup2(err, 2) >= 0 &&
      (shared < 0 || ::dup2(shared, kSharedFd) >= 0))
    ::execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

// Milliseconds until the deadline, for poll(): -1 is forever.
int remaining_ms(const ProcessRequest& request, Clock::time_point start) {
  if (request.time_limit.count() == 0) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(start + request.time_limit - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

// Reads what is there; closes the descriptor at its end.
void drain(int& fd, std::string& to) {
  char chunk[1 << 14];
  const ssize_t n = ::read(fd, chunk, sizeof chunk);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return Pipe::close(fd);
  to.append(chunk, std::min(static_cast<size_t>(n), kMostOutput - to.size()));
}

// Writes what the pipe takes; closes it at the end of the input.
void feed(int& fd, const std::string& input, size_t& done) {
  const ssize_t n = ::write(fd, input.data() + done, input.size() - done);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n < 0) return Pipe::close(fd);  // it does not read; its exit status says why
  done += static_cast<size_t>(n);
  if (done == input.size()) Pipe::close(fd);
}

// Moves bytes until both outputs are closed. False when it took too long or we got a signal.
bool converse(const ProcessRequest& request, Clock::time_point start, Pipe& in, Pipe& out,
              Pipe& err, ProcessResult& result) {
  size_t done = 0;
  if (request.input.empty()) Pipe::close(in.write);
  while (out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 4> fds = {{{.fd = out.read, .events = POLLIN, .revents = 0},
                                  {.fd = err.read, .events = POLLIN, .revents = 0},
                                  {.fd = in.write, .events = POLLOUT, .revents = 0},
                                  {.fd = g_wake_pipe[0], .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(fds.data(), fds.size(), remaining_ms(request, start));
    if (g_signal != 0) return result.end = ProcessEnd::interrupted, false;
    if (ready == 0) return result.end = ProcessEnd::timed_out, false;
    if (fds[0].revents != 0) drain(out.read, result.out);
    if (fds[1].revents != 0) drain(err.read, result.err);
    if (fds[2].revents != 0) feed(in.write, request.input, done);
  }
  return true;
}

// Waits for the end of a process whose outputs are closed, which is near but need not be there.
bool reap(const ProcessRequest& request, Clock::time_point start, pid_t child,
          ProcessResult& result) {
  int status = 0;
  while (true) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) break;
    if (done < 0 && errno != EINTR) return result.end = ProcessEnd::not_started, true;
    if (g_signal != 0) return result.end = ProcessEnd::interrupted, false;
    if (remaining_ms(request, start) == 0) return result.end = ProcessEnd::timed_out, false;
    ::poll(nullptr, 0, 1);
  }
  const bool exited = WIFEXITED(status);
  result.end = exited ? ProcessEnd::exited : ProcessEnd::signalled;
  result.code = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  return true;
}

void kill_all(pid_t child) {
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);  // when it had no time to become a group
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void make_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

ProcessResult run_process(const ProcessRequest& request) {
  std::vector<std::string> words = request.argv;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Pipe in, out, err, report;
  make_nonblocking(in.write);
  struct sigaction ignore = {}, previous = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &previous);

  ProcessResult result;
  const Clock::time_point start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0)
    become(argv.data(), in.read, out.write, err.write, request.shared_fd, report.write);
  const int fork_error = errno;
  for (Pipe* pipe : {&out, &err, &report}) Pipe::close(pipe->write);
  Pipe::close(in.read);
  int exec_error = fork_error;
  if (child < 0 || ::read(report.read, &exec_error, sizeof exec_error) > 0) {
    if (child > 0) kill_all(child);
    result = {.end = ProcessEnd::not_started, .code = exec_error, .out = {}, .err = {}};
  } else if (!converse(request, start, in, out, err, result) ||
             !reap(request, start, child, result)) {
    kill_all(child);
  }
  ::sigaction(SIGPIPE, &previous, nullptr);
  return result;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return fmt::format("SIG{} ({})", name ? name : fmt::to_string(signal), ::strsignal(signal));
}

InterruptGuard::InterruptGuard() {
  g_signal = 0;
  if (::pipe2(g_wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) g_wake_pipe[0] = g_wake_pipe[1] = -1;
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    ::sigaction(kEndingSignals[i], nullptr, &g_previous[i]);
    const bool ignored = g_previous[i].sa_handler == SIG_IGN;  // as under nohup: stays so
    if (!ignored) ::sigaction(kEndingSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < kEndingSignals.size(); ++i)
    ::sigaction(kEndingSignals[i], &g_previous[i], nullptr);
  for (int& fd : g_wake_pipe) Pipe::close(fd);
  const int signal = g_signal;
  g_signal = 0;
  if (signal != 0) ::raise(signal);
}

}  // namespace tang
