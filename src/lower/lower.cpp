#include "lower/lower.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "lower/import.h"
#include "lower/storage.h"
#include "lower/tile.h"
#include "support/panic.h"

namespace tang {

namespace {

// As a person would write it: "S <= 8192", "T <= P", with the negative terms on the other side.
std::string say(kernel::Module& module, const Constraint& c) {
  const auto name = [&](Var v) { return module.name_of(v); };
  if (c.modulus != 0)
    return fmt::format("{} is a multiple of {}", module.forms.print(c.form, name), c.modulus);
  const auto [positive, negative] = split_by_sign(module.forms, c.form);
  const std::string left = module.forms.print(positive, name);
  const std::string right = module.forms.print(negative, name);
  return module.forms.as_constant(positive) ? fmt::format("{} <= {}", right, left)
                                            : fmt::format("{} >= {}", left, right);
}

void declare_sizes(const Program& program, kernel::Module& module) {
  for (const Dim& d : program.dims) module.dims.push_back({.name = d.name, .low = {}, .high = {}});
  const auto carry = [&](FormId form) {
    if (!form.valid()) return form;
    return import_form(program.arena->forms, form, module.forms, [](Var) { return FormId(); });
  };
  for (const Scalar& s : program.scalars)
    module.scalars.push_back({.name = s.name,
                              .type = s.type,
                              .range_lo = carry(s.range.lo),
                              .range_hi = carry(s.range.hi)});
  Facts assumptions = program.assumptions;
  for (size_t n = assumptions.size(); n-- > 0;) {  // what the others imply needs no check
    Facts others = assumptions;
    others.erase(others.begin() + static_cast<ptrdiff_t>(n));
    if (proves(program.arena->forms, others, assumptions[n])) assumptions = std::move(others);
  }
  for (const Constraint& assumption : assumptions) {
    const Constraint c{.form = carry(assumption.form), .modulus = assumption.modulus};
    module.checks.push_back({.form = c.form, .modulus = c.modulus, .message = say(module, c)});
    for (uint32_t d = 0; d < module.dims.size(); ++d) {
      const auto linear = module.forms.linear_in(c.form, {VarKind::dim, d});
      const auto factor = linear ? module.forms.as_constant(linear->coefficient) : std::nullopt;
      const auto rest = linear ? module.forms.as_constant(linear->rest) : std::nullopt;
      if (c.modulus != 0 || !factor || !rest) continue;
      kernel::ModuleDim& dim = module.dims[d];
      if (*factor == 1) dim.low = std::max(dim.low.value_or(-*rest), -*rest);
      if (*factor == -1) dim.high = std::min(dim.high.value_or(*rest), *rest);
    }
  }
}

// Dims and scalars that a kernel mentions, in loop bounds, addresses and values.
struct Mentions {
  const kernel::Module& module;
  std::set<uint32_t> dims, scalars;
  std::set<ExprId> seen;

  void form(FormId f) {
    if (!f.valid()) return;
    module.forms.for_each_var(f, [&](Var v) {
      if (v.kind == VarKind::dim) dims.insert(v.index);
      if (v.kind == VarKind::scalar) scalars.insert(v.index);
    });
  }
  void expr(ExprId root) {
    for (const ExprId id : module.exprs.post_order({root})) {
      if (!seen.insert(id).second) continue;
      const Expr& e = module.exprs[id];
      if (e.op == Op::form || e.op == Op::load) form(e.form());
      if (e.op == Op::scalar) scalars.insert(e.index());
    }
  }
  void block(const kernel::Block& b) {
    for (const kernel::Stmt& s : b) std::visit([&](const auto& node) { visit(node); }, s.node);
  }
  void visit(const kernel::For& loop) {
    form(loop.lo);
    form(loop.hi);
    block(loop.body);
  }
  void visit(const kernel::If& branch) {
    expr(branch.condition);
    block(branch.then_body);
    block(branch.else_body);
  }
  void visit(const kernel::Let& let) { expr(let.value); }
  void visit(const kernel::Set& set) { expr(set.value); }
  void visit(const kernel::Store& store) {
    form(store.address);
    expr(store.value);
  }
  void visit(const kernel::Comment&) {}
};

void add_kernel(kernel::Module& module, tile::Written written,
                std::unordered_set<std::string>& names) {
  kernel::Kernel& kernel = written.kernel;
  const std::string base = kernel.name;
  for (int n = 2; !names.insert(kernel.name).second; ++n)
    kernel.name = fmt::format("{}_{}", base, n);
  order_parameters(module, kernel, written.args);
  Mentions mentions{module, {}, {}, {}};
  mentions.block(kernel.body);
  kernel.dims.assign(mentions.dims.begin(), mentions.dims.end());
  kernel.scalars.assign(mentions.scalars.begin(), mentions.scalars.end());
  module.launches.push_back(
      {.kernel = static_cast<uint32_t>(module.kernels.size()), .args = std::move(written.args)});
  module.kernels.push_back(std::move(kernel));
}

}  // namespace

kernel::Module lower(const Program& program, const Schedule& schedule,
                     const LowerOptions& options) {
  kernel::Module module;
  module.prefix = options.prefix;
  module.entry = program.entry;
  declare_sizes(program, module);
  const tile::Storage storage = lay_out(program, schedule, module);
  for (kernel::ModuleTensor& t : module.tensors)
    t.checked = options.check_indices && (t.range_lo.valid() || t.range_hi.valid() || t.sorted);
  std::unordered_set<std::string> names;  // of kernels
  for (const KernelSchedule& kernel : schedule.kernels)
    for (const tile::Tree& tree : tile::build_trees(program, schedule, kernel, storage, module))
      add_kernel(module, tile::write_kernel(program, schedule, tree, storage, module), names);
  assign_workspace(module);
  share_kernels(module);
  return module;
}

}  // namespace tang
