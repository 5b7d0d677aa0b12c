// What must hold for any bytes at all given as a program. A target aborts the process, by an
// exception that nothing catches, when it does not.
#pragma once

#include <string_view>

namespace tang::fuzz {

// Reading and formatting: the formatted text is the same program, and formatting it changes
// nothing.
void fuzz_parse(std::string_view text);

// All of the front end: a program that is right keeps the invariants of graphs, and its printed
// text is read back and printed the same.
void fuzz_front(std::string_view text);

}  // namespace tang::fuzz
