// The files of the C target: the header, and the source with the entry point that checks its
// arguments and calls the kernels. It prints tables of the module; what is code and no table is in
// host/helpers.c.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "emit/c.h"
#include "emit/facts.h"
#include "emit/names.h"
#include "emit/printer.h"
#include "emit/text.h"
#include "emit/writer.h"
#include "support/panic.h"

namespace tang::emit::c {

namespace {

using kernel::Check;
using kernel::Module;
using kernel::ModuleTensor;
using kernel::TensorRole;

// The statuses of every entry point, in the order of their numbers.
struct Status {
  std::string_view name, meaning;
};
constexpr Status kStatuses[] = {
    {"OK", "all outputs are written; after any other status, nothing is"},
    {"NULL_ARGS", "args is null"},
    {"BAD_DIM", "a dimension is out of its range or breaks an assumption"},
    {"BAD_SCALAR", "a scalar is out of its range"},
    {"NULL_TENSOR", "the pointer of a tensor that has elements is null"},
    {"NULL_WORKSPACE", "workspace is null and workspace bytes are needed"},
    {"TOO_LARGE", "a tensor or the workspace has more than 2^63 bytes"},
};

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Bounds that need no more than doubles: is a form below what 63 bits hold, whatever the dims?
double greatest(const Module& module, const Forms& forms, FormId form) {
  double total = std::abs(static_cast<double>(forms[form].constant));
  for (const Term& term : forms[form].terms) {
    double product = std::abs(static_cast<double>(term.coefficient));
    for (const Atom& atom : term.atoms) {
      if (atom.is_quotient()) {
        product *= 1 + greatest(module, forms, atom.numerator) / static_cast<double>(atom.divisor);
      } else {
        const std::optional<int64_t> high = module.dims[atom.var.index].high;
        product *= high ? static_cast<double>(*high) : std::numeric_limits<double>::infinity();
      }
    }
    total += product;
  }
  return total;
}

class Host {
 public:
  Host(const Module& module, const Printed& printed, const std::string& stem);
  std::string header();
  std::string source();

 private:
  // The body of one function; the locals it turns out to use are declared at its top.
  struct FunctionBody {
    Writer out;
    std::vector<bool> dims, scalars;
  };
  FunctionBody function_body() const {
    FunctionBody body;
    body.dims.resize(module_.dims.size());
    body.scalars.resize(module_.scalars.size());
    body.out.indent();
    return body;
  }
  void put(Writer& out, const std::string& head, FunctionBody& body) const;
  FormPrinter forms(FunctionBody& body) {
    return {kC, forms_, facts_, [this, &body](Var v) { return local(body, v); }, needs_};
  }
  std::string local(FunctionBody& body, Var v) const;
  std::string status(std::string_view name) const { return symbol_upper_ + "_" + name.data(); }
  bool of_dims(const Check& check) const {
    return !forms_.depends_on_kind(check.form, VarKind::scalar);
  }

  void banner(Writer& out, std::string_view suffix) const;
  void field(const std::string& declaration, const std::string& comment);
  std::string shape_text(const ModuleTensor& tensor) const;
  std::string range_text(FormId lo, FormId hi, const std::string& what) const;
  std::string dim_comment(uint32_t dim);
  std::string field_form(FormId form) const;

  void check(FunctionBody& body, const std::vector<Check>& checks, std::string_view status_name);
  void check_sizes(FunctionBody& body);
  std::string size_text(FunctionBody& body, FormId form);
  void check_tensors(FunctionBody& body);
  void workspace_pointers(FunctionBody& body);
  void launches(FunctionBody& body);
  void preamble(Writer& out);
  std::string dims_function();
  std::string workspace_function();
  std::string entry_function();

