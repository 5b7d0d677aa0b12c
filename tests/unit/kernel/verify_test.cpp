// Each broken invariant of a module is one sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builder.h"

namespace tang::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Verify, ScopesEndWithTheirBlocks) {
  Builder b;
  const BufferId o = b.output("o", Type::f32, 4);
  const VarId i = b.variable("i"), x = b.variable("x", Type::f32);
  b.body() = {b.loop(i, 0, 4, {{Let{x, b.f32(1)}}, b.store(o, b.at(i), b.value(x))})};
  EXPECT_THAT(verify(b.m), IsEmpty());
  b.body().push_back(b.store(o, b.at(i), b.value(x)));
  EXPECT_THAT(verify(b.m), ElementsAre("kernel k: x is used out of its scope",
                                       "kernel k: an address uses i out of its scope"));
}

TEST(Verify, DeclaredTwiceAndSetWithoutMark) {
  Builder b;
  const VarId x = b.variable("x", Type::f32);
  b.body() = {{Let{x, b.f32(1)}}, {Let{x, b.f32(2)}}, {Set{x, b.f32(3)}}};
  EXPECT_THAT(verify(b.m), ElementsAre("kernel k: x is declared twice",
                                       "kernel k: x is set but not marked as assigned"));
}

TEST(Verify, TypesAndAccess) {
  Builder b;
  const BufferId x = b.input("x", Type::f16, 4), o = b.output("o", Type::i8, 4);
  const VarId v = b.variable("v", Type::f32);
  b.body() = {{Let{v, b.i32(1)}},
              b.store(x, 0, b.f32(1)),
              b.store(o, 0, b.f32(1)),
              b.store(o, 1, b.load(o, 0))};
  EXPECT_THAT(verify(b.m),
              ElementsAre("kernel k: v takes a i32", "kernel k: store to x, which is read only",
                          "kernel k: store to o, a buffer of i8, as f32",
                          "kernel k: load of o, which is write only"));
}

TEST(Verify, BitsOfSmallReals) {
  Builder b;
  const BufferId x = b.input("x", Type::f16, 4), y = b.input("y", Type::f32, 4);
  const VarId v = b.variable("v", Type::i32), w = b.variable("w", Type::i32);
  b.body() = {{Let{v, b.m.exprs.load(Type::i32, x.value, b.number(0))}},
              {Let{w, b.m.exprs.load(Type::i32, y.value, b.number(0))}}};
  EXPECT_THAT(verify(b.m), ElementsAre("kernel k: load of y, a buffer of f32, as i32"));
}

TEST(Verify, DimsAreListed) {
  Builder b;
  b.m.dims.push_back({.name = "S"});
  const BufferId o = b.output("o", Type::f32, 4);
  b.body() = {b.store(o, b.m.forms.var({VarKind::dim, 0}), b.f32(1))};
  EXPECT_THAT(verify(b.m), ElementsAre("kernel k: an address uses dim S, which is not listed"));
  b.k().dims = {0};
  EXPECT_THAT(verify(b.m), IsEmpty());
}

TEST(Verify, LaunchesMatch) {
  Builder b;
  b.input("x", Type::f32, 4);
  b.k().buffers[0].access = Access::write;
  b.m.launches.push_back({.kernel = 0, .args = {}});
  b.m.launches.push_back({.kernel = 1, .args = {}});
  EXPECT_THAT(verify(b.m), ElementsAre("launch of k: input x would be written",
                                       "launch of k: 0 arguments for 1 parameters",
                                       "a launch of kernel 1, which does not exist"));
}

TEST(Verify, FunctionsCallOnlyEarlierOnes) {
  Builder b;
  b.m.functions.push_back({.name = "f", .result = b.m.exprs.call(Type::f32, 0, {})});
  EXPECT_THAT(verify(b.m), ElementsAre("function f: function 0 is called before it stands"));
}

}  // namespace
}  // namespace tang::kernel
