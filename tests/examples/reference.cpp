// Each example as plain loops.
#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tang::examples {

Values::Values(std::vector<int64_t> s) : shape(std::move(s)) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  data.resize(static_cast<size_t>(n));
}

size_t Values::at(std::initializer_list<int64_t> index) const {
  int64_t position = 0;
  size_t d = 0;
  for (const int64_t i : index) position = position * shape[d++] + i;
  return static_cast<size_t>(position);
}

namespace {

Arrays matmul(const Sizes& s, const Arrays& in) {
  const int64_t M = s.at("M"), N = s.at("N"), K = s.at("K");
  const Values &a = in.at("a"), &b = in.at("b");
  Values c({M, N});
  for (int64_t i = 0; i < M; ++i)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t j = 0; j < N; ++j) c(i, j) += a(i, k) * b(k, j);
  return {{"c", c}};
}

// Overwrites n numbers with their softmax.
void softmax_row(double* x, int64_t n) {
  const double peak = *std::max_element(x, x + n);
  double norm = 0;
  for (int64_t j = 0; j < n; ++j) norm += x[j] = std::exp(x[j] - peak);
  for (int64_t j = 0; j < n; ++j) x[j] /= norm;
}

Arrays softmax(const Sizes& s, const Arrays& in) {
  const int64_t R = s.at("R"), C = s.at("C");
  Values y = in.at("x");
  for (int64_t i = 0; i < R && C > 0; ++i) softmax_row(&y(i, 0), C);
  return {{"y", y}};
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const Values& x, int64_t row) {
  const int64_t n = x.shape[1];
  Moments m;
  for (int64_t c = 0; c < n; ++c) m.mean += x(row, c) / static_cast<double>(n);
  for (int64_t c = 0; c < n; ++c)
    m.variance += std::pow(x(row, c) - m.mean, 2) / static_cast<double>(n);
  return m;
}

Arrays layernorm(const Sizes& s, const Arrays& in) {
  const int64_t T = s.at("T"), C = s.at("C");
  const Values &x = in.at("x"), &gain = in.at("gain"), &bias = in.at("bias");
  Values y({T, C});
  for (int64_t t = 0; t < T; ++t) {
    const Moments m = moments(x, t);
    for (int64_t c = 0; c < C; ++c)
      y(t, c) = (x(t, c) - m.mean) / std::sqrt(m.variance + 1e-5) * gain(c) + bias(c);
  }
  return {{"y", y}};
}

Arrays welford(const Sizes& s, const Arrays& in) {
  const int64_t R = s.at("R");
  Values mean({R}), var({R});
  for (int64_t i = 0; i < R; ++i) {
    const Moments m = moments(in.at("x"), i);
    mean(i) = m.mean;
    var(i) = m.variance;
  }
  return {{"mean", mean}, {"var", var}};
}

Arrays attention(const Sizes& s, const Arrays& in) {
  constexpr int64_t G = 2, H = 4, D = 64;
  const int64_t S = s.at("S");
  const Values &q = in.at("q"), &k = in.at("k"), &v = in.at("v");
  Values o({S, G, H, D});
  std::vector<double> p(static_cast<size_t>(S));
  for (int64_t g = 0; g < G; ++g)
    for (int64_t h = 0; h < H; ++h)
      for (int64_t i = 0; i < S; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          double dot = 0;
          for (int64_t d = 0; d < D; ++d) dot += q(i, g, h, d) * k(j, g, d);
          p[static_cast<size_t>(j)] = dot / 8;
        }
        softmax_row(p.data(), i + 1);
        for (int64_t j = 0; j <= i; ++j)
          for (int64_t e = 0; e < D; ++e) o(i, g, h, e) += p[static_cast<size_t>(j)] * v(j, g, e);
      }
  return {{"o", o}};
}

