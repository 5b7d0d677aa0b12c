// Forms against an independent, naive meaning: trees evaluated directly, and the printed text
// evaluated by a reader of its own.
#include "affine/form.h"

#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <random>

#include "support/integer.h"

namespace tang {
namespace {

constexpr Var kVars[] = {
    {VarKind::dim, 0}, {VarKind::axis, 0}, {VarKind::axis, 1}, {VarKind::scalar, 0}};
constexpr const char* kNames[] = {"S", "i", "j", "pos"};

size_t position(Var v) {
  for (size_t k = 0; k < 4; ++k)
    if (kVars[k] == v) return k;
  ADD_FAILURE() << "unknown variable";
  return 0;
}

using Values = std::array<int64_t, 4>;

int64_t value(const Forms& f, FormId id, const Values& at) {
  return f.evaluate(id, [&](Var v) { return at[position(v)]; });
}

std::string print(const Forms& f, FormId id) {
  return f.print(id, [](Var v) { return std::string(kNames[position(v)]); });
}

// What a random expression means, computed beside the form that is built from it.
struct Built {
  FormId form;
  std::function<int64_t(const Values&)> meaning;
};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  Values values() {
    Values out;
    for (int64_t& v : out) v = pick(-20, 20);
    return out;
  }
  Built tree(Forms& f, int depth) {
    if (depth == 0 || pick(0, 5) == 0) {
      if (pick(0, 2) == 0) {
        const int64_t c = pick(-9, 9);
        return {f.constant(c), [c](const Values&) { return c; }};
      }
      const auto k = static_cast<size_t>(pick(0, 3));
      return {f.var(kVars[k]), [k](const Values& at) { return at[k]; }};
    }
    const Built a = tree(f, depth - 1);
    switch (pick(0, 6)) {
      case 0: {
        const Built b = tree(f, depth - 1);
        return {f.add(a.form, b.form),
                [=](const Values& at) { return a.meaning(at) + b.meaning(at); }};
      }
      case 1: {
        const Built b = tree(f, depth - 1);
        return {f.sub(a.form, b.form),
                [=](const Values& at) { return a.meaning(at) - b.meaning(at); }};
      }
      case 2: {
        const Built b = tree(f, depth / 2);
        return {f.mul(a.form, b.form),
                [=](const Values& at) { return a.meaning(at) * b.meaning(at); }};
      }
      case 3: {
        const int64_t c = pick(-4, 4);
        return {f.scale(a.form, c), [=](const Values& at) { return c * a.meaning(at); }};
      }
      case 4: {
        const int64_t k = pick(1, 6);
        return {f.quotient(a.form, k),
                [=](const Values& at) { return floor_div(a.meaning(at), k); }};
      }
      case 5: {
        const int64_t k = pick(1, 6);
        return {f.remainder(a.form, k),
                [=](const Values& at) { return floor_mod(a.meaning(at), k); }};
      }
      default: {
        const int64_t k = pick(1, 6);
        return {f.ceil_quotient(a.form, k),
                [=](const Values& at) { return -floor_div(-a.meaning(at), k); }};
      }
    }
  }

 private:
  std::mt19937 engine_;
};

// Evaluates sums, products, quotients, remainders and parentheses with the language's precedence.
class Reader {
 public:
  Reader(std::string text, Values at) : text_(std::move(text)), at_(at) {}
  int64_t read() {
    const int64_t out = sum();
    EXPECT_EQ(next_, text_.size()) << text_;
    return out;
  }

 private:
  char peek() {
    while (next_ < text_.size() && text_[next_] == ' ') ++next_;
    return next_ < text_.size() ? text_[next_] : '\0';
  }
  int64_t sum() {
    int64_t out = product();
    while (peek() == '+' || peek() == '-') {
      const char op = text_[next_++];
      const int64_t b = product();
      out = op == '+' ? out + b : out - b;
    }
    return out;
  }
  int64_t product() {
    int64_t out = unary();
    while (peek() == '*' || peek() == '/' || peek() == '%') {
      const char op = text_[next_++];
      const int64_t b = unary();
      out = op == '*' ? out * b : op == '/' ? floor_div(out, b) : floor_mod(out, b);
    }
    return out;
  }
  int64_t unary() {
    if (peek() == '-') {
      ++next_;
      return -unary();
    }
    if (peek() == '(') {
      ++next_;
      const int64_t out = sum();
      EXPECT_EQ(peek(), ')') << text_;
      ++next_;
      return out;
    }
    size_t end = next_;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    const std::string word = text_.substr(next_, end - next_);
    next_ = end;
    for (size_t k = 0; k < 4; ++k)
      if (word == kNames[k]) return at_[k];
    EXPECT_FALSE(word.empty()) << text_;
    return word.empty() ? 0 : std::stoll(word);
  }

