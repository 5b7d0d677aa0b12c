// Values that nothing uses are not computed: a data coordinate is bound before the read that needs
// it, and folding may leave no read. One pass over each block from its end, where the uses are. Nor
// are states kept that nothing reads but their own updates: folds whose result folding dropped.
#include <map>
#include <set>

#include "kernel/walk.h"
#include "lower/tile.h"

namespace tang::tile {

namespace {

struct Pruner {
  const kernel::Module& module;
  std::set<uint32_t> unread;  // buffers that nothing loads
  std::set<uint32_t> unset;   // variables that only their own updates read
  std::set<uint32_t> used;
  std::set<ExprId> seen;

  void form(FormId f) {
    module.forms.for_each_var(f, [&](Var v) {
      if (v.kind == VarKind::local) used.insert(v.index);
    });
  }
  void expr(ExprId root) {
    for (const ExprId id : module.exprs.post_order({root})) {
      if (!seen.insert(id).second) continue;
      const Expr& e = module.exprs[id];
      if (e.op == Op::form || e.op == Op::load) form(e.form());
      if (e.op == Op::variable) used.insert(e.index());
    }
  }
  // True when the statement stays.
  bool keep(kernel::Stmt& stmt) {
    return std::visit([&](auto& node) { return visit(node); }, stmt.node);
  }
  bool visit(kernel::For& loop) {
    block(loop.body);
    if (loop.body.empty()) return false;
    form(loop.lo);
    form(loop.hi);
    return true;
  }
  bool visit(kernel::If& branch) {
    block(branch.else_body);
    block(branch.then_body);
    if (branch.then_body.empty() && branch.else_body.empty()) return false;
    expr(branch.condition);
    return true;
  }
  bool visit(kernel::Let& let) {
    if (!used.contains(let.var.value)) return false;
    expr(let.value);
    return true;
  }
  bool visit(kernel::Set& set) {
    if (unset.contains(set.var.value)) return false;
    used.insert(set.var.value);
    expr(set.value);
    return true;
  }
  bool visit(kernel::Store& store) {
    if (unread.contains(store.buffer.value)) return false;
    form(store.address);
    expr(store.value);
    return true;
  }
  bool visit(kernel::Comment&) { return true; }

  void block(kernel::Block& statements) {
    for (size_t n = statements.size(); n-- > 0;)
      if (!keep(statements[n])) statements.erase(statements.begin() + static_cast<ptrdiff_t>(n));
  }
};

// The kernel without these buffers, which nothing accesses.
void drop_buffers(kernel::Kernel& k, kernel::Module& module, const std::set<uint32_t>& dropped) {
  std::vector<kernel::Buffer> kept;
  std::map<uint32_t, uint32_t> number;
  for (uint32_t b = 0; b < k.buffers.size(); ++b) {
    if (dropped.contains(b)) continue;
    number[b] = static_cast<uint32_t>(kept.size());
    kept.push_back(std::move(k.buffers[b]));
  }
  k.buffers = std::move(kept);
  Exprs::Memo memo;
  const auto renumber = [&](ExprId id, const std::array<ExprId, 3>&) {
    const Expr e = module.exprs[id];
    if (e.op != Op::load) return ExprId();
    return module.exprs.load(e.type, number.at(e.buffer()), e.form());
  };
  kernel::for_each_statement(k.body, [&](kernel::Stmt& stmt) {
    if (const ExprId root = kernel::expression_of(stmt); root.valid())
      kernel::set_expression(stmt, module.exprs.rewrite(root, memo, renumber));
    if (auto* store = std::get_if<kernel::Store>(&stmt.node))
      store->buffer = kernel::BufferId(size_t{number.at(store->buffer.value)});
  });
}

// Variables that are assigned, and read by their own assignments at most.
std::set<uint32_t> only_updated(const kernel::Kernel& k, const kernel::Module& module) {
  std::set<uint32_t> assigned, read;
  const auto form = [&](FormId f) {
    module.forms.for_each_var(f, [&](Var v) {
      if (v.kind == VarKind::local) read.insert(v.index);
    });
  };
  kernel::for_each_statement(k.body, [&](const kernel::Stmt& stmt) {
    const auto* set = std::get_if<kernel::Set>(&stmt.node);
    if (set) assigned.insert(set->var.value);
    if (const auto* loop = std::get_if<kernel::For>(&stmt.node)) form(loop->lo), form(loop->hi);
    if (const auto* store = std::get_if<kernel::Store>(&stmt.node)) form(store->address);
    const ExprId root = kernel::expression_of(stmt);
    if (!root.valid()) return;
    for (const ExprId id : module.exprs.post_order({root})) {
      const Expr& e = module.exprs[id];
      if (e.op == Op::form || e.op == Op::load) form(e.form());
      if (e.op == Op::variable && !(set && set->var.value == e.index())) read.insert(e.index());
    }
  });
  for (const uint32_t v : read) assigned.erase(v);
  return assigned;
}

}  // namespace

void drop_unused(kernel::Kernel& k, kernel::Module& module) {
  std::set<uint32_t> unread;
  for (uint32_t b = k.n_params; b < k.buffers.size(); ++b) unread.insert(b);
  kernel::for_each_statement(k.body, [&](const kernel::Stmt& stmt) {
    const ExprId root = kernel::expression_of(stmt);
    if (!root.valid() || unread.empty()) return;
    for (const ExprId id : module.exprs.post_order({root}))
      if (module.exprs[id].op == Op::load) unread.erase(module.exprs[id].buffer());
  });
  Pruner{module, unread, only_updated(k, module), {}, {}}.block(k.body);
  if (!unread.empty()) drop_buffers(k, module, unread);
}

}  // namespace tang::tile
