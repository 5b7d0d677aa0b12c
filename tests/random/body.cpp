// Expressions: leaves, arithmetic, functions, and which of them keep a value exact.
#include "body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tang::random {
namespace {

struct Function {
  const char* name;
  double most;    // |value|
  double slope;   // |derivative|
  double domain;  // greatest |argument|: beyond, tanh squashes it first
};
constexpr std::array kFunctions = {
    Function{"tanh", 1, 1, 1e6}, Function{"sigmoid", 1, 0.25, 1e6}, Function{"erf", 1, 1.2, 1e6},
    Function{"sin", 1, 1, 64},   Function{"cos", 1, 1, 64},         Function{"exp", 20.1, 20.1, 3},
    Function{"exp2", 8, 5.6, 3},
};
const std::vector<const char*> kIntegerOperators = {"+", "-", "*", "/", "%", "&", "|", "^"};
const std::vector<const char*> kComparisons = {"<", "<=", ">", ">=", "==", "!="};

Term squashed(const Term& a) {
  return {fmt::format("tanh({})", a.text), function_bound(a.bound, 1, 1)};
}

}  // namespace

Term Body::value(Kind kind, int depth) {
  switch (kind) {
    case Kind::real:
      return real(depth);
    case Kind::integer:
      return integer(depth);
    case Kind::boolean:
      return boolean(depth);
  }
  return {};
}

Term Body::real_leaf() {
  if (rng_.chance(75))
    if (std::optional<Term> term = read(Kind::real)) return *term;
  for (const Scalar& s : names_.scalars)
    if (s.kind == Kind::real && rng_.chance(30)) return {s.name, s.bound};
  if (!indices_.empty() && rng_.chance(30)) {
    const Index& index = rng_.pick(indices_);
    return {fmt::format("({} * 0.5)", index.name),
            {.magnitude = static_cast<double>(index.range.value), .fraction = 1}};
  }
  const double value = static_cast<double>(rng_.between(-16, 16)) / 8;
  return {fmt::format(fmt::runtime(value < 0 ? "({:.3f})" : "{:.3f}"), value),
          constant_bound(value)};
}

Term Body::real(int depth) {
  if (depth <= 0 || --budget_ <= 0) return real_leaf();
  switch (rng_.below(12)) {
    case 0:
    case 1: {
      const Term a = real(depth - 1), b = real(depth - 1);
      const char* op = rng_.chance(50) ? "+" : "-";
      return {fmt::format("({} {} {})", a.text, op, b.text), add_bound(a.bound, b.bound)};
    }
    case 2:
    case 3: {
      const Term a = real(depth - 1), b = real(depth - 1);
      return {fmt::format("({} * {})", a.text, b.text), mul_bound(a.bound, b.bound)};
    }
    case 4: {
      const Term c = boolean(depth - 1), a = real(depth - 1), b = real(depth - 1);
      return {fmt::format("({} ? {} : {})", c.text, a.text, b.text),
              either_bound(a.bound, b.bound)};
    }
    case 5: {
      const Term a = real(depth - 1), b = real(depth - 1);
      return {fmt::format("{}({}, {})", rng_.chance(50) ? "min" : "max", a.text, b.text),
              either_bound(a.bound, b.bound)};
    }
    case 6:
    case 7:
      return real_function(depth);
    case 8: {
      const Term a = real(depth - 1);
      return {fmt::format(fmt::runtime(rng_.chance(50) ? "(-{})" : "abs({})"), a.text), a.bound};
    }
    case 9:
      return nested_reduction(Kind::real, depth);
    case 10:
      return edge_read(Kind::real, depth);
    default:
      return real_leaf();
  }
}

Term Body::real_function(int depth) {
  Term a = real(depth - 1);
  if (a.bound.magnitude > 1e6) a = squashed(a);
  switch (rng_.below(8)) {
    case 0: {  // the divisor is at least 1/2
      const Term b = real(depth - 1);
      Bound quotient = mul_bound(a.bound, function_bound(b.bound, 2, 4));
      quotient.error += quotient.magnitude;
      return {fmt::format("({} / (abs({}) + 0.5))", a.text, b.text), quotient};
    }
    case 1:
      return {fmt::format("log(abs({}) + 1.0)", a.text), function_bound(a.bound, 16, 1)};
    case 2:
      return {fmt::format("rsqrt(abs({}) + 1.0)", a.text), function_bound(a.bound, 1, 0.5)};
    case 3:
      return {fmt::format("pow({}, 2)", a.text), mul_bound(a.bound, a.bound)};
    default:
      break;
  }
  const Function& f = kFunctions[static_cast<size_t>(rng_.below(kFunctions.size()))];
  if (a.bound.magnitude > f.domain) a = squashed(a);
  return {fmt::format("{}({})", f.name, a.text), function_bound(a.bound, f.most, f.slope)};
}

