#include "driver/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "driver/command.h"
#include "driver/files.h"
#include "driver/invocation.h"
#include "driver/safetensors.h"
#include "support/integer.h"

namespace tang {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 46;  // of one array: beyond any machine's memory

std::optional<double> parse_real(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_number(const std::string& text) {
  return text == "true" || text == "false" || parse_real(text).has_value();
}

// A number's text as a value of a type; nothing when the type cannot hold it.
std::optional<Value> parse_value(Type type, const std::string& text) {
  if (type == Type::boolean && (text == "true" || text == "false"))
    return integer_value(text == "true");
  if (is_real(type)) {
    const std::optional<double> value = parse_real(text);
    if (!value) return std::nullopt;
    return real_value(type == Type::f64 ? *value : round_to(type, *value));
  }
  const std::optional<int64_t> value = parse_integer(text);
  const int64_t low = type == Type::boolean ? 0 : integer_min(type);
  const int64_t high = type == Type::boolean ? 1 : integer_max(type);
  if (!value || *value < low || *value > high) return std::nullopt;
  return integer_value(*value);
}

[[noreturn]] void malformed(const std::string& path, const std::string& error) {
  throw CommandError(kProgramWrong, fmt::format("{}: {}", path, error));
}

// Files of arrays with names.
bool is_archive(const std::string& path) {
  return path.ends_with(".npz") || path.ends_with(".safetensors");
}

std::vector<NamedArray> read_archive(const std::string& path) {
  std::string error;
  std::optional<std::vector<NamedArray>> arrays = path.ends_with(".npz")
                                                      ? read_npz(read_file(path), error)
                                                      : read_safetensors(read_file(path), error);
  if (!arrays) malformed(path, error);
  return std::move(*arrays);
}

NpyArray read_array(const std::string& path) {
  std::string error;
  std::optional<NpyArray> array = read_npy(read_file(path), error);
  if (!array) malformed(path, error);
  return std::move(*array);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

// Binds one program's declarations, in the order: arguments to declarations, sizes, values.
class Binder {
 public:
  Binder(const Program& program, const std::vector<Argument>& arguments, const BindOptions& options,
         Diagnostics& diagnostics)
      : program_(program), options_(options), diagnostics_(diagnostics) {
    for (const Argument& argument : arguments) given_[argument.name] = &argument;
  }

  std::optional<Bindings> run() {
    name_arguments();
    bind_dims();
    if (diagnostics_.has_errors() || !solve_dims()) return std::nullopt;
    bind_scalars();
    if (diagnostics_.has_errors() || !check_sizes(program_, out_, diagnostics_))
      return std::nullopt;
    for (size_t i = 0; i < program_.inputs.size(); ++i) bind_input(i);
    if (diagnostics_.has_errors()) return std::nullopt;
    return std::move(out_);
  }

 private:
  const Argument* given(const std::string& name) const {
    const auto at = given_.find(name);
    return at == given_.end() ? nullptr : at->second;
  }
  const std::vector<FormId>& shape_of(const Input& input) const {
    return program_.arena->tensors[input.tensor].shape;
  }
  std::string declared(const Input& input) const {
    const Tensor& tensor = program_.arena->tensors[input.tensor];
    std::vector<std::string> extents;
    for (const FormId extent : tensor.shape)
      extents.push_back(program_.arena->forms.print(
          extent, [this](Var v) { return variable_name(program_, v); }));
    return fmt::format("{}[{}]", type_name(tensor.type), fmt::join(extents, ", "));
  }
  void error(std::string name, Span declaration, std::string message) {
    // Of a run, not of the text: the place is a note.
    Diagnostic& d = diagnostics_.error(std::move(name), {}, std::move(message));
    if (declaration.valid()) d.notes.push_back({.span = declaration, .message = "declared here"});
  }

  // Every argument names something, and everything that has no default is named.
  void name_arguments() {
    std::set<std::string> names;
    for (const Dim& dim : program_.dims) names.insert(dim.name);
    for (const Scalar& scalar : program_.scalars) names.insert(scalar.name);
    for (const Input& input : program_.inputs) names.insert(input.name);
    for (const auto& [name, argument] : given_) {
      if (names.contains(name)) continue;
      const std::string there =
          names.empty() ? "it takes none" : fmt::format("there is {}", fmt::join(names, ", "));
      error("unknown-input", {}, fmt::format("the program has no input {}; {}", name, there));
    }
    const auto miss = [this](const std::string& name, Span span) {
      error("missing-input", span,
            fmt::format("{} is not given; give it with -i {}=..., or use --random", name, name));
    };
    if (options_.random) return;
    for (const Scalar& s : program_.scalars)
      if (!given(s.name)) miss(s.name, s.span);
    for (const Input& input : program_.inputs)
      if (!given(input.name)) miss(input.name, input.span);
  }

  void bind_dims() {
    sizes_.resize(program_.dims.size());
    for (size_t i = 0; i < program_.dims.size(); ++i) {
      const Dim& dim = program_.dims[i];
      const Argument* argument = given(dim.name);
      if (!argument) continue;
      const std::optional<int64_t> size =
          argument->array ? std::nullopt : parse_integer(argument->given);
      if (size) {
        sizes_[i] = *size;
      } else {
        error("dim-range", dim.span,
              fmt::format("the dimension {} is a size, and {} is none", dim.name, argument->given));
      }
    }
  }

  std::optional<int64_t> known(FormId form) const {
    bool all = true;
    program_.arena->forms.for_each_var(
        form, [&](Var v) { all = all && v.kind == VarKind::dim && sizes_[v.index].has_value(); });
    if (!all) return std::nullopt;
    return program_.arena->forms.evaluate(form, [&](Var v) { return *sizes_[v.index]; });
  }

  // The one unknown dim of an extent, solved for when the extent is linear in it.
  bool solve(FormId extent, int64_t size) {
    std::optional<Var> unknown;
    bool one = true;
    program_.arena->forms.for_each_var(extent, [&](Var v) {
      if (sizes_[v.index]) return;
      one = one && (!unknown || unknown == v);
      unknown = v;
    });
    if (!unknown || !one) return false;
    const auto linear = program_.arena->forms.linear_in(extent, *unknown);
    if (!linear) return false;
    const std::optional<int64_t> factor = known(linear->coefficient), rest = known(linear->rest);
    if (!factor || !rest || *factor == 0 || (size - *rest) % *factor != 0) return false;
    sizes_[unknown->index] = (size - *rest) / *factor;
    return true;
  }

  bool solve_dims() {
    for (const Input& input : program_.inputs) {
      const Argument* argument = given(input.name);
      if (argument && rank_of(*argument) != shape_of(input).size()) wrong_shape(input, *argument);
    }
    if (diagnostics_.has_errors()) return false;
    for (bool progress = true; progress;) {
      progress = false;
      for (const Input& input : program_.inputs) {
        const Argument* argument = given(input.name);
        if (!argument || !argument->array) continue;
        for (size_t d = 0; d < shape_of(input).size(); ++d)
          progress = solve(shape_of(input)[d], argument->array->shape[d]) || progress;
      }
    }
    // A number where an array should give the sizes: that is what is wrong, not the sizes.
    for (const Input& input : program_.inputs) {
      const Argument* argument = given(input.name);
      if (argument && !argument->array && !shape_of(input).empty())
        error(
            "input-shape", input.span,
            fmt::format("{} is {}, and {} is given", input.name, declared(input), argument->given));
    }
    if (diagnostics_.has_errors()) return false;
    for (size_t i = 0; i < program_.dims.size(); ++i) {
      const Dim& dim = program_.dims[i];
      if (sizes_[i]) continue;
      error("unbound-dim", dim.span,
            fmt::format("nothing gives the size of {0}; give it with -i {0}=... or --bind {0}=...",
                        dim.name));
    }
    if (diagnostics_.has_errors()) return false;
    for (const std::optional<int64_t>& size : sizes_) out_.dims.push_back(*size);
    return check_shapes();
  }

  // The sizes of an extent's dims, "S is 8, T is 3"; empty when it has none.
  std::string sizes_in(const std::vector<FormId>& shape) const {
    std::set<uint32_t> dims;
    for (const FormId extent : shape)
      program_.arena->forms.for_each_var(extent, [&](Var v) { dims.insert(v.index); });
    std::vector<std::string> parts;
    for (const uint32_t d : dims)
      if (sizes_[d]) parts.push_back(fmt::format("{} is {}", program_.dims[d].name, *sizes_[d]));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  static size_t rank_of(const Argument& argument) {
    return argument.array ? argument.array->shape.size() : 0;
  }

  void wrong_shape(const Input& input, const Argument& argument) {
    const std::string sizes = sizes_in(shape_of(input));
    error("input-shape", input.span,
          fmt::format("{} is {}, and {} is given{}", input.name, declared(input),
                      argument.array ? shape_text(argument.array->shape) : argument.given,
                      sizes.empty() ? "" : fmt::format(", where {}", sizes)));
  }

  bool check_shapes() {
    for (const Input& input : program_.inputs) {
      const Argument* argument = given(input.name);
      if (!argument || !argument->array) continue;
      for (size_t d = 0; d < shape_of(input).size(); ++d) {
        if (evaluate(program_, out_, shape_of(input)[d]) == argument->array->shape[d]) continue;
        wrong_shape(input, *argument);
        break;
      }
    }
    return !diagnostics_.has_errors();
  }

  void bind_scalars() {
    for (size_t i = 0; i < program_.scalars.size(); ++i) {
      const Scalar& scalar = program_.scalars[i];
      const Argument* argument = given(scalar.name);
      if (!argument) {
        out_.scalars.push_back(random_scalar(program_, out_, i, options_.seed));
        continue;
      }
      std::optional<Value> value;
      if (!argument->array) {
        value = parse_value(scalar.type, argument->given);
      } else if (argument->array->shape.empty()) {
        std::string why;
        if (const auto array = from_npy(*argument->array, scalar.type, why)) value = array->get(0);
      }
      if (!value)
        error("input-type", scalar.span,
              fmt::format("the scalar {} is {}, and {} is none", scalar.name,
                          type_name(scalar.type), argument->given));
      out_.scalars.push_back(value.value_or(integer_value(0)));
    }
  }

  // The concrete shape of an input; nothing, with an error, when it is no shape.
  std::optional<std::vector<int64_t>> concrete_shape(const Input& input) {
    std::vector<int64_t> shape;
    int64_t bytes = 8;
    for (const FormId extent : shape_of(input)) {
      shape.push_back(evaluate(program_, out_, extent));
      const auto product = checked_mul(bytes, shape.back());
      bytes = product ? std::min(*product, kMostBytes) : kMostBytes;
      if (shape.back() >= 0 && bytes < kMostBytes) continue;
      error(shape.back() < 0 ? "negative-extent" : "limit", input.span,
            fmt::format("{} would have the shape {}", input.name, shape_text(shape)));
      return std::nullopt;
    }
    return shape;
  }

  void bind_input(size_t number) {
    const Input& input = program_.inputs[number];
    const Type type = program_.arena->tensors[input.tensor].type;
    const Argument* argument = given(input.name);
    std::optional<Array> array;
    std::string why;
    if (argument && argument->array) {
      array = from_npy(*argument->array, type, why);
      if (!array) error("input-type", input.span, fmt::format("{}: {}", argument->given, why));
    } else if (argument) {
      array = number_as_array(input, type, *argument);
    } else if (auto shape = concrete_shape(input)) {
      array = random_input(program_, out_, number, std::move(*shape), options_.seed, diagnostics_);
    }
    out_.inputs.push_back(array ? std::move(*array) : Array());
    if (array && argument) check_values(program_, out_, number, diagnostics_);
  }

  // A number stands for a tensor without dimensions.
  std::optional<Array> number_as_array(const Input& input, Type type, const Argument& argument) {
    const std::optional<Value> value = parse_value(type, argument.given);
    if (!value) {
      error("input-type", input.span,
            fmt::format("{} is {}, and {} is given", input.name, declared(input), argument.given));
      return std::nullopt;
    }
    Array array(type, {});
    array.set(0, *value);
    return array;
  }

  const Program& program_;
  const BindOptions& options_;
  Diagnostics& diagnostics_;
  std::map<std::string, const Argument*> given_;
  std::vector<std::optional<int64_t>> sizes_;
  Bindings out_;
};

}  // namespace

std::vector<Argument> read_arguments(const std::vector<std::string>& texts) {
  std::vector<Argument> arguments;
  const auto add = [&](Argument argument) {
    for (const Argument& earlier : arguments)
      if (earlier.name == argument.name)
        throw CommandError(kUsage, fmt::format("{} is given twice", argument.name));
    arguments.push_back(std::move(argument));
  };
  for (const std::string& text : texts) {
    const std::optional<Assignment> part = split_assignment(text);
    if (!part) {
      if (!is_archive(text))
        throw CommandError(kUsage, fmt::format("-i takes NAME=FILE.npy, NAME=NUMBER, FILE.npz or "
                                               "FILE.safetensors, and '{}' is none of them",
                                               text));
      for (NamedArray& named : read_archive(text))
        add({.name = named.name, .given = text, .array = std::move(named.array)});
    } else if (is_number(part->value)) {
      add({.name = part->name, .given = part->value, .array = std::nullopt});
    } else if (is_archive(part->value)) {
      std::vector<NamedArray> arrays = read_archive(part->value);
      const auto at = std::find_if(arrays.begin(), arrays.end(),
                                   [&](const NamedArray& a) { return a.name == part->name; });
      if (at == arrays.end()) malformed(part->value, fmt::format("it has no array {}", part->name));
      add({.name = part->name, .given = part->value, .array = std::move(at->array)});
    } else {
      add({.name = part->name, .given = part->value, .array = read_array(part->value)});
    }
  }
  return arguments;
}

std::optional<Bindings> bind_arguments(const Program& program,
                                       const std::vector<Argument>& arguments,
                                       const BindOptions& options, Diagnostics& diagnostics) {
  return Binder(program, arguments, options, diagnostics).run();
}

}  // namespace tang
