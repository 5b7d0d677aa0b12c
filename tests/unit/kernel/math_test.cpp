// The error of every mathematical function against f64, over all floats: special values, the
// neighbourhood of every power of two and of the functions' own thresholds, and an even sample of
// all bit patterns.
#include "kernel/math_functions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "batch.h"
#include "builder.h"

namespace tang::kernel {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The distance in units of the last place of the float at the exact value.
double error_in_ulp(double exact, float value) {
  if (std::isnan(exact) || std::isnan(value))
    return std::isnan(exact) && std::isnan(value) ? 0 : kInf;
  const auto rounded = static_cast<float>(exact);
  if (rounded == 0 && value == 0) return std::signbit(rounded) == std::signbit(value) ? 0 : kInf;
  if (std::isinf(value) || std::isinf(rounded)) {
    if (value == rounded) return 0;
    // The greatest float and infinity are neighbours.
    const float largest = std::numeric_limits<float>::max();
    if (std::fabs(value) < largest || std::fabs(rounded) < largest) return kInf;
    return std::signbit(value) == std::signbit(rounded) ? 1 : kInf;
  }
  const int exponent = exact == 0 ? -149 : std::max(std::ilogb(exact), -126) - 23;
  return std::fabs(std::ldexp(static_cast<double>(value) - exact, -exponent));
}

// Bit patterns: every `stride`th, and everything near where functions change their mind.
std::vector<float> sample(uint32_t stride) {
  std::vector<float> xs = {0.0f, -0.0f, kInf, -kInf, kNaN};
  const auto around = [&](float x) {
    for (int d = -40; d <= 40; ++d)
      for (const uint32_t sign : {0u, 0x80000000u})
        xs.push_back(
            std::bit_cast<float>((std::bit_cast<uint32_t>(x) + static_cast<uint32_t>(d)) ^ sign));
  };
  for (int e = -149; e <= 127; ++e) around(std::ldexp(1.0f, e));
  for (const float x :
       {0.55f,       0.875f,     4.0f,        9.01f,      88.7228f,   87.3365f,
        103.9721f,   104.0f,     89.0f,       0.7853982f, 1.5707964f, 3.1415927f,
        0.70710677f, 1.4142135f, 16.6355f,    126.0f,     149.0f,     150.0f,
        151.0f,      129.0f,     0.34657359f, 0.5f,       1e5f,       3.4028235e38f})
    around(x);
  for (uint64_t bits = 0; bits < 0x100000000ull; bits += stride)
    xs.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return xs;
}

Lanes lanes_of(const float* xs, size_t n) {
  Lanes out(n);
  for (size_t i = 0; i < n; ++i) out[i].f32 = xs[i];
  return out;
}

struct Worst {
  double ulp = 0;
  float x = 0, y = 0, value = 0;
  double exact = 0;
  void see(double e, float xi, float yi, float v, double t) {
    if (e > ulp) *this = {e, xi, yi, v, t};
  }
  std::string text() const {
    return fmt::format("{} ulp at {:a}, {:a}: {:a}, exactly {:a}", ulp, x, y, value, exact);
  }
};

struct Unary {
  uint32_t (*add)(Module&);
  double (*exact)(double);
  double ulp;
};

constexpr size_t kBatch = 2048;
constexpr uint32_t kStride = 40009;  // a prime, so that low mantissa bits vary too

class UnaryFunctions : public testing::TestWithParam<Unary> {};

TEST_P(UnaryFunctions, ErrorIsAsStated) {
  const Unary& p = GetParam();
  Module m;
  const uint32_t f = p.add(m);
  EXPECT_THAT(verify(m), testing::IsEmpty());
  const std::vector<float> xs = sample(kStride);
  Worst worst;
  for (size_t begin = 0; begin < xs.size(); begin += kBatch) {
    const size_t n = std::min(kBatch, xs.size() - begin);
    const Lanes out = run_function(m, f, {lanes_of(&xs[begin], n)});
    for (size_t i = 0; i < n; ++i) {
      const double exact = p.exact(static_cast<double>(xs[begin + i]));
      worst.see(error_in_ulp(exact, out[i].f32), xs[begin + i], 0, out[i].f32, exact);
    }
  }
  EXPECT_LE(worst.ulp, p.ulp) << m.functions[f].name << ": " << worst.text();
  EXPECT_NE(m.functions[f].comment.find(fmt::format("within {} ulp", p.ulp)), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Math, UnaryFunctions,
                         testing::Values(Unary{exp_f32, std::exp, 1}, Unary{exp2_f32, std::exp2, 2},
                                         Unary{log_f32, std::log, 1}, Unary{log2_f32, std::log2, 2},
                                         Unary{tanh_f32, std::tanh, 2}, Unary{erf_f32, std::erf, 2},
                                         Unary{sigmoid_f32,
                                               [](double x) { return 1 / (1 + std::exp(-x)); }, 3},
                                         Unary{sin_f32, std::sin, 1}, Unary{cos_f32, std::cos, 1},
                                         Unary{tan_f32, std::tan, 3}),
                         [](const auto& row) {
                           Module m;
                           return m.functions.empty() ? [&] {
        const uint32_t f = row.param.add(m);
        return m.functions[f].name;
      }() : std::string();
                         });

// The worst arguments for a reduction: floats that are nearly multiples of pi/2, and huge ones.
TEST(Math, TrigonometryOfHardArguments) {
  Module m;
  const uint32_t s = sin_f32(m), c = cos_f32(m), t = tan_f32(m);
  std::vector<float> xs;
  for (int k = 1; k < 200000; ++k)
    xs.push_back(static_cast<float>(static_cast<double>(k) * 1.5707963267948966));
  for (int e = 10; e < 128; ++e)
    for (int i = 0; i < 500; ++i)
      xs.push_back(std::ldexp(1.0f + static_cast<float>(i) / 499.7f, e));
  xs.push_back(std::ldexp(16367173.0f, 72));  // the float nearest to a multiple of pi/2
  Worst worst[3];
  const Lanes x = lanes_of(xs.data(), xs.size());
  const Lanes out[3] = {run_function(m, s, {x}), run_function(m, c, {x}), run_function(m, t, {x})};
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto v = static_cast<double>(xs[i]);
    const double exact[3] = {std::sin(v), std::cos(v), std::tan(v)};
    for (int k = 0; k < 3; ++k)
      worst[k].see(error_in_ulp(exact[k], out[k][i].f32), xs[i], 0, out[k][i].f32, exact[k]);
  }
  EXPECT_LE(worst[0].ulp, 1) << worst[0].text();
  EXPECT_LE(worst[1].ulp, 1) << worst[1].text();
  EXPECT_LE(worst[2].ulp, 3) << worst[2].text();
}

std::vector<float> special_values() {
  std::vector<float> v = {
      0.0f,          kInf,       1.0f,       2.0f,        3.0f,           0.5f,
      1.5f,          0.9999999f, 1.0000001f, 1e-45f,      1.1754942e-38f, 1.17549435e-38f,
      3.4028235e38f, 1e30f,      1e-30f,     16777216.0f, 16777217.0f,    33554433.0f,
      2147483648.0f, 127.0f,     128.0f,     149.0f,      150.0f,         7.0f,
      0.33333334f,   2.5f,       1e10f};
  const size_t n = v.size();
  for (size_t i = 0; i < n; ++i) v.push_back(-v[i]);
  v.push_back(kNaN);
  return v;
}

void check_binary(uint32_t (*add)(Module&), double (*exact)(double, double), double ulp,
                  const std::vector<std::pair<float, float>>& points) {
  Module m;
  const uint32_t f = add(m);
  EXPECT_THAT(verify(m), testing::IsEmpty());
  Worst worst;
  for (size_t begin = 0; begin < points.size(); begin += kBatch) {
    const size_t n = std::min(kBatch, points.size() - begin);
    Lanes a(n), b(n);
    for (size_t i = 0; i < n; ++i) {
      a[i].f32 = points[begin + i].first;
      b[i].f32 = points[begin + i].second;
    }
    const Lanes out = run_function(m, f, {a, b});
    for (size_t i = 0; i < n; ++i) {
      const double t = exact(static_cast<double>(a[i].f32), static_cast<double>(b[i].f32));
      worst.see(error_in_ulp(t, out[i].f32), a[i].f32, b[i].f32, out[i].f32, t);
    }
  }
  EXPECT_LE(worst.ulp, ulp) << worst.text();
}

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state >> 16;
}

