// What is known of integer data: bounds by declared ranges, payloads of argmax, types, arithmetic.
#pragma once

#include <optional>
#include <unordered_map>

#include "text/resolve.h"

namespace tang {

// Integer data as forms over axes and pseudo-variables, one for each value of which only bounds are
// known ({VarKind::local, n}). `facts` holds the bounds: declared ranges, payloads of argmax,
// types.
struct DataForms {
  DataForms(Resolver& resolver_in, size_t nest_in, Facts base_in);

  FormId of(ExprId expr);
  // The facts that a boolean expression gives when it holds.
  const Facts& when_true(ExprId condition);

  // Constant bounds; absent sides are open.
  Bounds bounds_of(FormId form);
  // Those of `facts` that have to do with a form, directly or through others of them.
  Facts facts_about(const Facts& wanted, FormId form) const;

  Resolver& resolver;
  size_t nest;
  Facts base;   // ranges of axes, assumptions
  Facts facts;  // about pseudo-variables
  std::unordered_map<ExprId, FormId> forms;
  std::unordered_map<ExprId, Facts> conditions;
  std::unordered_map<Var, Bounds> intervals;  // of variables, from facts about one alone
  uint32_t n_unknown = 0;

 private:
  Facts facts_when_true(ExprId condition);
  FormId of_node(const Expr& e);
  FormId of_read(const Slot& slot, Type kind);
  FormId of_extreme(const Expr& e, FormId first, FormId second);
  FormId of_arithmetic(const Expr& e, FormId a, FormId b);
  FormId unknown(Type kind);
  FormId between(Type kind, std::optional<int64_t> low, std::optional<int64_t> high);
  Bounds interval_of(FormId form);
  void note_bound(const Constraint& fact);
  bool fits(FormId form, Type kind);
};

}  // namespace tang
