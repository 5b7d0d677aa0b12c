// Kernel IR as text for people. Expressions are infix with the language's precedences; what a
// statement uses more than once and is not short is given a name on a line of its own before it, so
// the text never grows faster than the expression's graph.
#include <fmt/format.h>
#include <algorithm>

#include <cmath>
#include <unordered_map>

#include "kernel/module.h"
#include "kernel/walk.h"

namespace tang::kernel {

namespace {

// Binding strength, loosest first; the binary levels are the language's.
enum Level : int {
  kTernary,
  kOr,
  kAnd,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kAdd,
  kMultiply,
  kUnary,
  kPrimary,
};

// The level of an infix operation; kPrimary for what is written as a call or a leaf.
Level level_of(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
      return kAdd;
    case Op::mul:
    case Op::div:
    case Op::mod:
      return kMultiply;
    case Op::neg:
    case Op::logic_not:
      return kUnary;
    case Op::bit_and:
      return kBitAnd;
    case Op::bit_or:
      return kBitOr;
    case Op::bit_xor:
      return kBitXor;
    case Op::shift_left:
    case Op::shift_right:
      return kShift;
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
      return kCompare;
    case Op::logic_and:
      return kAnd;
    case Op::logic_or:
      return kOr;
    case Op::select:
      return kTernary;
    default:
      return kPrimary;
  }
}

std::string real_text(Type type, double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string text =
      type == Type::f64 ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class Printer {
 public:
  Printer(const Module& module, const Kernel* kernel) : module_(module), kernel_(kernel) {}

  std::string take() { return std::move(out_); }
  void kernel(const Kernel& k);
  void function(const Function& f);

 private:
  using Variables = std::vector<Variable>;
  struct Piece {  // of an expression still to be written: text, or a node where `level` may stand
    std::string text;
    ExprId id;
    Level level = kTernary;
  };

  void line(const std::string& text) { out_ += std::string(indent_ * 2, ' ') + text + "\n"; }
  void block(const Block& body) {
    ++indent_;
    for (const Stmt& stmt : body) statement(stmt);
    --indent_;
  }
  void statement(const Stmt& stmt);
  void loop(const For& s);
  void branch(const If& s);
  void comment(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      line("# " + text.substr(at, end - at));
      at = end + 1;
    }
  }
  std::string form(FormId id) const {
    return module_.forms.print(id, [&](Var v) {
      return v.kind == VarKind::local ? variables_->at(v.index).name : module_.name_of(v);
    });
  }
  std::string expression(ExprId root);
  std::string tree(ExprId root);
  void name_shared(ExprId root);
  std::vector<Piece> pieces(ExprId id, Level& level) const;
  Piece leaf(const Expr& e, Level& level) const;

  const Module& module_;
  const Kernel* kernel_;
  const Variables* variables_ = nullptr;
  std::unordered_map<ExprId, std::string> names_;  // of shared nodes of the current statement
  size_t indent_ = 0;
  std::string out_;
};

Printer::Piece Printer::leaf(const Expr& e, Level& level) const {
  level = kPrimary;
  switch (e.op) {
    case Op::constant: {
      std::string text = is_real(e.type)           ? real_text(e.type, e.value().real)
                         : e.type == Type::boolean ? (e.value().integer ? "true" : "false")
                                                   : fmt::format("{}", e.value().integer);
      if (text[0] == '-') level = kUnary;
      return {.text = std::move(text), .id = {}};
    }
    case Op::form: {
      const bool single = module_.forms.as_var(e.form()).has_value();
      level = single ? kPrimary : kAdd;
      return {.text = form(e.form()), .id = {}};
    }
    case Op::scalar:
      return {.text = module_.scalars.at(e.index()).name, .id = {}};
    case Op::variable:
      return {.text = variables_->at(e.index()).name, .id = {}};
    case Op::load:
      return {.text = fmt::format("{}[{}]", kernel_->buffers.at(e.buffer()).name, form(e.form())),
              .id = {}};
    default:
      return {.text = fmt::format("{}#{}", op_info(e.op).name, e.payload), .id = {}};
  }
}

std::vector<Printer::Piece> Printer::pieces(ExprId id, Level& level) const {
  const Expr& e = module_.exprs[id];
  if (e.n_args == 0 && e.op != Op::call) return {leaf(e, level)};
  level = level_of(e.op);
  const auto text = [](std::string t) { return Piece{.text = std::move(t), .id = {}}; };
  const auto node = [&](size_t i, Level where) {
    return Piece{.text = {}, .id = e.args[i], .level = where};
  };
  if (e.op == Op::select)
    return {node(0, kOr), text(" ? "), node(1, kTernary), text(" : "), node(2, kTernary)};
  if (level == kUnary) return {text(e.op == Op::neg ? "-" : "!"), node(0, kUnary)};
  if (level != kPrimary) {
    const Level tighter = static_cast<Level>(level + 1);
    return {node(0, level == kCompare ? tighter : level),
            text(fmt::format(" {} ", op_info(e.op).spelling)), node(1, tighter)};
  }
  std::string callee(op_info(e.op).spelling);
  if (e.op == Op::call) callee = module_.functions.at(e.index()).name;
  if (e.op == Op::cast) callee = type_name(e.type);
  if (e.op == Op::bitcast) callee = fmt::format("bits_as_{}", type_name(e.type));
  std::vector<Piece> out = {text(callee + "(")};
  for (size_t i = 0; i < e.n_args; ++i) {
    if (i > 0) out.push_back(text(", "));
    out.push_back(node(i, kTernary));
  }
  out.push_back(text(")"));
  return out;
}

// On an explicit stack, since expressions may be ten thousand nodes deep.
std::string Printer::tree(ExprId root) {
  std::string out;
  std::vector<Piece> stack = {{.text = {}, .id = root}};
  while (!stack.empty()) {
    const Piece piece = std::move(stack.back());
    stack.pop_back();
    if (!piece.id.valid()) {
      out += piece.text;
      continue;
    }
    if (const auto name = names_.find(piece.id); name != names_.end()) {
      out += name->second;
      continue;
    }
    Level level = kPrimary;
    std::vector<Piece> parts = pieces(piece.id, level);
    if (level < piece.level) {
      parts.insert(parts.begin(), {.text = "(", .id = {}});
      parts.push_back({.text = ")", .id = {}});
    }
    for (size_t i = parts.size(); i-- > 0;) stack.push_back(std::move(parts[i]));
  }
  return out;
}

void Printer::name_shared(ExprId root) {
  constexpr uint64_t kShort = 6;  // nodes that may be repeated
  names_.clear();
  const std::vector<ExprId> order = module_.exprs.post_order({root});
  std::unordered_map<ExprId, uint64_t> uses, size;
  for (const ExprId id : order) {
    const Expr& e = module_.exprs[id];
    for (size_t i = 0; i < e.n_args; ++i) ++uses[e.args[i]];
  }
  for (const ExprId id : order) {
    const Expr& e = module_.exprs[id];
    uint64_t n = 1;
    for (size_t i = 0; i < e.n_args; ++i) n += size[e.args[i]];
    if (n > kShort && uses[id] > 1) {
      const std::string name = fmt::format("_{}", names_.size() + 1);
      line(fmt::format("where {} = {}", name, tree(id)));
      names_.emplace(id, name);
      n = 1;
    }
    size[id] = n;
  }
}

std::string Printer::expression(ExprId root) {
  name_shared(root);
  return tree(root);
}

void Printer::loop(const For& s) {
  std::string head =
      fmt::format("for {} in {}..{}", variables_->at(s.var.value).name, form(s.lo), form(s.hi));
  if (s.step != 1) head += fmt::format(" step {}", s.step);
  switch (s.run) {
    case Run::serial:
      break;
    case Run::unroll:
      head += " unroll";
      break;
    case Run::vector:
      head += " vector";
      break;
    case Run::parallel:
      head += " parallel";
      break;
  }
  line(head + " {");
  block(s.body);
  line("}");
}

void Printer::branch(const If& s) {
  const std::string condition = expression(s.condition);
  line(fmt::format("if {} {{", condition));
  block(s.then_body);
  if (!s.else_body.empty()) {
    line("} else {");
    block(s.else_body);
  }
  line("}");
}

void Printer::statement(const Stmt& stmt) {
  std::visit(Overloaded{
                 [&](const For& s) { loop(s); },
                 [&](const If& s) { branch(s); },
                 [&](const Let& s) {
                   const Variable& v = variables_->at(s.var.value);
                   const std::string value = expression(s.value);
                   line(fmt::format("{} {}: {} = {}", v.assigned ? "var" : "let", v.name,
                                    type_name(v.type), value));
                 },
                 [&](const Set& s) {
                   const std::string value = expression(s.value);
                   line(fmt::format("{} = {}", variables_->at(s.var.value).name, value));
                 },
                 [&](const Store& s) {
                   const std::string value = expression(s.value);
                   line(fmt::format("{}[{}] = {}", kernel_->buffer(s.buffer).name, form(s.address),
                                    value));
                 },
                 [&](const Comment& s) { comment(s.text); },
             },
             stmt.node);
}

std::string_view access_name(Access access) {
  switch (access) {
    case Access::read:
      return "read";
    case Access::write:
      return "write";
    case Access::read_write:
      return "read_write";
  }
  return "";
}

std::string_view space_name(Space space) {
  switch (space) {
    case Space::device:
      return "device";
    case Space::group:
      return "group";
    case Space::lane:
      return "lane";
  }
  return "";
}

void Printer::kernel(const Kernel& k) {
  variables_ = &k.variables;
  std::string parameters;
  for (uint32_t i = 0; i < k.n_params; ++i) {
    const Buffer& b = k.buffers[i];
    parameters +=
        fmt::format("{}{}: {} {}", i ? ", " : "", b.name, access_name(b.access), type_name(b.type));
  }
  line(fmt::format("kernel {}({}) {{", k.name, parameters));
  ++indent_;
  comment(k.computes);
  comment(k.schedule);
  for (size_t i = k.n_params; i < k.buffers.size(); ++i) {
    const Buffer& b = k.buffers[i];
    line(fmt::format("{} {}: {}[{}]", space_name(b.space), b.name, type_name(b.type), b.size));
  }
  --indent_;
  block(k.body);
  line("}");
}

void Printer::function(const Function& f) {
  variables_ = &f.variables;
  std::string parameters;
  for (uint32_t i = 0; i < f.n_params; ++i)
    parameters +=
        fmt::format("{}{}: {}", i ? ", " : "", f.variables[i].name, type_name(f.variables[i].type));
  line(fmt::format("fn {}({}): {} {{", f.name, parameters, type_name(f.type)));
  ++indent_;
  comment(f.comment);
  for (const Let& let : f.lets) statement({let});
  const std::string result = expression(f.result);
  line("return " + result);
  --indent_;
  line("}");
}

std::string_view role_name(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return "input";
    case TensorRole::inout:
      return "inout";
    case TensorRole::output:
      return "output";
    case TensorRole::workspace:
      return "workspace";
  }
  return "";
}