TEST(Math, Pow) {
  std::vector<std::pair<float, float>> points;
  for (const float x : special_values())
    for (const float y : special_values()) points.emplace_back(x, y);
  uint64_t state = 1;
  const auto unit = [&] { return static_cast<double>(next_random(state) & 0xFFFFFFFF) * 0x1p-32; };
  for (int i = 0; i < 50000; ++i) {
    // Bases of every size, with exponents that give a result of every size.
    const double log2_x = i % 3 == 0   ? unit() * 275 - 148
                          : i % 3 == 1 ? unit() - 0.5
                                       : std::ldexp(unit() - 0.5, -static_cast<int>(unit() * 22));
    const auto x = static_cast<float>(std::exp2(log2_x));
    const double log2_result = unit() * 282 - 152;
    points.emplace_back(x, static_cast<float>(log2_result / log2_x));
  }
  for (int i = 0; i < 50000; ++i)  // any two patterns
    points.emplace_back(std::bit_cast<float>(static_cast<uint32_t>(next_random(state))),
                        std::bit_cast<float>(static_cast<uint32_t>(next_random(state))));
  check_binary(pow_f32, std::pow, 2, points);
}

TEST(Math, Atan2) {
  std::vector<std::pair<float, float>> points;
  for (const float y : special_values())
    for (const float x : special_values()) points.emplace_back(y, x);
  uint64_t state = 7;
  for (int i = 0; i < 50000; ++i) {
    const auto y = std::bit_cast<float>(static_cast<uint32_t>(next_random(state)));
    const auto spread = static_cast<int>(next_random(state) % 60) - 30;
    const auto x = std::ldexp(1.0f + static_cast<float>(next_random(state) & 0xFFFFFF) * 0x1p-24f,
                              std::isfinite(y) && y != 0 ? std::ilogb(y) + spread : 0);
    points.emplace_back(y, i % 2 ? x : -x);
  }
  check_binary(atan2_f32, std::atan2, 2, points);
}

