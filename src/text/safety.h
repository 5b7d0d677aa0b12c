// Which reads are in range because of where they stand, and what integer data is known to be.
#pragma once

#include <unordered_map>

#include "text/resolve.h"

namespace tang {

// Integer data as forms over axes and pseudo-variables, one for each value of which only bounds are
// known ({VarKind::local, n}). `facts` holds the bounds: declared ranges, payloads of argmax,
// types.
struct DataForms {
  DataForms(Resolver& resolver_in, size_t nest_in, Facts base_in)
      : resolver(resolver_in), nest(nest_in), base(std::move(base_in)) {}

  FormId of(ExprId expr);
  // The facts that a boolean expression gives when it holds.
  const Facts& when_true(ExprId condition);

  Resolver& resolver;
  size_t nest;
  Facts base;   // ranges of axes, assumptions
  Facts facts;  // about pseudo-variables
  std::unordered_map<ExprId, FormId> forms;
  std::unordered_map<ExprId, Facts> conditions;
  uint32_t n_unknown = 0;

 private:
  Facts facts_when_true(ExprId condition);
  FormId of_node(const Expr& e);
  FormId of_read(const Slot& slot, Type kind);
  FormId of_arithmetic(const Expr& e, FormId a, FormId b);
  FormId unknown(Type kind);
  FormId between(Type kind, std::optional<int64_t> low, std::optional<int64_t> high);
  Bounds bounds_of(FormId form);
  bool fits(FormId form, Type kind);
};

// The ranges of all indices that a comprehension sees, and the assumptions so far.
Facts index_facts(const Resolver& resolver, size_t nest);

// Fixes for every read of a comprehension whether it is plain or guarded, and which conditions of
// enclosing comprehensions its domain takes over.
void decide_guards(Resolver& resolver, size_t nest);

// What must be proved of a finished comprehension. `axes` gives the axis of each index.
void collect_obligations(Resolver& resolver, size_t nest, const std::vector<FormId>& axes,
                         const std::vector<std::string>& axis_names);

// Bounds of the values of an integer component; absent sides are open.
Range range_of_values(Resolver& resolver, size_t nest, size_t component);

}  // namespace tang
