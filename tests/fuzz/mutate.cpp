// A bounded run without libFuzzer: every seed as it is, then seeds changed by chance, the same ones
// each time. Seeds are .tir files; words of the dictionary are put in.
// Usage: mutate parse|front RUNS DICTIONARY FOLDER...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "targets.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kLongestSeed = 4000;  // bytes; longer ones spend the time without new ground
constexpr double kSlow = 5;            // seconds that no program of that length may take

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> seeds_in(const std::vector<std::string>& folders) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".tir") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const fs::path& path : paths)
    if (std::string text = read(path); text.size() <= kLongestSeed)
      seeds.push_back(std::move(text));
  return seeds;
}

// The words between quotes of a libFuzzer dictionary.
std::vector<std::string> words_in(const std::string& dictionary) {
  std::vector<std::string> words;
  for (size_t at = dictionary.find('"'); at != std::string::npos;) {
    const size_t end = dictionary.find('"', at + 1);
    if (end == std::string::npos) break;
    words.push_back(dictionary.substr(at + 1, end - at - 1));
    at = dictionary.find('"', end + 1);
  }
  return words;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, const std::vector<std::string>& words)
      : seeds_(seeds), words_(words) {}

  std::string next() {
    std::string text = pick(seeds_);
    for (size_t n = 1 + below(4); n > 0; --n) change(text);
    return text;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& pick(const std::vector<std::string>& list) { return list[below(list.size())]; }

  void change(std::string& text) {
    const size_t at = below(text.size() + 1);
    const size_t length = std::min(text.size() - at, below(12));
    switch (below(7)) {
      case 0:  // another character
        if (at < text.size()) text[at] = static_cast<char>(below(8) ? 32 + below(95) : below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, pick(words_));
        break;
      case 3:
        text.replace(at, length, pick(words_));
        break;
      case 4:  // a piece of it once more
        text.insert(below(text.size() + 1), text.substr(at, length * 3));
        break;
      case 5: {  // a line of another program
        const std::string& other = pick(seeds_);
        const size_t begin = other.find('\n', below(other.size()));
        if (begin != std::string::npos)
          text.insert(at, other.substr(begin, other.find('\n', begin + 1) - begin + 1));
        break;
      }
      case 6:  // cut off
        if (below(4) == 0) text.resize(at);
        break;
    }
  }

  const std::vector<std::string>& seeds_;
  const std::vector<std::string>& words_;
  std::mt19937 random_{20240229};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string name = argv[1];
  const auto target = name == "parse" ? tang::fuzz::fuzz_parse : tang::fuzz::fuzz_front;
  const long runs = std::strtol(argv[2], nullptr, 10);
  const std::vector<std::string> words = words_in(read(argv[3]));
  const std::vector<std::string> seeds = seeds_in({argv + 4, argv + argc});
  if (seeds.empty() || words.empty() || runs <= 0) return 2;
  Mutator mutator(seeds, words);
  int n_bad = 0;
  const auto once = [&](const std::string& text) {
    const Clock::time_point start = Clock::now();
    std::string wrong;
    try {
      target(text);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (wrong.empty() && seconds > kSlow) wrong = "it took " + std::to_string(seconds) + " s";
    if (wrong.empty()) return;
    ++n_bad;
    std::printf("---- %s\n%s\n---- the program:\n%s\n", name.c_str(), wrong.c_str(), text.c_str());
  };
  for (const std::string& seed : seeds) once(seed);
  for (long run = 0; run < runs && n_bad < 5; ++run) once(mutator.next());
  std::printf("%zu seeds, %ld changed ones, %d bad\n", seeds.size(), runs, n_bad);
  return n_bad == 0 ? 0 : 1;
}
