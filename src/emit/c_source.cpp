// The source of emitted C around the kernels: banner, what they include and call, and the entry
// point, which is the module's table of launches. What is code and no table is in host/helpers.c.
#include <algorithm>

#include "emit/c.h"
#include "emit/c_interface.h"
#include "support/panic.h"

namespace tang::emit::c {

namespace {

using kernel::ModuleTensor;
using kernel::TensorRole;

void put_workspace_pointers(HostBody& body) {
  const kernel::Module& module = body.face.module;
  std::vector<bool> used(module.tensors.size());
  for (const kernel::Launch& launch : module.launches)
    for (const uint32_t t : launch.args) used[t] = true;
  std::vector<std::string> lines;
  bool has_offset = false;
  for (size_t t = 0; t < module.tensors.size(); ++t) {
    const ModuleTensor& tensor = module.tensors[t];
    if (tensor.role != TensorRole::workspace || !used[t]) continue;
    const bool at_start = body.face.forms.is_constant(tensor.workspace_offset, 0);
    has_offset |= !at_start;
    lines.push_back(fmt::format(
        "{} *{} = {};", kC.element_type(tensor.type), body.face.tensor_names[t],
        at_start
            ? "args->workspace"
            : "(void *)(workspace + " + body.forms().print(tensor.workspace_offset).text + ")"));
  }
  if (has_offset) body.out.line("unsigned char *workspace = args->workspace;");
  for (const std::string& line : lines) body.out.line(line);
  if (!lines.empty()) body.out.blank();
}

// A scalar as its kernels take it.
std::string scalar_argument(HostBody& body, uint32_t scalar) {
  const Type type = body.face.module.scalars[scalar].type;
  const std::string& name = body.face.scalar_names[scalar];
  if (body.scalars[scalar]) return name;
  const std::string field = "args->" + name;
  if (type == Type::boolean) return field + " != 0";
  if (!is_real(type)) return field;
  const Spelling widen = kC.conversion(type, kernel::arithmetic_type(type));
  body.needs.add(widen);
  return apply(widen, {{.text = field}}).text;
}

// " + 4096*l" where an argument does not begin at its tensor's first element.
std::string offset_text(HostBody& body, const kernel::Launch& launch, size_t argument) {
  if (argument >= launch.offsets.size()) return "";
  const FormId offset = launch.offsets[argument];
  return body.face.forms.is_constant(offset, 0) ? "" : " + " + body.forms().print(offset).text;
}

void put_launches(HostBody& body, const Printed& printed) {
  const kernel::Module& module = body.face.module;
  for (const kernel::Launch& launch : module.launches) {
    const kernel::Kernel& k = module.kernels[launch.kernel];
    std::string arguments;
    const auto add = [&](const std::string& text) {
      arguments += (arguments.empty() ? "" : ", ") + text;
    };
    for (size_t p = 0; p < launch.args.size(); ++p) {
      const uint32_t t = launch.args[p];
      add((module.tensors[t].role == TensorRole::workspace ? "" : "args->") +
          body.face.tensor_names[t] + offset_text(body, launch, p));
    }
    for (const uint32_t d : k.dims) add(body.local({VarKind::dim, d}));
    for (const uint32_t s : k.scalars) add(scalar_argument(body, s));
    body.out.line(printed.kernels[launch.kernel].name + "(" + arguments + ");");
  }
}

// The functions of the host program, with the helpers they need.
struct HostFunctions {
  Interface& face;
  const Printed& printed;
  Needs needs = {};
  bool has_check_dims = false;

