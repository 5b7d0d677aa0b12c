#include "driver/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "driver/arguments.h"
#include "rewrite/normal_form.h"
#include "rewrite/rewrite.h"
#include "support/panic.h"
#include "text/print.h"

namespace tang {

namespace {

constexpr int kSizes = 3;             // choices of sizes
constexpr int kTries = 300;           // to find them
constexpr int kPoints = 12;           // of a result, at each
constexpr int64_t kLargest = 9;       // of a dim
constexpr int64_t kElements = 1 << 26;  // of all inputs
constexpr int64_t kMany = 1 << 20;      // so many inputs are tried at one choice of sizes
constexpr double kClose = 1e-9;       // of real laws, against the greatest value seen

bool have_one_form(const Program& before, const Program& after) {
  for (size_t k = 0; k < before.outputs.size(); ++k) {
    const TensorId a = before.outputs[k].tensor, b = after.outputs[k].tensor;
    if (a == b) continue;
    const auto form = normal_form(before, a);
    if (!form || form != normal_form(after, b)) return false;
  }
  return !before.outputs.empty();
}

// Sizes and inputs that keep all promises; nothing when the draw does not.
std::optional<Bindings> draw(const Program& program, std::mt19937_64& random, bool small) {
  Bindings b;
  Forms& forms = program.arena->forms;
  b.scalars.resize(program.scalars.size());
  for (size_t d = 0; d < program.dims.size(); ++d) {
    // Near the bounds that the assumptions give.
    const Bounds known =
        bounds(forms, program.assumptions, forms.var({VarKind::dim, static_cast<uint32_t>(d)}));
    const int64_t low = known.low.value_or(0);
    const int64_t most = low + (small ? 2 : kLargest);
    const int64_t high = std::min(known.high.value_or(most), most);
    b.dims.push_back(low + static_cast<int64_t>(random() % uint64_t(high - low + 1)));
  }
  for (size_t s = 0; s < program.scalars.size(); ++s)
    b.scalars[s] = random_scalar(program, b, s, random());
  Diagnostics ignored;
  if (!check_sizes(program, b, ignored)) return std::nullopt;
  int64_t total = 0;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    std::vector<int64_t> shape;
    int64_t elements = 1;
    for (const FormId extent : program.arena->tensors[program.inputs[i].tensor].shape) {
      shape.push_back(evaluate(program, b, extent));
      if (shape.back() < 0 || __builtin_mul_overflow(elements, shape.back(), &elements))
        return std::nullopt;
    }
    if (elements > kElements || (total += elements) > kElements) return std::nullopt;
    auto array = random_input(program, b, i, shape, random(), ignored);
    if (!array) return std::nullopt;
    b.inputs.push_back(std::move(*array));
  }
  return b;
}

struct Comparison {
  int sizes = 0, values = 0;
  double difference = 0, greatest = 0;
  std::string wrong;  // the first value that differs
};

double as_real(Type type, Value value) {
  return is_real(type) ? value.real : static_cast<double>(value.integer);
}

// Some values of each result, by the interpreter.
void compare_values(const Program& before, const Program& after, const Bindings& bindings,
                    bool exact, std::mt19937_64& random, Comparison& c) {
  Interpreter a(before, bindings), b(after, bindings);
  for (size_t k = 0; k < before.outputs.size(); ++k) {
    const TensorId left = before.outputs[k].tensor, right = after.outputs[k].tensor;
    const std::vector<int64_t> shape = a.shape(left);
    if (std::count(shape.begin(), shape.end(), 0) > 0) continue;
    for (int n = 0; n < kPoints; ++n) {
      std::vector<int64_t> point;
      for (const int64_t extent : shape)
        point.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(extent)));
      const Type type = before.arena->tensors[left].type;
      const double x = as_real(type, a.eval_at(left, point));
      const double y = as_real(type, b.eval_at(right, point));
      ++c.values;
      if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
      // What the program leaves undefined a real law may define.
      if (!exact && std::isnan(x)) continue;
      const double apart = std::abs(x - y);
      if (std::isfinite(x)) c.greatest = std::max(c.greatest, std::abs(x));
      c.difference = std::max(c.difference, std::isnan(apart) ? HUGE_VAL : apart);
      if (c.wrong.empty() && (exact || !(apart <= kClose * std::max(1.0, c.greatest))))
        c.wrong = fmt::format("{}[{}] is {} before and {} after", before.outputs[k].name,
                              fmt::join(point, ", "), x, y);
    }
  }
}

Certificate tested(const Program& before, const Program& after, bool exact) {
  std::mt19937_64 random(20);
  Comparison c;
  for (int attempt = 0; attempt < kTries && c.sizes < kSizes; ++attempt) {
    const auto bindings = draw(before, random, attempt > kTries / 2);
    if (!bindings) continue;
    ++c.sizes;
    compare_values(before, after, *bindings, exact, random, c);
    if (!c.wrong.empty()) return {Certainty::wrong, c.wrong};
    int64_t elements = 0;
    for (const Array& input : bindings->inputs) elements += input.size();
    if (elements > kMany) break;
  }
  if (c.values == 0) return {Certainty::open, "no sizes and inputs were found to test it with"};
  return {Certainty::tested, fmt::format("{} values at {} choices of sizes, {}", c.values, c.sizes,
                                         c.difference == 0
                                             ? "all equal"
                                             : fmt::format("largest difference {:.2g}",
                                                           c.difference))};
}

}  // namespace

Certificate certify(const Program& around, const Trace& trace, const Step& step) {
  if (step.equal.empty()) return {Certainty::proved, "nothing reads it"};
  const Program before = fragment(around, trace, step, Side::before);
  const Program after = fragment(around, trace, step, Side::after);
  if (have_one_form(before, after)) return {Certainty::proved, "one normal form"};
  return tested(before, after, step.laws.empty());
}

std::string certificate_line(const Program& around, const Trace& trace, const Step& step) {
  const nlohmann::ordered_json line{
      {"rewrite", step.pass},
      {"params", {{"laws", step.laws}, {"says", step.says}}},
      {"before", print(fragment(around, trace, step, Side::before))},
      {"after", print(fragment(around, trace, step, Side::after))}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tang
