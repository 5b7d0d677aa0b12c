// What depends on no reduce index leaves the sum: sum(a*x/b) = a/b * sum(x). The sum becomes a
// definition of its own, which the map of what was hoisted reads. A real law. Measure: the number
// of invariant factors in sums.
//
// Bare constants stay: a multiplication by one costs no load.
#include <fmt/format.h>

#include "rewrite/carry.h"
#include "rewrite/domain.h"
#include "rewrite/edit.h"
#include "rewrite/expand.h"
#include "rewrite/laws.h"
#include "rewrite/passes.h"
#include "rewrite/terms.h"

namespace tang {

namespace {

// A value as (what stays) * (what leaves): products of factors on either side of a division.
struct Parts {
  ExprId stays, factor, divisor;  // invalid: 1
};

class Splitter {
 public:
  Splitter(Arena& arena, Dependence& dependence) : exprs_(arena.exprs), dependence_(dependence) {}

  Parts split(ExprId id, int depth = 0) {
    const Expr e = exprs_[id];
    if (leaves(id)) return {.stays = {}, .factor = id, .divisor = {}};
    if (depth > 64) return {.stays = id, .factor = {}, .divisor = {}};
    switch (e.op) {
      case Op::mul: {
        const Parts a = split(e.args[0], depth + 1), b = split(e.args[1], depth + 1);
        return {.stays = times(a.stays, b.stays),
                .factor = times(a.factor, b.factor),
                .divisor = times(a.divisor, b.divisor)};
      }
      case Op::div: {
        const Parts a = split(e.args[0], depth + 1), b = split(e.args[1], depth + 1);
        // Only a divisor that leaves as a whole: 1/x of what stays is no product to take apart.
        if (b.stays.valid() || b.divisor.valid()) break;
        return {.stays = a.stays, .factor = a.factor, .divisor = times(a.divisor, b.factor)};
      }
      case Op::neg: {
        Parts a = split(e.args[0], depth + 1);
        if (!a.stays.valid()) break;
        a.stays = exprs_.make(Op::neg, a.stays);
        return a;
      }
      default:
        break;
    }
    return {.stays = id, .factor = {}, .divisor = {}};
  }

 private:
  bool leaves(ExprId id) { return !exprs_.is_constant(id) && dependence_.is_invariant(id); }
  ExprId times(ExprId a, ExprId b) {
    if (!a.valid()) return b;
    if (!b.valid()) return a;
    return exprs_.make(Op::mul, a, b);
  }

  Exprs& exprs_;
  Dependence& dependence_;
};

class Hoister {
 public:
  Hoister(const Program& program, Trace* trace) : edit_(program, trace), trace_(trace) {}

  Program run() {
    for (size_t d = 0; d < edit_.program().defs.size(); ++d) visit(DefId(d));
    return edit_.changed() ? edit_.finish() : edit_.program();
  }

 private:
  void visit(DefId def) {
    Arena& arena = edit_.arena();
    const Comprehension given_sum = edit_.current(def);
    if (!folds_by(arena, given_sum, Op::add)) return;
    std::set<size_t> before = {size_t{def.value}};
    const Comprehension c = with_factors(given_sum, before);
    Dependence dependence(arena, c);
    const Parts parts = Splitter(arena, dependence).split(c.components[0].value);
    if (!parts.stays.valid() || (!parts.factor.valid() && !parts.divisor.valid())) return;
    const Def& given = edit_.program().def(def);
    // Where a point has no term, the sum is 0 whatever the factor is, and reads nothing.
    const auto open = extents_to_be_positive(edit_.program(), c);
    if (!open) return refuse(given, "a sum without terms would multiply 0 by what is hoisted");
    Comprehension factor = outer(c, {}, parts, *open);
    const bool bounded = arena.guards[c.domain].empty();
    if (!bounded && !reads_are_in_range(edit_.program(), factor))
      return refuse(given, "outside of the sum a read may be out of range");
    Step step{.pass = "hoist-invariant-factors",
              .laws = {law::kDistribute},
              .before = snapshots(edit_, before),
              .after = {},
              .equal = {},
              .says = name_of(given) + " multiplies once a sum, not once a term"};
    Comprehension inner = c;
    inner.components[0].value = parts.stays;
    const Def sum = edit_.add(def, tidy(arena, inner),
                              {edit_.fresh(name_of(given) + "_sum")}, given.axis_names);
    const TensorId claimed = arena.component(edit_.snapshot(def).id, 0);
    edit_.replace(def, outer(c, arena.component(sum.id, 0), parts, *open),
                  {given.axis_names.begin(), given.axis_names.begin() + c.n_points});
    step.after = {sum, edit_.snapshot(def)};
    step.equal = {{claimed, arena.component(step.after[1].id, 0)}};
    if (trace_) trace_->steps.push_back(std::move(step));
  }

