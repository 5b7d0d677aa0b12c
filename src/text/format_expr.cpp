#include "text/format_expr.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/syntax.h"

namespace tang::syntax {

namespace {

constexpr int kConditionalLevel = 1;
constexpr int kUnaryLevel = 11;
constexpr int kPrimaryLevel = 12;

// What is left to be written: a text, or an expression.
struct Piece {
  std::string text;
  ExprNodeId id;
  Surroundings where;
};

class ExprFormatter {
 public:
  ExprFormatter(std::string& out, const Sources& sources, const File& file)
      : out_(out), sources_(sources), file_(file) {}

  void run(ExprNodeId id, Surroundings where) {
    std::vector<Piece> stack;
    stack.push_back({.text = {}, .id = id, .where = where});
    while (!stack.empty()) {
      const Piece piece = std::move(stack.back());
      stack.pop_back();
      if (!piece.id.valid()) {
        out_ += piece.text;
        continue;
      }
      pieces_.clear();
      expand(file_[piece.id], piece.where);
      for (size_t i = pieces_.size(); i-- > 0;) stack.push_back(std::move(pieces_[i]));
    }
  }

 private:
  static int level(const ExprNode& node) {
    if (const auto* binary = std::get_if<Binary>(&node.data)) return precedence(binary->op);
    if (std::holds_alternative<Conditional>(node.data)) return kConditionalLevel;
    return std::holds_alternative<Unary>(node.data) ? kUnaryLevel : kPrimaryLevel;
  }

  static bool needs_parentheses(const ExprNode& node, Surroundings where) {
    if (level(node) < where.level) return true;
    if (const auto* binary = std::get_if<Binary>(&node.data))
      return where.bar_ends && binary->op == BinaryOp::bit_or;
    if (const auto* read = std::get_if<Read>(&node.data))
      return where.operand && read->otherwise.valid();
    return false;
  }

  void expand(const ExprNode& node, Surroundings where) {
    const bool parentheses = needs_parentheses(node, where);
    if (parentheses) {
      text("(");
      where = {};
    }
    std::visit([&](const auto& e) { write(e, node, where); }, node.data);
    if (parentheses) text(")");
  }

  void text(std::string_view s) {
    pieces_.push_back({.text = std::string(s), .id = {}, .where = {}});
  }
  void expr(ExprNodeId id, Surroundings where = {}) {
    pieces_.push_back({.text = {}, .id = id, .where = where});
  }
  void as_written(const ExprNode& node) {
    const std::string_view all = sources_.text(file_.file);
    text(all.substr(node.span.begin, node.span.end - node.span.begin));
  }

  void write(const Integer&, const ExprNode& node, Surroundings) { as_written(node); }
  void write(const Real&, const ExprNode& node, Surroundings) { as_written(node); }
  void write(const Constant&, const ExprNode& node, Surroundings) { as_written(node); }
  void write(const NameRef& e, const ExprNode&, Surroundings) { text(e.name.text); }
  void write(const Member& e, const ExprNode&, Surroundings) {
    text(e.base.text);
    text(".");
    text(e.member.text);
  }

  void write(const Unary& e, const ExprNode&, Surroundings where) {
    text(spelling(e.op));
    expr(e.operand, {.level = kUnaryLevel, .bar_ends = where.bar_ends, .operand = true});
  }

  void write(const Binary& e, const ExprNode&, Surroundings where) {
    const int own = precedence(e.op);
    const bool chains = own != kComparisonPrecedence;
    expr(e.left, {.level = own + (chains ? 0 : 1), .bar_ends = where.bar_ends, .operand = true});
    text(" ");
    text(spelling(e.op));
    text(" ");
    expr(e.right, {.level = own + 1, .bar_ends = where.bar_ends, .operand = true});
  }

