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

template <class Visit>
void for_each_statement(const Block& block, const Visit& visit) {
  for (const Stmt& stmt : block) {
    visit(stmt);
    if (const auto* loop = std::get_if<For>(&stmt.node)) {
      for_each_statement(loop->body, visit);
    } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
      for_each_statement(branch->then_body, visit);
      for_each_statement(branch->else_body, visit);
    }
  }
}

// The one expression of a statement; an invalid id for statements without.
ExprId expression_of(const Stmt& stmt);

}  // namespace tang::kernel
