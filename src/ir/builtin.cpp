// Each built-in monoid as its identity and combine expressions. They are exact at the edges: NaN,
// infinities and empty states go through selects, never through 0*inf or inf - inf.
#include "ir/builtin.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "support/panic.h"

namespace tang {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kAny = SIZE_MAX;

// Writes one monoid: components are named by position on either side.
struct Writer {
  Exprs& exprs;
  const std::vector<Type>& types;
  int64_t places = 1;  // of topk

  ExprId left(size_t i) const { return exprs.leaf(Op::left, types[i], i); }
  ExprId right(size_t i) const { return exprs.leaf(Op::right, types[i], i); }
  ExprId real(double v) const { return exprs.real(v); }
  ExprId add(ExprId a, ExprId b) const { return exprs.make(Op::add, a, b); }
  ExprId sub(ExprId a, ExprId b) const { return exprs.make(Op::sub, a, b); }
  ExprId mul(ExprId a, ExprId b) const { return exprs.make(Op::mul, a, b); }
  ExprId both(Op op, size_t i) const { return exprs.make(op, left(i), right(i)); }
  ExprId equals(ExprId a, double v) const { return exprs.make(Op::eq, a, real(v)); }
  ExprId negate(ExprId a) const { return exprs.make(Op::logic_not, a); }
  ExprId either(ExprId a, ExprId b) const { return exprs.make(Op::logic_or, a, b); }
};

// The value that every other value of the kind beats: the least for `max`, the greatest for `min`.
ExprId extreme(Exprs& exprs, Type type, bool least) {
  if (is_real(type)) return exprs.real(least ? -kInfinity : kInfinity);
  return exprs.integer(least ? integer_min(type) : integer_max(type), type);
}

ExprId number(Exprs& exprs, Type type, int64_t value) {
  return is_real(type) ? exprs.real(static_cast<double>(value)) : exprs.integer(value, type);
}

Monoid make_monoid(const std::vector<Type>& types, std::vector<ExprId> identity,
                   std::vector<ExprId> combine, bool commutative) {
  return {.name = "",
          .types = types,
          .identity = std::move(identity),
          .combine = std::move(combine),
          .n_hidden = 0,
          .commutative = commutative};
}

Monoid elementwise(const Writer& w, Op op, ExprId identity) {
  return make_monoid(w.types, {identity}, {w.both(op, 0)}, true);
}

// The winner's value and payloads. `seen` tells a point from the identity, so that a point of -inf
// still beats it. The left side is earlier: it keeps a tie, and a NaN of it is the first NaN.
Monoid arg_extreme(const Writer& written, bool largest) {
  Exprs& exprs = written.exprs;
  const std::vector<Type>& visible = written.types;
  Monoid m = make_monoid(visible, {}, {}, false);
  m.n_hidden = 1;
  m.types.push_back(Type::boolean);
  const Writer w{exprs, m.types};
  const size_t seen = visible.size();
  const ExprId a = w.left(0), b = w.right(0);
  // The right side is better, or a NaN after a number.
  const ExprId worse_or_equal = exprs.make(largest ? Op::le : Op::ge, b, a);
  const ExprId number_left = is_real(visible[0]) ? exprs.make(Op::eq, a, a) : exprs.boolean(true);
  const ExprId beats = exprs.logical_and(number_left, w.negate(worse_or_equal));
  const ExprId take_right =
      exprs.logical_and(w.right(seen), w.either(w.negate(w.left(seen)), beats));
  m.identity.push_back(extreme(exprs, visible[0], largest));
  for (size_t i = 0; i < seen; ++i) {
    m.combine.push_back(exprs.select(take_right, w.right(i), w.left(i)));
    if (i == 0) continue;
    if (visible[i] == Type::boolean)
      m.identity.push_back(exprs.boolean(false));
    else
      m.identity.push_back(is_real(visible[i]) ? exprs.real(0.0) : exprs.integer(-1, visible[i]));
  }
  m.identity.push_back(exprs.boolean(false));
  m.combine.push_back(w.both(Op::logic_or, seen));
  return m;
}

// The winner, the winner among the rest, and so on.
Monoid best_places(const Writer& written) {
  Monoid m = arg_extreme(written, true);
  const Writer w{written.exprs, m.types};
  const size_t seen = m.n_visible();
  const ExprId goes_before = w.exprs[m.combine[0]].args[0];
  m.combine[seen] = w.exprs.select(goes_before, w.right(seen), w.left(seen));
  m.places.assign(m.n_components(), written.places);
  return m;
}

// log(e^a + e^b) = max + log(1 + e^(min - max)); equal sides apart, where inf - inf would be NaN.
Monoid logsumexp(const Writer& w) {
  const ExprId high = w.both(Op::max, 0), low = w.both(Op::min, 0);
  const ExprId ratio = w.exprs.make(Op::exp, w.sub(low, high));
  const ExprId apart = w.add(high, w.exprs.make(Op::log, w.add(w.real(1.0), ratio)));
  const ExprId equal = w.add(w.left(0), w.real(std::log(2.0)));
  return make_monoid(w.types, {w.real(-kInfinity)},
                     {w.exprs.select(w.both(Op::eq, 0), equal, apart)}, true);
}

// A maximum that leads, and sums weighted by exp(m_i - m): the side with the maximum by 1, the
// other by one exponential, of what it is less. An infinite maximum weighs exp(inf - inf), NaN,
// hence 1 + (m - m). A side whose maximum is -inf weighs nothing whatever its sums hold, hence a
// select around the product.
Monoid online_softmax(const Writer& w) {
  const ExprId peak = w.both(Op::max, 0);
  const ExprId apart = w.exprs.make(Op::abs, w.sub(w.left(0), w.right(0)));
  const ExprId less = w.exprs.make(Op::exp, w.exprs.make(Op::neg, apart));
  const auto weighted = [&](ExprId own, ExprId other, ExprId sum) {
    const ExprId one = w.add(w.real(1.0), w.sub(own, own));
    const ExprId weight = w.exprs.select(w.exprs.make(Op::gt, own, other), one, less);
    return w.exprs.select(w.equals(own, -kInfinity), w.real(0.0), w.mul(sum, weight));
  };
  Monoid m = make_monoid(w.types, {w.real(-kInfinity)}, {peak}, true);
  for (size_t i = 1; i < w.types.size(); ++i) {
    m.identity.push_back(w.real(0.0));
    m.combine.push_back(w.add(weighted(w.left(0), w.right(0), w.left(i)),
                              weighted(w.right(0), w.left(0), w.right(i))));
  }
  return m;
}

// Chan's merge of count, mean and sum of squared deviations. A side without weight gives the other.
Monoid welford(const Writer& w) {
  const ExprId n = w.both(Op::add, 0);
  const ExprId delta = w.sub(w.right(1), w.left(1));
  const ExprId share = w.exprs.make(Op::div, w.right(0), n);
  const ExprId mean = w.add(w.left(1), w.mul(delta, share));
  const ExprId between = w.mul(w.mul(delta, delta), w.mul(w.left(0), share));
  const ExprId m2 = w.add(w.both(Op::add, 2), between);
  const auto merge = [&](size_t i, ExprId merged) {
    const ExprId nonempty_left = w.exprs.select(w.equals(w.right(0), 0.0), w.left(i), merged);
    return w.exprs.select(w.equals(w.left(0), 0.0), w.right(i), nonempty_left);
  };
  const ExprId zero = w.real(0.0);
  return make_monoid(w.types, {zero, zero, zero}, {n, merge(1, mean), merge(2, m2)}, true);
}

// x -> a*x + b, the left one applied first.
Monoid affine(const Writer& w) {
  return make_monoid(
      w.types, {w.real(1.0), w.real(0.0)},
      {w.mul(w.left(0), w.right(0)), w.add(w.mul(w.right(0), w.left(1)), w.right(1))}, false);
}

struct Builtin {
  std::string_view name;
  MonoidArity arity;
  Monoid (*build)(const Writer&);
};

constexpr Builtin kBuiltins[] = {
    {"sum",
     {1, 1},
     [](const Writer& w) { return elementwise(w, Op::add, number(w.exprs, w.types[0], 0)); }},
    {"prod",
     {1, 1},
     [](const Writer& w) { return elementwise(w, Op::mul, number(w.exprs, w.types[0], 1)); }},
    {"max",
     {1, 1},
     [](const Writer& w) { return elementwise(w, Op::max, extreme(w.exprs, w.types[0], true)); }},
    {"min",
     {1, 1},
     [](const Writer& w) { return elementwise(w, Op::min, extreme(w.exprs, w.types[0], false)); }},
    {"any",
     {1, 1},
     [](const Writer& w) { return elementwise(w, Op::logic_or, w.exprs.boolean(false)); }},
    {"all",
     {1, 1},
     [](const Writer& w) { return elementwise(w, Op::logic_and, w.exprs.boolean(true)); }},
    {"argmax", {2, kAny}, [](const Writer& w) { return arg_extreme(w, true); }},
    {"argmin", {2, kAny}, [](const Writer& w) { return arg_extreme(w, false); }},
    {"topk", {2, kAny}, best_places},
    {"logsumexp", {1, 1}, logsumexp},
    {"online_softmax", {2, kAny}, online_softmax},
    {"welford", {3, 3}, welford},
    {"affine", {2, 2}, affine},
};

const Builtin* find_builtin(std::string_view name) {
  for (const Builtin& b : kBuiltins)
    if (b.name == name) return &b;
  return nullptr;
}

}  // namespace

