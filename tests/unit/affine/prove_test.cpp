// The questions that the compiler asks, and random small systems against brute force.
#include "affine/prove.h"

#include <gtest/gtest.h>

#include <random>

#include "support/integer.h"

namespace tang {
namespace {

struct Prover : ::testing::Test {
  Forms f;
  Facts facts;
  FormId i = f.axis(0), j = f.axis(1), k = f.axis(2), r = f.axis(3);
  FormId S = f.var({VarKind::dim, 0}), T = f.var({VarKind::dim, 1}), U = f.var({VarKind::dim, 2});

  FormId c(int64_t value) { return f.constant(value); }
  void at_least(FormId a, FormId b) { facts.push_back({f.sub(a, b)}); }
  void below(FormId a, FormId b) { facts.push_back({f.add(f.sub(b, a), -1)}); }
  void range(FormId a, FormId extent) {
    at_least(a, c(0));
    below(a, extent);
  }
  Constraint ge(FormId a, FormId b) { return {f.sub(a, b)}; }
  Constraint lt(FormId a, FormId b) { return {f.add(f.sub(b, a), -1)}; }

  Verdict ask(Constraint goal) {
    const Proof proof = prove(f, facts, goal);
    EXPECT_EQ(proves(f, facts, goal), proof.verdict == Verdict::proved);
    if (proof.verdict == Verdict::refuted) {
      EXPECT_FALSE(holds(goal, proof.witness));
      for (const Constraint& fact : facts) EXPECT_TRUE(holds(fact, proof.witness));
    }
    return proof.verdict;
  }
  bool holds(Constraint x, const std::map<Var, int64_t>& point) {
    const int64_t v = f.evaluate(x.form, [&](Var var) { return point.at(var); });
    return x.modulus == 0 ? v >= 0 : floor_mod(v, x.modulus) == 0;
  }
  void expect_proved(Constraint goal) { EXPECT_EQ(ask(goal), Verdict::proved) << text(goal); }
  void expect_refuted(Constraint goal) { EXPECT_EQ(ask(goal), Verdict::refuted) << text(goal); }
  std::string text(Constraint goal) {
    return f.print(goal.form, [](Var v) {
      return std::string(v.kind == VarKind::axis ? "i" : "S") + std::to_string(v.index);
    });
  }
};

TEST_F(Prover, constants) {
  expect_proved(ge(c(3), c(3)));
  expect_refuted(ge(c(3), c(4)));
  expect_proved({c(12), 4});
  expect_refuted({c(13), 4});
}

TEST_F(Prover, shifted_window) {
  range(i, c(16));
  range(r, c(3));
  const FormId at = f.add(f.add(f.scale(i, 2), r), -1);
  expect_refuted(ge(at, c(0)));
  expect_refuted(lt(at, c(31)));
  expect_proved(lt(at, c(32)));
  at_least(at, c(0));
  expect_proved(ge(f.add(f.scale(i, 2), r), c(1)));
}

TEST_F(Prover, triangle_with_symbolic_size) {
  range(i, S);
  at_least(j, c(0));
  at_least(i, j);
  expect_proved(ge(f.sub(i, j), c(0)));
  expect_proved(lt(j, S));
  expect_proved(lt(f.sub(i, j), S));
  expect_refuted(lt(f.add(i, 1), S));
  expect_refuted(ge(j, i));
}

TEST_F(Prover, quotients_by_constants) {
  range(i, c(64));
  expect_proved(lt(f.quotient(i, 16), c(4)));
  expect_proved(lt(f.remainder(i, 16), c(16)));
  expect_proved(ge(f.remainder(i, 16), c(0)));
  expect_refuted(lt(f.quotient(i, 16), c(3)));
  expect_refuted(lt(f.remainder(i, 16), c(15)));
}

TEST_F(Prover, quotients_of_sizes) {
  range(i, S);
  expect_proved(lt(f.quotient(f.add(i, 2), 3), f.quotient(f.add(S, 4), 3)));
  expect_proved(lt(f.quotient(i, 16), f.ceil_quotient(S, 16)));
  expect_refuted(lt(f.quotient(i, 16), f.quotient(S, 16)));
  at_least(i, j);
  expect_proved(ge(f.quotient(i, 7), f.quotient(j, 7)));
}

TEST_F(Prover, divisible_sizes) {
  facts.push_back({S, 16});
  at_least(S, c(1));
  range(i, f.quotient(S, 16));
  range(j, c(16));
  expect_proved(lt(f.add(f.scale(i, 16), j), S));
  expect_proved(ge(S, c(16)));
  expect_proved({S, 8});
  expect_proved({f.mul(S, T), 16});
  expect_proved({f.add(f.scale(S, 3), 32), 16});
  expect_refuted({S, 32});
  expect_proved({f.add(S, 0), 16});
  expect_proved(ge(f.scale(f.quotient(S, 16), 16), S));
}

TEST_F(Prover, divisibility_without_a_unit_coefficient) {
  facts.push_back({f.add(f.scale(i, 2), f.scale(j, 4)), 8});
  range(i, c(8));
  range(j, c(8));
  expect_proved({i, 2});
  expect_refuted({i, 4});
}

TEST_F(Prover, equal_sizes) {
  at_least(S, f.scale(T, 2));
  at_least(f.scale(T, 2), S);
  range(i, T);
  expect_proved(lt(f.add(f.scale(i, 2), 1), S));
  expect_proved({S, 2});
  expect_refuted(lt(f.add(f.scale(i, 2), 2), S));
}

TEST_F(Prover, minimum_of_two_bounds) {
  at_least(i, c(0));
  below(i, S);
  below(i, f.add(j, 4));
  range(j, c(8));
  expect_proved(lt(i, c(11)));
  expect_proved(lt(i, S));
  expect_refuted(lt(i, c(10)));
}

TEST_F(Prover, flat_addresses) {
  range(i, S);
  range(j, T);
  const FormId two = f.add(f.mul(i, T), j);
  expect_proved(ge(two, c(0)));
  expect_proved(lt(two, f.mul(S, T)));
  expect_refuted(lt(f.add(two, 1), f.mul(S, T)));
  range(k, U);
  const FormId three = f.add(f.mul(two, U), k);
  expect_proved(ge(three, c(0)));
  expect_proved(lt(three, f.mul(f.mul(S, T), U)));
  const FormId mixed = f.add(f.mul(f.add(f.scale(i, 4), 3), T), j);
  expect_proved(lt(mixed, f.mul(f.scale(S, 4), T)));
}

TEST_F(Prover, tiles_of_symbolic_sizes) {
  // A task's rows start at 64*i and a tile that is whole stays inside.
  range(i, f.ceil_quotient(S, 64));
  range(j, c(64));
  const FormId row = f.add(f.scale(i, 64), j);
  expect_refuted(lt(row, S));
  at_least(S, f.add(f.scale(i, 64), 64));
  expect_proved(lt(row, S));
}

TEST_F(Prover, contradictory_facts_prove_anything) {
  range(i, S);
  at_least(c(0), S);
  expect_proved(ge(i, c(100)));
}

TEST_F(Prover, wide_coefficients_are_exact) {
  range(i, c(40000));
  range(j, c(70000));
  const FormId value = f.add(f.scale(i, 70000), j);
  expect_refuted(lt(value, c(int64_t{1} << 31)));
  expect_proved(lt(value, c(int64_t{40000} * 70000)));
  expect_refuted(ge(f.scale(i, -(int64_t{1} << 40)), c(0)));
}

TEST_F(Prover, values_beyond_64_bits_are_never_a_witness) {
  at_least(i, c(int64_t{1} << 62));
  EXPECT_NE(prove(f, facts, ge(f.mul(i, i), c(0))).verdict, Verdict::refuted);
}

TEST_F(Prover, empty_and_not_empty) {
  range(i, S);
  EXPECT_EQ(prove_empty(f, facts).verdict, Verdict::refuted);
  at_least(f.scale(i, 2), f.add(f.scale(j, 2), 1));
  at_least(f.add(f.scale(j, 2), 1), f.scale(i, 2));
  EXPECT_EQ(prove_empty(f, facts).verdict, Verdict::proved);
  EXPECT_EQ(prove_empty(f, {}).verdict, Verdict::refuted);
  EXPECT_EQ(prove_empty(f, {{c(-1)}}).verdict, Verdict::proved);
}

TEST_F(Prover, tightest_bounds) {
  range(i, c(10));
  range(j, c(4));
  at_least(i, j);
  Bounds b = bounds(f, facts, f.sub(f.scale(i, 2), j));
  EXPECT_EQ(b.low, 0);
  EXPECT_EQ(b.high, 18);
  b = bounds(f, facts, f.quotient(f.add(i, 3), 4));
  EXPECT_EQ(b.low, 0);
  EXPECT_EQ(b.high, 3);
  b = bounds(f, facts, f.add(i, f.scale(S, 2)));
  EXPECT_EQ(b.low, std::nullopt);
  EXPECT_EQ(b.high, std::nullopt);
  b = bounds(f, facts, c(7));
  EXPECT_EQ(b.low, 7);
  EXPECT_EQ(b.high, 7);
}

TEST_F(Prover, overflow_while_solving_does_not_leak) {
  facts.push_back({f.add(S, f.scale(T, int64_t{1} << 62)), int64_t{1} << 61});
  facts.push_back({f.add(T, f.scale(S, int64_t{1} << 62)), int64_t{1} << 61});
  ask({f.add(f.scale(S, int64_t{1} << 61), T)});
  EXPECT_FALSE(f.overflowed());
}

// Random systems over a box, decided by trying every point.
class Fuzz {
 public:
  explicit Fuzz(uint32_t seed) : random_(seed) {}

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  FormId linear(Forms& f, int n) {
    FormId out = f.constant(pick(-6, 6));
    for (int v = 0; v < n; ++v)
      if (pick(0, 2) != 0) out = f.add(out, f.scale(var(f, v), pick(-3, 3)));
    return out;
  }
  FormId form(Forms& f, int n) {
    FormId out = linear(f, n);
    if (pick(0, 3) == 0)
      out = f.add(out, f.scale(f.quotient(linear(f, n), pick(2, 5)), pick(-3, 3)));
    if (pick(0, 5) == 0)
      out = f.add(out, f.scale(f.remainder(linear(f, n), pick(2, 4)), pick(-2, 2)));
    if (pick(0, 5) == 0) out = f.add(out, f.mul(var(f, pick(0, n - 1)), var(f, pick(0, n - 1))));
    if (pick(0, 9) == 0)
      out = f.add(out, f.quotient(f.add(f.quotient(linear(f, n), 2), linear(f, n)), 3));
    return out;
  }
  Constraint constraint(Forms& f, int n) {
    if (pick(0, 4) == 0) return {linear(f, n), pick(2, 6)};
    return {form(f, n)};
  }
  static FormId var(Forms& f, int v) {
    const VarKind kinds[] = {VarKind::dim, VarKind::axis, VarKind::axis, VarKind::scalar};
    return f.var({kinds[v], static_cast<uint32_t>(v)});
  }

