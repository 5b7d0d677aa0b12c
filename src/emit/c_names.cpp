// Names that emitted C leaves alone: words of C and C++ (the header is read as both), names that
// the included headers define, macros that other common headers define, and the helpers' names.
#include <array>
#include <string>
#include <unordered_set>

#include "emit/c.h"

namespace tang::embedded {
extern const std::string_view kCHelpers;  // src/emit/host/helpers.c
}

namespace tang::emit::c {

namespace {

constexpr std::string_view kWords[] = {
    // C
    "auto",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "bool",
    "alignas",
    "alignof",
    "static_assert",
    "thread_local",
    // C++
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "catch",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "consteval",
    "constinit",
    "const_cast",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_cast",
    "template",
    "this",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    // macros of the standard headers, and names that compilers predefine
    "NULL",
    "offsetof",
    "assert",
    "errno",
    "complex",
    "imaginary",
    "noreturn",
    "I",
    "EOF",
    "stdin",
    "stdout",
    "stderr",
    "setjmp",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "HUGE_VALF",
    "HUGE_VALL",
    "FP_NAN",
    "FP_INFINITE",
    "FP_ZERO",
    "FP_SUBNORMAL",
    "FP_NORMAL",
    "FP_ILOGB0",
    "FP_ILOGBNAN",
    "MATH_ERRNO",
    "MATH_ERREXCEPT",
    "math_errhandling",
    "fpclassify",
    "isfinite",
    "isinf",
    "isnan",
    "isnormal",
    "signbit",
    "isgreater",
    "isgreaterequal",
    "isless",
    "islessequal",
    "islessgreater",
    "isunordered",
    "linux",
    "unix",
    "signgam",
    "major",
    "minor",
    "makedev",
    // functions and types of the included headers, and what a compiler knows without them
    "main",
    "size_t",
    "ptrdiff_t",
    "max_align_t",
    "float_t",
    "double_t",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "memchr",
    "strlen",
    "strcpy",
    "strcmp",
    "abs",
    "labs",
    "llabs",
    "div",
    "ldiv",
    "lldiv",
    "imaxabs",
    "exit",
    "abort",
    "malloc",
    "calloc",
    "realloc",
    "free",
    "printf",
    "puts",
    "putchar",
    "index",
    "rindex",
    "bcmp",
    "bcopy",
    "bzero",
    "ffs",
    "alloca",
    // this file's own
    "args",
    "check_dims",
    "TANG_OMP",
};

// Functions of <math.h>; each exists with the suffixes f and l too.
constexpr std::string_view kMath[] = {
    "acos",       "acosh",   "asin",     "asinh",       "atan",   "atan2",     "atanh",
    "cbrt",       "ceil",    "copysign", "cos",         "cosh",   "drem",      "erf",
    "erfc",       "exp",     "exp10",    "exp2",        "expm1",  "fabs",      "fdim",
    "finite",     "floor",   "fma",      "fmax",        "fmin",   "fmod",      "frexp",
    "gamma",      "hypot",   "ilogb",    "j0",          "j1",     "jn",        "ldexp",
    "lgamma",     "llrint",  "llround",  "log",         "log10",  "log1p",     "log2",
    "logb",       "lrint",   "lround",   "modf",        "nan",    "nearbyint", "nextafter",
    "nexttoward", "pow",     "pow10",    "remainder",   "remquo", "rint",      "round",
    "scalb",      "scalbln", "scalbn",   "significand", "sin",    "sincos",    "sinh",
    "sqrt",       "tan",     "tanh",     "tgamma",      "trunc",  "y0",        "y1",
    "yn",
};

std::unordered_set<std::string> reserved_names() {
  std::unordered_set<std::string> names;
  for (const std::string_view word : kWords) names.emplace(word);
  for (const std::string_view function : kMath)
    for (const std::string_view suffix : {"", "f", "l"})
      names.insert(std::string(function) + std::string(suffix));
  for (const Helper& helper : helpers()) names.emplace(helper.name);
  return names;
}

// int8_t, uint_fast16_t, INT32_MAX, UINT64_C, ...: the names of <stdint.h>.
bool is_integer_name(std::string_view name) {
  if (name.starts_with('u') || name.starts_with('U')) name.remove_prefix(1);
  if (name.starts_with("int")) return name.ends_with("_t");
  if (!name.starts_with("INT")) {
    return name == "SIZE_MAX" || name == "PTRDIFF_MAX" || name == "PTRDIFF_MIN" ||
           name == "WCHAR_MAX" || name == "WCHAR_MIN" || name == "WINT_MAX" || name == "WINT_MIN" ||
           name == "SIG_ATOMIC_MAX" || name == "SIG_ATOMIC_MIN";
  }
  return name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C");
}

}  // namespace

const std::vector<Helper>& helpers() {
  static const std::vector<Helper> all = parse_helpers(embedded::kCHelpers);
  return all;
}

bool is_reserved(std::string_view name) {
  static const std::unordered_set<std::string> names = reserved_names();
  return names.contains(std::string(name)) || is_integer_name(name);
}

}  // namespace tang::emit::c
