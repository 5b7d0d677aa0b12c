// `tangc run`: arrays in, arrays out, on every device, and all that can be wrong with them.
#include <gmock/gmock.h>

#include <cstdlib>

#include "driver/npy.h"
#include "workplace.h"

namespace tang {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using RunCommand = Workplace;

constexpr const char* kProgram =
    "dim S in 2..=8, T\n"
    "assume T <= S\n"
    "input x: f32[S, 2]\n"
    "input at: i32[T] in 0..S sorted\n"
    "scalar pos: i32 in 0..S\n"
    "scalar eps: f32\n"
    "y[t: T, d: 2] = x[at[t], d] * 2.0 + x[pos, d] + eps\n"
    "n = sum[s](x[s, 0])\n"
    "output y, n\n";

template <class T>
Array array(Type type, std::vector<int64_t> shape, const std::vector<T>& values) {
  Array a(type, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    a.set(static_cast<int64_t>(i), is_real(type) ? real_value(static_cast<double>(values[i]))
                                                 : integer_value(static_cast<int64_t>(values[i])));
  return a;
}

class RunOn : public Workplace, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, RunOn, testing::Values("interp", "kernel", "c"));

TEST_P(RunOn, ArraysInAndOut) {
  write("x.npy", write_npy(array<double>(Type::f32, {3, 2}, {1, 2, 3, 4, 5, 6})));
  write("at.npy", write_npy(array<int>(Type::i32, {2}, {0, 2})));
  const Outcome outcome =
      tangc({"run", write("p.tir", kProgram), "-i", "x=" + path("x.npy"), "-i",
             "at=" + path("at.npy"), "-i", "pos=1", "-i", "eps=0.5", "-o", "y=" + path("y.npy"),
             "--output", path("all.npz"), "--device", GetParam(), "--verify-each"});
  ASSERT_EQ(outcome.status, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  std::string error;
  const std::optional<NpyArray> y = read_npy(read("y.npy"), error);
  ASSERT_TRUE(y.has_value()) << error;
  const std::optional<Array> values = from_npy(*y, Type::f32, error);
  ASSERT_TRUE(values.has_value()) << error;
  EXPECT_EQ(values->shape, (std::vector<int64_t>{2, 2}));
  const double expected[] = {5.5, 8.5, 13.5, 16.5};
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(values->real(i), expected[i]);
  const auto all = read_npz(read("all.npz"), error);
  ASSERT_TRUE(all.has_value()) << error;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[1].name, "n");
  EXPECT_EQ(from_npy((*all)[1].array, Type::f32, error)->real(0), 9.0);
}

TEST_P(RunOn, RandomInputsAndComparison) {
  const Outcome outcome =
      tangc({"run", write("p.tir", kProgram), "--random", "-i", "S=8", "-i", "T=3", "--device",
             GetParam(), "--compare", "--tolerance=1e-6", "--quiet"});
  EXPECT_EQ(outcome.status, kSuccess) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("y  f32[3,2]  min "));
  EXPECT_THAT(outcome.out, HasSubstr("y  max error "));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(RunCommand, ToleranceDecidesTheStatus) {
  const std::string program = write("p.tir", "input x: f32[100]\ny = sum[i](x[i])\noutput y\n");
  EXPECT_EQ(tangc({"run", program, "--random", "--device=kernel", "--tolerance=0"}).status,
            kProgramWrong);
  EXPECT_EQ(tangc({"run", program, "--random", "--device=kernel", "--tolerance=1e-5"}).status,
            kSuccess);
}

TEST_F(RunCommand, TheSeedDecidesTheValues) {
  const std::string program = write("p.tir", "input x: f32[9]\ny[i] = x[i]\noutput y\n");
  const auto run = [&](const std::string& random) {
    return tangc({"run", program, random, "--device=interp"}).out;
  };
  EXPECT_EQ(run("--random"), run("--random=1"));
  EXPECT_NE(run("--random=1"), run("--random=2"));
}

TEST_F(RunCommand, RandomKeepsPromises) {
  const std::string program = write("p.tir",
                                    "input a: i32[50] in 0..50 distinct\n"
                                    "input b: i64[50] in -3..3 sorted\n"
                                    "input c: u8[20] in 0..200 sorted distinct\n"
                                    "input d: i4[7]\n"
                                    "input e: bool[9]\n"
                                    "y = sum[i](a[i]) + sum[i](b[i])\n"
                                    "z = sum[i](c[i]) + sum[i](d[i]) + sum[i](e[i])\n"
                                    "output y, z\n");
  for (const char* seed : {"--random=1", "--random=2", "--random=3"}) {
    const Outcome outcome = tangc({"run", program, seed, "--device=interp"});
    EXPECT_EQ(outcome.status, kSuccess) << outcome.err;
  }
  const std::string impossible =
      write("q.tir", "input a: i32[5] in 0..4 distinct\ny = sum[i](a[i])\noutput y\n");
  const Outcome outcome = tangc({"run", impossible, "--random", "--device=interp"});
  EXPECT_EQ(outcome.status, kProgramWrong);
  EXPECT_THAT(outcome.err, HasSubstr("no 5 distinct values for a"));
}

// Each case: what is changed in a good command line, and the error that it then gives.
TEST_F(RunCommand, WrongArgumentsAreNamed) {
  const std::string program = write("p.tir", kProgram);
  write("x.npy", write_npy(array<double>(Type::f32, {3, 2}, {1, 2, 3, 4, 5, 6})));
  write("x1.npy", write_npy(array<double>(Type::f32, {1, 2}, {1, 2})));
  write("x33.npy", write_npy(array<double>(Type::f32, {3, 3}, {})));
  write("x3.npy", write_npy(array<double>(Type::f32, {3}, {})));
  write("xd.npy", write_npy(array<double>(Type::f64, {3, 2}, {})));
  write("at.npy", write_npy(array<int>(Type::i32, {2}, {0, 2})));
  write("at3.npy", write_npy(array<int>(Type::i32, {2}, {0, 3})));
  write("down.npy", write_npy(array<int>(Type::i32, {2}, {2, 0})));
  write("at4.npy", write_npy(array<int>(Type::i32, {4}, {0, 0, 1, 2})));
  struct Case {
    std::vector<std::string> changes;
    std::string name, sentence;
  };
  const std::vector<Case> cases = {
      {{"x="}, "missing-input", "x is not given"},
      {{"pos="}, "missing-input", "pos is not given"},
      {{"w=1"}, "unknown-input", "the program has no input w; there is "},
      {{"x=x3.npy"}, "input-shape", "x is f32[S, 2], and [3] is given"},
      {{"x=x33.npy"}, "input-shape", "x is f32[S, 2], and [3,3] is given, where S is 3"},
      {{"S=4"}, "input-shape", "x is f32[S, 2], and [3,2] is given, where S is 4"},
      {{"x=1.5"}, "input-shape", "x is f32[S, 2], and 1.5 is given"},
      {{"x=xd.npy"}, "input-type", "it holds f64, and f32 is declared"},
      {{"x=x1.npy", "pos=0"}, "dim-range", "S is 1, and the program allows 2 to 8"},
      {{"at=at4.npy"}, "assumption-broken", "T is 4"},
      {{"at=at3.npy"}, "input-range", "at[1] is 3, and the program allows 0 to 2"},
      {{"at=down.npy"}, "input-range", "it is not sorted"},
      {{"pos=3"}, "input-range", "pos is 3, and the program allows 0 to 2"},
      {{"pos=1.5"}, "input-type", "the scalar pos is i32, and 1.5 is none"},
      {{"S=x.npy"}, "dim-range", "the dimension S is a size"},
  };
  for (const Case& c : cases) {
    std::vector<std::pair<std::string, std::string>> given = {
        {"x", "x.npy"}, {"at", "at.npy"}, {"pos", "1"}, {"eps", "0.5"}};
    for (const std::string& change : c.changes) {
      const std::string name = change.substr(0, change.find('='));
      std::erase_if(given, [&](const auto& g) { return g.first == name; });
      if (change.size() > name.size() + 1) given.emplace_back(name, change.substr(name.size() + 1));
    }
    std::vector<std::string> args = {"run", program, "--device=interp"};
    for (const auto& [name, value] : given) {
      args.push_back("-i");
      args.push_back(name + "=" + (value.ends_with(".npy") ? path(value) : value));
    }
    const Outcome outcome = tangc(args);
    EXPECT_EQ(outcome.status, kProgramWrong) << c.sentence;
    EXPECT_THAT(outcome.err, HasSubstr("[" + c.name + "]"));
    EXPECT_THAT(outcome.err, HasSubstr(c.sentence));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(RunCommand, UnboundDimsAreNamed) {
  const std::string program = write("p.tir", "dim N\ny[i: N] = 1.0\noutput y\n");
  const Outcome outcome = tangc({"run", program, "--device=interp"});
  EXPECT_EQ(outcome.status, kProgramWrong);
  EXPECT_THAT(outcome.err, HasSubstr("[unbound-dim]"));
  EXPECT_EQ(tangc({"run", program, "--device=interp", "-i", "N=3"}).status, kSuccess);
  EXPECT_EQ(tangc({"run", program, "--device=interp", "--bind", "N=3"}).status, kSuccess);
}

TEST_F(RunCommand, DimsFollowFromComposedExtents) {
  const std::string program =
      write("p.tir", "dim A, B\ninput x: f32[2*A + 1, A + B]\ny = sum[i, j](x[i,j])\noutput y\n");
  write("x.npy", write_npy(Array(Type::f32, {7, 5})));
  const auto run = [&](const std::string& file) {
    return tangc({"run", program, "-i", "x=" + path(file), "--device=interp"});
  };
  EXPECT_EQ(run("x.npy").status, kSuccess) << run("x.npy").err;
  write("even.npy", write_npy(Array(Type::f32, {8, 5})));
  EXPECT_THAT(run("even.npy").err, HasSubstr("[unbound-dim]"));
}

TEST_F(RunCommand, FilesThatAreNone) {
  const std::string program = write("p.tir", "input x: f32[2]\ny[i] = x[i]\noutput y\n");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", program, "--device=interp"});
    return tangc(more);
  };
  EXPECT_THAT(run({"-i", "x=" + path("none.npy")}).err, HasSubstr("cannot read"));
  write("bad.npy", "nothing");
  const Outcome bad = run({"-i", "x=" + path("bad.npy")});
  EXPECT_EQ(bad.status, kProgramWrong);
  EXPECT_THAT(bad.err, HasSubstr("bad.npy: it is not an .npy file"));
  EXPECT_EQ(run({"-i", "x"}).status, kUsage);
  EXPECT_EQ(run({"-i", "x=1", "-i", "x=2"}).status, kUsage);
  EXPECT_EQ(run({"--random", "-o", "z=z.npy"}).status, kUsage);
  EXPECT_EQ(run({"--random", "-o", "y"}).status, kUsage);
}

TEST_F(RunCommand, NoCompilerSuggestsTheInterpreter) {
  const std::string program = write("p.tir", "input x: f32[2]\ny[i] = x[i]\noutput y\n");
  const char* before = std::getenv("CC");
  const std::string saved = before ? before : "";
  ::setenv("CC", "/no/such/compiler", 1);
  const Outcome outcome = tangc({"run", program, "--random"});
  EXPECT_EQ(outcome.status, kUsage);
  EXPECT_THAT(outcome.err, HasSubstr("--device=interp"));
  EXPECT_THAT(tangc({"devices"}).out, HasSubstr("not here: there is no C compiler"));
  if (before)
    ::setenv("CC", saved.c_str(), 1);
  else
    ::unsetenv("CC");
}

}  // namespace
}  // namespace tang