std::optional<MonoidArity> builtin_monoid_arity(std::string_view name) {
  const Builtin* b = find_builtin(name.substr(0, name.find('(')));
  if (!b) return std::nullopt;
  return b->arity;
}

std::vector<std::string_view> builtin_monoid_names() {
  std::vector<std::string_view> names;
  for (const Builtin& b : kBuiltins) names.push_back(b.name);
  return names;
}

MonoidId builtin_monoid(Arena& arena, std::string_view name, const std::vector<Type>& types,
                        int64_t places) {
  const Builtin* b = find_builtin(name);
  TANG_ASSERT(b, "there is no monoid {}", name);
  TANG_ASSERT(types.size() >= b->arity.least && types.size() <= b->arity.most,
              "{} of {} components", name, types.size());
  Monoid m = b->build({arena.exprs, types, places});
  m.name = m.keeps_lists() ? fmt::format("{}({})", name, places) : std::string(name);
  return arena.monoids.intern(std::move(m));
}

MonoidId product_monoid(Arena& arena, const std::vector<MonoidId>& parts) {
  TANG_ASSERT(!parts.empty(), "a product of no monoids");
  if (parts.size() == 1) return parts[0];
  size_t n_visible = 0, n_all = 0;
  for (const MonoidId part : parts) {
    n_visible += arena.monoids[part].n_visible();
    n_all += arena.monoids[part].n_components();
  }
  Monoid product = make_monoid(std::vector<Type>(n_all), std::vector<ExprId>(n_all),
                               std::vector<ExprId>(n_all), true);
  product.n_hidden = static_cast<uint8_t>(n_all - n_visible);
  product.name = "(";
  size_t next_visible = 0, next_hidden = n_visible;
  for (const MonoidId part : parts) {
    const Monoid& m = arena.monoids[part];
    std::vector<size_t> position;
    for (size_t i = 0; i < m.n_components(); ++i)
      position.push_back(i < m.n_visible() ? next_visible++ : next_hidden++);
    const auto renumber = [&](ExprId old, const std::array<ExprId, 3>&) {
      const Expr e = arena.exprs[old];
      if (e.op != Op::left && e.op != Op::right) return ExprId();
      return arena.exprs.leaf(e.op, e.type, position[e.index()]);
    };
    Exprs::Memo memo;
    for (size_t i = 0; i < m.n_components(); ++i) {
      product.types[position[i]] = m.types[i];
      product.identity[position[i]] = m.identity[i];
      product.combine[position[i]] = arena.exprs.rewrite(m.combine[i], memo, renumber);
      if (!m.keeps_lists()) continue;
      product.places.resize(n_all);
      product.places[position[i]] = m.places[i];
    }
    product.commutative &= m.commutative;
    // A product of products has the names of all.
    const bool nested = m.name.starts_with('(');
    product.name += product.name == "(" ? "" : ", ";
    product.name += nested ? m.name.substr(1, m.name.size() - 2) : m.name;
  }
  product.name += ")";
  return arena.monoids.intern(std::move(product));
}

ExprId hidden_value(Arena& arena, const Monoid& monoid, size_t component) {
  TANG_ASSERT(component >= monoid.n_visible() && component < monoid.n_components(),
              "component {} of {} is not hidden", component, monoid.name);
  return arena.exprs.boolean(true);
}

}  // namespace tang
