// Files around one example: inputs as .npy and as plain bytes, a main program, outputs.
#include "program.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "driver/command.h"
#include "driver/npy.h"
#include "driver/process.h"

namespace tang::examples {
namespace {

// Values of (-2, 2) in steps of 1/32, so that ties happen, or integers below a limit.
Values random_values(const Declared& declared, uint64_t& state) {
  Values values(declared.shape);
  for (double& v : values.data) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto draw = static_cast<int64_t>(state >> 33);
    v = declared.below > 0 ? static_cast<double>(draw % declared.below)
                           : static_cast<double>(draw % 127 - 63) / 32;
  }
  return values;
}

Array array_of(const Values& values, Type type) {
  Array array(type, values.shape);
  for (int64_t i = 0; i < array.size(); ++i) {
    const double v = values.data[static_cast<size_t>(i)];
    array.set(i, is_real(type) ? real_value(v) : integer_value(static_cast<int64_t>(v)));
  }
  return array;
}

std::string bytes_of(const Array& array) {
  return {reinterpret_cast<const char*>(array.data.data()), array.data.size()};
}

bool is_integer_output(const Example& example, const std::string& name) {
  for (const std::string& integer : example.integers)
    if (integer == name) return true;
  return false;
}

}  // namespace

std::string source_of(const std::string& name) {
  return TANG_EXAMPLES "/" + name + ".tir";
}

std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
  return text;
}

Program::Program(const Example& example, const Sizes& sizes)
    : example_(example), sizes_(sizes), inputs_(example.inputs(sizes)) {
  Arrays arrays;
  uint64_t state = 2024;
  for (const Declared& declared : inputs_) {
    const Values& values = arrays[declared.name] = random_values(declared, state);
    const Array array = array_of(values, declared.below > 0 ? Type::i32 : Type::f32);
    write_files({{.path = path(declared.name + ".npy"), .text = write_npy(array)},
                 {.path = path(declared.name + ".in"), .text = bytes_of(array)}});
  }
  expected_ = example.outputs(sizes, arrays);
}

Arrays Program::run(const std::string& device, const std::string& cc, std::string& error) const {
  std::vector<std::string> args = {"run", source_of(example_.name), "--device=" + device};
  if (!sizes_.empty()) args.push_back("--bind=" + text_of(sizes_));
  for (const Declared& declared : inputs_) {
    std::string value = path(declared.name + ".npy");
    if (declared.is_scalar) {
      const std::string bytes = read_file(path(declared.name + ".in"));
      float real = 0;
      int32_t integer = 0;
      std::memcpy(&real, bytes.data(), sizeof real);
      std::memcpy(&integer, bytes.data(), sizeof integer);
      value = declared.below > 0 ? std::to_string(integer) : fmt::format("{}", real);
    }
    args.insert(args.end(), {"-i", declared.name + "=" + value});
  }
  for (const auto& [name, values] : expected_)
    args.insert(args.end(), {"-o", name + "=" + path(name + ".npy")});
  ::setenv("CC", cc.c_str(), 1);
  Streams streams;
  if (const int status = run_command(args, streams); status != 0) {
    error = fmt::format("tangc {} ends with {}\n{}", fmt::join(args, " "), status, streams.err);
    return {};
  }
  return read_outputs(".npy", error);
}

Arrays Program::read_outputs(const std::string& suffix, std::string& error) const {
  Arrays arrays;
  for (const auto& [name, want] : expected_) {
    const Type type = is_integer_output(example_, name) ? Type::i32 : Type::f32;
    Array array(type, want.shape);
    std::string bytes = read_file(path(name + suffix));
    if (suffix == ".npy") {
      const std::optional<NpyArray> npy = read_npy(bytes, error);
      if (!npy) return {};
      if (npy->shape != want.shape || npy->dtype != (type == Type::i32 ? "i4" : "f4")) {
        error = fmt::format("{} is {}[{}]", name, npy->dtype, fmt::join(npy->shape, ", "));
        return {};
      }
      bytes = npy->data;
    }
    if (bytes.size() != array.data.size()) {
      error = fmt::format("{} has {} bytes instead of {}", name, bytes.size(), array.data.size());
      return {};
    }
    std::memcpy(array.data.data(), bytes.data(), bytes.size());
    Values values(want.shape);
    for (size_t i = 0; i < values.data.size(); ++i)
      values.data[i] = array.real(static_cast<int64_t>(i));
    arrays.emplace(name, values);
  }
  return arrays;
}

