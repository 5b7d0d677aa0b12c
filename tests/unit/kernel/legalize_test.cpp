// What legalize leaves is legal and means the same: every operation of every type, before and
// after, on the values where rules differ.
#include "kernel/legalize.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "builder.h"

namespace tang::kernel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Value> values_of(Type type) {
  std::vector<Value> out;
  if (is_real(type)) {
    for (const double v : {0.0,
                           0.5,
                           1.0,
                           1.5,
                           2.0,
                           2.5,
                           3.0,
                           7.25,
                           127.0,
                           127.5,
                           128.0,
                           255.9,
                           256.0,
                           448.0,
                           464.0,
                           1e-7,
                           5e-5,
                           6.1e-5,
                           65503.9,
                           65519.9,
                           65520.0,
                           57344.0,
                           61440.0,
                           32768.0,
                           2147483520.0,
                           2147483648.0,
                           9223371487098961920.0,
                           9223372036854775808.0,
                           1e30,
                           3e38,
                           1e-40,
                           0.1,
                           0.3,
                           12345.678,
                           kInf})
      for (const double s : {v, -v}) out.push_back(real_value(round_to(type, s)));
    out.push_back(real_value(kNaN));
    return out;
  }
  if (type == Type::boolean) return {integer_value(0), integer_value(1)};
  for (const int64_t v :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{8}, int64_t{16},
        int64_t{31}, int64_t{33}, int64_t{100}, int64_t{127}, int64_t{128}, int64_t{255},
        int64_t{256}, int64_t{65536}, int64_t{16777217}, integer_max(type) - 1, integer_max(type)})
    for (const int64_t s : {v, -v, -1 - v}) out.push_back(integer_value(wrap_to(type, s)));
  return out;
}

// o[i] = make(x[i], y[i]) over all pairs of values.
struct Case {
  Builder b;
  std::vector<Array> inputs;
  BufferId x, y, o;
  VarId i;

  Case(Type in, Type out) {
    std::vector<Value> values = values_of(arithmetic_type(in));
    for (Value& v : values) v = convert(arithmetic_type(in), in, v);
    const auto n = static_cast<int64_t>(values.size());
    x = b.input("x", in, n * n);
    y = b.input("y", in, n * n);
    o = b.output("o", out, n * n);
    i = b.variable("i");
    inputs = {Array(in, {n * n}), Array(in, {n * n}), Array()};
    for (int64_t a = 0; a < n; ++a)
      for (int64_t c = 0; c < n; ++c) {
        inputs[0].set(a * n + c, values[static_cast<size_t>(a)]);
        inputs[1].set(a * n + c, values[static_cast<size_t>(c)]);
      }
  }
  ExprId a() { return b.load(x, b.at(i)); }
  ExprId c() { return b.load(y, b.at(i)); }

  void check(ExprId value, const std::string& what, double ulp = 0) {
    b.body() = {b.loop(i, 0, inputs[0].size(), {b.store(o, b.at(i), value)})};
    ASSERT_THAT(verify(b.m), IsEmpty()) << what;
    std::vector<Array> before = inputs, after = inputs;
    ASSERT_EQ(b.run(before).fault, "") << what;
    legalize(b.m, {});
    ASSERT_THAT(verify(b.m), IsEmpty()) << what;
    ASSERT_EQ(b.run(after).fault, "") << what << print(b.m);
    const Array &p = before[2], &q = after[2];
    for (int64_t e = 0; e < p.size(); ++e) {
      const std::string where =
          fmt::format("{} of {} and {}: {} became {}", what, inputs[0].real(e), inputs[1].real(e),
                      p.real(e), q.real(e));
      if (!is_real(p.type))
        ASSERT_EQ(p.get(e).integer, q.get(e).integer) << where;
      else if (std::isnan(p.real(e)))
        ASSERT_TRUE(std::isnan(q.real(e))) << where;
      else if (ulp > 0 && std::isfinite(p.real(e)))
        ASSERT_LE(std::fabs(p.real(e) - q.real(e)), std::fabs(p.real(e)) * ulp * 0x1p-23 + 1e-44)
            << where;
      else
        ASSERT_EQ(p.real(e), q.real(e)) << where;
    }
  }
};

TEST(Legalize, EveryOperation) {
  for (size_t n = static_cast<size_t>(Op::select) + 1; n <= static_cast<size_t>(Op::logic_not);
       ++n) {
    const Op op = static_cast<Op>(n);
    const OpInfo& row = op_info(op);
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64, Type::boolean}) {
      const bool number = type != Type::boolean;
      if (row.cls == OpClass::real && !is_real(type)) continue;
      if (row.cls == OpClass::arith && !number) continue;
      if (row.cls == OpClass::integer && !is_integer(type)) continue;
      if (row.cls == OpClass::bits && is_real(type)) continue;
      if (row.cls == OpClass::logic && number) continue;
      const bool truth = row.cls == OpClass::compare || row.cls == OpClass::logic;
      Case t(type, truth ? Type::boolean : type);
      const ExprId value =
          t.b.make(op, t.a(), row.arity > 1 ? t.c() : ExprId(), row.arity > 2 ? t.a() : ExprId());
      // Approximated functions differ by what math_test measures against exact values.
      const bool approximate = row.cls == OpClass::real && type == Type::f32 && op != Op::fma;
      t.check(value, fmt::format("{} of {}", row.name, type_name(type)), approximate ? 4 : 0);
    }
  }
}

