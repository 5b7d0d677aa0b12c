// Text to syntax trees: the grammar, and every error that needs nothing but the grammar.
#pragma once

#include <optional>

#include "support/diagnostics.h"
#include "text/ast.h"

namespace tang::syntax {

// Reads a file of `sources`. Errors go to the diagnostics, several in one run: after one, reading
// goes on at the next line. Absent when there was any error. Nothing crashes or hangs it.
std::optional<File> parse_syntax(const Sources& sources, uint32_t file, Diagnostics& diagnostics);

// Calls f(ExprNodeId) for the direct sub-expressions of a node, in the order of the text.
template <class F>
void for_each_operand(const ExprNode& node, F f);

// How an operator is spelled.
const char* spelling(UnaryOp op);
const char* spelling(BinaryOp op);
// How tightly it binds: more is tighter. Comparisons do not chain, all others group to the left.
int precedence(BinaryOp op);
constexpr int kLogicalOrPrecedence = 2;  // the loosest; only `? :` is looser
constexpr int kComparisonPrecedence = 4;
constexpr int kBitOrPrecedence = 5;
constexpr int kSumPrecedence = 9;

namespace detail {
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;
}  // namespace detail

template <class F>
void for_each_operand(const ExprNode& node, F f) {
  const auto present = [&f](ExprNodeId id) {
    if (id.valid()) f(id);
  };
  std::visit(detail::Overloaded{
                 [](const Integer&) {},
                 [](const Real&) {},
                 [](const Constant&) {},
                 [](const NameRef&) {},
                 [](const Member&) {},
                 [&](const Unary& e) { f(e.operand); },
                 [&](const Binary& e) { f(e.left), f(e.right); },
                 [&](const Conditional& e) { f(e.condition), f(e.yes), f(e.no); },
                 [&](const Call& e) {
                   for (const Argument& a : e.arguments) f(a.value);
                 },
                 [&](const Read& e) {
                   for (const Coord& c : e.coords) present(c.value);
                   present(e.condition), present(e.otherwise);
                 },
                 [&](const Reduction& e) {
                   for (const ExprNodeId argument : e.arguments) present(argument);
                   for (const Binder& b : e.binders) present(b.range);
                   present(e.condition);
                   for (const Value& v : e.values)
                     for (ExprNodeId part : v.parts) f(part);
                 },
             },
             node.data);
}

}  // namespace tang::syntax