  std::string text_;
  Values at_;
  size_t next_ = 0;
};

TEST(Form, random_trees_keep_their_meaning) {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    Forms f;
    const Built tree = random.tree(f, 5);
    ASSERT_FALSE(f.overflowed());
    for (int k = 0; k < 5; ++k) {
      const Values at = random.values();
      ASSERT_EQ(value(f, tree.form, at), tree.meaning(at)) << print(f, tree.form);
    }
  }
}

TEST(Form, printed_text_means_the_form) {
  Random random(8);
  for (int round = 0; round < 3000; ++round) {
    Forms f;
    const FormId form = random.tree(f, 4).form;
    const Values at = random.values();
    ASSERT_EQ(Reader(print(f, form), at).read(), value(f, form, at)) << print(f, form);
  }
}

TEST(Form, substitution_is_evaluation_at_the_substituted) {
  Random random(9);
  for (int round = 0; round < 2000; ++round) {
    Forms f;
    const FormId form = random.tree(f, 4).form;
    const FormId by = random.tree(f, 2).form;
    const FormId out = f.substitute(form, [&](Var v) { return v == kVars[1] ? by : FormId{}; });
    Values at = random.values();
    const int64_t after = value(f, out, at);
    at[1] = value(f, by, at);
    ASSERT_EQ(after, value(f, form, at)) << print(f, form) << " with i = " << print(f, by);
  }
}

TEST(Form, linear_in_puts_the_form_together_again) {
  Random random(10);
  int n_linear = 0;
  for (int round = 0; round < 2000; ++round) {
    Forms f;
    const FormId form = random.tree(f, 4).form;
    const auto linear = f.linear_in(form, kVars[1]);
    if (!linear) continue;
    ++n_linear;
    ASSERT_FALSE(f.depends_on(linear->coefficient, kVars[1]));
    ASSERT_FALSE(f.depends_on(linear->rest, kVars[1]));
    ASSERT_EQ(f.add(f.mul(linear->coefficient, f.var(kVars[1])), linear->rest), form)
        << print(f, form);
  }
  EXPECT_GT(n_linear, 500);
}

struct FormLaws : ::testing::Test {
  Forms f;
  FormId S = f.var(kVars[0]), i = f.var(kVars[1]), j = f.var(kVars[2]), pos = f.var(kVars[3]);
  FormId c(int64_t value) { return f.constant(value); }
};

TEST_F(FormLaws, equal_polynomials_have_equal_ids) {
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    const FormId a = random.tree(f, 3).form, b = random.tree(f, 3).form, d = random.tree(f, 2).form;
    ASSERT_EQ(f.add(a, b), f.add(b, a));
    ASSERT_EQ(f.mul(a, d), f.mul(d, a));
    ASSERT_EQ(f.add(f.add(a, b), d), f.add(a, f.add(b, d)));
    ASSERT_EQ(f.mul(d, f.add(a, b)), f.add(f.mul(d, a), f.mul(d, b)));
    ASSERT_EQ(f.sub(f.add(a, b), b), a);
    ASSERT_EQ(f.sub(a, a), c(0));
    ASSERT_EQ(f.mul(a, c(0)), c(0));
  }
}

TEST_F(FormLaws, quotients_are_canonical) {
  EXPECT_EQ(f.quotient(f.add(f.scale(i, 6), f.scale(j, 4)), 2),
            f.add(f.scale(i, 3), f.scale(j, 2)));
  EXPECT_EQ(f.quotient(f.add(f.scale(i, 8), j), 4), f.add(f.scale(i, 2), f.quotient(j, 4)));
  EXPECT_EQ(f.quotient(f.add(f.scale(i, 2), 1), 2), i);
  EXPECT_EQ(f.quotient(f.quotient(i, 3), 5), f.quotient(i, 15));
  EXPECT_EQ(f.quotient(f.add(f.scale(i, 2), 5), 4), f.add(f.quotient(f.add(i, 0), 2), 1));
  EXPECT_EQ(f.quotient(f.add(i, -1), 4), f.add(f.quotient(f.add(i, 3), 4), -1));
  EXPECT_EQ(f.quotient(i, 1), i);
  EXPECT_EQ(f.remainder(f.scale(i, 12), 4), c(0));
  EXPECT_EQ(f.add(f.scale(f.quotient(i, 7), 7), f.remainder(i, 7)), i);
  EXPECT_EQ(f.quotient(c(-7), 2), c(-4));
  EXPECT_EQ(f.remainder(c(-7), 2), c(1));
  EXPECT_EQ(f.ceil_quotient(c(7), 2), c(4));
  EXPECT_EQ(f.ceil_quotient(f.scale(S, 16), 16), S);
}