  static int count(const Parts& p) { return p.factor.valid() + p.divisor.valid(); }

  Parts parts_of(const Comprehension& c) {
    Dependence dependence(edit_.arena(), c);
    return Splitter(edit_.arena(), dependence).split(c.components[0].value);
  }

  // The sum with the bodies of maps in place of reads, where a map multiplies by what can leave.
  Comprehension with_factors(Comprehension c, std::set<size_t>& through) {
    Arena& arena = edit_.arena();
    for (uint32_t k = 0; k < c.reads.size(); ++k) {
      const auto source = edit_.source(c.reads[k].tensor);
      if (!source || !source->comprehension.is_map() || source->comprehension.is_update() ||
          arena.views[c.reads[k].view].guarded ||
          !why_not_splice(arena, c, k, source->comprehension).empty())
        continue;
      std::vector<const Comprehension*> maps(c.reads.size(), nullptr);
      maps[k] = &source->comprehension;
      Comprehension spliced = splice(edit_.program(), c, maps);
      if (count(parts_of(spliced)) <= count(parts_of(c))) continue;
      c = std::move(spliced);
      through.insert(source->node);
      k = UINT32_MAX;  // its reads are others now
    }
    return c;
  }

  // The map of what was hoisted, over the points; without a sum, of the factor alone.
  Comprehension outer(const Comprehension& c, TensorId sum, const Parts& parts,
                      const std::vector<FormId>& to_be_positive) {
    Arena& arena = edit_.arena();
    ReadList list(arena);
    std::vector<AxisImage> images = same_axes(arena, c.n_points);
    images.resize(c.n_axes(), {.form = arena.forms.constant(0), .data = {}});
    Carrier carrier(arena, c, images, list);
    View view{.coords = {}, .guarded = false, .guard = arena.no_guard()};
    for (const uint8_t axis : c.components[0].axes)
      view.coords.push_back({.form = arena.forms.axis(axis), .data = {}});
    ExprId value = sum.valid() ? list.add({.tensor = sum,
                                           .view = arena.views.intern(std::move(view)),
                                           .otherwise = {}})
                               : arena.exprs.real(1.0);
    if (parts.factor.valid())
      value = arena.exprs.make(Op::mul, value, carrier.expr(parts.factor));
    if (parts.divisor.valid())
      value = arena.exprs.make(Op::div, value, carrier.expr(parts.divisor));
    Guard nonempty;
    for (const FormId extent : to_be_positive)
      nonempty.constraints.push_back({.form = arena.forms.add(extent, -1)});
    if (!nonempty.empty())
      value = arena.exprs.select(as_condition(arena, nonempty), value, arena.exprs.real(0.0));
    return {.extents = {c.extents.begin(), c.extents.begin() + c.n_points},
            .n_points = c.n_points,
            .reads = list.reads,
            .domain = arena.no_guard(),
            .monoid = {},
            .components = {{.value = value, .axes = c.components[0].axes}},
            .into = {}};
  }

  void refuse(const Def& def, const std::string& why) {
    if (trace_)
      trace_->refusals.push_back(
          {.pass = "hoist-invariant-factors", .name = name_of(def), .why = why});
  }

  Edit edit_;
  Trace* trace_;
};

}  // namespace

Program hoist_invariant_factors(const Program& program, const RewriteOptions& options,
                                Trace* trace) {
  if (options.strict) return program;
  return Hoister(program, trace).run();
}

}  // namespace tang
