// Pieces of expression text, and how they are put together with the parentheses they need.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "affine/prove.h"
#include "emit/dialect.h"

namespace tang::emit {

struct Text {
  std::string text;
  Precedence precedence = Precedence::primary;
  int nesting = 0;  // of brackets
};

// What printed text relies on.
struct Needs {
  std::set<std::string_view> helpers;
  bool hints = false;
  void add(const Spelling& s) {
    if (!s.helper.empty()) helpers.insert(s.helper);
  }
};

// The text with parentheses where it holds together less tightly than `least`.
Text at_least(Text t, Precedence least);
Text infix(Text a, std::string_view op, Precedence precedence, Text b);
Text call(std::string_view function, std::vector<Text> args);
// An operation of one or two operands by its spelling.
Text apply(const Spelling& spelling, std::vector<Text> args);
// A comparison in which `a` is `b` with its operator turned round.
std::string_view mirrored(std::string_view comparison);

// Forms as expressions of 64-bit integers. `facts` says what is known of the variables, which tells
// where `/` rounds down.
struct FormPrinter {
  const Dialect& dialect;
  Forms& forms;
  const Facts& facts;
  std::function<std::string(Var)> name;
  Needs& needs;

  Text print(FormId form) const;
  // `form OP 0`, with the terms on the sides that need no minus, the most variable ones left.
  Text compare(std::string_view op, FormId form) const;

 private:
  struct Summand {
    int64_t coefficient;
    std::string product;  // empty: the constant
    Precedence precedence;
    size_t n_factors;
    VarKind kind = VarKind::dim;  // the most variable of its variables
  };
  std::vector<Summand> summands(FormId form) const;
  Text quotient(FormId numerator, int64_t divisor) const;
  Text remainder(FormId numerator, int64_t divisor) const;
  void add_remainders(FormId& rest, std::vector<Summand>& out) const;
  void add_atoms(Summand& summand, const std::vector<Atom>& atoms, bool alone) const;
  void add_factor(Summand& summand, FormId vars, Text factor, bool alone) const;
  static Text sum(std::vector<Summand> summands);
  bool rounds_down(FormId numerator) const;
};

}  // namespace tang::emit