  std::string check_dims();
  std::string workspace();
  std::string entry();
};

std::string HostFunctions::check_dims() {
  HostBody body(face, needs);
  refuse_bad_dims(body);
  has_check_dims = !body.out.text().empty();
  if (!has_check_dims) return "";
  Writer out;
  out.open("static int check_dims(const struct " + face.symbol + "_args *args)");
  body.declare_locals(out);
  out.raw(body.out.text());
  out.line("return " + face.status("OK") + ";");
  out.close();
  out.blank();
  return out.take();
}

std::string HostFunctions::workspace() {
  HostBody body(face, needs);
  const FormId form = face.module.workspace_bytes;
  const std::string bytes = form.valid() ? body.forms().print(form).text : "0";
  Writer out;
  out.open(face.head("int64_t", "_workspace"));
  if (has_check_dims)
    out.line("if (args == NULL || check_dims(args) != " + face.status("OK") + ") return -1;");
  else
    out.line("(void)args;");
  body.declare_locals(out);
  out.line("return " + bytes + ";");
  out.close();
  return out.take();
}

std::string HostFunctions::entry() {
  HostBody body(face, needs);
  refuse_bad_scalars(body);
  refuse_null_tensors(body);
  refuse_null_workspace(body);
  refuse_bad_elements(body);
  body.out.blank();
  put_workspace_pointers(body);
  put_launches(body, printed);
  Writer out;
  out.open(face.head("int", ""));
  out.line("if (args == NULL) return " + face.status("NULL_ARGS") + ";");
  if (has_check_dims) {
    out.line("const int status = check_dims(args);");
    out.line("if (status != " + face.status("OK") + ") return status;");
  }
  body.declare_locals(out);
  out.raw(body.out.text());
  out.line("return " + face.status("OK") + ";");
  out.close();
  return out.take();
}

// The program, and its kernels in the order in which they run.
void put_program(Writer& out, const Interface& face, const Printed& printed) {
  std::string kernels = "\nIts kernels, one after the other:\n ";
  if (!face.module.program.empty()) {
    kernels = "\nby these kernels, one after the other:\n ";
    std::string indented = "\nIt computes\n\n  ";
    for (const char c : face.module.program) indented += c == '\n' ? "\n  " : std::string(1, c);
    while (indented.ends_with(' ') || indented.ends_with('\n')) indented.pop_back();
    out.comment(indented);
  }
  out.comment(kernels);
  for (const kernel::Launch& launch : face.module.launches) {
    const kernel::Kernel& k = face.module.kernels[launch.kernel];
    out.comment("  " + printed.kernels[launch.kernel].name +
                (k.schedule.empty() ? "" : ": " + k.schedule));
  }
}

void put_preamble(Writer& out, const std::set<std::string_view>& headers, bool has_hints) {
  for (const std::string_view h : headers) out.line("#include " + std::string(h));
  out.blank();
  out.line("#ifdef __FAST_MATH__");
  out.line("#error \"-ffast-math changes what this file computes: NaN, infinities, rounding\"");
  out.line("#endif");
  out.line("#ifdef __clang__");
  out.line("#pragma STDC FP_CONTRACT OFF");
  out.line("#endif");
  if (has_hints) {
    out.line("#ifdef _OPENMP");
    out.line("#define TANG_OMP(directive) _Pragma(#directive)");
    out.line("#else");
    out.line("#define TANG_OMP(directive)");
    out.line("#endif");
  }
  out.blank();
}

}  // namespace

std::string source_text(Interface& face, const Printed& printed) {
  HostFunctions host{face, printed};
  const std::string check_dims = host.check_dims();
  const std::string workspace = host.workspace();
  const std::string entry = host.entry();
  std::vector<std::string_view> names = printed.helpers;
  names.insert(names.end(), host.needs.helpers.begin(), host.needs.helpers.end());
  std::set<std::string_view> headers = {"<math.h>", "<stdbool.h>", "<stddef.h>", "<stdint.h>"};
  const std::vector<std::string_view> helper_list = helper_texts(helpers(), names, headers);

  Writer out;
  banner(out, face, ".c");
  put_program(out, face, printed);
  out.blank();
  out.line("#include \"" + face.stem + ".h\"");
  out.blank();
  put_preamble(out, headers, printed.has_hints);
  for (const std::string_view text : helper_list) {
    out.raw(text);
    out.blank();
  }
  for (const auto* pieces : {&printed.functions, &printed.kernels}) {
    for (const Printed::Piece& piece : *pieces) {
      out.raw(piece.text);
      out.blank();
    }
  }
  out.raw(check_dims);
  out.raw(workspace);
  out.blank();
  out.raw(entry);
  return out.take();
}

}  // namespace tang::emit::c
