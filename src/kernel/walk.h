// Visits the statements of a block in the order in which they stand, outer before inner.
#pragma once

#include <variant>

#include "kernel/kernel.h"

namespace tang::kernel {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// `Statements` is a Block, const or not.
template <class Statements, class Visit>
void for_each_statement(Statements& block, const Visit& visit) {
  for (auto& stmt : block) {
    visit(stmt);
    if (auto* loop = std::get_if<For>(&stmt.node)) {
      for_each_statement(loop->body, visit);
    } else if (auto* branch = std::get_if<If>(&stmt.node)) {
      for_each_statement(branch->then_body, visit);
      for_each_statement(branch->else_body, visit);
    }
  }
}

// The one expression of a statement; an invalid id for statements without.
ExprId expression_of(const Stmt& stmt);
void set_expression(Stmt& stmt, ExprId value);  // of a statement that has one

}  // namespace tang::kernel
