// Expressions in canonical form: spaces around binary operators and only the parentheses that
// precedence needs, but for `x[c] else e` inside an operator.
#pragma once

#include <string>
#include <vector>

#include "support/diagnostics.h"
#include "text/ast.h"

namespace tang::syntax {

// Where an expression stands: what of it needs parentheses there.
struct Surroundings {
  int level = 0;          // anything that binds less tightly, by precedence()
  bool bar_ends = false;  // a bit-or, since `|` begins the condition of the brackets around
  bool operand = false;   // a read with `else`
};

// Adds the text of an expression. Needs no stack for a deep one. Numbers keep their spelling.
void format_expr(std::string& out, const Sources& sources, const File& file, ExprNodeId id,
                 Surroundings where = {});

// Adds "i: N, b..." for the indices of a definition or a reduction, whose ranges stand in brackets.
void format_binders(std::string& out, const Sources& sources, const File& file,
                    const std::vector<Binder>& binders, Surroundings ranges);

// Whether a coordinate is a name or a number alone.
bool is_plain(const File& file, const Coord& coord);

}  // namespace tang::syntax