// Comparisons, conversions and arg-reductions take values that no rounding changes.
Term Body::exact_real(int depth) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::vector<Index> indices = indices_;  // what a discarded text told of them is void
    Term a = real(std::min(depth, 2 - attempt));
    if (a.bound.exact()) return a;
    indices_ = indices;
  }
  return {"0.25", constant_bound(0.25)};
}

Term Body::integer_leaf() {
  if (rng_.chance(60))
    if (std::optional<Term> term = read(Kind::integer)) return *term;
  if (!indices_.empty() && rng_.chance(60)) return {rng_.pick(indices_).name};
  const int64_t value = rng_.between(-5, 9);
  return {fmt::format(fmt::runtime(value < 0 ? "({})" : "{}"), value)};
}

Term Body::integer(int depth) {
  if (depth <= 0 || --budget_ <= 0) return integer_leaf();
  switch (rng_.below(9)) {
    case 0:
    case 1:
    case 2: {
      const Term a = integer(depth - 1);
      const char* op = rng_.pick(kIntegerOperators);
      if (op[0] != '/' && op[0] != '%')
        return {fmt::format("({} {} {})", a.text, op, integer(depth - 1).text)};
      // A divisor that is 0 must be data: a constant one is an error of the program.
      const std::optional<Term> data = rng_.chance(40) ? read(Kind::integer) : std::nullopt;
      const Term b = data.value_or(Term{fmt::format("{}", rng_.between(1, 4))});
      return {fmt::format("({} {} {})", a.text, op, b.text)};
    }
    case 3: {
      const Term c = boolean(depth - 1), a = integer(depth - 1), b = integer(depth - 1);
      return {fmt::format("({} ? {} : {})", c.text, a.text, b.text)};
    }
    case 4: {
      const Term a = integer(depth - 1), b = integer(depth - 1);
      return {fmt::format("{}({}, {})", rng_.chance(50) ? "min" : "max", a.text, b.text)};
    }
    case 5:
      return {fmt::format("i32({})", exact_real(depth - 1).text)};
    case 6:
      return nested_reduction(Kind::integer, depth);
    case 7:
      return edge_read(Kind::integer, depth);
    default:
      return integer_leaf();
  }
}

// A condition is no place for a read that becomes an identity.
Term Body::boolean(int depth) {
  const std::optional<Kind> identity = std::exchange(identity_, std::nullopt);
  Term term = any_boolean(depth);
  identity_ = identity;
  return term;
}

Term Body::any_boolean(int depth) {
  if (depth <= 0 || --budget_ <= 0) {
    if (rng_.chance(40))
      if (std::optional<Term> term = read(Kind::boolean)) return *term;
    if (indices_.empty()) return {rng_.chance(50) ? "true" : "false"};
    return {fmt::format("({} < {})", rng_.pick(indices_).name, rng_.between(0, 4))};
  }
  switch (rng_.below(6)) {
    case 0:
    case 1: {
      const Term a = exact_real(depth - 1), b = exact_real(depth - 1);
      return {fmt::format("({} {} {})", a.text, rng_.pick(kComparisons), b.text)};
    }
    case 2: {
      const Term a = integer(depth - 1), b = integer(depth - 1);
      return {fmt::format("({} {} {})", a.text, rng_.pick(kComparisons), b.text)};
    }
    case 3: {
      const Term a = boolean(depth - 1), b = boolean(depth - 1);
      return {fmt::format("({} {} {})", a.text, rng_.chance(50) ? "&&" : "||", b.text)};
    }
    case 4:
      return {fmt::format("!{}", boolean(depth - 1).text)};
    default:
      return nested_reduction(Kind::boolean, depth);
  }
}

}  // namespace tang::random
