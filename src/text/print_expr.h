// Scalar expressions, forms and conditions of one definition, in the syntax of the language.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "text/print_names.h"

namespace tang {

// Tightness of an expression's outermost operator.
enum class Level : uint8_t {
  choice,
  either,
  both,
  comparison,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  sum,
  product,
  unary,
  primary
};

// The monoid component in whose value an expression stands: there `x?[...]` gives its identity.
struct ComponentPlace {
  ExprId identity;  // invalid: none
};

class ExprPrinter {
 public:
  ExprPrinter(const Program& program, const ProgramNames& names, const Comprehension& c,
              std::vector<std::string> axis_names, std::vector<std::string> state_names = {});

  std::string expr(ExprId id, ComponentPlace place = {});
  std::string form(FormId id);
  // The conjuncts of affine constraints, sorted, then those of the condition.
  std::string guard(const Guard& guard);
  // Of an update: the element that it writes, with the ranges of its indices.
  std::string updated();
  std::vector<std::string> conjuncts(const std::vector<Constraint>& constraints);
  bool is_rank0_read(ExprId id) const;

 private:
  struct Where {
    Level level = Level::choice;
    bool operand = false;   // of an operator: `else` stands in parentheses
    bool bar_ends = false;  // in brackets, where | would end the coordinates
    bool converts = false;  // an implicit conversion gives the type
    bool in_value = false;  // of a reduction's component
  };
  struct Piece {
    std::string text;
    ExprId id;
    Where where;
  };

  void expand(ExprId id, Where where);
  void write(const Expr& e, Where where);
  void write_read(const Expr& e, Where where);
  std::vector<std::string> place_ranges(const View& view);
  void write_element(const Read& read, bool mark, bool places);
  void write_call(const Expr& e, Where where);
  void write_binary(const Expr& e, Level level, Where where);
  void write_cast(const Expr& e, Where where);
  void text(std::string s) { pieces_.push_back({.text = std::move(s), .id = {}, .where = {}}); }
  void operand(ExprId id, Where where) {
    pieces_.push_back({.text = {}, .id = id, .where = where});
  }
  Level level_of(const Expr& e, bool converts);
  Level level_of_form(FormId id);
  std::string run(ExprId id, Where where);
  std::string run(std::vector<Piece> stack);
  std::string constant(const Expr& e) const;
  std::pair<bool, bool> conversions(const Expr& e, ExprId a, ExprId b) const;
  bool exact_coordinate(FormId coord, std::vector<Constraint>& constraints, std::string& out);
  bool same_multiple(FormId form, const Atom& quotient);
  struct Sides {
    FormId low, high;
  };
  Sides sides(FormId form);
  std::string own_form(FormId id);
  std::string constraint(const Constraint& c);
  std::string equality(FormId form);

  const Arena& arena_;
  const ProgramNames& names_;
  const Comprehension& c_;
  std::vector<std::string> axis_names_;
  std::vector<std::string> state_names_;  // of the components, in a combine
  Forms forms_;  // of its own, so that printing adds nothing to the program's
  std::unordered_map<FormId, FormId> copies_;
  FormId copy(FormId id);
  ExprId identity_;
  std::vector<Piece> pieces_;
};

}  // namespace tang
