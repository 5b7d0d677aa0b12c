// Reductions: indices and conditions, the monoids, products of them, and reductions inside of
// expressions.
#include <fmt/format.h>

#include <utility>

#include "body.h"

namespace tang::random {
namespace {

constexpr int kMostNesting = 2;
constexpr int64_t kMostPoints = 64;  // of one reduction
constexpr int64_t kMostFactors = 4;  // of one product of reals

}  // namespace

void Body::open_index(const Extent& range) {
  indices_.push_back({.name = fmt::format("i{}", n_opened_++), .range = range});
}

std::string Body::binder(Index& index) {
  const bool write = index.written || !index.told || rng_.chance(30);
  return write ? fmt::format("{}: {}", index.name, index.range.text()) : index.name;
}

std::string Body::left(const std::string& name, int64_t places) {
  std::string list;
  for (Index& index : indices_) list += (list.empty() ? "" : ", ") + binder(index);
  if (places > 0) list += fmt::format("{}r{}", list.empty() ? "" : ", ", places);
  if (places > 0 && rng_.chance(30)) list += fmt::format(": {}", places);
  return list.empty() ? name : fmt::format("{}[{}]", name, list);
}

Body::Scope Body::open_reduction(int most_indices) {
  Scope scope{.first_index = indices_.size(), .n_facts = facts_.size()};
  ++nesting_;
  const int64_t n = rng_.between(1, most_indices);
  for (int64_t k = 0; k < n; ++k) {
    const Extent range = rng_.pick(names_.sizes);
    if (k > 0 && scope.points * range.value > kMostPoints) break;
    scope.points *= range.value;
    open_index(range);
  }
  if (rng_.chance(50)) condition_on(scope);
  return scope;
}

void Body::condition_on(Scope& scope) {
  const Index inner = indices_[scope.first_index];
  for (size_t k = 0; k < scope.first_index && scope.condition.empty(); ++k) {
    const Index& outer = indices_[k];
    if (!(outer.range == inner.range) || !rng_.chance(70)) continue;
    if (rng_.chance(75)) {
      const char* op = rng_.chance(70) ? "<=" : "<";
      scope.condition = fmt::format("{} {} {}", inner.name, op, outer.name);
      if (rng_.chance(30))
        scope.condition += fmt::format(" && {} - {} < 3", outer.name, inner.name);
      facts_.push_back({.earlier = inner.name, .later = outer.name, .range = inner.range});
    } else {
      scope.condition = fmt::format("{} >= {}", inner.name, outer.name);
      facts_.push_back({.earlier = outer.name, .later = inner.name, .range = inner.range});
    }
  }
  if (!scope.condition.empty() && rng_.chance(60)) return;
  const Term data = boolean(1);
  scope.condition += (scope.condition.empty() ? "" : " && ") + data.text;
}

std::string Body::close_reduction(const Scope& scope, const std::string& monoid,
                                  const std::string& values) {
  std::string binders;
  for (size_t k = scope.first_index; k < indices_.size(); ++k)
    binders += (binders.empty() ? "" : ", ") + binder(indices_[k]);
  indices_.erase(indices_.begin() + static_cast<std::ptrdiff_t>(scope.first_index), indices_.end());
  facts_.erase(facts_.begin() + static_cast<std::ptrdiff_t>(scope.n_facts), facts_.end());
  --nesting_;
  const std::string condition = scope.condition.empty() ? "" : " | " + scope.condition;
  return fmt::format("{}[{}{}]({})", monoid, binders, condition, values);
}

// The value that a monoid of one component folds, and the bound of the result.
Term Body::folded(const std::string& monoid, Kind kind, const Scope& scope, int depth) {
  const std::optional<Kind> identity = std::exchange(identity_, kind);
  Term v = value(kind, depth);
  identity_ = identity;
  if (kind == Kind::real && monoid == "sum") v.bound = sum_bound(v.bound, scope.points);
  if (kind == Kind::real && monoid == "prod") v.bound = prod_bound(v.bound, scope.points);
  if (kind == Kind::real && monoid == "logsumexp") {
    const double most = v.bound.magnitude + 8;
    v.bound.error += static_cast<double>(scope.points);
    v.bound = function_bound(v.bound, most, 1);
  }
  v.bound = stored_bound(v.bound);
  v.bound.finite &= monoid == "sum" || monoid == "prod";
  return v;
}

Term Body::nested_reduction(Kind kind, int depth) {
  if (nesting_ >= kMostNesting || depth < 1) return value(kind, 0);
  static const std::vector<std::string> kLogic = {"any", "all"};
  static const std::vector<std::string> kNumeric = {"sum", "sum", "max", "min", "prod"};
  std::string monoid = rng_.pick(kind == Kind::boolean ? kLogic : kNumeric);
  if (kind == Kind::real && rng_.chance(10)) monoid = "logsumexp";
  const std::optional<Kind> identity = std::exchange(identity_, std::nullopt);
  const Scope scope = open_reduction(2);
  if (monoid == "prod" && scope.points > kMostFactors) monoid = "sum";
  const bool counts = kind == Kind::integer && monoid == "sum" && rng_.chance(30);
  Term v = folded(monoid, counts ? Kind::boolean : kind, scope, depth - 1);
  v.text = close_reduction(scope, monoid, v.text);
  identity_ = identity;
  return v;
}

Reduction Body::simple(int depth) {
  const Kind kind = rng_.chance(65) ? Kind::real : rng_.chance(70) ? Kind::integer : Kind::boolean;
  const Term v = nested_reduction(kind, depth);
  return {.text = v.text, .kinds = {kind}, .bounds = {v.bound}};
}

// "v, payload", adding their kinds and bounds to the result. Values are exact, for ties.
std::string Body::arg_values(int depth, Reduction& result) {
  const bool of_reals = rng_.chance(60);
  const Term v = of_reals ? exact_real(depth) : integer(depth);
  result.kinds.push_back(of_reals ? Kind::real : Kind::integer);
  result.bounds.push_back(v.bound);
  result.bounds.back().finite = false;
  if (rng_.chance(60)) {
    result.kinds.push_back(Kind::integer);
    result.bounds.emplace_back();
    return fmt::format("{}, {}", v.text, indices_.back().name);
  }
  const Kind kind = rng_.chance(60) ? Kind::real : Kind::boolean;
  const Term payload = value(kind, depth - 1);
  result.kinds.push_back(kind);
  result.bounds.push_back(stored_bound(payload.bound));
  return fmt::format("{}, {}", v.text, payload.text);
}

// The monoid of the results that have just been added, which all have its places.
std::string Body::arg_monoid(Reduction& result) {
  const int64_t places = rng_.chance(40) ? rng_.between(1, 5) : 0;
  result.places.resize(result.kinds.size(), places);
  if (places > 0) return fmt::format("topk({})", places);
  return rng_.chance(60) ? "argmax" : "argmin";
}

Reduction Body::arg_reduction(int depth) {
  const Scope scope = open_reduction(2);
  Reduction r;
  const std::string values = arg_values(depth - 1, r);
  r.text = close_reduction(scope, arg_monoid(r), values);
  return r;
}

// Several monoids over one space: (max, sum)[k](u, v).
Reduction Body::product(int depth) {
  static const std::vector<std::string> kMonoids = {"sum", "max", "min"};
  const Scope scope = open_reduction(2);
  Reduction r;
  std::string monoids, values;
  for (int64_t k = 0, n = rng_.between(2, 3); k < n; ++k) {
    const std::string comma = k == 0 ? "" : ", ";
    if (rng_.chance(25)) {
      r.places.resize(r.kinds.size());
      values += fmt::format("{}({})", comma, arg_values(depth - 2, r));
      monoids += comma + arg_monoid(r);
      continue;
    }
    const std::string monoid = rng_.pick(kMonoids);
    const Kind kind = rng_.chance(75) ? Kind::real : Kind::integer;
    const Term v = folded(monoid, kind, scope, depth - 2);
    monoids += comma + monoid;
    values += comma + v.text;
    r.kinds.push_back(kind);
    r.bounds.push_back(v.bound);
  }
  r.text = close_reduction(scope, "(" + monoids + ")", values);
  return r;
}

// An infinity that a weight scales is NaN where the weight underflows, which f32 does sooner.
Term Body::finite_real(int depth) {
  const Term a = real(depth);
  if (a.bound.finite) return a;
  Bound bound = either_bound(a.bound, constant_bound(2));
  bound.finite = true;
  return {fmt::format("min(max({}, -2.0), 2.0)", a.text), bound};
}

Reduction Body::statistics(int depth) {
  const Scope scope = open_reduction(1);
  const auto n = static_cast<double>(scope.points);
  const Term x = finite_real(depth - 1);
  const double m = x.bound.magnitude, e = x.bound.error;
  const auto inexact = [&](double magnitude, double error, const Bound& like) {
    Bound b = like;
    b.magnitude = magnitude;
    b.error = error + 1e-30;
    return stored_bound(b);
  };
  if (rng_.chance(40)) {  // count, mean, sum of squared differences
    const Bound count{.magnitude = n};
    return {.text = close_reduction(scope, "welford", fmt::format("1, {}, 0", x.text)),
            .kinds = {Kind::real, Kind::real, Kind::real},
            .bounds = {count, inexact(m, n * (m + e), x.bound),
                       inexact(4 * m * m * n, 8 * n * n * m * (m + e), x.bound)}};
  }
  const Term y = finite_real(depth - 1);
  const Bound both = add_bound(x.bound, y.bound);
  const double my = y.bound.magnitude, ey = y.bound.error;
  if (rng_.chance(50)) {
    // The exponent's error is one of the weight: at most e + m in units of the roundoff.
    const double weight = n * (e + m + n + 4);
    Bound state = stored_bound(x.bound);
    state.finite = false;
    return {
        .text = close_reduction(scope, "online_softmax", fmt::format("{}, 1, {}", x.text, y.text)),
        .kinds = {Kind::real, Kind::real, Kind::real},
        .bounds = {state, inexact(n, weight, x.bound),
                   inexact(n * my, weight * my + n * ey, both)}};
  }
  // Factors within -1..1, so that a long product stays small.
  const double slope = e + 2;
  return {.text = close_reduction(scope, "affine", fmt::format("tanh({}), {}", x.text, y.text)),
          .kinds = {Kind::real, Kind::real},
          .bounds = {inexact(1, n * slope, x.bound),
                     inexact(n * my, n * (ey + n * slope * my + n * my), both)}};
}

Reduction Body::reduction(int depth) {
  switch (rng_.below(8)) {
    case 0:
      return arg_reduction(depth);
    case 1:
      return product(depth);
    case 2:
      return statistics(depth);
    default:
      return simple(depth);
  }
}

}  // namespace tang::random
