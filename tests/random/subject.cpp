// The path of one program through the compiler, compared with the interpreter at every end.
#include "subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "driver/pipeline.h"
#include "emit/emit.h"
#include "ir/verify.h"
#include "kernel/legalize.h"
#include "kernel/run.h"
#include "lower/lower.h"
#include "rng.h"
#include "schedule/auto.h"
#include "text/print.h"
#include "text/shrink.h"

namespace tang::random {
namespace {

Array random_array(const Program& program, const Input& input, const Bindings& bindings, Rng& rng) {
  Forms& forms = program.arena->forms;
  const auto at_run = [&](FormId form) {
    return forms.evaluate(form, [&](Var v) { return bindings.dims[v.index]; });
  };
  const Tensor& tensor = program.arena->tensors[input.tensor];
  std::vector<int64_t> shape;
  for (const FormId extent : tensor.shape) shape.push_back(at_run(extent));
  Array array(tensor.type, shape);
  int64_t low = -4, high = 8;
  if (input.range.lo.valid()) low = at_run(input.range.lo);
  if (input.range.hi.valid()) high = at_run(input.range.hi) - 1;
  for (int64_t i = 0; i < array.size(); ++i) {
    if (is_real(tensor.type))
      array.set(i, real_value(static_cast<double>(rng.between(-8, 8)) / 4));
    else if (tensor.type == Type::boolean)
      array.set(i, integer_value(rng.below(2)));
    else
      array.set(i, integer_value(rng.between(low, high)));
  }
  return array;
}

Bindings random_bindings(const Program& program, const Generated& generated, uint64_t seed) {
  Rng rng(seed ^ 0x5DEECE66Du);
  Bindings bindings;
  for (const Dim& dim : program.dims) bindings.dims.push_back(generated.dims.at(dim.name));
  for (const Scalar& scalar : program.scalars)
    bindings.scalars.push_back(is_real(scalar.type)
                                   ? real_value(static_cast<double>(rng.between(-8, 8)) / 4)
                                   : integer_value(rng.below(2)));
  for (const Input& input : program.inputs)
    bindings.inputs.push_back(random_array(program, input, bindings, rng));
  return bindings;
}

size_t n_inouts(const Program& program) {
  return static_cast<size_t>(
      std::count_if(program.inputs.begin(), program.inputs.end(),
                    [](const Input& input) { return input.role == Role::inout; }));
}

bool agree(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance;
}

}  // namespace

std::string compare(const std::string& who, const Subject& subject, std::span<const Array> actual) {
  for (size_t k = 0; k < subject.expected.size(); ++k) {
    const GeneratedOutput& output = subject.generated.outputs[k];
    const Array& want = subject.expected[k];
    const Array& have = actual[k];
    if (have.shape != want.shape || have.type != want.type)
      return fmt::format("{}: {} is {}[{}] instead of {}[{}]", who, output.name,
                         type_name(have.type), fmt::join(have.shape, ", "), type_name(want.type),
                         fmt::join(want.shape, ", "));
    for (int64_t i = 0; i < want.size(); ++i)
      if (!agree(want.real(i), have.real(i), output.tolerance))
        return fmt::format("{}: {} differs at element {} of [{}]: {} instead of {} (allowed: {})",
                           who, output.name, i, fmt::join(want.shape, ", "), have.real(i),
                           want.real(i), output.tolerance);
  }
  return {};
}

std::vector<Array> module_tensors(const Subject& subject) {
  std::vector<Array> tensors = subject.bindings.inputs;
  for (size_t k = n_inouts(subject.program); k < subject.expected.size(); ++k)
    tensors.emplace_back(subject.expected[k].type, subject.expected[k].shape);
  return tensors;
}

std::vector<Array> outputs_among(const Subject& subject, const std::vector<Array>& tensors) {
  std::vector<Array> outputs;
  const size_t n_inputs = subject.program.inputs.size();
  for (size_t k = 0; k < tensors.size(); ++k)
    if (k >= n_inputs || subject.program.inputs[k].role == Role::inout)
      outputs.push_back(tensors[k]);
  return outputs;
}

namespace {

std::optional<Program> parse_text(const std::string& text, std::string& error) {
  Sources sources;
  const uint32_t file = sources.add("random.tir", text);
  Diagnostics diagnostics;
  std::optional<Scheduled> scheduled = front_end(sources, file, {}, diagnostics);
  if (!scheduled || diagnostics.has_errors()) error = render_text(diagnostics, sources, false);
  if (!error.empty()) return std::nullopt;
  if (const std::vector<std::string> broken = verify(scheduled->program); !broken.empty())
    error = fmt::format("not well formed: {}", fmt::join(broken, "; "));
  return std::move(scheduled->program);
}

// Printing and reading back gives, bit for bit, the same values, and the same text.
std::string compare_reprint(const Subject& subject, const Program& program, bool same_text) {
  const std::string printed = print(program);
  std::string error;
  const std::optional<Program> again = parse_text(printed, error);
  if (!error.empty()) return fmt::format("the printed program is wrong:\n{}\n{}", error, printed);
  if (const std::string twice = print(*again); same_text && twice != printed)
    return fmt::format("printing is not idempotent:\n{}\nthen\n{}", printed, twice);
  Subject exact = subject;
  for (GeneratedOutput& output : exact.generated.outputs) output.tolerance = 0;
  exact.expected = Interpreter(program, subject.bindings).outputs();
  return compare("the printed program", exact, Interpreter(*again, subject.bindings).outputs());
}

std::string compare_run(const std::string& who, const Subject& subject,
                        const kernel::Module& module) {
  if (const std::vector<std::string> broken = kernel::verify(module); !broken.empty())
    return fmt::format("{}: {}\n{}", who, fmt::join(broken, "; "), kernel::print(module));
  std::vector<Array> tensors = module_tensors(subject);
  const kernel::RunResult result =
      kernel::run(module, subject.bindings.dims, subject.bindings.scalars, tensors);
  if (!result.fault.empty())
    return fmt::format("{}: {}\n{}", who, result.fault, kernel::print(module));
  const std::string difference = compare(who, subject, outputs_among(subject, tensors));
  return difference.empty() ? "" : fmt::format("{}\n{}", difference, kernel::print(module));
}

}  // namespace

std::string prepare(uint64_t seed, Subject& subject) {
  subject.seed = seed;
  subject.generated = generate(seed);
  std::string error;
  std::optional<Program> program = parse_text(subject.generated.text, error);
  if (!error.empty()) return error;
  subject.program = std::move(*program);
  subject.bindings = random_bindings(subject.program, subject.generated, seed);
  subject.expected = Interpreter(subject.program, subject.bindings).outputs();
  return compare_reprint(subject, subject.program, true);
}

std::string shrunken(const Subject& subject,
                     const std::function<std::string(Subject& subject)>& wrong) {
  return shrink(
      subject.generated.text,
      [&](const std::string& text) {
        Subject smaller = subject;
        try {
          std::string error;
          std::optional<Program> program = parse_text(text, error);
          if (!error.empty()) return false;
          smaller.generated.text = text;
          // Only outputs whose tolerance is known, with the values that it is for.
          std::vector<GeneratedOutput> outputs;
          for (const Output& output : program->outputs)
            for (const GeneratedOutput& known : subject.generated.outputs)
              if (known.name == output.name) outputs.push_back(known);
          if (outputs.size() != program->outputs.size()) return false;
          smaller.generated.outputs = outputs;
          smaller.program = std::move(*program);
          smaller.bindings = random_bindings(smaller.program, smaller.generated, subject.seed);
          smaller.expected = Interpreter(smaller.program, smaller.bindings).outputs();
        } catch (const std::exception&) {
          return false;  // no program to run
        }
        try {
          return !wrong(smaller).empty();
        } catch (const std::exception&) {
          return true;
        }
      },
      3000);
}

std::string compare_elements(const Subject& subject) {
  Interpreter single(subject.program, subject.bindings);
  for (size_t k = 0; k < subject.expected.size(); ++k) {
    const Output& output = subject.program.outputs[k];
    const Array& whole = subject.expected[k];
    if (whole.size() == 0) continue;
    for (const int64_t offset : {whole.size() - 1, whole.size() / 3}) {
      std::vector<int64_t> point(whole.shape.size());
      int64_t rest = offset;
      for (size_t d = point.size(); d-- > 0; rest /= whole.shape[d])
        point[d] = rest % whole.shape[d];
      Array one(subject.program.arena->tensors[output.tensor].type, {1});
      one.set(0, single.eval_at(output.tensor, point));
      if (!agree(convert(one, whole.type).real(0), whole.real(offset), 0))
        return fmt::format("{} differs where element {} is interpreted alone: {} instead of {}",
                           output.name, offset, convert(one, whole.type).real(0),
                           whole.real(offset));
    }
  }
  return "";
}

namespace {

bool uses_real_laws(const Trace& trace) {
  return std::any_of(trace.steps.begin(), trace.steps.end(),
                     [](const Step& step) { return !step.laws.empty(); });
}

// A real law may say something where the program says NaN: that is then what is expected.
Subject where_defined(Subject subject, const std::vector<Array>& outputs) {
  for (size_t k = 0; k < outputs.size(); ++k)
    for (int64_t i = 0; i < outputs[k].size(); ++i)
      if (is_real(outputs[k].type) && std::isnan(subject.expected[k].real(i)))
        subject.expected[k].set(i, real_value(outputs[k].real(i)));
  return subject;
}

}  // namespace

std::string compare_passes(Subject& subject) {
  std::vector<std::vector<const Pass*>> lists = {all_passes()};
  for (const Pass* pass : all_passes()) lists.push_back({pass});
  for (const std::vector<const Pass*>& list : lists) {
    const std::string who = list.size() == 1 ? std::string(list[0]->name) : "the passes";
    std::string wrong;
    Trace trace;
    const Program program = rewrite(subject.program, list, {}, &trace,
                                    [&](const Pass& pass, const Program& now) {
                                      const auto broken = verify(now);
                                      if (!broken.empty() && wrong.empty())
                                        wrong = fmt::format("after {}: {}\n{}", pass.name,
                                                            fmt::join(broken, "; "), print(now));
                                    });
    std::vector<Array> outputs;
    if (wrong.empty()) {
      outputs = Interpreter(program, subject.bindings).outputs();
      wrong = compare(who, uses_real_laws(trace) ? where_defined(subject, outputs) : subject,
                      outputs);
    }
    if (!wrong.empty()) return fmt::format("{}\n{}", wrong, print(program));
    if (list.size() == 1) continue;
    subject.rewritten = program;
    subject.expected_rewritten = std::move(outputs);
  }
  // Without real laws, every bit is the same.
  Subject exact = subject;
  for (GeneratedOutput& output : exact.generated.outputs) output.tolerance = 0;
  const Program strict = rewrite(subject.program, all_passes(), {.strict = true}, nullptr);
  const std::string wrong =
      compare("the strict passes", exact, Interpreter(strict, subject.bindings).outputs());
  if (!wrong.empty()) return fmt::format("{}\n{}", wrong, print(strict));
  // Reading adds the conditions around a read to it, which a rewrite need not have done.
  return compare_reprint(subject, subject.rewritten, false);
}

std::string compare_kernels(const Subject& subject) {
  Subject rewritten = subject;
  rewritten.program = subject.rewritten;
  rewritten.expected = subject.expected_rewritten;
  for (const Subject* one : std::initializer_list<const Subject*>{&subject, &rewritten}) {
    const Schedule schedule = schedule_auto(one->program);
    kernel::Module module = lower(one->program, schedule, {.prefix = "random"});
    if (std::string wrong = compare_run("kernel IR", *one, module); !wrong.empty()) return wrong;
    kernel::legalize(module, emit::find_target("c")->capabilities);
    std::string wrong = compare_run("legalized kernel IR", *one, module);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace tang::random