std::string tensor_text(const Module& module, const ModuleTensor& tensor) {
  const auto form = [&](FormId id) {
    return module.forms.print(id, [&](Var v) { return module.name_of(v); });
  };
  std::string text =
      fmt::format("{} {}: {}", role_name(tensor.role), tensor.name, type_name(tensor.type));
  for (size_t i = 0; i < tensor.shape.size(); ++i) text += (i ? ", " : "[") + form(tensor.shape[i]);
  if (!tensor.shape.empty()) text += "]";
  if (tensor.range_lo.valid() && tensor.range_hi.valid())
    text += fmt::format(" in {}..{}", form(tensor.range_lo), form(tensor.range_hi));
  if (tensor.sorted) text += " sorted";
  if (tensor.distinct) text += " distinct";
  if (tensor.workspace_offset.valid())
    text += fmt::format(" at byte {}", form(tensor.workspace_offset));
  return text + "\n";
}

}  // namespace

std::string print(const Module& module, const Kernel& kernel) {
  Printer printer(module, &kernel);
  printer.kernel(kernel);
  return printer.take();
}

namespace {

std::string offset_text(const Module& module, const Launch& launch, size_t argument) {
  if (argument >= launch.offsets.size()) return "";
  const FormId offset = launch.offsets[argument];
  if (module.forms.is_constant(offset, 0)) return "";
  return " + " + module.forms.print(offset, [&](Var v) { return module.name_of(v); });
}

}  // namespace

std::string print(const Module& module) {
  std::string out;
  for (const ModuleDim& dim : module.dims) {
    out += "dim " + dim.name;
    if (dim.low && dim.high) out += fmt::format(" in {}..={}", *dim.low, *dim.high);
    out += "\n";
  }
  for (const ModuleScalar& scalar : module.scalars)
    out += fmt::format("scalar {}: {}\n", scalar.name, type_name(scalar.type));
  for (const ModuleTensor& tensor : module.tensors) out += tensor_text(module, tensor);
  for (const Check& check : module.checks) out += fmt::format("check {}\n", check.message);
  for (const Function& f : module.functions) {
    Printer printer(module, nullptr);
    printer.function(f);
    out += "\n" + printer.take();
  }
  for (const Kernel& kernel : module.kernels) out += "\n" + print(module, kernel);
  out += "\n";
  for (const Launch& launch : module.launches) {
    out += fmt::format("launch {}(", module.kernels.at(launch.kernel).name);
    for (size_t i = 0; i < launch.args.size(); ++i)
      out +=
          (i ? ", " : "") + module.tensors.at(launch.args[i]).name + offset_text(module, launch, i);
    out += ")\n";
  }
  return out;
}

}  // namespace tang::kernel
