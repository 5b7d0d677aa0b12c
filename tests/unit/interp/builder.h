// Builds programs for the interpreter's tests without the text stage.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "interp/interp.h"
#include "ir/builtin.h"
#include "ir/verify.h"

namespace tang::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// A comprehension under construction: reads are added as the value needs them.
struct Draft {
  Comprehension c;
  std::vector<std::string> names;
};

struct ProgramTest : testing::Test {
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  Forms& forms = arena->forms;
  Exprs& exprs = arena->exprs;
  Program program;
  Bindings bindings;

  ProgramTest() { program.arena = arena; }

  FormId number(int64_t v) { return forms.constant(v); }
  FormId axis(uint32_t a) { return forms.axis(a); }
  FormId dim(const std::string& name, int64_t value) {
    program.dims.push_back({.name = name});
    bindings.dims.push_back(value);
    return forms.var({VarKind::dim, static_cast<uint32_t>(program.dims.size() - 1)});
  }
  FormId integer_scalar(const std::string& name, int64_t value) {
    program.scalars.push_back({.name = name, .type = Type::i32});
    bindings.scalars.push_back(integer_value(value));
    return forms.var({VarKind::scalar, static_cast<uint32_t>(program.scalars.size() - 1)});
  }
  // `shape` in forms; the array is as large as `values`.
  TensorId input(const std::string& name, Type type, const std::vector<FormId>& shape,
                 const std::vector<double>& values) {
    const auto source = static_cast<uint32_t>(program.inputs.size());
    const TensorId t = arena->tensors.intern(
        {.kind = TensorKind::input, .source = source, .type = type, .shape = shape});
    program.inputs.push_back({.name = name, .tensor = t});
    std::vector<int64_t> extents;
    for (const FormId form : shape)
      extents.push_back(forms.evaluate(form, [&](Var v) { return bindings.dims[v.index]; }));
    Array a(type, extents);
    EXPECT_EQ(a.size(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      a.set(static_cast<int64_t>(i), convert(Type::f64, type, real_value(values[i])));
    bindings.inputs.push_back(std::move(a));
    return t;
  }

  Draft draft(const std::vector<FormId>& points, const std::vector<FormId>& reduce = {}) {
    Draft d;
    d.c.extents = points;
    d.c.extents.insert(d.c.extents.end(), reduce.begin(), reduce.end());
    d.c.n_points = static_cast<uint8_t>(points.size());
    d.c.domain = arena->no_guard();
    return d;
  }
  ExprId add_read(Draft& d, TensorId tensor, View view, ExprId otherwise) {
    if (!view.guard.valid()) view.guard = arena->no_guard();
    view.guarded = otherwise.valid();
    d.c.reads.push_back(
        {.tensor = tensor, .view = arena->views.intern(view), .otherwise = otherwise});
    return exprs.leaf(Op::read, kind_of(arena->tensors[tensor].type), d.c.reads.size() - 1);
  }
  ExprId read(Draft& d, TensorId tensor, const std::vector<FormId>& coords, ExprId otherwise = {},
              const Guard& guard = {}) {
    View view;
    for (const FormId form : coords) view.coords.push_back({.form = form, .data = {}});
    view.guard = arena->guard(guard);
    return add_read(d, tensor, view, otherwise);
  }
  ExprId gather(Draft& d, TensorId tensor, const std::vector<ExprId>& coords, ExprId otherwise = {},
                const Guard& guard = {}) {
    View view;
    for (const ExprId data : coords) view.coords.push_back({.form = {}, .data = data});
    view.guard = arena->guard(guard);
    return add_read(d, tensor, view, otherwise);
  }

  TensorId define(Draft& d, const std::string& name) {
    const ComprehensionId id = arena->comprehensions.intern(d.c);
    const size_t n_results = d.c.is_map() ? 1 : arena->monoids[d.c.monoid].n_visible();
    Def def{.id = id};
    for (size_t k = 0; k < n_results; ++k)
      def.names.push_back(k == 0 ? name : name + std::to_string(k));
    def.axis_names.resize(d.c.n_axes(), "i");
    program.defs.push_back(def);
    return arena->component(id, 0);
  }
  static std::vector<uint8_t> all_points(const Draft& d) {
    std::vector<uint8_t> axes;
    for (uint8_t a = 0; a < d.c.n_points; ++a) axes.push_back(a);
    return axes;
  }
  TensorId map(Draft& d, ExprId value, const std::string& name = "y") {
    d.c.components = {{.value = value, .axes = all_points(d)}};
    return define(d, name);
  }
  // Hidden components are filled in. All components have all points as axes.
  TensorId reduce(Draft& d, std::string_view monoid, const std::vector<ExprId>& values,
                  const Guard& domain = {}, const std::string& name = "y") {
    std::vector<Type> types;
    for (const ExprId v : values) types.push_back(exprs.type(v));
    d.c.monoid = builtin_monoid(*arena, monoid, types);
    d.c.domain = arena->guard(domain);
    d.c.components.clear();
    const Monoid& m = arena->monoids[d.c.monoid];
    for (size_t k = 0; k < m.n_components(); ++k)
      d.c.components.push_back({.value = k < values.size() ? values[k] : hidden_value(*arena, m, k),
                                .axes = all_points(d)});
    return define(d, name);
  }
  TensorId result(TensorId first, uint32_t component) {
    return arena->component(ComprehensionId(size_t{arena->tensors[first].source}), component);
  }

  std::vector<double> reals(const Array& a) {
    std::vector<double> out;
    for (int64_t i = 0; i < a.size(); ++i) out.push_back(a.real(i));
    return out;
  }
  // The whole tensor, after checks that the program is well formed and that every cell comes out
  // the same on demand, last cell first.
  std::vector<double> eval(TensorId tensor) {
    const std::vector<std::string> broken = verify(program);
    EXPECT_TRUE(broken.empty()) << broken[0];
    Interpreter whole(program, bindings), single(program, bindings);
    const Array& a = whole.eval(tensor);
    const std::vector<int64_t> shape = whole.shape(tensor);
    EXPECT_EQ(a.shape, shape);
    for (int64_t i = a.size(); i-- > 0;) {
      std::vector<int64_t> point(shape.size());
      int64_t rest = i;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) point[d] = rest % shape[d];
      const Value v = single.eval_at(tensor, point);
      const double got = is_real(a.type) ? v.real : static_cast<double>(v.integer);
      EXPECT_TRUE(got == a.real(i) || (std::isnan(got) && std::isnan(a.real(i))))
          << "cell " << i << ": " << got << " on demand, " << a.real(i) << " as a whole";
    }
    return reals(a);
  }
};

}  // namespace tang::test
