// Compares what a command did with what its test file expects.
#pragma once

#include <string>
#include <vector>

#include "test_file.h"

namespace tircheck {

struct Outcome {
  int status = 0;
  std::string out{}, err{};
  std::string plain{};    // what `tangc FILE --emit=ir` prints, when the test is about UNCHANGED
  std::string reprint{};  // what --emit=ir prints for `out`, when the command was an --emit=ir
  bool reprinted = false;
};

// What tangc said on standard error, as data.
struct Message {
  Kind kind = Kind::error;  // error, warning or note
  std::string place{};      // "4:22"; "-" when it has none
  std::string name{};       // of errors and warnings
  std::string text{};
};
std::vector<Message> messages_of(const std::string& err);

// A paragraph for each thing that is not as expected; empty when the test passes.
std::vector<std::string> judge(const TestFile& test, const Outcome& outcome);

// The file's text with its expectations replaced by what the command did.
std::string bless(const TestFile& test, const Outcome& outcome);
// How often the word, or the regular expression, is in the text.
size_t count(const std::string& pattern, const std::string& text);
// "word N" cut into its two parts.
struct WordCount {
  std::string pattern;
  size_t n = 0;
};
WordCount parse_count(const std::string& text);

}  // namespace tircheck
