// A test of the compiler is one .tir file: the program, the command, and what the command must say,
// all but the program in comments.
//
//   # RUN: tangc %s --emit=ir            the command; %s is this file
//   # CHECK: c[i: M] = ...               a line of the output, up to whitespace, in this order
//   # CHECK-NOT: exp(                    no line of the output contains it
//   # COUNT: max 2                       how often a word, or a regular expression, is in the
//   output # UNCHANGED: why                     the output is what plain `tangc %s --emit=ir`
//   prints # ERROR: 4:22 range-conflict: k runs over 16    line:column name: part of the message #
//   WARNING: 4:22 integer-quotient: 1/2           (`-` for line:column: it has no place) # NOTE:
//   2:7 b is declared            a note of the error or warning above # STATUS: 2 exit status;
//   without it 1 for files fail_*, else 0
//
// Every error and warning must be expected; a note and a line of the output need not be. A program
// that --emit=ir prints is also read and printed again, and must come out the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tircheck {

enum class Kind { check, check_not, count, unchanged, error, warning, note, status };

struct Expectation {
  Kind kind = Kind::check;
  std::string text;  // after the colon, without surrounding blanks
  size_t line = 0;   // in the test file, from 1
};

struct TestFile {
  std::string path;
  std::string text;
  std::vector<std::string> args{};  // of tangc
  std::vector<Expectation> expectations{};
  int status = 0;
  std::vector<std::string> faults{};  // of the file itself; the test fails when there is one
};

// The keyword of a kind as files write it: "CHECK-NOT".
std::string_view keyword(Kind kind);
TestFile parse_test(std::string path, std::string text);

std::vector<std::string> lines_of(std::string_view text);
// Runs of blanks become one, none at the ends.
std::string squeeze(std::string_view line);
// The expectation that a line of a test file states, if it is one: its keyword and the rest.
struct Keyed {
  std::string_view key, rest;
};
Keyed split_keyword(std::string_view line);  // empty key: none

}  // namespace tircheck
