// Kernels that differ only in names, in the tensors they are given, and in where in them they
// begin, are one kernel that is launched several times: the layers of a model, whether they read
// w[l,...] or tensors of their own.
//
// Two kernels are alike when their texts are, with buffers and variables named by their order of
// appearance and the part of each buffer's addresses that only sizes decide taken out. That part
// becomes the launch's offset into the argument. Only kernels that find their like are changed.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernel/walk.h"
#include "lower/storage.h"

namespace tang {

namespace {

using kernel::BufferId;
using kernel::Kernel;
using kernel::Module;

// Calls `visit(buffer, address)` for every access, in the order in which they stand.
template <class Visit>
void for_each_access(const Module& module, const Kernel& k, const Visit& visit) {
  kernel::for_each_statement(k.body, [&](const kernel::Stmt& stmt) {
    if (const ExprId root = kernel::expression_of(stmt); root.valid())
      for (const ExprId id : module.exprs.post_order({root}))
        if (module.exprs[id].op == Op::load)
          visit(module.exprs[id].buffer(), module.exprs[id].form());
    if (const auto* store = std::get_if<kernel::Store>(&stmt.node))
      visit(store->buffer.value, store->address);
  });
}

// address = start + rest: the terms in sizes alone, and the others.
struct Address {
  FormId start, rest;
};

Address split(Forms& forms, FormId address) {
  FormId rest = forms.constant(0), start = forms.constant(forms[address].constant);
  const Form form = forms[address];
  for (const Term& term : form.terms) {
    FormId product = forms.constant(term.coefficient);
    for (const Atom& atom : term.atoms)
      product = forms.mul(product, atom.is_quotient() ? forms.quotient(atom.numerator, atom.divisor)
                                                      : forms.var(atom.var));
    FormId& side = forms.is_extent(product) ? start : rest;
    side = forms.add(side, product);
  }
  return {start, rest};
}

bool has_negative_term(const Forms& forms, FormId form) {
  const Form& f = forms[form];
  return f.constant < 0 || std::any_of(f.terms.begin(), f.terms.end(),
                                       [](const Term& t) { return t.coefficient < 0; });
}

// Where the kernel begins to use each parameter: the same part of every address, and nothing that
// could leave a negative address behind.
std::vector<FormId> starts(Module& module, const Kernel& k) {
  std::vector<FormId> out(k.n_params);
  std::vector<bool> fixed(k.n_params, false);
  const FormId zero = module.forms.constant(0);
  std::vector<std::pair<uint32_t, FormId>> accesses;
  for_each_access(module, k, [&](uint32_t buffer, FormId address) {
    if (buffer < k.n_params) accesses.emplace_back(buffer, address);
  });
  for (const auto& [buffer, address] : accesses) {
    const Address a = split(module.forms, address);
    const bool movable = k.buffers[buffer].type != Type::i4 &&
                         !has_negative_term(module.forms, a.rest) &&
                         !has_negative_term(module.forms, a.start) &&
                         (!out[buffer].valid() || out[buffer] == a.start);
    fixed[buffer] = fixed[buffer] || !movable;
    out[buffer] = a.start;
  }
  for (uint32_t b = 0; b < k.n_params; ++b)
    if (fixed[b] || !out[b].valid()) out[b] = zero;
  return out;
}

// Parameters in the order of their first access, what is only read first.
std::vector<uint32_t> order_of_use(const Module& module, const Kernel& k) {
  std::vector<uint32_t> order;
  for (const bool reads : {true, false})
    for_each_access(module, k, [&](uint32_t buffer, FormId) {
      if (buffer >= k.n_params || (k.buffers[buffer].access == kernel::Access::read) != reads)
        return;
      if (std::find(order.begin(), order.end(), buffer) == order.end()) order.push_back(buffer);
    });
  for (uint32_t b = 0; b < k.n_params; ++b)
    if (std::find(order.begin(), order.end(), b) == order.end()) order.push_back(b);
  return order;
}

// Renumbers parameters and moves their addresses.
void rewrite_buffers(Module& module, Kernel& k, const std::vector<uint32_t>& order,
                     const std::vector<FormId>& start) {
  std::vector<uint32_t> place(k.buffers.size());
  for (uint32_t b = 0; b < place.size(); ++b) place[b] = b;
  for (uint32_t n = 0; n < order.size(); ++n) place[order[n]] = n;
  const auto moved = [&](uint32_t buffer, FormId address) {
    return buffer < start.size() ? module.forms.sub(address, start[buffer]) : address;
  };
  Exprs::Memo memo;
  const auto visit = [&](ExprId old, const std::array<ExprId, 3>&) {
    const Expr e = module.exprs[old];
    if (e.op != Op::load) return ExprId();
    return module.exprs.load(e.type, place[e.buffer()], moved(e.buffer(), e.form()));
  };
  kernel::for_each_statement(k.body, [&](kernel::Stmt& stmt) {
    if (const ExprId root = kernel::expression_of(stmt); root.valid())
      kernel::set_expression(stmt, module.exprs.rewrite(root, memo, visit));
    if (auto* store = std::get_if<kernel::Store>(&stmt.node)) {
      store->address = moved(store->buffer.value, store->address);
      store->buffer = BufferId(size_t{place[store->buffer.value]});
    }
  });
  std::vector<kernel::Buffer> buffers = k.buffers;
  for (uint32_t b = 0; b < place.size(); ++b) buffers[place[b]] = k.buffers[b];
  k.buffers = std::move(buffers);
}

// The text of a kernel without its names.
std::string anonymous_text(const Module& module, Kernel k) {
  k.name = "k";
  k.computes.clear();
  k.schedule.clear();
  for (size_t b = 0; b < k.buffers.size(); ++b) k.buffers[b].name = fmt::format("b{}", b);
  for (size_t v = 0; v < k.variables.size(); ++v) k.variables[v].name = fmt::format("v{}", v);
  return kernel::print(module, k);
}

}  // namespace

void order_parameters(Module& module, Kernel& k, std::vector<uint32_t>& args) {
  const std::vector<uint32_t> order = order_of_use(module, k);
  rewrite_buffers(module, k, order, {});
  std::vector<uint32_t> ordered;
  for (const uint32_t b : order) ordered.push_back(args[b]);
  args = std::move(ordered);
}

void share_kernels(Module& module) {
  struct Moved {
    Kernel kernel;
    std::vector<FormId> start;
  };
  std::vector<Moved> moved;
  std::map<std::string, std::vector<uint32_t>> alike;
  for (uint32_t n = 0; n < module.kernels.size(); ++n) {
    Moved m{.kernel = module.kernels[n], .start = starts(module, module.kernels[n])};
    std::vector<uint32_t> same(m.kernel.n_params);
    for (uint32_t b = 0; b < same.size(); ++b) same[b] = b;
    rewrite_buffers(module, m.kernel, same, m.start);
    alike[anonymous_text(module, m.kernel)].push_back(n);
    moved.push_back(std::move(m));
  }
  std::vector<uint32_t> representative(module.kernels.size());
  std::vector<bool> is_shared(module.kernels.size());
  for (const auto& [text, group] : alike)
    for (const uint32_t n : group) {
      representative[n] = group.front();
      is_shared[n] = group.size() > 1;
    }
  std::vector<Kernel> kernels;
  std::vector<uint32_t> number(module.kernels.size());
  for (uint32_t n = 0; n < module.kernels.size(); ++n) {
    if (representative[n] != n) continue;
    number[n] = static_cast<uint32_t>(kernels.size());
    kernels.push_back(is_shared[n] ? moved[n].kernel : module.kernels[n]);
  }
  for (kernel::Launch& launch : module.launches) {
    if (is_shared[launch.kernel]) launch.offsets = moved[launch.kernel].start;
    launch.kernel = number[representative[launch.kernel]];
  }
  module.kernels = std::move(kernels);
}

}  // namespace tang