Arrays kv_cache(const Sizes& s, const Arrays& in) {
  constexpr int64_t G = 2, R = 4, D = 64;
  const int64_t T = s.at("T"), now = static_cast<int64_t>(in.at("position").data[0]);
  Values keys = in.at("keys"), values = in.at("values"), o({G, R, D});
  const Values& q = in.at("q");
  std::vector<double> p(static_cast<size_t>(T));
  for (int64_t g = 0; g < G; ++g) {
    for (int64_t d = 0; d < D; ++d) {
      keys(now, g, d) = in.at("k")(g, d);
      values(now, g, d) = in.at("v")(g, d);
    }
    for (int64_t r = 0; r < R; ++r) {
      for (int64_t t = 0; t <= now; ++t) {
        double dot = 0;
        for (int64_t d = 0; d < D; ++d) dot += q(g, r, d) * keys(t, g, d);
        p[static_cast<size_t>(t)] = dot / 8;
      }
      softmax_row(p.data(), now + 1);
      for (int64_t t = 0; t <= now; ++t)
        for (int64_t d = 0; d < D; ++d) o(g, r, d) += p[static_cast<size_t>(t)] * values(t, g, d);
    }
  }
  return {{"keys", keys}, {"values", values}, {"o", o}};
}

Arrays conv2d(const Sizes& s, const Arrays& in) {
  constexpr int64_t C = 3, K = 8, R = 3, pad = 1, stride = 2;
  const int64_t N = s.at("N"), H = s.at("H"), W = s.at("W");
  const int64_t height = (H + 2 * pad - R) / stride + 1, width = (W + 2 * pad - R) / stride + 1;
  const Values &x = in.at("x"), &w = in.at("w"), &b = in.at("b");
  Values padded({N, C, H + 2 * pad, W + 2 * pad});
  for (int64_t n = 0; n < N; ++n)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t i = 0; i < H; ++i)
        for (int64_t j = 0; j < W; ++j) padded(n, c, i + pad, j + pad) = x(n, c, i, j);
  Values y({N, K, height, width});
  for (int64_t n = 0; n < N; ++n)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j) {
          y(n, k, i, j) = b(k);
          for (int64_t c = 0; c < C; ++c)
            for (int64_t r = 0; r < R; ++r)
              for (int64_t t = 0; t < R; ++t)
                y(n, k, i, j) += padded(n, c, stride * i + r, stride * j + t) * w(k, c, r, t);
        }
  return {{"y", y}};
}

Arrays embedding(const Sizes& s, const Arrays& in) {
  const int64_t T = s.at("T"), D = 64;
  const Values &table = in.at("table"), &position = in.at("position"), &token = in.at("token");
  Values y({T, D});
  for (int64_t t = 0; t < T; ++t)
    for (int64_t d = 0; d < D; ++d) y(t, d) = table(token(t), d) + position(t, d);
  return {{"y", y}};
}

Arrays cumsum(const Sizes& s, const Arrays& in) {
  Values y = in.at("x");
  for (int64_t r = 0; r < s.at("R"); ++r)
    for (int64_t t = 1; t < s.at("T"); ++t) y(r, t) += y(r, t - 1);
  return {{"y", y}};
}

Arrays argmax(const Sizes& s, const Arrays& in) {
  const int64_t B = s.at("B"), V = s.at("V");
  const Values& logit = in.at("logit");
  Values best({B}), at({B});
  for (int64_t b = 0; b < B; ++b) {
    best(b) = -std::numeric_limits<double>::infinity();
    for (int64_t v = 0; v < V; ++v)
      if (logit(b, v) > best(b)) best(b) = logit(b, v), at(b) = static_cast<double>(v);
  }
  return {{"best", best}, {"at", at}};
}

Arrays routing(const Sizes& s, const Arrays& in) {
  constexpr int64_t kExperts = 8;
  const int64_t T = s.at("T"), D = s.at("D");
  const Values &x = in.at("x"), &w = in.at("w");
  Values weight({T, 2}), who({T, 2});
  for (int64_t t = 0; t < T; ++t) {
    std::vector<double> logit(kExperts);
    std::vector<int64_t> order(kExperts);
    for (int64_t e = 0; e < kExperts; ++e) {
      order[e] = e;
      for (int64_t d = 0; d < D; ++d) logit[e] += x(t, d) * w(e, d);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return logit[a] > logit[b]; });
    const double share = 1 / (1 + std::exp(logit[order[1]] - logit[order[0]]));
    weight(t, 0) = share, weight(t, 1) = 1 - share;
    for (int64_t r = 0; r < 2; ++r) who(t, r) = static_cast<double>(order[r]);
  }
  return {{"weight", weight}, {"who", who}};
}