  const Module& module_;
  const Printed& printed_;
  std::string stem_, symbol_, symbol_upper_;
  Forms forms_;
  std::vector<Check> checks_;
  Facts facts_;
  Needs needs_;
  bool checks_dims_ = false;
  std::vector<std::string> dim_names_, scalar_names_, tensor_names_;  // fields, and locals
  std::vector<std::pair<std::string, std::string>> fields_;
};

Host::Host(const Module& module, const Printed& printed, const std::string& stem)
    : module_(module), printed_(printed), stem_(stem), forms_(module.forms) {
  symbol_ = module.prefix + "_" + module.entry;
  symbol_upper_ = upper(symbol_);
  checks_ = entry_checks(module, forms_);
  facts_ = facts_of(checks_);
  Scope scope(kC);
  scope.reserve("workspace");
  scope.reserve("status");
  for (const Printed::Piece& kernel : printed.kernels) scope.reserve(kernel.name);
  for (const auto& dim : module.dims) dim_names_.push_back(scope.name(dim.name));
  for (const auto& scalar : module.scalars) scalar_names_.push_back(scope.name(scalar.name));
  for (const auto& tensor : module.tensors) tensor_names_.push_back(scope.name(tensor.name));
}

std::string Host::local(FunctionBody& body, Var v) const {
  if (v.kind == VarKind::dim) {
    body.dims[v.index] = true;
    return dim_names_[v.index];
  }
  TANG_ASSERT(v.kind == VarKind::scalar, "a local variable in the host program");
  body.scalars[v.index] = true;
  return scalar_names_[v.index];
}

void Host::put(Writer& out, const std::string& head, FunctionBody& body) const {
  out.open(head);
  for (size_t d = 0; d < body.dims.size(); ++d)
    if (body.dims[d]) out.line(fmt::format("const int64_t {0} = args->{0};", dim_names_[d]));
  for (size_t s = 0; s < body.scalars.size(); ++s)
    if (body.scalars[s]) out.line(fmt::format("const int64_t {0} = args->{0};", scalar_names_[s]));
  out.raw(body.out.take());
  out.close();
}

// ---- the header ----

std::string Host::field_form(FormId form) const {
  return forms_.print(form, [&](Var v) {
    return v.kind == VarKind::dim ? dim_names_[v.index] : scalar_names_[v.index];
  });
}

std::string Host::shape_text(const ModuleTensor& tensor) const {
  std::string text(type_name(tensor.type));
  for (size_t d = 0; d < tensor.shape.size(); ++d)
    text += (d ? ", " : "[") + field_form(tensor.shape[d]);
  return tensor.shape.empty() ? text : text + "]";
}

std::string Host::range_text(FormId lo, FormId hi, const std::string& what) const {
  std::string text;
  if (lo.valid()) text += field_form(lo) + " <= ";
  text += what;
  if (hi.valid()) text += " < " + field_form(hi);
  return text;
}

// The conditions in which the dim stands alone.
std::string Host::dim_comment(uint32_t dim) {
  FunctionBody unused = function_body();
  std::string text;
  for (const Check& check : checks_) {
    size_t n_vars = 0;
    bool of_dim = false;
    forms_.for_each_var(check.form, [&](Var v) {
      ++n_vars;
      of_dim |= v == Var{VarKind::dim, dim};
    });
    if (n_vars != 1 || !of_dim) continue;
    text += text.empty() ? "" : ", ";
    if (check.modulus != 0)
      text += fmt::format("{} % {} == 0", field_form(check.form), check.modulus);
    else
      text += forms(unused).compare(">=", check.form).text;
  }
  return text;
}

void Host::field(const std::string& declaration, const std::string& comment) {
  fields_.emplace_back(declaration + ";", comment);
}

void Host::banner(Writer& out, std::string_view suffix) const {
  out.comment(
      fmt::format("{}{}: made by tangc, whose output belongs to its user without "
                  "conditions.",
                  stem_, suffix));
}

std::string Host::header() {
  Writer out;
  banner(out, ".h");
  out.comment(
      fmt::format("\n  #include \"{}.h\"\n  struct {}_args args = {{0}};  then set its "
                  "fields, workspace last:\n  args.workspace = "
                  "malloc((size_t){}_workspace(&args));\n  int status = {}(&args);",
                  stem_, symbol_, symbol_, symbol_));
  out.line("#ifndef " + symbol_upper_ + "_H");
  out.line("#define " + symbol_upper_ + "_H");
  out.blank();
  out.line("#include <stdint.h>");
  out.blank();
  out.line("#ifdef __cplusplus");
  out.line("extern \"C\" {");
  out.line("#endif");
  out.blank();

  out.comment(fmt::format("What {} returns.", symbol_));
  out.open("enum " + symbol_ + "_status");
  size_t width = 0;
  for (const Status& s : kStatuses) width = std::max(width, s.name.size());
  for (size_t n = 0; n < std::size(kStatuses); ++n) {
    const std::string item = fmt::format("{} = {},", status(kStatuses[n].name), n);
    out.line(
        fmt::format("{:<{}}  // {}", item, symbol_upper_.size() + width + 6, kStatuses[n].meaning));
  }
  out.close(";");
  out.blank();

  for (uint32_t d = 0; d < module_.dims.size(); ++d)
    field("int64_t " + dim_names_[d], dim_comment(d));
  for (size_t s = 0; s < module_.scalars.size(); ++s) {
    const kernel::ModuleScalar& scalar = module_.scalars[s];
    const std::string type(scalar.type == Type::i4 ? "int8_t" : kC.element_type(scalar.type));
    std::string comment(type_name(scalar.type));
    if (scalar.range_lo.valid() || scalar.range_hi.valid())
      comment += ", " + range_text(scalar.range_lo, scalar.range_hi, scalar_names_[s]);
    field(type + " " + scalar_names_[s], comment);
  }
  for (const TensorRole role : {TensorRole::input, TensorRole::inout, TensorRole::output}) {
    for (size_t t = 0; t < module_.tensors.size(); ++t) {
      const ModuleTensor& tensor = module_.tensors[t];
      if (tensor.role != role) continue;
      std::string comment = shape_text(tensor);
      if (tensor.range_lo.valid() || tensor.range_hi.valid())
        comment += ", " + range_text(tensor.range_lo, tensor.range_hi, "element");
      if (tensor.sorted) comment += ", sorted";
      if (tensor.distinct) comment += ", distinct";
      if (role == TensorRole::inout) comment += ", updated in place";
      field(fmt::format("{}{} *{}", role == TensorRole::input ? "const " : "",
                        kC.element_type(tensor.type), tensor_names_[t]),
            comment);
    }
  }
  field("void *workspace", symbol_ + "_workspace() bytes, aligned as by malloc");

  out.comment(
      "Tensors are dense and row-major, and no two overlap; one without elements may be "
      "null. What stands\nbeside a field must hold; what is said of elements is not "
      "checked.");
  out.open("struct " + symbol_ + "_args");
  size_t declaration_width = 0;
  for (const auto& [declaration, comment] : fields_)
    declaration_width = std::max(declaration_width, declaration.size());
  for (const auto& [declaration, comment] : fields_)
    out.line(comment.empty()
                 ? declaration
                 : fmt::format("{:<{}}  // {}", declaration, declaration_width, comment));
  out.close(";");
  out.blank();
  out.comment(
      "The bytes of workspace that a call needs, by the dimensions in args alone; -1 where "
      "they are wrong.");
  out.line(fmt::format("int64_t {0}_workspace(const struct {0}_args *args);", symbol_));
  out.blank();
  out.comment(
      "Computes the outputs. Keeps no state and allocates nothing, so calls may run at the "
      "same time.");
  out.line(fmt::format("int {0}(const struct {0}_args *args);", symbol_));
  out.blank();
  out.line("#ifdef __cplusplus");
  out.line("}");
  out.line("#endif");
  out.blank();
  out.line("#endif");
  return out.take();
}

// ---- checks ----

// One `if` for neighbours that speak of the same variables.
void Host::check(FunctionBody& body, const std::vector<Check>& checks,
                 std::string_view status_name) {
  const auto variables = [&](const Check& c) {
    std::set<std::pair<VarKind, uint32_t>> vars;
    forms_.for_each_var(c.form, [&](Var v) { vars.insert({v.kind, v.index}); });
    return vars;
  };
  for (size_t i = 0; i < checks.size();) {
    std::string condition;
    const auto vars = variables(checks[i]);
    for (; i < checks.size() && variables(checks[i]) == vars; ++i) {
      condition += condition.empty() ? "" : " || ";
      const FormPrinter printer = forms(body);
      if (checks[i].modulus == 0)
        condition += printer.compare("<", checks[i].form).text;
      else
        condition += fmt::format("{} % {} != 0",
                                 at_least(printer.print(checks[i].form), Precedence::unary).text,
                                 checks[i].modulus);
    }
    body.out.line("if (" + condition + ") return " + status(status_name) + ";");
  }
}

// The sum of the magnitudes of a form's terms, in doubles: no step of the form is greater.
std::string Host::size_text(FunctionBody& body, FormId form) {
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  const Form f = forms_[form];
  for (const Term& term : f.terms) {
    std::string product;
    const double coefficient = std::abs(static_cast<double>(term.coefficient));
    if (coefficient != 1) product = fmt::format("{:.1f}", coefficient);
    for (const Atom& atom : term.atoms) {
      product += product.empty() ? "" : " * ";
      product += atom.is_quotient()
                     ? fmt::format("(({}) / {:.1f})", size_text(body, atom.numerator),
                                   static_cast<double>(atom.divisor))
                     : "(double)" + local(body, atom.var);
    }
    add(product);
  }
  if (f.constant != 0 || f.terms.empty())
    add(fmt::format("{:.1f}", std::abs(static_cast<double>(f.constant))));
  return text;
}

void Host::check_sizes(FunctionBody& body) {
  constexpr double kLimit = 9e18;  // a little below 2^63, which covers the rounding of the doubles
  std::vector<FormId> sizes;
  for (const ModuleTensor& tensor : module_.tensors)
    if (tensor.role != TensorRole::workspace) sizes.push_back(tensor_bytes(tensor, forms_));
  if (module_.workspace_bytes.valid()) sizes.push_back(module_.workspace_bytes);
  std::vector<FormId> checked;
  std::string condition;
  for (const FormId size : sizes) {
    if (greatest(module_, forms_, size) < kLimit) continue;
    if (std::find(checked.begin(), checked.end(), size) != checked.end()) continue;
    checked.push_back(size);
    condition += (condition.empty() ? "" : " || ") + size_text(body, size) + " > 9e18";
  }
  if (!condition.empty())
    body.out.line("if (" + condition + ") return " + status("TOO_LARGE") + ";");
}

// Tensors of one size are tested together, and where the dims allow that size to be 0, only if it
// is not.
void Host::check_tensors(FunctionBody& body) {
  std::vector<FormId> sizes;
  for (const ModuleTensor& tensor : module_.tensors)
    if (tensor.role != TensorRole::workspace &&
        std::find(sizes.begin(), sizes.end(), tensor.elements) == sizes.end())
      sizes.push_back(tensor.elements);
  std::string always;
  std::vector<std::pair<FormId, std::string>> sometimes;
  for (const FormId size : sizes) {
    if (forms_.is_constant(size, 0)) continue;
    std::string nulls;
    for (size_t t = 0; t < module_.tensors.size(); ++t)
      if (module_.tensors[t].role != TensorRole::workspace && module_.tensors[t].elements == size)
        nulls += (nulls.empty() ? "" : " || ") + ("args->" + tensor_names_[t]) + " == NULL";
    if (proves(forms_, facts_, {.form = forms_.add(size, -1)}))
      always += (always.empty() ? "" : " || ") + nulls;
    else
      sometimes.emplace_back(size, nulls);
  }
  if (!always.empty()) body.out.line("if (" + always + ") return " + status("NULL_TENSOR") + ";");
  for (const auto& [size, nulls] : sometimes) {
    const bool several = nulls.find("||") != std::string::npos;
    body.out.line(fmt::format("if ({} && {}{}{}) return {};", forms(body).compare(">", size).text,
                              several ? "(" : "", nulls, several ? ")" : "",
                              status("NULL_TENSOR")));
  }
}

// ---- the source ----

void Host::workspace_pointers(FunctionBody& body) {
  const FormId bytes = module_.workspace_bytes;
  if (!bytes.valid() || forms_.is_constant(bytes, 0)) return;
  std::string condition = "args->workspace == NULL";
  if (!proves(forms_, facts_, {.form = forms_.add(bytes, -1)}))
    condition = forms(body).compare(">", bytes).text + " && " + condition;
  body.out.line("if (" + condition + ") return " + status("NULL_WORKSPACE") + ";");
  body.out.blank();
  body.out.line("unsigned char *workspace = args->workspace;");
  std::vector<bool> used(module_.tensors.size());
  for (const kernel::Launch& launch : module_.launches)
    for (const uint32_t t : launch.args) used[t] = true;
  for (size_t t = 0; t < module_.tensors.size(); ++t) {
    const ModuleTensor& tensor = module_.tensors[t];
    if (tensor.role != TensorRole::workspace || !used[t]) continue;
    const Text offset = forms(body).print(tensor.workspace_offset);
    body.out.line(fmt::format(
        "{} *{} = (void *){};", kC.element_type(tensor.type), tensor_names_[t],
        forms_.is_constant(tensor.workspace_offset, 0) ? "workspace"
                                                       : "(workspace + " + offset.text + ")"));
  }
}

void Host::launches(FunctionBody& body) {
  for (const kernel::Launch& launch : module_.launches) {
    const kernel::Kernel& k = module_.kernels[launch.kernel];
    std::string arguments;
    const auto add = [&](const std::string& text) {
      arguments += (arguments.empty() ? "" : ", ") + text;
    };
    for (const uint32_t t : launch.args)
      add((module_.tensors[t].role == TensorRole::workspace ? "" : "args->") + tensor_names_[t]);
    for (const uint32_t d : k.dims) add(local(body, {VarKind::dim, d}));
    for (const uint32_t s : k.scalars) {
      if (body.scalars[s]) {
        add(scalar_names_[s]);
      } else {
        const std::string value = "args->" + scalar_names_[s];
        add(module_.scalars[s].type == Type::boolean ? value + " != 0" : value);
      }
    }
    body.out.line(printed_.kernels[launch.kernel].name + "(" + arguments + ");");
  }
}

std::string Host::dims_function() {
  std::vector<Check> of_dims;
  std::copy_if(checks_.begin(), checks_.end(), std::back_inserter(of_dims),
               [&](const Check& c) { return this->of_dims(c); });
  FunctionBody body = function_body();
  // Ranges first: the sizes' check relies on them, and what follows on the sizes.
  const auto compound = std::stable_partition(of_dims.begin(), of_dims.end(), [&](const Check& c) {
    return forms_[c.form].terms.size() == 1 && !forms_[c.form].terms[0].atoms[0].is_quotient();
  });
  check(body, {of_dims.begin(), compound}, "BAD_DIM");
  check_sizes(body);
  check(body, {compound, of_dims.end()}, "BAD_DIM");
  checks_dims_ = !body.out.text().empty();
  if (!checks_dims_) return "";
  body.out.line("return " + status("OK") + ";");
  Writer out;
  put(out, "static int check_dims(const struct " + symbol_ + "_args *args)", body);
  out.blank();
  return out.take();
}

std::string Host::workspace_function() {
  FunctionBody body = function_body();
  const bool none = !module_.workspace_bytes.valid();
  const std::string bytes = none ? "0" : forms(body).print(module_.workspace_bytes).text;
  Writer out;
  const std::string head =
      fmt::format("int64_t {0}_workspace(const struct {0}_args *args)", symbol_);
  if (!checks_dims_) {
    body.out.line("(void)args;  // no dimension is left open");
    body.out.line("return " + bytes + ";");
    put(out, head, body);
    return out.take();
  }
  out.open(head);
  out.line(fmt::format("if (args == NULL || check_dims(args) != {}) return -1;", status("OK")));
  for (size_t d = 0; d < body.dims.size(); ++d)
    if (body.dims[d]) out.line(fmt::format("const int64_t {0} = args->{0};", dim_names_[d]));
  out.line("return " + bytes + ";");
  out.close();
  return out.take();
}

std::string Host::entry_function() {
  FunctionBody body = function_body();
  std::vector<Check> of_scalars;
  std::copy_if(checks_.begin(), checks_.end(), std::back_inserter(of_scalars),
               [&](const Check& c) { return !this->of_dims(c); });
  check(body, of_scalars, "BAD_SCALAR");
  check_tensors(body);
  workspace_pointers(body);
  body.out.blank();
  launches(body);
  body.out.line("return " + status("OK") + ";");

  Writer out;
  out.open(fmt::format("int {0}(const struct {0}_args *args)", symbol_));
  out.line("if (args == NULL) return " + status("NULL_ARGS") + ";");
  if (checks_dims_) {
    out.line("const int status = check_dims(args);");
    out.line("if (status != " + status("OK") + ") return status;");
  }
  for (size_t d = 0; d < body.dims.size(); ++d)
    if (body.dims[d]) out.line(fmt::format("const int64_t {0} = args->{0};", dim_names_[d]));
  for (size_t s = 0; s < body.scalars.size(); ++s)
    if (body.scalars[s]) out.line(fmt::format("const int64_t {0} = args->{0};", scalar_names_[s]));
  out.raw(body.out.take());
  out.close();
  return out.take();
}

void Host::preamble(Writer& out) {
  banner(out, ".c");
  if (!module_.program.empty()) {
    out.comment("\nIt computes");
    std::string indented = "\n  ";
    for (const char c : module_.program) indented += c == '\n' ? "\n  " : std::string(1, c);
    out.comment(indented);
  }
  out.comment("\nin these steps:\n ");
  for (const kernel::Launch& launch : module_.launches) {
    const kernel::Kernel& k = module_.kernels[launch.kernel];
    out.comment("  " + printed_.kernels[launch.kernel].name +
                (k.schedule.empty() ? "" : ": " + k.schedule));
  }
}

std::string Host::source() {
  const std::string dims = dims_function();
  const std::string workspace = workspace_function();
  const std::string entry = entry_function();
  std::vector<std::string_view> names = printed_.helpers;
  names.insert(names.end(), needs_.helpers.begin(), needs_.helpers.end());
  std::set<std::string_view> headers = {"<math.h>", "<stdbool.h>", "<stddef.h>", "<stdint.h>"};
  const std::vector<std::string_view> helper_list = helper_texts(helpers(), names, headers);

  Writer out;
  preamble(out);
  out.line("#include \"" + stem_ + ".h\"");
  out.blank();
  for (const std::string_view h : headers) out.line("#include " + std::string(h));
  out.blank();
  out.line("#ifdef __FAST_MATH__");
  out.line("#error \"-ffast-math changes what this file computes: NaN, infinities, rounding\"");
  out.line("#endif");
  out.line("#ifdef __clang__");
  out.line("#pragma STDC FP_CONTRACT OFF");
  out.line("#endif");
  out.blank();
  if (printed_.has_hints) {
    out.line("#ifdef _OPENMP");
    out.line("#define TANG_OMP(directive) _Pragma(#directive)");
    out.line("#else");
    out.line("#define TANG_OMP(directive)");
    out.line("#endif");
    out.blank();
  }
  for (const std::string_view text : helper_list) {
    out.raw(text);
    out.blank();
  }
  for (const auto* pieces : {&printed_.functions, &printed_.kernels}) {
    for (const Printed::Piece& piece : *pieces) {
      out.raw(piece.text);
      out.blank();
    }
  }
  out.raw(dims);
  out.raw(workspace);
  out.blank();
  out.raw(entry);
  return out.take();
}

}  // namespace

std::vector<Artifact> files(const kernel::Module& module, const Printed& printed,
                            const std::string& stem) {
  Host host(module, printed, stem);
  std::string header = host.header();
  return {{".c", host.source()}, {".h", std::move(header)}};
}

}  // namespace tang::emit::c