TEST(Legalize, EveryCast) {
  for (const Type from : {Type::f32, Type::f64, Type::i32, Type::i64, Type::boolean})
    for (int n = 0; n < kTypeCount; ++n) {
      const Type to = static_cast<Type>(n);
      Case t(from, arithmetic_type(to));
      const ExprId narrow = t.b.m.exprs.cast(to, t.a());
      t.check(t.b.m.exprs.cast(arithmetic_type(to), narrow),
              fmt::format("{} to {}", type_name(from), type_name(to)));
    }
}

TEST(Legalize, EveryStorage) {
  for (int n = 0; n < kTypeCount; ++n) {
    const Type type = static_cast<Type>(n);
    Case copy(type, type);
    copy.check(copy.a(), fmt::format("a copy of {}", type_name(type)));
    if (type == Type::boolean) continue;
    Case sum(type, type);
    sum.check(sum.b.make(Op::add, sum.a(), sum.c()), fmt::format("sums of {}", type_name(type)));
  }
}

TEST(Legalize, AllBitPatternsOfSmallReals) {
  for (const Type type : {Type::f16, Type::bf16, Type::f8e4m3, Type::f8e5m2}) {
    const int64_t n = int64_t{1} << type_bits(type);
    Builder b;
    const BufferId x = b.input("x", type, n), wide = b.output("wide", Type::f32, n);
    const BufferId back = b.output("back", type, n);
    const VarId i = b.variable("i");
    b.body() = {b.loop(
        i, 0, n,
        {b.store(wide, b.at(i), b.load(x, b.at(i))), b.store(back, b.at(i), b.load(x, b.at(i)))})};
    Array in(type, {n});
    for (int64_t e = 0; e < n; ++e)
      for (int k = 0; k < type_bits(type) / 8; ++k)
        in.data[static_cast<size_t>(e * type_bits(type) / 8 + k)] =
            static_cast<std::byte>(e >> (8 * k) & 255);
    legalize(b.m, {});
    std::vector<Array> t = {in, Array(), Array()};
    ASSERT_EQ(b.run(t).fault, "");
    for (int64_t e = 0; e < n; ++e) {
      const double v = in.real(e);
      if (std::isnan(v)) {
        EXPECT_TRUE(std::isnan(t[1].real(e)) && std::isnan(t[2].real(e))) << type_name(type) << e;
        continue;
      }
      EXPECT_EQ(t[1].real(e), v) << type_name(type) << e;
      EXPECT_EQ(std::signbit(t[1].real(e)), std::signbit(v)) << type_name(type) << e;
      // Infinity saturates where the format's rounding says so.
      EXPECT_EQ(t[2].real(e), round_to(type, v)) << type_name(type) << e;
    }
  }
}

TEST(Legalize, RoundingToSmallReals) {
  // Values at, and next to, the middle of neighbours, where rounding twice would go wrong.
  for (const Type type : {Type::f16, Type::bf16, Type::f8e4m3, Type::f8e5m2})
    for (const Type from : {Type::f32, Type::f64}) {
      std::vector<double> values;
      const int64_t patterns = int64_t{1} << (type_bits(type) - 1);
      for (int64_t p = 0; p + 1 < patterns; p += type_bits(type) == 16 ? 7 : 1) {
        const double low = decode(type, static_cast<uint64_t>(p)).real;
        const double high = decode(type, static_cast<uint64_t>(p + 1)).real;
        if (!std::isfinite(low) || !std::isfinite(high)) continue;
        const double middle = low + (high - low) / 2;
        for (const double v : {low, middle})
          for (const double e : {0.0, 0x1p-23, -0x1p-23, 0x1p-40, -0x1p-40, 0x1p-52, -0x1p-52})
            for (const double s : {1.0, -1.0}) values.push_back(round_to(from, s * (v + v * e)));
      }
      const auto n = static_cast<int64_t>(values.size());
      Builder b;
      const BufferId x = b.input("x", from, n), o = b.output("o", Type::f32, n);
      const VarId i = b.variable("i");
      const ExprId small = b.m.exprs.cast(type, b.load(x, b.at(i)));
      b.body() = {b.loop(i, 0, n, {b.store(o, b.at(i), b.m.exprs.cast(Type::f32, small))})};
      legalize(b.m, {});
      std::vector<Array> t = {array_of(from, values), Array()};
      ASSERT_EQ(b.run(t).fault, "");
      for (int64_t e = 0; e < n; ++e)
        ASSERT_EQ(t[1].real(e), round_to(type, t[0].real(e)))
            << fmt::format("{:a} to {}", t[0].real(e), type_name(type));
    }
}