Arrays gated_delta(const Sizes& s, const Arrays& in) {
  constexpr int64_t kN = 4;
  const int64_t T = s.at("T");
  const Values &q = in.at("q"), &k = in.at("k"), &v = in.at("v");
  const Values &a = in.at("a"), &beta = in.at("beta");
  Values state({kN, kN}), o({T, kN});
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < kN; ++i) {
      double known = 0;
      for (int64_t m = 0; m < kN; ++m) known += state(i, m) * k(t, m);
      for (int64_t j = 0; j < kN; ++j) {
        state(i, j) =
            a(t) * (state(i, j) - beta(t) * known * k(t, j)) + beta(t) * v(t, i) * k(t, j);
        o(t, i) += state(i, j) * q(t, j);
      }
    }
  return {{"o", o}};
}

// tanh(w x + b)
Values layer(const Values& w, const Values& x, const Values& b) {
  Values y({w.shape[0]});
  for (int64_t i = 0; i < w.shape[0]; ++i) {
    y(i) = b(i);
    for (int64_t k = 0; k < w.shape[1]; ++k) y(i) += w(i, k) * x(k);
    y(i) = std::tanh(y(i));
  }
  return y;
}

Arrays mlp(const Sizes&, const Arrays& in) {
  const Values h1 = layer(in.at("w1"), in.at("x"), in.at("b1"));
  const Values h2 = layer(in.at("w2"), h1, in.at("b2"));
  Values u = layer(in.at("w3"), h2, in.at("b3"));
  for (double& value : u.data) value *= in.at("limit").data[0];
  return {{"u", u}};
}