  void write(const Conditional& e, const ExprNode&, Surroundings where) {
    expr(e.condition, {.level = kLogicalOrPrecedence, .bar_ends = where.bar_ends, .operand = true});
    text(" ? ");
    expr(e.yes, {.bar_ends = where.bar_ends, .operand = true});
    text(" : ");
    expr(e.no, {.bar_ends = where.bar_ends, .operand = true});
  }

  void write(const Call& e, const ExprNode&, Surroundings) {
    text(e.function.text);
    text("(");
    for (const Argument& argument : e.arguments) {
      if (&argument != e.arguments.data()) text(", ");
      if (argument.name.exists()) {
        text(argument.name.text);
        text(" = ");
      }
      expr(argument.value);
    }
    text(")");
  }

  void write(const Read& e, const ExprNode&, Surroundings where) {
    text(e.tensor.text);
    if (e.member.exists()) {
      text(".");
      text(e.member.text);
    }
    text(e.guarded ? "?[" : "[");
    const bool plain = std::all_of(e.coords.begin(), e.coords.end(),
                                   [&](const Coord& c) { return is_plain(file_, c); });
    for (const Coord& coord : e.coords) {
      if (&coord != e.coords.data()) text(plain ? "," : ", ");
      if (coord.rest.exists()) {
        text(coord.rest.text);
        text("...");
      } else {
        expr(coord.value, {.bar_ends = true});
        if (coord.exact) text(" exact");
      }
    }
    condition(e.condition, e.coords.empty());
    text("]");
    if (!e.otherwise.valid()) return;
    text(" else ");
    expr(e.otherwise, {.level = kUnaryLevel, .bar_ends = where.bar_ends});
  }

  void write(const Reduction& e, const ExprNode&, Surroundings) {
    if (e.parenthesised) text("(");
    for (size_t m = 0; m < e.monoids.size(); ++m) {
      if (m > 0) text(", ");
      text(e.monoids[m].text);
      if (!e.arguments[m].valid()) continue;
      text("(");
      expr(e.arguments[m]);
      text(")");
    }
    if (e.parenthesised) text(")");
    text("[");
    std::string binders;
    format_binders(binders, sources_, file_, e.binders,
                   {.level = kBitOrPrecedence, .bar_ends = true});
    text(binders);
    condition(e.condition, false);
    text("](");
    for (const Value& value : e.values) {
      if (&value != e.values.data()) text(", ");
      if (value.tuple) text("(");
      for (const ExprNodeId& part : value.parts) {
        if (&part != value.parts.data()) text(", ");
        expr(part);
      }
      if (value.tuple) text(")");
    }
    text(")");
  }

  void condition(ExprNodeId id, bool first) {
    if (!id.valid()) return;
    text(first ? "| " : " | ");
    expr(id);
  }

  std::string& out_;
  const Sources& sources_;
  const File& file_;
  std::vector<Piece> pieces_;  // of the expression at hand
};

}  // namespace

void format_expr(std::string& out, const Sources& sources, const File& file, ExprNodeId id,
                 Surroundings where) {
  ExprFormatter(out, sources, file).run(id, where);
}

void format_binders(std::string& out, const Sources& sources, const File& file,
                    const std::vector<Binder>& binders, Surroundings ranges) {
  const bool plain = std::all_of(binders.begin(), binders.end(), [](const Binder& binder) {
    return !binder.rest && !binder.range.valid();
  });
  for (const Binder& binder : binders) {
    if (&binder != binders.data()) out += plain ? "," : ", ";
    out += binder.name.text;
    if (binder.rest) out += "...";
    if (!binder.range.valid()) continue;
    out += ": ";
    format_expr(out, sources, file, binder.range, ranges);
  }
}

bool is_plain(const File& file, const Coord& coord) {
  if (!coord.value.valid() || coord.exact) return false;
  const ExprData& data = file[coord.value].data;
  return std::holds_alternative<NameRef>(data) || std::holds_alternative<Integer>(data) ||
         std::holds_alternative<Real>(data);
}

}  // namespace tang::syntax
