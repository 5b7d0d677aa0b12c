// Values that nothing uses are not computed: a data coordinate is bound before the read that needs
// it, and folding may leave no read. One pass over each block from its end, where the uses are.
#include <set>

#include "lower/tile.h"

namespace tang::tile {

namespace {

struct Pruner {
  const kernel::Module& module;
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
    form(loop.lo);
    form(loop.hi);
    return true;
  }
  bool visit(kernel::If& branch) {
    block(branch.else_body);
    block(branch.then_body);
    expr(branch.condition);
    return true;
  }
  bool visit(kernel::Let& let) {
    if (!used.contains(let.var.value)) return false;
    expr(let.value);
    return true;
  }
  bool visit(kernel::Set& set) {
    used.insert(set.var.value);
    expr(set.value);
    return true;
  }
  bool visit(kernel::Store& store) {
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

}  // namespace

void drop_unused(kernel::Block& body, const kernel::Module& module) {
  Pruner{module, {}, {}}.block(body);
}

}  // namespace tang::tile
