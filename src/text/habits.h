// Words of other languages, and what they are called here: for the sentences of errors only.
#pragma once

#include <string_view>

namespace tang {

// "" where nothing is known of the word.
std::string_view type_of_habit(std::string_view word);      // float32: "f32"
std::string_view function_of_habit(std::string_view word);  // ln: "write log(x)"
std::string_view monoid_of_habit(std::string_view word);    // mean: "divide sum[i](x) by ..."
std::string_view item_of_habit(std::string_view word);      // def: "a function begins with fn"
std::string_view character_of_habit(std::string_view character);  // ≤: "write <="

}  // namespace tang