std::vector<Example> all() {
  return {
      {.name = "matmul",
       .sizes = {{{"M", 1}, {"N", 1}, {"K", 1}},
                 {{"M", 13}, {"N", 7}, {"K", 31}},
                 {{"M", 64}, {"N", 48}, {"K", 32}},
                 {{"M", 5}, {"N", 3}, {"K", 0}},
                 {{"M", 0}, {"N", 3}, {"K", 2}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "a", .shape = {s.at("M"), s.at("K")}},
                 {.name = "b", .shape = {s.at("K"), s.at("N")}}};
       },
       .outputs = matmul},
      {.name = "softmax",
       .sizes = {{{"R", 1}, {"C", 1}},
                 {{"R", 7}, {"C", 101}},
                 {{"R", 4}, {"C", 64}},
                 {{"R", 3}, {"C", 0}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "x", .shape = {s.at("R"), s.at("C")}}};
       },
       .outputs = softmax},
      {.name = "layernorm",
       .sizes = {{{"T", 1}, {"C", 1}}, {{"T", 5}, {"C", 97}}, {{"T", 16}, {"C", 64}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         const int64_t C = s.at("C");
         return {{.name = "x", .shape = {s.at("T"), C}},
                 {.name = "gain", .shape = {C}},
                 {.name = "bias", .shape = {C}}};
       },
       .outputs = layernorm,
       .tolerance = 2e-6},
      {.name = "attention",
       .sizes = {{{"S", 1}}, {{"S", 7}}, {{"S", 37}}, {{"S", 64}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         const int64_t S = s.at("S");
         return {{.name = "q", .shape = {S, 2, 4, 64}},
                 {.name = "k", .shape = {S, 2, 64}},
                 {.name = "v", .shape = {S, 2, 64}}};
       },
       .outputs = attention,
       .tolerance = 2e-6},
      {.name = "kv_cache",
       .sizes = {{{"T", 1}}, {{"T", 2}}, {{"T", 37}}, {{"T", 64}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         const int64_t T = s.at("T");
         return {{.name = "q", .shape = {2, 4, 64}},
                 {.name = "k", .shape = {2, 64}},
                 {.name = "v", .shape = {2, 64}},
                 {.name = "keys", .shape = {T, 2, 64}},
                 {.name = "values", .shape = {T, 2, 64}},
                 {.name = "position", .below = T, .is_scalar = true}};
       },
       .outputs = kv_cache,
       .tolerance = 2e-6},
      {.name = "conv2d",
       .sizes = {{{"N", 1}, {"H", 1}, {"W", 1}},
                 {{"N", 2}, {"H", 7}, {"W", 12}},
                 {{"N", 1}, {"H", 13}, {"W", 5}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "x", .shape = {s.at("N"), 3, s.at("H"), s.at("W")}},
                 {.name = "w", .shape = {8, 3, 3, 3}},
                 {.name = "b", .shape = {8}}};
       },
       .outputs = conv2d},
      {.name = "embedding",
       .sizes = {{{"T", 1}, {"P", 1}, {"V", 1}},
                 {{"T", 11}, {"P", 17}, {"V", 29}},
                 {{"T", 0}, {"P", 4}, {"V", 8}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "table", .shape = {s.at("V"), 64}},
                 {.name = "position", .shape = {s.at("P"), 64}},
                 {.name = "token", .shape = {s.at("T")}, .below = s.at("V")}};
       },
       .outputs = embedding},
      {.name = "welford",
       .sizes = {{{"R", 1}, {"C", 1}}, {{"R", 7}, {"C", 89}}, {{"R", 4}, {"C", 128}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "x", .shape = {s.at("R"), s.at("C")}}};
       },
       .outputs = welford,
       .tolerance = 2e-6},
      {.name = "cumsum",
       .sizes = {{{"R", 1}, {"T", 1}},
                 {{"R", 3}, {"T", 53}},
                 {{"R", 2}, {"T", 64}},
                 {{"R", 2}, {"T", 0}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "x", .shape = {s.at("R"), s.at("T")}}};
       },
       .outputs = cumsum},
      {.name = "argmax",
       .sizes = {{{"B", 1}, {"V", 1}}, {{"B", 5}, {"V", 101}}, {{"B", 2}, {"V", 1024}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "logit", .shape = {s.at("B"), s.at("V")}}};
       },
       .outputs = argmax,
       .integers = {"at"},
       .tolerance = 0},
      {.name = "routing",
       .sizes = {{{"T", 1}, {"D", 1}}, {{"T", 9}, {"D", 17}}, {{"T", 64}, {"D", 32}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         return {{.name = "x", .shape = {s.at("T"), s.at("D")}},
                 {.name = "w", .shape = {8, s.at("D")}}};
       },
       .outputs = routing,
       .integers = {"who"}},
      {.name = "gated_delta",
       .sizes = {{{"T", 1}}, {{"T", 7}}},
       .inputs = [](const Sizes& s) -> std::vector<Declared> {
         const int64_t t = s.at("T");
         return {{.name = "q", .shape = {t, 4}},
                 {.name = "k", .shape = {t, 4}},
                 {.name = "v", .shape = {t, 4}},
                 {.name = "a", .shape = {t}},
                 {.name = "beta", .shape = {t}}};
       },
       .outputs = gated_delta},
      {.name = "mlp",
       .sizes = {{}},
       .inputs = [](const Sizes&) -> std::vector<Declared> {
         return {{.name = "x", .shape = {17}},      {.name = "w1", .shape = {64, 17}},
                 {.name = "w2", .shape = {64, 64}}, {.name = "w3", .shape = {6, 64}},
                 {.name = "b1", .shape = {64}},     {.name = "b2", .shape = {64}},
                 {.name = "b3", .shape = {6}},      {.name = "limit", .is_scalar = true}};
       },
       .outputs = mlp},
  };
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<Example> list = all();
  return list;
}

}  // namespace tang::examples