// Reads NAME.in of each input, calls the entry point, writes NAME.out of each output. Every array
// is a block of its exact size, so that a sanitizer sees the first byte outside of it.
std::string Program::main_program() const {
  const std::string symbol = example_.name + "_run";
  std::string fields, writes;
  for (const auto& [name, size] : sizes_) fields += fmt::format("  args.{} = {};\n", name, size);
  for (const Declared& d : inputs_) {
    const char* type = d.below > 0 ? "int32_t" : "float";
    fields += d.is_scalar ? fmt::format("  args.{0} = *({1} *)load(\"{0}.in\");\n", d.name, type)
                          : fmt::format("  args.{0} = load(\"{0}.in\");\n", d.name);
  }
  for (const auto& [name, values] : expected_) {
    const bool is_inout = std::any_of(inputs_.begin(), inputs_.end(),
                                      [&](const Declared& d) { return d.name == name; });
    if (!is_inout) fields += fmt::format("  args.{} = malloc({});\n", name, values.data.size() * 4);
    writes += fmt::format("  save(\"{0}.out\", args.{0}, {1});\n", name, values.data.size() * 4);
  }
  return fmt::format(R"(#include "{0}.h"
#include <stdio.h>
#include <stdlib.h>
static void *load(const char *path) {{
  FILE *file = fopen(path, "rb");
  if (file == NULL) exit(3);
  fseek(file, 0, SEEK_END);
  const size_t bytes = (size_t)ftell(file);
  rewind(file);
  void *data = malloc(bytes);
  if (bytes > 0 && fread(data, 1, bytes, file) != bytes) exit(3);
  fclose(file);
  return data;
}}
static void save(const char *path, const void *data, size_t bytes) {{
  FILE *file = fopen(path, "wb");
  if (file == NULL || (bytes > 0 && fwrite(data, 1, bytes, file) != bytes)) exit(4);
  fclose(file);
}}
int main(void) {{
  struct {1}_args args = {{0}};
{2}  args.workspace = malloc((size_t){1}_workspace(&args));
  const int status = {1}(&args);
  if (status != 0) return status;
{3}  return 0;
}}
)",
                     example_.name, symbol, fields, writes);
}

Arrays Program::run_alone(const std::string& command, std::string& error) const {
  Streams streams;
  const std::string c = path(example_.name + ".c");
  if (run_command({source_of(example_.name), "-o", c}, streams) != 0) {
    error = streams.err;
    return {};
  }
  write_files({{.path = path("main.c"), .text = main_program()}});
  const std::string script = fmt::format(
      "cd {0} && {1} -fno-sanitize-recover=all -w main.c -c && {1} -std=c11 -Wall -Wextra "
      "-Wconversion -pedantic -Werror -Wno-unknown-pragmas {2}.c -c && {1} main.o {2}.o -lm "
      "-o main && ASAN_OPTIONS=detect_leaks=0 ./main",
      folder_.path(), command, example_.name);
  const ProcessResult result = run_process(
      {.argv = {"sh", "-c", script}, .input = "", .time_limit = std::chrono::seconds(60)});
  if (result.end != ProcessEnd::exited || result.code != 0) {
    error = fmt::format("{}\nends with {}\n{}{}", script, result.code, result.out, result.err);
    return {};
  }
  return read_outputs(".out", error);
}

std::string difference(const Arrays& want, const Arrays& have, double tolerance,
                       const std::vector<std::string>& integers) {
  for (const auto& [name, values] : want) {
    const bool exact = std::find(integers.begin(), integers.end(), name) != integers.end();
    double greatest = 0;
    for (const double v : values.data) greatest = std::max(greatest, std::abs(v));
    const Values& other = have.at(name);
    for (size_t i = 0; i < values.data.size(); ++i) {
      const double error = std::abs(values.data[i] - other.data[i]);
      // Written so that a NaN fails.
      if (!(error <= (exact ? 0 : tolerance * greatest)))
        return fmt::format("{}: element {} of [{}] is {} instead of {}, the greatest being {}",
                           name, i, fmt::join(values.shape, ", "), other.data[i], values.data[i],
                           greatest);
    }
  }
  return {};
}

}  // namespace tang::examples