TEST(Math, RunGivesTheSameBits) {
  // The functions of a module under kernel/run, whose arithmetic is another.
  for (uint32_t (*add)(Module&) : {exp_f32, log_f32, tanh_f32, erf_f32, sin_f32, tan_f32}) {
    Builder b;
    const uint32_t f = add(b.m);
    const std::vector<double> values = {0,    -0.0, 1,    -1,    0.1,   -0.7, 12.5,
                                        -300, 1e5,  1e20, 1e-40, -1e-3, 4.5,  0.78539817};
    const auto n = static_cast<int64_t>(values.size());
    const BufferId x = b.input("x", Type::f32, n), o = b.output("o", Type::f32, n);
    const VarId i = b.variable("i");
    const ExprId value = b.m.exprs.call(Type::f32, f, {b.load(x, b.at(i))});
    b.body() = {b.loop(i, 0, n, {b.store(o, b.at(i), value)})};
    std::vector<Array> t = {array_of(Type::f32, values), Array()};
    ASSERT_EQ(b.run(t).fault, "");
    std::vector<float> xs;
    for (const double v : values) xs.push_back(static_cast<float>(v));
    const Lanes expected = run_function(b.m, f, {lanes_of(xs.data(), xs.size())});
    for (int64_t e = 0; e < n; ++e) {
      const auto got = static_cast<float>(t[1].real(e));
      const float want = expected[static_cast<size_t>(e)].f32;
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got)) << b.m.functions[f].name << " " << e;
      else
        EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want))
            << b.m.functions[f].name << " " << e;
    }
  }
}

}  // namespace
}  // namespace tang::kernel
