#include "text/habits.h"

#include <span>

namespace tang {

namespace {

struct Habit {
  std::string_view word, here;
};

std::string_view find(std::span<const Habit> habits, std::string_view word) {
  for (const Habit& habit : habits)
    if (habit.word == word) return habit.here;
  return {};
}

constexpr Habit kTypes[] = {
    {"float", "f32"},
    {"float32", "f32"},
    {"float32_t", "f32"},
    {"single", "f32"},
    {"double", "f64"},
    {"float64", "f64"},
    {"real", "f32"},
    {"half", "f16"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    {"fp32", "f32"},
    {"fp16", "f16"},
    {"fp64", "f64"},
    {"int", "i32"},
    {"int32", "i32"},
    {"int32_t", "i32"},
    {"integer", "i32"},
    {"long", "i64"},
    {"int64", "i64"},
    {"int64_t", "i64"},
    {"index", "i32"},
    {"short", "i16"},
    {"int16", "i16"},
    {"int8", "i8"},
    {"char", "i8"},
    {"uint8", "u8"},
    {"byte", "u8"},
    {"uint8_t", "u8"},
    {"int4", "i4"},
    {"boolean", "bool"},
    {"logical", "bool"},
    {"f8", "f8e4m3"},
    {"fp8", "f8e4m3"},
    {"float8_e4m3", "f8e4m3"},
    {"float8_e5m2", "f8e5m2"},
};

constexpr Habit kFunctions[] = {
    {"ln", "write log(x)"},
    {"log10", "write log(x) / log(10.0)"},
    {"log1p", "write log(1.0 + x)"},
    {"expm1", "write exp(x) - 1.0"},
    {"power", "write pow(x, n)"},
    {"square", "write x * x"},
    {"fabs", "write abs(x)"},
    {"absolute", "write abs(x)"},
    {"maximum", "write max(x, y)"},
    {"fmax", "write max(x, y)"},
    {"minimum", "write min(x, y)"},
    {"fmin", "write min(x, y)"},
    {"clamp", "write min(max(x, low), high)"},
    {"clip", "write min(max(x, low), high)"},
    {"where", "write condition ? a : b"},
    {"cond", "write condition ? a : b"},
    {"logistic", "write sigmoid(x)"},
    {"relu", "write max(x, 0.0)"},
    {"mod", "write a % b"},
    {"fmod", "a real has no remainder: write x - y * floor(x / y)"},
    {"trunc", "write i32(x)"},
    {"float", "numbers become reals on their own; to round to a format, write f32(x)"},
    {"double", "numbers become reals on their own"},
    {"int", "write i32(x)"},
    {"len", "a size is a name that dim declares"},
    {"shape", "a size is a name that dim declares"},
    {"range", "a range is written 0..n, and an index runs over i: n"},
    {"arange", "an index is a value: y[i: n] = i"},
    {"iota", "an index is a value: y[i: n] = i"},
    {"zeros", "write y[i: n] = 0.0"},
    {"ones", "write y[i: n] = 1.0"},
    {"full", "write y[i: n] and the value"},
    {"dot", "write sum[k](a[i,k] * b[k,j])"},
    {"matmul", "write sum[k](a[i,k] * b[k,j])"},
    {"einsum", "write sum[k](a[i,k] * b[k,j])"},
    {"transpose", "write y[j,i] = x[i,j]"},
    {"reshape", "write the coordinates: y[i,j] = x[4*i + j]"},
    {"concat", "write a choice: i < n ? a[i] : b[i - n]"},
    {"concatenate", "write a choice: i < n ? a[i] : b[i - n]"},
    {"stack", "write a choice: k == 0 ? a[i] : b[i]"},
    {"mean", "write sum[i](x[i]) / n"},
};

constexpr Habit kMonoids[] = {
    {"mean", "write sum[i](x[i]) / n"},
    {"avg", "write sum[i](x[i]) / n"},
    {"var", "welford gives count, mean and the sum of squares"},
    {"product", "write prod"},
    {"mul", "write prod"},
    {"add", "write sum"},
    {"and", "write all"},
    {"or", "write any"},
    {"count", "sum counts where a bool holds"},
    {"maximum", "write max"},
    {"minimum", "write min"},
    {"amax", "write max"},
    {"amin", "write min"},
    {"cumsum", "write sum[u | u <= t](x[u])"},
    {"softmax", "it is a function of a tensor, or exp(x[i] - m) over its sum"},
};

constexpr Habit kItems[] = {
    {"let", "a definition begins with its name"},
    {"var", "a definition begins with its name"},
    {"val", "a definition begins with its name"},
    {"auto", "a definition begins with its name"},
    {"tensor", "a definition begins with its name"},
    {"float", "a definition begins with its name"},
    {"f32", "a definition begins with its name"},
    {"int", "a definition begins with its name"},
    {"def", "a function begins with fn"},
    {"func", "a function begins with fn"},
    {"fun", "a function begins with fn"},
    {"function", "a function begins with fn"},
    {"param", "an array is declared with input"},
    {"parameter", "an array is declared with input"},
    {"in", "an array is declared with input"},
    {"out", "a result is named with output"},
    {"print", "a result is named with output"},
    {"assert", "what holds of sizes is stated with assume"},
    {"from", "a file is imported with import and its name in quotes"},
    {"while", "a loop is written for l in 0..n { … }"},
    {"if", "a choice is written condition ? a : b"},
};

constexpr Habit kCharacters[] = {
    {"@", "a product of matrices is written sum[k](a[i,k] * b[k,j])"},
    {"~", "write ! for a bool, x ^ -1 for the bits of an integer"},
    {"\\", "a line goes on where the next one begins with an operator"},
    {"'", "strings stand in \", and name imported files only"},
    {"`", "names are written without quotes"},
    {"$", "names are written without it"},
    {"×", "write *"},
    {"·", "write *"},
    {"∙", "write *"},
    {"÷", "write /"},
    {"−", "write -"},
    {"–", "write -"},
    {"—", "write -"},
    {"≤", "write <="},
    {"≥", "write >="},
    {"≠", "write !="},
    {"∧", "write &&"},
    {"∨", "write ||"},
    {"¬", "write !"},
    {"∞", "write inf"},
    {"π", "write pi"},
    {"∑", "write sum"},
    {"Σ", "write sum"},
    {"∏", "write prod"},
    {"√", "write sqrt(x)"},
    {"…", "write three points"},
    {"“", "write \""},
    {"”", "write \""},
    {"‘", "write \""},
    {"’", "write \""},
    {"，", "write a comma"},
    {"（", "write ("},
    {"）", "write )"},
    {"\xC2\xA0", "it is a blank that does not break; write a plain one"},
};

}  // namespace

std::string_view type_of_habit(std::string_view word) {
  return find(kTypes, word);
}
std::string_view function_of_habit(std::string_view word) {
  return find(kFunctions, word);
}
std::string_view monoid_of_habit(std::string_view word) {
  return find(kMonoids, word);
}
std::string_view item_of_habit(std::string_view word) {
  return find(kItems, word);
}
std::string_view character_of_habit(std::string_view character) {
  return find(kCharacters, character);
}

}  // namespace tang