TEST(Legalize, StoresRoundOnce) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1), o = b.output("o", Type::f16, 1);
  const ExprId rounded = b.m.exprs.cast(Type::f16, b.load(x, 0));
  b.body() = {b.store(o, 0, b.m.exprs.cast(Type::f32, rounded))};
  legalize(b.m, {});
  EXPECT_THAT(print(b.m, b.k()), HasSubstr("o[0] = f32_to_f16(x[0])"));
}

TEST(Legalize, PowersOfTwoNeedNoDivision) {
  Builder b;
  const BufferId x = b.input("x", Type::i32, 1), o = b.output("o", Type::i32, 2);
  b.body() = {b.store(o, 0, b.make(Op::div, b.load(x, 0), b.i32(8))),
              b.store(o, 1, b.make(Op::mod, b.load(x, 0), b.i32(8)))};
  legalize(b.m, {});
  const std::string text = print(b.m, b.k());
  EXPECT_THAT(text, HasSubstr("o[0] = x[0] >> 3"));
  EXPECT_THAT(text, HasSubstr("o[1] = x[0] & 7"));
  std::vector<Array> t = {array_of(Type::i32, {-9}), Array()};
  ASSERT_EQ(b.run(t).fault, "");
  EXPECT_EQ(t[1].get(0).integer, -2);
  EXPECT_EQ(t[1].get(1).integer, 7);
}

TEST(Legalize, DivisionBySmallAndExtremeNumbers) {
  // floor_div is the one place with a plain division: of no negative number, by a positive one.
  for (const Type type : {Type::i32, Type::i64})
    for (int64_t divisor : {int64_t{3}, int64_t{-3}, int64_t{-1}, integer_min(type),
                            integer_min(type) + 1, integer_max(type), int64_t{0}}) {
      Case t(type, type);
      const ExprId d = t.b.m.exprs.integer(divisor, type);
      const ExprId q = t.b.make(Op::div, t.a(), d), r = t.b.make(Op::mod, t.a(), d);
      t.check(t.b.make(Op::add, t.b.make(Op::mul, q, t.b.m.exprs.integer(1000, type)), r),
              fmt::format("division by {}", divisor));
    }
}

TEST(Legalize, WholePowers) {
  for (const Type type : {Type::f32, Type::f64})
    for (const double n :
         {0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 9.0, 40.0, -1.0, -2.0, -3.0, -8.0, -40.0}) {
      Case t(type, type);
      const ExprId exponent = t.b.m.exprs.real(n, type);
      t.check(t.b.make(Op::pow, t.a(), exponent), fmt::format("pow(x, {})", n),
              type == Type::f32 ? 10 : 0);
    }
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1), o = b.output("o", Type::f32, 1);
  b.body() = {b.store(o, 0, b.make(Op::pow, b.load(x, 0), b.f32(3)))};
  legalize(b.m, {});
  EXPECT_THAT(print(b.m, b.k()), HasSubstr("o[0] = x_value * (x_value * x_value)"));
  EXPECT_THAT(b.m.functions, IsEmpty());
}

TEST(Legalize, ChecksWhatIsLeft) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 1), h = b.input("h", Type::f16, 1);
  const BufferId o = b.output("o", Type::f32, 2);
  b.body() = {b.store(o, 0, b.make(Op::exp, b.load(x, 0))), b.store(o, 1, b.load(h, 0))};
  EXPECT_THAT(why_not_legal(b.m, {}),
              testing::ElementsAre("kernel k: access as value of f16 is left",
                                   "kernel k: exp of f32 is left"));
  legalize(b.m, {});
  EXPECT_THAT(why_not_legal(b.m, {}), IsEmpty());
}

TEST(Legalize, CapabilitiesDecide) {
  Builder b;
  const BufferId x = b.input("x", Type::f32, 3), o = b.output("o", Type::f32, 4);
  const VarId i = b.variable("i"), j = b.variable("j");
  const ExprId fused = b.make(Op::fma, b.load(x, 0), b.load(x, 1), b.load(x, 2));
  b.body() = {b.loop(i, 0, 4, {b.store(o, b.at(i), fused)}, Run::unroll),
              b.loop(j, 0, 5, {}, Run::unroll)};
  legalize(b.m, {.fma = false, .max_unroll = 4});
  const std::string text = print(b.m, b.k());
  EXPECT_THAT(text, HasSubstr("x[0] * x[1] + x[2]"));
  EXPECT_THAT(text, HasSubstr("for i in 0..4 unroll"));
  EXPECT_THAT(text, HasSubstr("for j in 0..5 {"));
}

TEST(Legalize, RowsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Legalization& row : legalizations()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
    EXPECT_FALSE(row.purpose.empty());
  }
}

}  // namespace
}  // namespace tang::kernel