 private:
  std::mt19937 random_;
};

std::string text(const Forms& f, Constraint goal, const Facts& facts) {
  const auto name = [](Var v) { return std::string(1, "abcd"[v.index]); };
  std::string out = f.print(goal.form, name) + " % " + std::to_string(goal.modulus) + " under";
  for (const Constraint& fact : facts)
    out += "\n  " + f.print(fact.form, name) + " % " + std::to_string(fact.modulus);
  return out;
}

TEST(ProverFuzz, agrees_with_brute_force) {
  Fuzz fuzz(20240607);
  int n_true = 0, n_proved = 0, n_false = 0, n_refuted = 0;
  int n_open = 0, n_tight = 0, n_bounds = 0;
  for (int round = 0; round < 1500; ++round) {
    Forms f;
    const int n = fuzz.pick(2, 4);
    const int size = n == 4 ? 4 : 6;
    Facts facts;
    std::vector<int64_t> low(4, 0);
    for (int v = 0; v < n; ++v) {
      low[v] = fuzz.pick(-2, 2);
      facts.push_back({f.add(Fuzz::var(f, v), -low[v])});
      facts.push_back({f.sub(f.constant(low[v] + size - 1), Fuzz::var(f, v))});
    }
    for (int m = fuzz.pick(0, 3); m > 0; --m) facts.push_back(fuzz.constraint(f, n));
    // Goals that hold almost everywhere are the hard ones.
    Constraint goal = fuzz.constraint(f, n);
    if (goal.modulus == 0) goal.form = f.add(goal.form, fuzz.pick(0, 12));

    bool any_point = false, always = true;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    std::vector<int64_t> at(4, 0);
    const auto value = [&](FormId form) {
      return f.evaluate(form, [&](Var v) { return at[v.index]; });
    };
    const auto holds = [&](const Constraint& x) {
      return x.modulus == 0 ? value(x.form) >= 0 : floor_mod(value(x.form), x.modulus) == 0;
    };
    int n_points = 1;
    for (int v = 0; v < n; ++v) n_points *= size;
    for (int p = 0; p < n_points; ++p) {
      for (int v = 0, rest = p; v < n; ++v, rest /= size) at[v] = low[v] + rest % size;
      if (!std::all_of(facts.begin(), facts.end(), holds)) continue;
      any_point = true;
      always &= holds(goal);
      least = std::min(least, value(goal.form));
      greatest = std::max(greatest, value(goal.form));
    }
    const Proof proof = prove(f, facts, goal);
    (always ? n_true : n_false)++;
    if (proof.verdict == Verdict::proved) {
      EXPECT_TRUE(always) << text(f, goal, facts);
      ++n_proved;
    } else if (proof.verdict == Verdict::refuted) {
      EXPECT_FALSE(always) << text(f, goal, facts);
      for (const auto& [v, x] : proof.witness) at[v.index] = x;
      EXPECT_FALSE(holds(goal));
      EXPECT_TRUE(std::all_of(facts.begin(), facts.end(), holds));
      ++n_refuted;
    }
    const Proof empty = prove_empty(f, facts);
    EXPECT_NE(empty.verdict, any_point ? Verdict::proved : Verdict::refuted);
    if (any_point) {
      const Bounds b = bounds(f, facts, goal.form);
      EXPECT_LE(b.low.value_or(INT64_MIN), least) << text(f, goal, facts);
      EXPECT_GE(b.high.value_or(INT64_MAX), greatest) << text(f, goal, facts);
      n_open += !b.low || !b.high;
      n_tight += b.low == least && b.high == greatest;
      ++n_bounds;
    }
    EXPECT_FALSE(f.overflowed());
  }
  EXPECT_GT(n_true, 400);
  EXPECT_GT(n_false, 400);
  EXPECT_GT(n_proved, n_true * 95 / 100);
  EXPECT_GT(n_refuted, n_false * 98 / 100);
  // All variables are in a box, though not always after divisibilities replaced some.
  EXPECT_LT(n_open, n_bounds / 100);
  EXPECT_GT(n_tight, n_bounds / 3);
}

}  // namespace
}  // namespace tang
