// Sums of exponentials that no maximum shifts, made stable where nobody can tell.
//
//   l[i]   = sum[j](exp(s[i,j]))              m[i]   = max[j](s[i,j])
//   o[i,e] = sum[j](exp(s[i,j]) * v[j,e])  -> l[i]   = sum[j](exp(s[i,j] - m[i]))
//   y[i,e] = o[i,e] / l[i]                    o[i,e] = sum[j](exp(s[i,j] - m[i]) * v[j,e])
//
// Dividing all such sums of a row by exp(m) changes no reader that is homogeneous of degree 0 in
// them: quotients of two. A reader's own exp(s) counts as one of them, and is shifted too; a
// logarithm of one gets m added. If any reader of any of the sums is of another kind, all stay.
//
// Real laws. Measure: the number of sums of exponentials without a maximum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "ir/builtin.h"
#include "rewrite/carry.h"
#include "rewrite/expand.h"
#include "rewrite/laws.h"
#include "rewrite/passes.h"
#include "rewrite/terms.h"

namespace tang {

namespace {

constexpr uint32_t kReduceAt = 128;  // where the sums' reduce axes stand in a reader's frame

// A sum whose value is exp(exponent) * weight, seen through maps.
struct Powers {
  size_t def = 0;
  Comprehension seen;
  std::set<size_t> through;   // maps that it is seen through
  std::vector<uint32_t> row;  // point axes on which the exponent or the domain depend
};

// One sum as a reader sees it.
struct Seen {
  size_t def = 0;
  Sum exponent;
  GuardId domain;
  std::vector<FormId> row;  // the reader's forms at the sum's row axes
};

class Shifter {
 public:
  Shifter(const Program& program, Trace* trace)
      : program_(program),
        trace_(trace),
        edit_(program, trace),
        arena_(edit_.arena()),
        exprs_(arena_.exprs),
        index_(program) {}

  Program run() {
    find_sums();
    if (sums_.empty()) return program_;
    find_readers();
    for (auto& [def, sum] : sums_) {
      if (!free_.contains(def) || done_.contains(def)) continue;
      const std::vector<size_t> group = group_of(def);
      if (std::all_of(group.begin(), group.end(), [&](size_t d) { return free_.contains(d); }))
        shift(group);
    }
    return edit_.changed() ? edit_.finish() : program_;
  }

 private:
  // Sums of exponentials whose exponents no read of a row subtracts from: nothing shifts them yet.
  void find_sums() {
    const std::vector<bool> live = live_defs(program_, index_);
    std::vector<bool> has_exp(program_.defs.size());  // itself or through maps
    for (size_t d = 0; d < program_.defs.size(); ++d) {
      const Comprehension& c = program_.comprehension(DefId(d));
      for (const Component& k : c.components)
        for (const ExprId id : exprs_.post_order({k.value}))
          if (exprs_[id].op == Op::exp || exprs_[id].op == Op::exp2) has_exp[d] = true;
      for (const Read& read : c.reads)
        if (const auto from = index_.of(read.tensor))
          if (has_exp[from->value] && program_.comprehension(*from).is_map()) has_exp[d] = true;
      if (!live[d] || !has_exp[d] || !folds_by(arena_, c, Op::add)) continue;
      Powers sum{.def = d, .seen = {}, .through = {}, .row = {}};
      sum.seen = expanded(edit_, c, &sum.through);
      const Product p = product_of(exprs_, sum.seen.components[0].value);
      if (!p.has_exp || p.exponent.terms.empty() || !p.masks.empty()) continue;
      Dependence dependence(arena_, sum.seen);
      bool shifted = false;
      AxisSet axes = dependence.guard(sum.seen.domain);
      for (const auto& [factors, coefficient] : p.exponent.terms) {
        AxisSet of_term;
        for (const ExprId f : factors) of_term |= dependence.expr(f);
        shifted |= (of_term & dependence.reduce_axes()).none() && !factors.empty();
        axes |= of_term;
      }
      if (shifted) continue;
      for (uint32_t a = 0; a < sum.seen.n_points; ++a)
        if (axes.test(a)) sum.row.push_back(a);
      sums_.emplace(d, std::move(sum));
    }
  }

