// Lowering is right for every schedule: programs under schedule_auto and under many random legal
// schedules, executed by kernel::run and compared with the interpreter.
#include "lower/lower.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "interp/interp.h"
#include "kernel/run.h"
#include "schedule/auto.h"
#include "schedule/blocks.h"
#include "text/parse.h"
#include "text/print.h"

namespace tang {
namespace {

Program parse_text(const std::string& text, const std::map<std::string, int64_t>& bind = {}) {
  Sources sources;
  Diagnostics diagnostics;
  const uint32_t file = sources.add("test.tir", text);
  auto parsed = parse(sources, file, {.bind = bind, .entry = "", .import = {}}, diagnostics);
  EXPECT_TRUE(parsed.has_value()) << render_text(diagnostics, sources, false);
  if (!parsed) throw std::runtime_error("no program");
  return parsed->program;
}

// Values with few significant bits, so that sums in any order are exact in f32.
Bindings random_bindings(const Program& program, const std::vector<int64_t>& dims,
                         std::mt19937& random) {
  Bindings bindings{.dims = dims, .scalars = {}, .inputs = {}};
  const auto dim = [&](Var v) { return dims.at(v.index); };
  for (const Scalar& s : program.scalars)
    bindings.scalars.push_back(is_real(s.type) ? real_value(0.5) : integer_value(1));
  for (const Input& input : program.inputs) {
    const Tensor& t = program.arena->tensors[input.tensor];
    std::vector<int64_t> shape;
    for (const FormId extent : t.shape) shape.push_back(program.arena->forms.evaluate(extent, dim));
    Array a(t.type, shape);
    const int64_t high =
        input.range.hi.valid() ? program.arena->forms.evaluate(input.range.hi, dim) : 5;
    for (int64_t i = 0; i < a.size(); ++i) {
      const int64_t n = static_cast<int64_t>(random() % 16) - 8;
      a.set(i, is_real(t.type)
                   ? real_value(static_cast<double>(n) / 4)
                   : integer_value(static_cast<int64_t>(random()) % std::max<int64_t>(high, 1)));
    }
    bindings.inputs.push_back(std::move(a));
  }
  return bindings;
}

// What a run takes: the inputs, and outputs of the right size.
std::vector<Array> with_outputs(const kernel::Module& module, const Bindings& bindings) {
  std::vector<Array> tensors = bindings.inputs;
  const auto dim = [&](Var v) { return bindings.dims.at(v.index); };
  for (const kernel::ModuleTensor& t : module.tensors) {
    if (t.role != kernel::TensorRole::output) continue;
    std::vector<int64_t> shape;
    for (const FormId extent : t.shape) shape.push_back(module.forms.evaluate(extent, dim));
    tensors.emplace_back(t.type, shape);
  }
  return tensors;
}

// Runs the lowered module; returns the outputs in order.
std::vector<Array> execute(const Program& program, const kernel::Module& module,
                           const Bindings& bindings, std::string& fault) {
  std::vector<Array> tensors = with_outputs(module, bindings);
  std::vector<Value> scalars = bindings.scalars;
  const kernel::RunResult result = kernel::run(module, bindings.dims, scalars, tensors);
  fault = result.fault;
  return {tensors.begin() + static_cast<ptrdiff_t>(program.inputs.size()), tensors.end()};
}

void expect_equal(const Program& program, const Schedule& schedule, const Bindings& bindings,
                  const std::string& context) {
  const kernel::Module module = lower(program, schedule, {});
  const auto broken = kernel::verify(module);
  ASSERT_TRUE(broken.empty()) << context << broken.front() << "\n" << kernel::print(module);
  std::string fault;
  const std::vector<Array> got = execute(program, module, bindings, fault);
  ASSERT_EQ(fault, "") << context << kernel::print(module);
  Interpreter interpreter(program, bindings);
  const std::vector<Array> want = interpreter.outputs();
  ASSERT_EQ(got.size(), want.size());
  for (size_t o = 0; o < want.size(); ++o) {
    ASSERT_EQ(got[o].shape, want[o].shape) << context;
    for (int64_t i = 0; i < want[o].size(); ++i) {
      const double a = got[o].real(i), b = want[o].real(i);
      const bool same = (std::isnan(a) && std::isnan(b)) || a == b ||
                        std::fabs(a - b) <= 4e-6 * std::max(1.0, std::fabs(b));
      ASSERT_TRUE(same) << context << program.outputs[o].name << "[" << i << "] is " << a
                        << ", should be " << b << "\n"
                        << kernel::print(module);
    }
  }
}

// A random legal split of every axis of every kernel.
Schedule random_schedule(const Program& program, std::mt19937& random) {
  Schedule schedule = schedule_auto(program);
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  for (KernelSchedule& kernel : schedule.kernels) {
    std::vector<Split> splits;
    for (const Split& s : kernel.splits)
      if (s.cells == std::array<int64_t, 4>{0, 0, 0, 0}) splits.push_back(s);  // carried values
    const auto taken = [&](AxisRef ref) {
      return std::any_of(splits.begin(), splits.end(),
                         [&](const Split& s) { return s.axis == ref; });
    };
    const Comprehension& root = program.comprehension(kernel.root);
    for (uint8_t a = 0; a < root.n_points; ++a) {
      if (taken({kernel.root, a})) continue;
      const int64_t reg = pick({1, 1, 2, 3});
      const int64_t lane = reg * pick({1, 1, 2, 4});
      const int64_t group = pick({0, 1, 2}) * lane;
      splits.push_back({.axis = {kernel.root, a}, .cells = {0, group, lane, reg}});
    }
    std::vector<DefId> folds;
    if (!root.is_map()) folds.push_back(kernel.root);
    for (const Place& p : schedule.places)
      if (p.at == At::placed && p.kernel == kernel.root) folds.push_back(p.node);
    for (const DefId fold : folds) {
      const Comprehension& c = program.comprehension(fold);
      if (!program.arena->monoids[c.monoid].commutative || c.n_axes() == c.n_points) continue;
      const auto axis = static_cast<uint8_t>(c.n_points + random() % (c.n_axes() - c.n_points));
      const int64_t reg = pick({1, 1, 2, 3});
      if (random() % 2)
        splits.push_back({.axis = {fold, axis}, .cells = {0, 0, reg * pick({2, 4, 8}), reg}});
    }
    kernel.splits = std::move(splits);
    keep_legal_scans(program, kernel);
  }
  return schedule;
}

struct Case {
  const char* name;
  const char* text;
  std::vector<std::vector<int64_t>> dims;  // values of the program's dims to try
};

const Case kCases[] = {
    {"matmul",
     "dim M, N, K\ninput a: f32[M, K]\ninput b: f32[K, N]\n"
     "c[i,j] = sum[k](a[i,k] * b[k,j])\noutput c\n",
     {{3, 4, 5}, {1, 1, 1}, {7, 2, 9}, {2, 3, 0}, {0, 2, 3}}},
    {"epilogue",
     "dim M, K\ninput a: f32[M, K]\ninput b: f32[M]\n"
     "c[i] = sum[k](a[i,k]) * 0.5 + b[i]\noutput c\n",
     {{3, 4}, {1, 1}, {5, 17}, {4, 0}}},
    {"causal",
     "dim S\ninput x: f32[S]\nm[i] = max[j | j <= i](x[j])\n"
     "s[i] = sum[j | j < i](x[j])\nw[i] = sum[j | j >= i - 2 && j <= i](x[j])\n"
     "output m, s, w\n",
     {{1}, {2}, {9}, {13}, {0}}},
    {"conv",
     "input x: f32[9, 7]\ninput w: f32[3, 3]\n"
     "y[i: 9, j: 7] = sum[r,s](x?[i + r - 1, j + s - 1] * w[r,s])\noutput y\n",
     {{}}},
    {"strided", "input x: f32[13]\ny[i: 7] = max[r: 3](x?[2*i + r - 1])\noutput y\n", {{}}},
    {"gather",
     "dim T, V\ninput w: f32[V, 3]\ninput id: i32[T] in 0..V\n"
     "y[t,d] = w[id[t], d] * 2.0\noutput y\n",
     {{4, 5}, {1, 1}, {7, 3}}},
    {"argmax",
     "dim M, N\ninput x: f32[M, N]\nv[i], at[i] = argmax[j](x[i,j], j)\noutput v, at\n",
     {{3, 7}, {1, 1}, {2, 12}, {2, 0}}},
    {"topk",
     "dim M, N\ninput x: f32[M, N]\nv[i,r], at[i,r] = topk(4)[j](x[i,j], j)\noutput v, at\n",
     {{3, 17}, {1, 1}, {2, 4}, {2, 0}}},
    {"topk of pairs in a product",
     "dim M, N\ninput x: f32[M, N]\n"
     "t[i], v[i,r], at[i,e: 5,r], w[i,q], m[i,q] = "
     "(sum, topk(3), topk(1))[j | j <= i](x[i,j], (x[i,j], 10*j + e), (j, x[i,j] > 0.0))\n"
     "output t, v, at, w, m\n",
     {{3, 3}, {1, 1}, {9, 9}}},
    {"masked",
     "dim N\ninput x: f32[N]\ninput m: bool[N]\n"
     "y = sum[i | m[i]](x[i])\nz = max[i | x[i] < 0.5](x[i])\noutput y, z\n",
     {{0}, {1}, {10}, {33}}},
    {"welford",
     "dim N\ninput x: f32[2, N]\nn[i], mean[i], m2[i] = welford[k](1, x[i,k], 0)\n"
     "output mean\n",
     {{1}, {8}, {19}}},
    {"row and column state",
     "dim S\ninput s: f32[S, S]\ninput v: f32[S, 3]\n"
     "m[i], l[i], o[i,e] = online_softmax[j](s[i,j], 1, v[j,e])\n"
     "output m, l, o\n",
     {{1}, {4}, {9}}},
    {"scan",
     "dim T\ninput a, b: f32[T]\n_, h[t] = affine[u | u <= t](a[u], b[u])\noutput h\n",
     {{1}, {6}, {0}}},
    {"scans of several kinds",
     "dim R, T\ninput x: f32[R, T]\ninput z: f32[T, 3]\n"
     "a[r,t] = sum[s | s <= t](x[r,s])\nb[r,t] = max[s | s < t](x[r,s])\n"
     "c[r,t: T] = tanh(sum[s | s < t - 1](x[r,s]))\nd[t: 20] = sum[s, k | s <= t](z[s,k])\n"
     "e[t: T] = prod[k, s | s <= t && x[0,s] > 0.0](z[s,k])\n"
     "v[r,t,q], w[r,t,q] = topk(2)[s | s <= t](x[r,s], s)\noutput a, b, c, d, e, v, w\n",
     {{2, 5}, {1, 1}, {3, 30}, {2, 0}}},
    {"a fold where another reads it",
     "dim S, T\ninput q: f32[S, 4]\ninput k: f32[T, 4]\ninput v: f32[T, 3]\n"
     "s[i,j] = sum[d](q[i,d] * k[j,d])\n"
     "_, l[i], o[i,e] = online_softmax[j | j <= i](s[i,j], 1, v[j,e])\n"
     "y[i,e] = o[i,e] / (l[i] == 0.0 ? 1.0 : l[i])\noutput y\n",
     {{3, 5}, {1, 1}, {9, 4}, {2, 0}}},
    {"a fold that is read under a condition",
     "dim S, T\ninput q: f32[S, T]\ninput m: f32[S]\n"
     "p[i,j] = sum[d | d < j](q[i,d])\n"
     "y[i] = sum[j | j < T](m[i] > 0.0 ? (m[i] < 0.5 ? p[i,j] : 2.0) : q[i,j])\noutput y\n",
     {{3, 5}, {1, 1}, {9, 4}, {2, 0}}},
    {"two kernels and a rank 0 result",
     "dim N\ninput x: f32[N]\nt = sum[i](x[i])\n"
     "y[i] = x[i] - t\noutput y, t\n",
     {{1}, {5}, {300}}},
    {"triangle of two reduce axes",
     "dim N\ninput x: f32[N, N]\n"
     "t = sum[i, j | j <= i](x[i,j])\noutput t\n",
     {{1}, {5}, {8}}},
    {"two bounds on one side",
     "input x: f32[4]\nz = sum[k: 4 | k < 0 && k < 3](x[k])\n"
     "y[i: 4] = sum[k: 4 | k < 3 && k <= i](x[k])\noutput z, y\n",
     {{}}},
    {"bounds of an empty range",
     "dim N in 0..=3\ninput x: f32[N]\ny = sum[k: N | k < 1](x[k])\n"
     "z = sum[k: N | k >= N - 1](x[k])\noutput y, z\n",
     {{0}, {1}, {3}}},
    {"a domain without points",
     "dim N in 1..=20\ninput x: f32[N]\ny = sum[k | k < -2](x[k])\n"
     "z = max[k, j: N | j <= -4 && k < 30](x[k])\nw = sum[k | k == -2](x[k])\noutput y, z, w\n",
     {{1}, {20}}},
    {"a guarded read of a guarded read",
     "dim N\ninput x: f32[N]\ny[i: N] = x[i - 1] else 2.0\n"
     "z[i: N] = y[i + 1] else 3.0\n"
     "w[i: N] = (y[i + 1] else 3.0) * (y[i + 1] else 3.0) + "
     "sum[r: 3](y?[i + r - 1])\noutput z, w\n",
     {{1}, {2}, {9}}},
    {"count", "dim N\ninput x: f32[3, N]\nc[i] = sum[k](x[i,k] > 0)\noutput c\n", {{5}, {0}}},
};

// The schedule survives its way through the text of the program.
void expect_same_from_text(Program program, const Schedule& schedule) {
  program.schedules = blocks_of(program, schedule);
  const std::string text = print(program);
  const Program again = parse_text(text);
  Diagnostics diagnostics;
  const auto read = schedule_program(again, diagnostics);
  ASSERT_TRUE(read) << text << diagnostics.all().front().message;
  EXPECT_EQ(kernel::print(lower(again, *read, {})), kernel::print(lower(program, schedule, {})))
      << text;
}

class LowerCase : public testing::TestWithParam<Case> {};

TEST_P(LowerCase, EqualsTheInterpreter) {
  const Program program = parse_text(GetParam().text);
  std::mt19937 random(7);
  for (const auto& dims : GetParam().dims) {
    const Bindings bindings = random_bindings(program, dims, random);
    std::string sizes;
    for (const int64_t d : dims) sizes += std::to_string(d) + " ";
    ASSERT_NO_FATAL_FAILURE(
        expect_equal(program, schedule_auto(program), bindings, "auto, sizes " + sizes));
    for (int trial = 0; trial < 25; ++trial) {
      const Schedule schedule = random_schedule(program, random);
      ASSERT_NO_FATAL_FAILURE(expect_equal(program, schedule, bindings,
                                           "trial " + std::to_string(trial) + ", sizes " + sizes));
      ASSERT_NO_FATAL_FAILURE(expect_same_from_text(program, schedule));
    }
  }
}

// All statements that a program's kernels execute.
int64_t statements(const std::string& text, const std::vector<int64_t>& dims) {
  const Program program = parse_text(text);
  const kernel::Module module = lower(program, schedule_auto(program), {});
  std::mt19937 random(7);
  const Bindings bindings = random_bindings(program, dims, random);
  std::vector<Array> tensors = with_outputs(module, bindings);
  int64_t total = 0;
  for (const kernel::Counts& counts : kernel::run(module, dims, {}, tensors).counts)
    total += counts.statements;
  return total;
}

// For every monoid, also where the prefix stands beside other axes and conditions.
TEST(Lower, AScanIsLinear) {
  const std::string head =
      "monoid line(a, b) { identity (1, 0); combine(p, q) = (p.a*q.a, p.b*q.a + q.b) }\n"
      "dim T\ninput x: f32[T]\ninput w: f32[T, 3]\ninput m: bool[T]\n";
  for (const std::string scan : {
           "y[t] = sum[s | s <= t](x[s])",
           "y[t] = max[s | s < t](x[s])",
           "y[t: T] = prod[s | s < t - 2 && m[s]](x[s])",
           "y[t] = any[s | s <= t](m[s])",
           "y[t], z[t] = (min, all)[s | s <= t](x[s], m[s])",
           "y[t], z[t] = argmax[s | s <= t](x[s], s)",
           "y[t] = logsumexp[s | s <= t](x[s])",
           "y[t], z[t,e] = online_softmax[s | s <= t](x[s], w[s,e])",
           "_, y[t], z[t] = welford[s | s <= t](1, x[s], 0)",
           "y[t,q], z[t,q] = topk(2)[s | s <= t](x[s], s)",
           "_, y[t] = affine[s | s <= t](x[s], w[s,0])",
           "_, y[t,e] = affine[s | s <= t](x[s], w[s,e])",
           "y[t], z[t] = line[s | s <= t](x[s], w[s,1])",
           "y[t] = sum[s, e | s <= t](w[s,e])",
           "y[t: T] = sum[e, s | s <= t](w[s,e])",
           "y[t: T] = tanh(sum[s | s <= t](x[s])) + x[t]",
       }) {
    const std::string text = head + scan + "\noutput y" +
                             (scan.find("z[") == std::string::npos ? "\n" : ", z\n");
    EXPECT_LT(10 * statements(text, {2000}), 21 * statements(text, {1000})) << scan;
  }
}

TEST(Lower, ACausalMaskHalvesTheWork) {
  const std::string all =
      "dim S\ninput q, k: f32[S, 64]\ns[i,j] = sum[d](q[i,d] * k[j,d])\n"
      "m[i] = max[j](s[i,j])\noutput m\n";
  std::string causal = all;
  causal.replace(causal.find("max[j]"), 6, "max[j | j <= i]");
  const double share = double(statements(causal, {64})) / double(statements(all, {64}));
  EXPECT_LT(share, 0.53);
  EXPECT_GT(share, 0.47);
}

// Layers that differ in the tensors they read, or in a constant coordinate, are one kernel.
TEST(Lower, AlikeKernelsAreOne) {
  const Program program = parse_text(
      "const L = 3\ninput x: f32[8]\ninput w: f32[L, 8, 8]\ninput v: f32[8, 8]\nh = x\n"
      "for l in 0..L { h[i] = sum[k](w[l,i,k] * h[k]) }\n"
      "y[i] = sum[k](v[i,k] * h[k])\noutput y\n");
  const kernel::Module module = lower(program, schedule_auto(program), {});
  ASSERT_EQ(module.kernels.size(), 1u) << kernel::print(module);
  ASSERT_EQ(module.launches.size(), 4u);
  std::mt19937 random(3);
  const Bindings bindings = random_bindings(program, {}, random);
  expect_equal(program, schedule_auto(program), bindings, "layers");
}

// A kernel whose address would go below its argument's first element keeps its offset.
TEST(Lower, ReversedReadsKeepTheirOffset) {
  const Program program = parse_text(
      "input a, b: f32[4]\nx[i: 4] = exp(a[3 - i])\ny[i: 4] = exp(b[3 - i])\noutput x, y\n");
  const kernel::Module module = lower(program, schedule_auto(program), {});
  EXPECT_EQ(module.kernels.size(), 1u) << kernel::print(module);
  EXPECT_TRUE(kernel::verify(module).empty());
  std::mt19937 random(3);
  expect_equal(program, schedule_auto(program), random_bindings(program, {}, random), "reversed");
}

INSTANTIATE_TEST_SUITE_P(All, LowerCase, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& param) {
                           std::string name = param.param.name;
                           for (char& ch : name)
                             if (ch == ' ') ch = '_';
                           return name;
                         });

}  // namespace
}  // namespace tang
