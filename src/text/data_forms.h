// What is known of integer data: bounds by declared ranges, payloads of argmax, types, arithmetic.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "text/resolve.h"

namespace tang {

// One of the ways in which a value may come about: what it is then, and what holds.
struct Case {
  FormId form;
  Facts facts;
};

// What a condition says when it holds: facts, and parts of which one alternative holds. `never`: it
// does not hold anywhere.
struct Conjunction {
  struct Part {
    ExprId expr;
    bool holds;
  };
  Facts facts;
  std::vector<Part> splits;
  bool never = false;
};

// Bounds of a value that is within one of two; of `b` alone where there is no `a`.
Bounds hull(const std::optional<Bounds>& a, const Bounds& b);

// Integer data as forms over axes and pseudo-variables, one for each value of which only bounds are
// known ({VarKind::local, n}). `facts` holds the bounds: declared ranges, payloads of argmax,
// types. Equal reads are one value, whatever conditions they stand under: where facts about one are
// known, it is evaluated.
struct DataForms {
  DataForms(Resolver& resolver_in, size_t nest_in, Facts base_in);

  FormId of(ExprId expr);
  // The cases of a form that together cover all that `known` allows, with the facts of each.
  // Branches of selects and alternatives of `||` and `!=` are told apart up to a limit.
  std::vector<Case> cases(FormId form, const Truth& known);

  // Constant bounds; absent sides are open.
  Bounds bounds_of(FormId form, const Facts& known = {});
  // Those of `facts` that have to do with a form, directly or through others of them.
  Facts facts_about(const Facts& wanted, FormId form) const;

  Resolver& resolver;
  size_t nest;
  Facts base;   // ranges of axes, assumptions
  Facts facts;  // about pseudo-variables
  std::unordered_map<ExprId, FormId> forms;
  std::unordered_map<ExprId, Conjunction> conditions[2];  // when one fails, when it holds
  std::unordered_map<Var, Bounds> intervals;  // of variables, from facts about one alone
  uint32_t n_unknown = 0;

 private:
  struct Alternative {
    Conjunction conjunction;
    FormId value;  // of a choice: what it is then
  };
  using Alternatives = std::vector<Alternative>;
  struct Open;  // a case under way
  ExprId canonical(ExprId expr);
  ExprId rewritten(ExprId expr);
  void find_representatives();
  void add_twins(Case& one, ExprId condition);
  bool is_satisfied(const Guard& guard, const Facts& known, const std::vector<ExprId>& conjuncts);
  const Conjunction& conjunction_of(ExprId condition, bool holds);
  Conjunction find_conjunction(ExprId condition, bool holds);
  Alternatives alternatives(const Conjunction::Part& part);
  bool excludes(const Facts& known, const Conjunction& alternative);
  bool apply_forced(Open& open);
  bool split(Open& open, std::vector<Open>& out);
  FormId of_canonical(ExprId expr);
  FormId of_node(const Expr& e);
  FormId of_read(const Slot& slot, Type kind);
  FormId of_extreme(const Expr& e, FormId first, FormId second);
  FormId of_select(const Expr& e);
  FormId of_absolute(Type kind, FormId a);
  FormId of_remainder(Type kind, FormId divisor);
  FormId of_arithmetic(const Expr& e, FormId a, FormId b);
  FormId wrapped(Type kind, FormId exact);
  FormId unknown(Type kind);
  FormId between(Type kind, std::optional<int64_t> low, std::optional<int64_t> high);
  Bounds interval_of(FormId form);
  void note_bound(const Constraint& fact);
  bool fits(FormId form, Type kind);

  std::vector<size_t> representatives;  // by slot: the first one that reads the same
  std::map<std::vector<uint64_t>, size_t> slots_by_key;
  // Integer reads of one element that differ in their guards, and what they give out of range.
  std::map<std::vector<uint64_t>, std::vector<size_t>> twins;
  Exprs::Memo canonical_memo;
  std::unordered_map<Var, Alternatives> choices;  // of values of selects and the like
  size_t n_wrapped = 0;
};

}  // namespace tang
