// The command line: what each command answers, with which status, and where its words go.
#include "driver/command.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "driver/commands.h"
#include "support/panic.h"
#include "workplace.h"

namespace tang {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;
using Command = Workplace;

constexpr const char* kProgram =
    "dim N\n"
    "input x: f32[N, 3]\n"
    "y[i] = sum[k](x[i,k] * x[i,k])\n"
    "output y\n";

TEST_F(Command, VersionAndHelp) {
  EXPECT_THAT(tangc({"--version"}).out, MatchesRegex("tangc [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  const Outcome help = tangc({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* word : {"check", "run", "fmt", "passes", "targets", "devices", "--bind", "-o"})
    EXPECT_THAT(help.out, HasSubstr(word));
  EXPECT_THAT(help.err, IsEmpty());
  for (const char* command : {"check", "run", "fmt", "passes", "targets", "devices"}) {
    EXPECT_EQ(tangc({command, "--help"}).status, 0) << command;
    EXPECT_THAT(tangc({command, "--help"}).out, HasSubstr(command));
  }
}

TEST_F(Command, UsageErrorsAreOneSentence) {
  const std::string program = write("p.tir", kProgram);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "give a program or a command"},
      {{"--target=c"}, "give a program"},
      {{program, "--nonsense"}, "there is no option --nonsense"},
      {{program, program}, "One program at a time"},
      {{program, "--target=fortran"}, "there is no target fortran; there is c"},
      {{program, "--emit=sauce"}, "--emit: sauce not in"},
      {{program, "--color=blue"}, "--color: blue not in"},
      {{program, "-O9"}, "-O: Value 9 not in range"},
      {{program, "--bind=N"}, "'N' is not that"},
      {{program, "--bind=N=x"}, "'N=x' is not that"},
      {{program, "--bind=N=-1"}, "'N=-1' is not that"},
      {{program, "--bind=N=1", "--bind=N=2"}, "gives N twice: 1 and 2"},
      {{program, "--prefix=a-b"}, "'a-b' is none"},
      {{program, "--prefix=1a"}, "'1a' is none"},
      {{program, "-o", path("a.txt")}, "does not end in .c"},
      {{program, "-o", path(".c")}, "does not end in .c"},
      {{program, "--depfile=d"}, "--depfile needs -o"},
      {{path("none.tir")}, "No such file or directory"},
      {{"check"}, "give a program"},
      {{"check", program, "--emit=ir"}, "there is no option --emit=ir"},
      {{"fmt", "-w", "-"}, "standard input is none"},
      {{"passes", "x"}, "what is 'x'"},
      {{"run", program, "--device=abacus"}, "there is no device abacus; there is c"},
      {{"run", program, "--random=x"}, "'x' is none"},
      {{"run", program, "--timeout=0"}, "--timeout"},
  };
  for (const auto& [args, sentence] : cases) {
    const Outcome outcome = tangc(args);
    EXPECT_EQ(outcome.status, kUsage) << sentence;
    EXPECT_THAT(outcome.err, HasSubstr(sentence));
    EXPECT_THAT(outcome.err, HasSubstr("tangc: error: "));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(Command, AWrongProgramIsStatusOneAndShowsThePlace) {
  const std::string program = write("p.tir", "input x: f32[3]\ny[i] = z[i]\noutput y\n");
  for (const char* option : {"--emit=ir", "--target=c", "--emit=kernel"}) {
    const Outcome outcome = tangc({program, option});
    EXPECT_EQ(outcome.status, kProgramWrong);
    EXPECT_THAT(outcome.err, HasSubstr("p.tir:2:8"));
    EXPECT_THAT(outcome.err, HasSubstr("[undefined]"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_EQ(tangc({"check", program}).status, kProgramWrong);
  EXPECT_EQ(tangc({"run", program}).status, kProgramWrong);
}

TEST_F(Command, ColourOnlyWhenAsked) {
  const std::string program = write("p.tir", "y = z\n");
  EXPECT_THAT(tangc({program}).err, testing::Not(HasSubstr("\x1b[")));
  EXPECT_THAT(tangc({program, "--color=always"}).err, HasSubstr("\x1b["));
}

TEST_F(Command, CheckSaysNothingOfARightProgram) {
  const Outcome outcome = tangc({"check", write("p.tir", kProgram)});
  EXPECT_EQ(outcome.status, kSuccess);
  EXPECT_THAT(outcome.out + outcome.err, IsEmpty());
}

TEST_F(Command, WritesSourceHeaderAndManifest) {
  const Outcome outcome = tangc({write("p.tir", kProgram), "--target=c", "-o", path("a.c")});
  EXPECT_EQ(outcome.status, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(read("a.c"), AllOf(HasSubstr("#include \"a.h\""), HasSubstr("p_run")));
  EXPECT_THAT(read("a.h"), HasSubstr("p_run"));
  EXPECT_THAT(read("a.json"), HasSubstr("\"version\": 1"));
  EXPECT_EQ(n_files(), 4u);
}

TEST_F(Command, SourceAloneOnStandardOutput) {
  const std::string program = write("p.tir", kProgram);
  const Outcome outcome = tangc({program});
  EXPECT_EQ(outcome.status, kSuccess);
  EXPECT_THAT(outcome.out, HasSubstr("#include \"p.h\""));
  EXPECT_EQ(tangc({program, "-o", "-"}).out, outcome.out);
  EXPECT_EQ(tangc({program, "--emit=source"}).out, outcome.out);
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(Command, DashIsStandardInputAndItsPrefixIsTang) {
  const Outcome outcome = tangc({"-", "--emit=header"}, kProgram);
  EXPECT_EQ(outcome.status, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("tang_run"));
  EXPECT_THAT(tangc({"-"}, "y = z\n").err, HasSubstr("<stdin>:1:5"));
}

TEST_F(Command, PrefixFromTheStem) {
  EXPECT_THAT(tangc({write("my-model.v2.tir", kProgram), "--emit=header"}).out,
              HasSubstr("my_model_v2_run"));
  EXPECT_THAT(tangc({write("3d.tir", kProgram), "--emit=header"}).out, HasSubstr("_3d_run"));
  EXPECT_THAT(tangc({write("q.tir", kProgram), "--emit=header", "--prefix=net"}).out,
              HasSubstr("net_run"));
}

TEST_F(Command, EachStageCanBeSeen) {
  const std::string program = write("p.tir", kProgram);
  EXPECT_THAT(tangc({program, "--emit=ir"}).out, HasSubstr("sum[k: 3](x[i,k] * x[i,k])"));
  EXPECT_THAT(tangc({program, "--emit=ir", "--bind", "N=5"}).out, HasSubstr("f32[5, 3]"));
  EXPECT_THAT(tangc({program, "--emit=schedule"}).out, StartsWith("schedule y {"));
  EXPECT_THAT(tangc({program, "--emit=kernel", "--verify-each"}).out, HasSubstr("x"));
  EXPECT_THAT(tangc({program, "--emit=manifest"}).out, HasSubstr("\"prefix\": \"p\""));
  EXPECT_EQ(tangc({program, "--emit=ir", "-o", path("out.tir")}).status, kSuccess);
  EXPECT_EQ(tangc({path("out.tir"), "--emit=ir"}).out, read("out.tir"));
}

TEST_F(Command, TheSameInputGivesTheSameBytes) {
  const std::string program = write("p.tir", kProgram);
  EXPECT_EQ(tangc({program}).out, tangc({program}).out);
}

TEST_F(Command, UnwritableOutputLeavesNothing) {
  const std::string program = write("p.tir", kProgram);
  const Outcome outcome = tangc({program, "-o", path("none/a.c")});
  EXPECT_EQ(outcome.status, kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
  std::filesystem::create_directory(path("b.json"));
  EXPECT_EQ(tangc({program, "-o", path("b.c")}).status, kUsage);
  EXPECT_FALSE(exists("b.c"));
  EXPECT_FALSE(exists("b.h"));
  EXPECT_EQ(n_files(), 2u);
}

TEST_F(Command, DepfileNamesWhatWasRead) {
  const std::string program = write("a b.tir", kProgram);
  const Outcome outcome =
      tangc({program, "-o", path("a.c"), "--depfile", path("a.d"), "--prefix=p"});
  EXPECT_EQ(outcome.status, kSuccess) << outcome.err;
  EXPECT_EQ(read("a.d"), path("a.c") + ": " + path("a\\ b.tir") + "\n");
}

TEST_F(Command, FormatsAndTellsWhenItIsFormatted) {
  const std::string program = write("p.tir", "input x: f32[3]\ny[i]=x[i]*(2.0)\noutput y");
  const Outcome outcome = tangc({"fmt", program});
  EXPECT_EQ(outcome.out, "input x: f32[3]\ny[i] = x[i] * 2.0\noutput y\n");
  EXPECT_EQ(tangc({"fmt", "--check", program}).status, kProgramWrong);
  EXPECT_EQ(tangc({"fmt", "-w", program}).status, kSuccess);
  EXPECT_EQ(read("p.tir"), outcome.out);
  EXPECT_EQ(tangc({"fmt", "--check", program}).status, kSuccess);
  EXPECT_EQ(tangc({"fmt", "-"}, "y[i = 1\n").status, kProgramWrong);
}

TEST_F(Command, Lists) {
  EXPECT_THAT(tangc({"targets"}).out, HasSubstr("c "));
  EXPECT_THAT(tangc({"devices"}).out, AllOf(HasSubstr("interp"), HasSubstr("kernel")));
  EXPECT_THAT(tangc({"passes"}).out, HasSubstr("Legalizations"));
}

TEST_F(Command, AFaultSavesTheProgramAndSaysHowToRepeatIt) {
  Streams streams;
  Invocation invocation{.args = {"it's.tir", "-o", "a.c"}, .streams = streams};
  invocation.program = "it's.tir";
  invocation.sources.add("it's.tir", "the text");
  std::string report;
  try {
    TANG_PANIC("two and two are {}", 5);
  } catch (const InternalError& fault) {
    report = fault_report(invocation, "run", fault);
  }
  EXPECT_THAT(report, HasSubstr("internal error: "));
  EXPECT_THAT(report, HasSubstr("two and two are 5"));
  const size_t at = report.find("tangc run ") + 10;
  const std::string saved = report.substr(at, report.find(' ', at) - at);
  EXPECT_THAT(report, HasSubstr(saved + " -o a.c\n"));
  EXPECT_EQ(read_file(saved), "the text");
  std::filesystem::remove(saved);
}

}  // namespace
}  // namespace tang
