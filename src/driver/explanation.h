// What `tangc explain` says of a compile, as data; explain_text.cpp and explain_html.cpp say it.
#pragma once

#include <string>
#include <vector>

#include "driver/pipeline.h"

namespace tang {

// One definition in a picture of the program.
struct ExplainedDef {
  std::string name;               // of its first result
  std::string names;              // of all: "m, l, o"
  std::string text;               // as the program prints it
  std::vector<size_t> reads;      // definitions, by number
  std::vector<std::string> from;  // inputs that it reads
  bool folds = false;
  bool is_output = false;
  std::string place;  // "stored", "inside o", "where o reads it"
};

struct ExplainedProgram {
  std::vector<ExplainedDef> defs;
  size_t n_kernels = 0;
  std::string intermediate;  // bytes between kernels, in sizes: "4*S*S + 4*S"
};

struct ExplainedKernel {
  std::string name;
  std::vector<std::string> computes;  // definitions, in order
  std::string schedule;
};

struct Explanation {
  ExplainedProgram before, after;
  std::vector<ExplainedKernel> kernels;
  struct Step {
    std::string pass, says;
    std::vector<std::string> laws, before, after;  // definitions, printed
  };
  std::vector<Step> steps;
  struct Refusal {
    std::string pass, name, why;
  };
  std::vector<Refusal> refusals;  // that hold at the end, each once
  struct Law {
    std::string name, says, condition;
  };
  std::vector<Law> laws;  // that the steps used
};

Explanation explain(const Scheduled& scheduled, const Trace& trace);

std::string explain_text(const std::string& name, const Explanation& e);
std::string explain_json(const std::string& name, const Explanation& e);
std::string explain_html(const std::string& name, const Explanation& e);

}  // namespace tang
