// The worker: what compiled kernels may do wrong is a result that names them.
#include "driver/worker.h"

#include <gmock/gmock.h>

#include "driver/native.h"
#include "support/panic.h"
#include "workplace.h"

namespace tang {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A module with one input and one output of four floats, and C that claims to be its code.
class Worker : public Workplace {
 protected:
  Worker() {
    const FormId four = module_.forms.constant(4);
    for (const char* name : {"x", "y"})
      module_.tensors.push_back(
          {.name = name,
           .type = Type::f32,
           .role = name[0] == 'x' ? kernel::TensorRole::input : kernel::TensorRole::output,
           .shape = {four},
           .elements = four});
    module_.kernels.push_back({.name = "double_all"});
    module_.launches.push_back({.kernel = 0, .args = {0, 1}});
    module_.workspace_bytes = module_.forms.constant(64);
    tensors_ = {Array(Type::f32, {4}), Array(Type::f32, {4})};
    for (int64_t i = 0; i < 4; ++i) tensors_[0].set(i, real_value(static_cast<double>(i)));
  }

  // "" when all went well.
  std::string run(const std::string& body, const std::string& workspace = "64",
                  milliseconds limit = milliseconds(60'000)) {
    const std::string text =
        "#include <stddef.h>\n#include <stdlib.h>\n"
        "struct args { const float *x; float *y; float *workspace; };\n"
        "size_t tang_run_workspace(const struct args *a) { (void)a; return " +
        workspace +
        "; }\n"
        "int tang_run(const struct args *a) { " +
        body + " return 0; }\n";
    try {
      const Built built = build_library({{.suffix = ".c", .text = text}}, "w", path(""), limit);
      call_in_worker({.module = &module_, .library = built.library, .time_limit = limit}, tensors_);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  kernel::Module module_;
  std::vector<Array> tensors_;
};

TEST_F(Worker, CallsTheEntryPoint) {
  EXPECT_EQ(run("for (int i = 0; i < 4; i++) a->y[i] = 2 * a->x[i];"), "");
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(tensors_[1].real(i), 2.0 * static_cast<double>(i));
}

TEST_F(Worker, OutputsAndWorkspaceArePoisoned) {
  EXPECT_EQ(run("if (a->workspace[0] == a->workspace[0] || a->y[3] == a->y[3]) abort();"), "");
  EXPECT_NE(tensors_[1].real(2), tensors_[1].real(2));
}

TEST_F(Worker, ACrashIsNamed) {
  const std::string message = run("*(volatile int *)8 = 1;");
  EXPECT_THAT(message, HasSubstr("tang_run crashed with SIGSEGV"));
  EXPECT_THAT(message, HasSubstr("double_all"));
}

TEST_F(Worker, AHangIsStopped) {
  EXPECT_THAT(run("for (volatile int i = 0; ; i++) {}", "64", milliseconds(2000)),
              HasSubstr("ran for more than 2 s"));
}

TEST_F(Worker, WritesOutOfBoundsAreSeen) {
  EXPECT_THAT(run("a->y[4] = 0;"), HasSubstr("wrote behind the end of y"));
  EXPECT_THAT(run("a->workspace[16] = 0;"), HasSubstr("wrote behind the end of the workspace"));
  EXPECT_THAT(run("*(float *)&a->x[1] = 7;"), HasSubstr("wrote to its input x"));
}

TEST_F(Worker, DisagreementIsSeen) {
  EXPECT_THAT(run("", "128"), HasSubstr("gives 128 bytes, the module 64"));
  EXPECT_THAT(run("return 3;"), HasSubstr("refused its arguments with code 3"));
  EXPECT_THAT(run("exit(5);"), HasSubstr("ended with status 5"));
}

TEST_F(Worker, AMissingEntryPointIsNamed) {
  module_.prefix = "other";
  EXPECT_THAT(run(""), HasSubstr("does not have other_run"));
}

TEST_F(Worker, CodeThatDoesNotCompileShowsWhy) {
  EXPECT_THAT(run("undeclared = 1;"), HasSubstr("undeclared"));
}

}  // namespace
}  // namespace tang