  // Which sums have only readers that a shift leaves alone, and which sums these readers join.
  void find_readers() {
    std::set<size_t> bound;
    for (const Output& o : program_.outputs)
      if (const auto def = index_.of(o.tensor)) bound.insert(def->value);
    const std::vector<bool> live = live_defs(program_, index_);
    for (size_t d = 0; d < program_.defs.size(); ++d) {
      if (!live[d]) continue;
      const Comprehension& c = program_.comprehension(DefId(d));
      std::vector<size_t> read;
      for (const Read& r : c.reads)
        if (const auto from = index_.of(r.tensor); from && sums_.contains(from->value))
          read.push_back(from->value);
      if (read.empty()) continue;
      Reader reader;
      if (c.is_map() && !c.is_update() && look(d, reader)) {
        for (const size_t sum : read) joined_[read[0]].insert(sum), joined_[sum].insert(read[0]);
        readers_.emplace(d, std::move(reader));
      } else {
        bound.insert(read.begin(), read.end());
      }
    }
    for (const auto& [def, sum] : sums_)
      if (!bound.contains(def) && joined_.contains(def)) free_.insert(def);
  }

  std::vector<size_t> group_of(size_t def) const {
    std::vector<size_t> group = {def};
    for (size_t n = 0; n < group.size(); ++n)
      for (const size_t other : joined_.at(group[n]))
        if (std::find(group.begin(), group.end(), other) == group.end()) group.push_back(other);
    std::sort(group.begin(), group.end());
    return group;
  }

  // A reader with a leaf that stands for the maximum of the row that it reads.
  struct Reader {
    Comprehension seen;
    std::set<size_t> through;
    Seen first;
  };

  // The sum's exponent in the reader's frame.
  Seen see(const Comprehension& reader, uint32_t k, ReadList& list, const Powers& sum) {
    Seen seen{.def = sum.def, .exponent = {}, .domain = {}, .row = {}};
    const View& view = arena_.views[reader.reads[k].view];
    std::vector<AxisImage> images(sum.seen.n_points);
    const std::vector<uint8_t>& axes = program_.comprehension(DefId(sum.def)).components[0].axes;
    for (size_t d = 0; d < axes.size(); ++d) images[axes[d]] = view.coords[d];
    for (uint32_t r = sum.seen.n_points; r < sum.seen.n_axes(); ++r)
      images.push_back({.form = arena_.forms.axis(kReduceAt + r - sum.seen.n_points), .data = {}});
    for (const uint32_t a : sum.row) seen.row.push_back(images[a].form);
    Carrier carrier(arena_, sum.seen, images, list);
    const Product p = product_of(exprs_, carrier.expr(sum.seen.components[0].value));
    seen.exponent = p.exponent;
    seen.domain = arena_.guard(carrier.guard(sum.seen.domain));
    return seen;
  }

  // The degree of an expression in the sums of one row, and what it is once they are shifted by
  // the maximum; nothing when it has none.
  struct Degree {
    int degree = 0;
    ExprId value;
  };

  bool look(size_t d, Reader& out) {
    std::set<size_t> through;
    Comprehension reader = expanded(edit_, program_.comprehension(DefId(d)), &through);
    ReadList list(arena_);
    list.reads = reader.reads;
    std::optional<Seen> first;
    for (uint32_t k = 0; k < reader.reads.size(); ++k) {
      const auto source = index_.of(reader.reads[k].tensor);
      if (!source || !sums_.contains(source->value)) continue;
      const View& view = arena_.views[reader.reads[k].view];
      if (view.guarded || std::any_of(view.coords.begin(), view.coords.end(),
                                      [](const Coord& c) { return c.is_gather(); }))
        return false;
      const Seen seen = see(reader, k, list, sums_.at(source->value));
      if (first && (seen.exponent != first->exponent || seen.domain != first->domain ||
                    seen.row.size() != first->row.size()))
        return false;
      if (!first) first = seen;
    }
    if (!first) return false;
    // A leaf that no program has stands for the maximum until it is known.
    const ExprId top = exprs_.leaf(Op::left, Type::f64, 0);
    const auto result = degree_of(reader, reader.components[0].value, *first, list, top);
    if (!result || result->degree != 0) return false;
    reader.components[0].value = result->value;
    out = {.seen = std::move(reader), .through = std::move(through), .first = *first};
    return true;
  }

