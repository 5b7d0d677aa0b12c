// C11 as a dialect: spellings. Names are in c_names.cpp, the files in c_host.cpp.
#include "emit/c.h"

#include <cmath>

#include "support/panic.h"

namespace tang::emit {

namespace {

using Kind = Spelling::Kind;

constexpr Spelling infix(std::string_view op, Precedence precedence) {
  return {.kind = Kind::infix, .text = op, .precedence = precedence};
}
constexpr Spelling prefix(std::string_view text) {
  return {.kind = Kind::prefix, .text = text};
}
constexpr Spelling function(std::string_view name) {
  return {.kind = Kind::call, .text = name};
}
constexpr Spelling helper(std::string_view name) {
  return {.kind = Kind::call, .text = name, .helper = name};
}
constexpr Spelling kSame{.kind = Kind::same};
constexpr Spelling kNotZero{.kind = Kind::not_zero};
constexpr Spelling kNone{};

std::string_view element_type(Type type) {
  switch (type) {
    case Type::f64:
      return "double";
    case Type::f32:
      return "float";
    case Type::f16:
    case Type::bf16:
      return "uint16_t";
    case Type::f8e4m3:
    case Type::f8e5m2:
    case Type::u8:
    case Type::i4:
    case Type::boolean:
      return "uint8_t";
    case Type::i64:
      return "int64_t";
    case Type::i32:
      return "int32_t";
    case Type::i16:
      return "int16_t";
    case Type::i8:
      return "int8_t";
  }
  TANG_PANIC("type {}", static_cast<int>(type));
}

std::string_view value_type(Type type) {
  if (type == Type::boolean) return "bool";
  if (type == Type::i4) return "int32_t";
  return element_type(type);
}

std::string real(double value, Type type) {
  const bool single = type == Type::f32;
  if (std::isnan(value)) return single ? "NAN" : "(double)NAN";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + (single ? "INFINITY" : "(double)INFINITY");
  std::string text =
      single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  // 1e-05 is 1e-5, and 1e+20 is 1e20.
  if (const size_t e = text.find('e'); e != std::string::npos) {
    const bool negative = text[e + 1] == '-';
    text.erase(e + 1, text.find_first_of("123456789", e) - e - 1);
    if (negative) text.insert(e + 1, 1, '-');
  }
  return single ? text + "f" : text;
}

std::string integer(int64_t value, Type type) {
  if (type == Type::i64 && value == INT64_MIN) return "INT64_MIN";
  if (value == INT32_MIN) return "INT32_MIN";
  return std::to_string(value);  // a literal has the first of int, long, long long that holds it
}

std::string boolean(bool value) {
  return value ? "true" : "false";
}

Spelling real_operation(Op op, bool single) {
  switch (op) {
    case Op::add:
      return infix("+", Precedence::add);
    case Op::sub:
      return infix("-", Precedence::add);
    case Op::mul:
      return infix("*", Precedence::multiply);
    case Op::div:
      return infix("/", Precedence::multiply);
    case Op::neg:
      return prefix("-");
    case Op::abs:
      return function(single ? "fabsf" : "fabs");
    case Op::floor:
      return function(single ? "floorf" : "floor");
    case Op::ceil:
      return function(single ? "ceilf" : "ceil");
    case Op::round:
      return function(single ? "rintf" : "rint");
    case Op::sqrt:
      return function(single ? "sqrtf" : "sqrt");
    case Op::fma:
      return function(single ? "fmaf" : "fma");
    default:
      break;
  }
  if (single) return kNone;
  switch (op) {
    case Op::exp:
      return function("exp");
    case Op::exp2:
      return function("exp2");
    case Op::log:
      return function("log");
    case Op::log2:
      return function("log2");
    case Op::sin:
      return function("sin");
    case Op::cos:
      return function("cos");
    case Op::tan:
      return function("tan");
    case Op::atan2:
      return function("atan2");
    case Op::tanh:
      return function("tanh");
    case Op::erf:
      return function("erf");
    case Op::pow:
      return function("pow");
    default:
      return kNone;
  }
}

Spelling integer_operation(Op op, bool wide) {
  switch (op) {
    case Op::add:
      return helper(wide ? "add_i64" : "add_i32");
    case Op::sub:
      return helper(wide ? "sub_i64" : "sub_i32");
    case Op::mul:
      return helper(wide ? "mul_i64" : "mul_i32");
    case Op::neg:
      return helper(wide ? "neg_i64" : "neg_i32");
    case Op::abs:
      return helper(wide ? "abs_i64" : "abs_i32");
    case Op::shift_left:
      return helper(wide ? "shift_left_i64" : "shift_left_i32");
    case Op::shift_right:
      return helper(wide ? "shift_right_i64" : "shift_right_i32");
    case Op::div:
      return infix("/", Precedence::multiply);  // of what is not negative, so it rounds down
    case Op::bit_and:
      return infix("&", Precedence::bit_and);
    case Op::bit_or:
      return infix("|", Precedence::bit_or);
    case Op::bit_xor:
      return infix("^", Precedence::bit_xor);
    default:
      return kNone;
  }
}

Spelling boolean_operation(Op op) {
  switch (op) {
    case Op::logic_and:
    case Op::bit_and:
      return infix("&&", Precedence::logic_and);
    case Op::logic_or:
    case Op::bit_or:
      return infix("||", Precedence::logic_or);
    case Op::bit_xor:
      return infix("!=", Precedence::compare);
    case Op::logic_not:
      return prefix("!");
    default:
      return kNone;
  }
}

Spelling operation(Op op, Type operand) {
  const OpInfo& row = op_info(op);
  if (row.cls == OpClass::compare) return infix(row.spelling, Precedence::compare);
  if (operand == Type::boolean) return boolean_operation(op);
  if (is_real(operand)) return real_operation(op, operand == Type::f32);
  return integer_operation(op, operand == Type::i64);
}

Spelling conversion(Type from, Type to) {
  if (from == to) return kSame;
  if (to == Type::boolean) return kNotZero;
  // Of the narrow floats only scalars come as such; elements come by their bits.
  if (from == Type::f16 && to == Type::f32) return helper("f16_widen");
  if (from == Type::bf16 && to == Type::f32) return helper("bf16_widen");
  if (from == Type::f8e4m3 && to == Type::f32) return helper("f8e4m3_widen");
  if (from == Type::f8e5m2 && to == Type::f32) return helper("f8e5m2_widen");
  if (is_real(from) && is_integer(to) && to != Type::i32 && to != Type::i64) return kNone;
  switch (to) {
    case Type::f64:
      return prefix("(double)");
    case Type::f32:
      return prefix("(float)");
    case Type::i64:
      // Widening needs no word: an i64 stands in calls, assignments and comparisons only.
      return from == Type::i32 ? kSame : prefix("(int64_t)");
    case Type::i32:
      return prefix("(int32_t)");
    case Type::i16:
      return prefix("(int16_t)");
    case Type::i8:
      return prefix("(int8_t)");
    case Type::u8:
      return prefix("(uint8_t)");
    case Type::i4:
      return helper("i4_wrap");
    case Type::f16:
    case Type::bf16:
    case Type::f8e4m3:
    case Type::f8e5m2:
    case Type::boolean:
      break;
  }
  return kNone;
}

Spelling same_bits(Type from, Type to) {
  if (from == Type::f32 && to == Type::i32) return helper("f32_bits");
  if (from == Type::i32 && to == Type::f32) return helper("f32_from_bits");
  if (from == Type::f64 && to == Type::i64) return helper("f64_bits");
  if (from == Type::i64 && to == Type::f64) return helper("f64_from_bits");
  return kNone;
}

// Elements of the narrow float formats are reached by their bits only, as i32.
ElementSpelling element(Type stored, Type value) {
  if (stored == value && stored != Type::boolean) return {.read = kSame, .write = kSame};
  switch (stored) {
    case Type::boolean:
      // A truth is an int, of which gcc does not always see that it fits a byte.
      return {.read = kNotZero, .write = prefix("(uint8_t)")};
    case Type::f32:
      return {.read = same_bits(stored, value), .write = same_bits(value, stored)};
    case Type::f16:
    case Type::bf16:
      if (value == Type::i32) return {.read = kSame, .write = prefix("(uint16_t)")};
      break;
    case Type::f8e4m3:
    case Type::f8e5m2:
      if (value == Type::i32) return {.read = kSame, .write = prefix("(uint8_t)")};
      break;
    case Type::i16:
    case Type::i8:
    case Type::u8:
      if (value == Type::i32) return {.read = kSame, .write = conversion(value, stored)};
      break;
    case Type::i4:
      return {.read = helper("i4_load"), .write = helper("i4_store"), .packed = true};
    case Type::f64:
    case Type::i64:
    case Type::i32:
      break;
  }
  TANG_PANIC("an element of {} used as {} reached the printer", type_name(stored),
             type_name(value));
}

std::string variable(Type type, std::string_view name, bool constant) {
  return fmt::format("{}{} {}", constant ? "const " : "", value_type(type), name);
}

std::string array(Type type, std::string_view name, int64_t size, kernel::Space /*space*/) {
  if (type_bits(type) < 8) size = bytes_of(type, size);
  return fmt::format("{} {}[{}]", element_type(type), name, size);
}

std::string loop(const LoopText& l) {
  const std::string step = l.step == 1 ? "++" + l.var : fmt::format("{} += {}", l.var, l.step);
  return fmt::format("for (int64_t {0} = {1}; {0} {2} {3}; {4})", l.var, l.lo,
                     l.inclusive ? "<=" : "<", l.hi, step);
}

std::string hint(const LoopHint& hint) {
  switch (hint.run) {
    case kernel::Run::serial:
    case kernel::Run::unroll:
      return "";
    case kernel::Run::vector:
      return "TANG_OMP(omp simd)";
    case kernel::Run::parallel:
      if (hint.collapse == 1) return "TANG_OMP(omp parallel for)";
      return fmt::format("TANG_OMP(omp parallel for collapse({}))", hint.collapse);
  }
  TANG_PANIC("run {}", static_cast<int>(hint.run));
}

std::string parameter(const Parameter& p) {
  if (!p.pointer) return fmt::format("{} {}", value_type(p.type), p.name);
  return fmt::format("{}{} *{}{}", p.writable ? "" : "const ", element_type(p.type),
                     p.may_alias ? "" : "restrict ", p.name);
}

std::string kernel_head(std::string_view name, const std::string& parameters) {
  return fmt::format("static void {}({})", name, parameters.empty() ? "void" : parameters);
}

std::string function_head(Type type, std::string_view name, const std::string& parameters) {
  return fmt::format("static inline {} {}({})", value_type(type), name,
                     parameters.empty() ? "void" : parameters);
}

std::string unused(std::string_view name) {
  return fmt::format("(void){};", name);
}

std::string kernel_name(const kernel::Module& module, std::string_view kernel) {
  return fmt::format("{}_{}", module.prefix, kernel);
}

}  // namespace

const Dialect kC{
    .name = "c",
    .description = "C11 with its own header; optional OpenMP",
    .extension = ".c",
    .capabilities = {},
    .is_reserved = c::is_reserved,
    .value_type = value_type,
    .element_type = element_type,
    .real = real,
    .integer = integer,
    .boolean = boolean,
    .operation = operation,
    .conversion = conversion,
    .same_bits = same_bits,
    .element = element,
    .floor_quotient = [] { return helper("floor_div"); },
    .floor_remainder = [] { return helper("floor_mod"); },
    .variable = variable,
    .array = array,
    .loop = loop,
    .hint = hint,
    .parameter = parameter,
    .kernel_head = kernel_head,
    .function_head = function_head,
    .unused = unused,
    .kernel_name = kernel_name,
    .files = c::files,
};

}  // namespace tang::emit
