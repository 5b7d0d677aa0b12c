// Processes: input, outputs, ends of all kinds.
#include "driver/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace tang {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

ProcessResult shell(const std::string& script, const std::string& input = "",
                    milliseconds limit = milliseconds(0)) {
  return run_process({.argv = {"sh", "-c", script}, .input = input, .time_limit = limit});
}

TEST(Process, OutputsAndStatus) {
  const ProcessResult result = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.end, ProcessEnd::exited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(Process, LargeInputAndOutputAtOnce) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(shell("cat", text).out, text);
  EXPECT_EQ(shell("exit 0", text).code, 0);  // which reads nothing
}

TEST(Process, ASignalIsNamed) {
  const ProcessResult result = shell("kill -SEGV $$");
  EXPECT_EQ(result.end, ProcessEnd::signalled);
  EXPECT_THAT(signal_name(result.code), HasSubstr("SIGSEGV"));
}

TEST(Process, TheTimeLimitEndsItAndItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = shell("sleep 100 & sleep 100", "", milliseconds(100));
  EXPECT_EQ(result.end, ProcessEnd::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
  // One that closes its outputs is still waited for, and no longer than the limit.
  EXPECT_EQ(shell("exec >&- 2>&-; sleep 100", "", milliseconds(100)).end, ProcessEnd::timed_out);
}

TEST(Process, WhatIsNoProgramDoesNotStart) {
  const ProcessResult result = run_process({.argv = {"/no/such/program"}});
  EXPECT_EQ(result.end, ProcessEnd::not_started);
  EXPECT_EQ(result.code, ENOENT);
}

TEST(Process, AnInterruptEndsItAndIsPassedOn) {
  static volatile sig_atomic_t passed_on = 0;
  struct sigaction action = {}, previous = {};
  action.sa_handler = [](int) { passed_on = 1; };
  ::sigaction(SIGTERM, &action, &previous);
  ProcessResult result;
  {
    const InterruptGuard guard;
    std::thread later([] {
      std::this_thread::sleep_for(milliseconds(50));
      ::kill(::getpid(), SIGTERM);
    });
    result = shell("sleep 100");
    later.join();
    EXPECT_EQ(passed_on, 0);
  }
  EXPECT_EQ(result.end, ProcessEnd::interrupted);
  EXPECT_EQ(passed_on, 1);
  ::sigaction(SIGTERM, &previous, nullptr);
}

}  // namespace
}  // namespace tang