  std::optional<Degree> degree_of(const Comprehension& reader, ExprId root, const Seen& row,
                                  ReadList& list, ExprId top) {
    std::map<ExprId, Degree> of;
    for (const ExprId id : exprs_.post_order({root})) {
      const Expr e = exprs_[id];
      Degree d{.degree = 0, .value = id};
      if (e.op == Op::read) {
        const auto source = index_.of(reader.reads[e.index()].tensor);
        if (source && sums_.contains(source->value)) d.degree = 1;
        of.emplace(id, d);
        continue;
      }
      std::array<ExprId, 3> args{};
      bool all_invariant = true, same = true;
      for (size_t i = 0; i < e.n_args; ++i) {
        args[i] = of.at(e.args[i]).value;
        all_invariant &= of.at(e.args[i]).degree == 0;
        same &= of.at(e.args[i]).degree == of.at(e.args[0]).degree;
      }
      const auto degree = [&](size_t i) { return of.at(e.args[i]).degree; };
      d.value = e.n_args > 0 ? exprs_.rebuild(id, args) : id;
      if (e.op == Op::exp && is_power(reader, e.args[0], row, list)) {
        d.degree = 1;
        d.value = exprs_.make(Op::exp, exprs_.make(Op::sub, args[0], top));
      } else if (e.op == Op::mul) {
        d.degree = degree(0) + degree(1);
      } else if (e.op == Op::div) {
        d.degree = degree(0) - degree(1);
      } else if (e.op == Op::recip) {
        d.degree = -degree(0);
      } else if (e.op == Op::log && degree(0) == 1) {
        d.value = exprs_.make(Op::add, d.value, top);
      } else if ((e.op == Op::add || e.op == Op::sub) && same) {
        d.degree = degree(0);
      } else if (e.op == Op::neg) {
        d.degree = degree(0);
      } else if (e.op == Op::select && is_zero_test(of, e.args[0]) &&
                 (exprs_.is_constant(e.args[1]) || exprs_.is_constant(e.args[2]))) {
        // n == 0 ? 1 : n
        d.degree = exprs_.is_constant(e.args[1]) ? degree(2) : degree(1);
      } else if (op_info(e.op).cls == OpClass::compare && is_zero_test(of, id)) {
        d.degree = 0;
      } else if (!all_invariant) {
        return std::nullopt;
      }
      of.emplace(id, d);
    }
    return of.at(root);
  }

  // A sum compared with 0: a shift does not move it.
  bool is_zero_test(const std::map<ExprId, Degree>& of, ExprId id) const {
    const Expr e = exprs_[id];
    if (op_info(e.op).cls != OpClass::compare) return false;
    return is_constant(exprs_, e.args[1], 0.0) && of.at(e.args[0]).degree == 1;
  }

  // The reader's exp has the sums' exponent at one of the points that they fold.
  bool is_power(const Comprehension& reader, ExprId exponent, const Seen& row, ReadList& list) {
    // The reader's axes that stand where the sums fold: tried in order.
    const size_t n_reduce = sums_.at(row.def).seen.n_axes() - sums_.at(row.def).seen.n_points;
    if (n_reduce != 1) return false;
    const Sum own = sum_of(exprs_, exponent);
    for (uint32_t a = 0; a < reader.n_axes(); ++a) {
      Comprehension frame;
      frame.extents.assign(kReduceAt + 1, arena_.forms.constant(0));
      frame.reads = list.reads;
      std::vector<AxisImage> images = same_axes(arena_, kReduceAt + 1);
      images[kReduceAt].form = arena_.forms.axis(a);
      Carrier carrier(arena_, frame, images, list);
      Sum there;
      for (const auto& [factors, coefficient] : row.exponent.terms) {
        std::vector<ExprId> moved;
        for (const ExprId f : factors) moved.push_back(carrier.expr(f));
        there.add_term(std::move(moved), coefficient);
      }
      // Only points that the sums fold: all of them.
      if (there == own && arena_.guards[row.domain].empty() &&
          sums_.at(row.def).seen.extents.back() == reader.extents[a])
        return true;
    }
    return false;
  }

