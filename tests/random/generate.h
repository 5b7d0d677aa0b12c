// Writes well-typed programs: maps, views with offsets, strides and quotients, guards, gathers,
// conditions, reductions over every kind of monoid, prefixes, several definitions, symbolic sizes.
//
// A program is correct by construction: every read is in range for all sizes that the declarations
// allow, and real outputs come with a bound on how far a kernel may be from the interpreter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tang::random {

struct GeneratedOutput {
  std::string name;
  double tolerance = 0;  // greatest difference from the interpreter; 0: equal
};

struct Generated {
  std::string text;
  std::map<std::string, int64_t> dims;  // sizes to run with
  std::vector<GeneratedOutput> outputs;
};

Generated generate(uint64_t seed);

}  // namespace tang::random
