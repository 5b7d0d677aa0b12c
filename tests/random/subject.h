// A generated program under test: parsed, with sizes, random inputs, and what the interpreter says.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generate.h"
#include "interp/interp.h"

namespace tang::random {

struct Subject {
  uint64_t seed = 0;
  Generated generated;
  Program program;
  Program rewritten;  // by all passes
  Bindings bindings;
  std::vector<Array> expected;            // the outputs, by the interpreter
  std::vector<Array> expected_rewritten;  // the same of the rewritten program
};

// The functions below give a sentence when something is wrong, and nothing when all is well.

// Generates, parses, checks, verifies, prints and parses again, interprets both.
std::string prepare(uint64_t seed, Subject& subject);
// A smaller program of which `wrong` still says something, made from the subject's.
std::string shrunken(const Subject& subject,
                     const std::function<std::string(Subject& subject)>& wrong);
// A few elements of the outputs, each interpreted alone, against the whole outputs.
std::string compare_elements(const Subject& subject);
// Each pass alone and all of them, interpreted; the rewritten program printed and parsed again.
std::string compare_passes(Subject& subject);
// The modules of both programs before and after legalization, executed as kernel IR.
std::string compare_kernels(const Subject& subject);
// Emits every rewritten program as C, builds one library of all and calls each in a worker. A
// sentence for each that differs, by its position.
std::vector<std::pair<size_t, std::string>> compare_c(const std::vector<Subject>& subjects);

// The outputs against the interpreter's, each within its tolerance.
std::string compare(const std::string& who, const Subject& subject, std::span<const Array> outputs);
// What a module takes: the inputs as they are, outputs of the right size.
std::vector<Array> module_tensors(const Subject& subject);
// The program's outputs among what a module took: its inouts, then its outputs.
std::vector<Array> outputs_among(const Subject& subject, const std::vector<Array>& tensors);

}  // namespace tang::random