TEST_F(FormLaws, prints_as_a_person_writes) {
  EXPECT_EQ(print(f, f.add(f.add(f.scale(i, 2), j), -1)), "2*i + j - 1");
  EXPECT_EQ(print(f, f.quotient(f.add(S, 2), 2)), "S/2 + 1");
  EXPECT_EQ(print(f, f.quotient(f.add(S, 1), 2)), "(S + 1)/2");
  EXPECT_EQ(print(f, f.remainder(i, 16)), "i%16");
  EXPECT_EQ(print(f, f.sub(f.add(S, -1), i)), "S - i - 1");
  EXPECT_EQ(print(f, f.scale(i, -1)), "-i");
  EXPECT_EQ(print(f, f.sub(c(3), i)), "3 - i");
  EXPECT_EQ(print(f, f.mul(S, f.quotient(i, 4))), "(i/4)*S");
  EXPECT_EQ(print(f, c(0)), "0");
  EXPECT_EQ(print(f, c(INT64_MIN)), "-9223372036854775808");
}

TEST_F(FormLaws, coordinates_extents_and_neither) {
  EXPECT_TRUE(f.is_coordinate(f.add(f.add(f.scale(i, 2), pos), f.mul(S, S))));
  EXPECT_TRUE(f.is_coordinate(f.quotient(f.add(i, j), 16)));
  EXPECT_FALSE(f.is_coordinate(f.mul(i, S)));
  EXPECT_FALSE(f.is_coordinate(f.mul(i, j)));
  EXPECT_FALSE(f.is_coordinate(f.quotient(f.add(f.mul(i, S), j), 16)));
  EXPECT_FALSE(f.is_coordinate(f.mul(pos, S)));
  EXPECT_TRUE(f.is_extent(f.mul(S, f.quotient(S, 3))));
  EXPECT_TRUE(f.is_extent(c(4)));
  EXPECT_FALSE(f.is_extent(f.add(S, pos)));
  EXPECT_FALSE(f.is_extent(f.quotient(f.add(S, i), 2)));
}

TEST_F(FormLaws, linear_in_refuses_powers_and_quotients) {
  EXPECT_FALSE(f.linear_in(f.mul(i, i), kVars[1]).has_value());
  EXPECT_FALSE(f.linear_in(f.add(i, f.quotient(i, 2)), kVars[1]).has_value());
  const auto linear = f.linear_in(f.add(f.mul(i, f.add(S, 1)), f.quotient(j, 2)), kVars[1]);
  ASSERT_TRUE(linear.has_value());
  EXPECT_EQ(linear->coefficient, f.add(S, 1));
  EXPECT_EQ(linear->rest, f.quotient(j, 2));
  EXPECT_EQ(f.linear_in(S, kVars[1])->coefficient, c(0));
}

TEST_F(FormLaws, variables_and_constants_are_recognized) {
  EXPECT_EQ(f.as_var(i), kVars[1]);
  EXPECT_EQ(f.as_var(f.add(i, 1)), std::nullopt);
  EXPECT_EQ(f.as_var(f.scale(i, 2)), std::nullopt);
  EXPECT_EQ(f.as_var(f.quotient(i, 2)), std::nullopt);
  EXPECT_EQ(f.as_constant(f.sub(i, i)), 0);
  EXPECT_EQ(f.as_constant(i), std::nullopt);
  EXPECT_TRUE(f.depends_on(f.quotient(f.add(i, j), 3), kVars[2]));
  EXPECT_FALSE(f.depends_on(f.quotient(i, 3), kVars[2]));
  EXPECT_TRUE(f.depends_on_kind(f.mul(S, pos), VarKind::scalar));
}

TEST_F(FormLaws, overflow_is_noticed_and_stays) {
  const int64_t big = INT64_MAX;
  f.add(c(big), c(-1));
  EXPECT_FALSE(f.overflowed());
  f.add(c(big), c(1));
  EXPECT_TRUE(f.overflowed());
  f.add(c(1), c(1));
  EXPECT_TRUE(f.overflowed());
  f.clear_overflow();
  f.scale(f.scale(i, big), 2);
  EXPECT_TRUE(f.overflowed());
  f.clear_overflow();
  f.mul(f.add(i, big), f.add(j, 2));
  EXPECT_TRUE(f.overflowed());
  f.clear_overflow();
  f.sub(c(0), c(INT64_MIN));
  EXPECT_TRUE(f.overflowed());
}

TEST_F(FormLaws, extreme_coefficients_are_exact) {
  const FormId least = f.scale(i, INT64_MIN);
  EXPECT_FALSE(f.overflowed());
  EXPECT_EQ(print(f, least), "-9223372036854775808*i");
  const FormId third = f.quotient(least, 3);
  EXPECT_EQ(value(f, third, {0, 1, 0, 0}), floor_div(INT64_MIN, 3));
  f.ceil_quotient(c(INT64_MAX), 2);
  EXPECT_TRUE(f.overflowed());  // the sum inside does not fit
}

TEST_F(FormLaws, zero_factors_leave_nothing_behind) {
  EXPECT_EQ(f.scale(f.add(i, 5), 0), c(0));
  EXPECT_EQ(f.mul(f.sub(i, i), f.add(S, j)), c(0));
}

}  // namespace
}  // namespace tang