  void shift(const std::vector<size_t>& group) {
    const Powers& leader = sums_.at(group[0]);
    const Def& def = program_.def(DefId(leader.def));
    Step step{.pass = "stabilize-softmax",
              .laws = {law::kShift, law::kCommonFactor},
              .before = {},
              .after = {},
              .equal = {},
              .says = ""};
    // The maximum over the leader's row.
    ReadList list(arena_);
    std::vector<AxisImage> images(leader.seen.n_axes(),
                                  {.form = arena_.forms.constant(0), .data = {}});
    Comprehension peak;
    std::vector<std::string> axis_names;
    std::vector<uint8_t> own;
    for (uint32_t a = 0; a < leader.seen.n_axes(); ++a) {
      const bool reduced = a >= leader.seen.n_points;
      if (!reduced && std::find(leader.row.begin(), leader.row.end(), a) == leader.row.end())
        continue;
      if (!reduced) own.push_back(static_cast<uint8_t>(peak.extents.size()));
      images[a].form = arena_.forms.axis(static_cast<uint32_t>(peak.extents.size()));
      peak.extents.push_back(leader.seen.extents[a]);
      axis_names.push_back(def.axis_names[a]);
    }
    peak.n_points = static_cast<uint8_t>(own.size());
    Carrier carrier(arena_, leader.seen, images, list);
    const Product p = product_of(exprs_, leader.seen.components[0].value);
    peak.domain = arena_.guard(carrier.guard(leader.seen.domain));
    peak.monoid = builtin_monoid(arena_, "max", {Type::f64});
    peak.components = {{.value = carrier.expr(expr_of(exprs_, p.exponent)), .axes = own}};
    peak.reads = list.reads;
    const Def top = edit_.add(DefId(leader.def), tidy(arena_, peak),
                              {edit_.fresh(name_of(def) + "_max")}, axis_names);
    step.after.push_back(top);
    std::vector<size_t> own_readers;
    for (const auto& [d, reader] : readers_)
      if (std::find(group.begin(), group.end(), reader.first.def) != group.end())
        own_readers.push_back(d);
    std::set<size_t> before(group.begin(), group.end());
    before.insert(own_readers.begin(), own_readers.end());
    for (const size_t d : group)
      before.insert(sums_.at(d).through.begin(), sums_.at(d).through.end());
    for (const size_t d : own_readers)
      before.insert(readers_.at(d).through.begin(), readers_.at(d).through.end());
    step.before = snapshots(edit_, before);
    std::vector<TensorId> claimed;
    for (const size_t d : own_readers)
      claimed.push_back(arena_.component(edit_.snapshot(DefId(d)).id, 0));
    std::string names;
    for (const size_t member : group) {
      const Def& sum = program_.def(DefId(member));
      edit_.replace(DefId(member), shifted(sums_.at(member), top), sum.axis_names);
      step.after.push_back(edit_.snapshot(DefId(member)));
      names += (names.empty() ? "" : ", ") + name_of(sum);
      done_.insert(member);
    }
    for (size_t n = 0; n < own_readers.size(); ++n) {
      const size_t d = own_readers[n];
      const Reader& reader = readers_.at(d);
      Comprehension c = with_peak(reader.seen, top, reader.first.row);
      edit_.replace(DefId(d), c, program_.def(DefId(d)).axis_names);
      step.after.push_back(edit_.snapshot(DefId(d)));
      step.equal.emplace_back(claimed[n],
                              arena_.component(step.after.back().id, 0));
    }
    step.says = fmt::format("{}: exponents are shifted by their maximum, which no reader can tell",
                            names);
    if (trace_) trace_->steps.push_back(std::move(step));
  }

  Read read_of(const Def& top, const std::vector<FormId>& row) {
    View view{.coords = {}, .guarded = false, .guard = arena_.no_guard()};
    for (const FormId f : row) view.coords.push_back({.form = f, .data = {}});
    return {.tensor = arena_.component(top.id, 0),
            .view = arena_.views.intern(std::move(view)),
            .otherwise = {}};
  }

  // Where all exponents are -inf, so is their maximum, and a shift by 0 leaves the sum 0.
  ExprId finite(ExprId peak) {
    return exprs_.select(exprs_.make(Op::eq, peak, exprs_.real(-HUGE_VAL)), exprs_.real(0.0),
                         peak);
  }

  // exp(e)*w as exp(e - m)*w.
  Comprehension shifted(const Powers& sum, const Def& top) {
    std::vector<FormId> row;
    for (const uint32_t a : sum.row) row.push_back(arena_.forms.axis(a));
    Comprehension c = sum.seen;
    ReadList list(arena_);
    list.reads = c.reads;
    const ExprId peak = finite(list.add(read_of(top, row)));
    Product p = product_of(exprs_, c.components[0].value);
    ExprId value = exprs_.make(
        Op::exp, exprs_.make(Op::sub, expr_of(exprs_, p.exponent), peak));
    if (p.coefficient != 1.0) value = exprs_.make(Op::mul, value, exprs_.real(p.coefficient));
    for (const ExprId f : p.factors) value = exprs_.make(Op::mul, value, f);
    for (const ExprId f : p.divisors) value = exprs_.make(Op::div, value, f);
    c.components[0].value = value;
    c.reads = list.reads;
    return tidy(arena_, c);
  }

  Comprehension with_peak(const Comprehension& reader, const Def& top,
                          const std::vector<FormId>& row) {
    Comprehension c = reader;
    ReadList list(arena_);
    list.reads = c.reads;
    const ExprId peak = finite(list.add(read_of(top, row)));
    c.reads = list.reads;
    return rebuilt(arena_, c, [&](ExprId id, const std::array<ExprId, 3>&) {
      return exprs_[id].op == Op::left ? peak : ExprId();
    });
  }

  const Program& program_;
  Trace* trace_;
  Edit edit_;
  Arena& arena_;
  Exprs& exprs_;
  DefIndex index_;
  std::map<size_t, Powers> sums_;
  std::map<size_t, Reader> readers_;
  std::map<size_t, std::set<size_t>> joined_;  // sums that one reader reads
  std::set<size_t> free_, done_;
};

}  // namespace

Program shift_exponents(const Program& program, Trace* trace) {
  return Shifter(program, trace).run();
}

}  // namespace tang
