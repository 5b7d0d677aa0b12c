// random_programs [FIRST [COUNT]] [--no-c] [--print]: programs FIRST, FIRST + 1, ... through the
// whole compiler. A failing program is printed whole; its number reproduces it.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "subject.h"

namespace tang::random {
namespace {

constexpr size_t kBatch = 50;  // programs in one C library

struct Request {
  uint64_t first = 1;
  uint64_t count = 200;
  bool c = true;
  bool print = false;
};

Request read_arguments(int argc, char** argv) {
  Request request;
  int position = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--no-c")
      request.c = false;
    else if (arg == "--print")
      request.print = true;
    else
      (position++ == 0 ? request.first : request.count) = std::strtoull(argv[i], nullptr, 10);
  }
  return request;
}

void report(const Subject& subject, const std::string& wrong) {
  fmt::print("FAILED: random_programs {} 1\n{}\n{}\n", subject.seed, subject.generated.text, wrong);
}

std::string first_wrong(Subject& subject) {
  std::string wrong = compare_elements(subject);
  if (wrong.empty()) wrong = compare_passes(subject);
  if (wrong.empty()) wrong = compare_kernels(subject);
  return wrong;
}

// True when the program may go on to C.
bool front_half(uint64_t seed, Subject& subject) {
  std::string wrong;
  try {
    wrong = prepare(seed, subject);
    if (wrong.empty()) wrong = first_wrong(subject);
  } catch (const std::exception& fault) {
    wrong = fault.what();
  }
  if (wrong.empty()) {
    subject.expected = subject.expected_rewritten;  // C is made of the rewritten program
    return true;
  }
  report(subject, wrong);
  fmt::print("smaller:\n{}\n", shrunken(subject, first_wrong));
  return false;
}

size_t run_batch(std::vector<Subject>& batch) {
  size_t failed = 0;
  try {
    for (const auto& [k, wrong] : compare_c(batch)) {
      report(batch[k], wrong);
      ++failed;
    }
  } catch (const std::exception& fault) {
    fmt::print("FAILED: {} programs from {} as C\n{}\n", batch.size(), batch.front().seed,
               fault.what());
    ++failed;
  }
  batch.clear();
  return failed;
}

int run(const Request& request) {
  size_t failed = 0;
  std::vector<Subject> batch;
  for (uint64_t seed = request.first; seed < request.first + request.count; ++seed) {
    if (request.print) fmt::print("{}\n", generate(seed).text);
    Subject subject;
    if (front_half(seed, subject))
      batch.push_back(std::move(subject));
    else
      ++failed;
    if (!request.c) batch.clear();
    if (batch.size() == kBatch) failed += run_batch(batch);
  }
  if (!batch.empty()) failed += run_batch(batch);
  fmt::print("{} random programs, {} failed\n", request.count, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tang::random

int main(int argc, char** argv) {
  return tang::random::run(tang::random::read_arguments(argc, argv));
}
