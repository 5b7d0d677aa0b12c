// Many programs as one C library: a compiler is started once a batch, a worker once a program.
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "driver/files.h"
#include "driver/native.h"
#include "driver/pipeline.h"
#include "driver/process.h"
#include "driver/worker.h"
#include "emit/emit.h"
#include "schedule/auto.h"
#include "subject.h"

namespace tang::random {
namespace {

std::string build(const std::vector<std::string>& sources, const std::string& folder) {
  const std::optional<std::vector<std::string>> compiler = c_compiler();
  if (!compiler) throw std::runtime_error("there is no C compiler");
  std::vector<std::string> argv = *compiler;
  const std::string library = folder + "/batch.so";
  // A program by chance may compare a u8 with -5, of which compilers warn rightly.
  for (const char* flag :
       {"-O1", "-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Wconversion", "-pedantic",
        "-Werror", "-Wno-unknown-pragmas", "-Wno-type-limits"})
    argv.emplace_back(flag);
  argv.insert(argv.end(), sources.begin(), sources.end());
  for (const std::string& word : {std::string("-o"), library, std::string("-lm")})
    argv.push_back(word);
  const ProcessResult result =
      run_process({.argv = argv, .input = "", .time_limit = std::chrono::minutes(5)});
  if (result.end != ProcessEnd::exited || result.code != 0)
    throw std::runtime_error(fmt::format("the C compiler says\n{}", result.err));
  return library;
}

}  // namespace

std::vector<std::pair<size_t, std::string>> compare_c(const std::vector<Subject>& subjects) {
  const emit::Target& target = *emit::find_target("c");
  const TemporaryFolder folder;
  std::vector<kernel::Module> modules;
  std::vector<std::string> sources;
  for (const Subject& subject : subjects) {
    const std::string stem = fmt::format("random_{}", subject.seed);
    modules.push_back(
        back_end({subject.program, subject.rewritten, schedule_auto(subject.rewritten)}, target,
                 {.prefix = stem})
            .module);
    for (const emit::Artifact& artifact : emit::emit(target, modules.back(), stem)) {
      const std::string path = folder.path() + "/" + stem + artifact.suffix;
      std::ofstream(path, std::ios::binary) << artifact.text;
      if (artifact.suffix == ".c") sources.push_back(path);
    }
  }
  const std::string library = build(sources, folder.path());
  std::vector<std::pair<size_t, std::string>> wrong;
  for (size_t k = 0; k < subjects.size(); ++k) {
    std::vector<Array> tensors = module_tensors(subjects[k]);
    std::string difference;
    try {
      call_in_worker({.module = &modules[k],
                      .library = library,
                      .dims = subjects[k].bindings.dims,
                      .scalars = subjects[k].bindings.scalars},
                     tensors);
      difference = compare("emitted C", subjects[k], outputs_among(subjects[k], tensors));
    } catch (const std::exception& fault) {
      difference = fmt::format("emitted C: {}", fault.what());
    }
    if (!difference.empty()) wrong.emplace_back(k, difference);
  }
  return wrong;
}

}  // namespace tang::random
