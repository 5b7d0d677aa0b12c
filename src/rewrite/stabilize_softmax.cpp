// A maximum and the sums of exponentials that it shifts, in one pass over their points.
//
//   m[i]   = max[j](s[i,j])                       peak, l, acc = online_softmax[j](s, 1, v)
//   l[i]   = sum[j](exp(s[i,j] - m[i]))      ->   m = peak, l and acc as they are
//   o[i,e] = sum[j](exp(s[i,j] - m[i]) * v[j,e])
//
// It looks at reductions through the maps that they read. A sum belongs to a maximum that it reads
// when, in normal form, its value is exp(c*s + t) * v, where s is the maximum's value at the same
// point, c > 0 is a constant, and t depends on no reduce index. Where t is -c*m the sum is the
// online one; else it is that times exp(c*m + t), computed by a map. Scores of -inf are masks on
// either side, and must be the same; what more a sum leaves out stays a factor of v.
//
// Real laws. Measure: the number of maxima of one component that sums shift by.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ir/builtin.h"
#include "rewrite/carry.h"
#include "rewrite/expand.h"
#include "rewrite/laws.h"
#include "rewrite/passes.h"
#include "rewrite/terms.h"

namespace tang {

namespace {

constexpr double kInfinity = HUGE_VAL;

// The points that a reduction folds, as a set of conditions.
struct Points {
  std::set<Constraint> constraints;
  std::set<ExprId> conditions;

  // What is in this and not in `other`.
  Points without(const Points& other) const {
    Points rest;
    for (const Constraint& c : constraints)
      if (!other.constraints.contains(c)) rest.constraints.insert(c);
    for (const ExprId e : conditions)
      if (!other.conditions.contains(e)) rest.conditions.insert(e);
    return rest;
  }
  bool empty() const { return constraints.empty() && conditions.empty(); }
  Guard guard(Arena& arena) const {
    Guard g;
    g.constraints.assign(constraints.begin(), constraints.end());
    for (const ExprId e : conditions) g.condition = arena.exprs.logical_and(g.condition, e);
    return arena.guards[arena.guard(std::move(g))];
  }
};

// A sum that may join a maximum.
struct Member {
  DefId def;
  ExprId value;                // in the frame: v
  std::vector<uint8_t> axes;   // of the component, in the frame
  Sum rest;                    // exponent that is left: the sum is v's component times exp(rest)
  std::vector<AxisImage> own;  // the definition's point axes, in the frame
};

// One maximum, the frame of the comprehension in the making, and the sums that join.
class Group {
 public:
  Group(const Program& program, Edit& edit, const Overwrites& overwrites, DefId peak)
      : program_(program),
        edit_(edit),
        overwrites_(overwrites),
        arena_(edit.arena()),
        exprs_(arena_.exprs),
        peak_(peak),
        list_(arena_) {
    const Comprehension seen = expanded(edit, edit.current(peak), &through_);
    n_points_ = seen.n_points;
    const size_t n_reduce = seen.n_axes() - seen.n_points;
    // Reduce axes stand far behind until all point axes are known.
    for (size_t a = 0; a < n_points_; ++a) extents_.push_back(seen.extents[a]);
    for (size_t r = 0; r < n_reduce; ++r) reduce_.push_back(seen.extents[n_points_ + r]);
    axis_names_ = program.def(peak).axis_names;
    Carrier carrier(arena_, seen, frame_images({}, n_points_, n_reduce), list_);
    score_ = carrier.expr(seen.components[0].value);
    peak_axes_ = seen.components[0].axes;
    View view{.coords = {}, .guarded = false, .guard = arena_.no_guard()};
    for (const uint8_t axis : peak_axes_)
      view.coords.push_back({.form = arena_.forms.axis(axis), .data = {}});
    peak_tensor_ = edit.now(arena_.component(program.def(peak).id, 0));
    peak_leaf_ = list_.add({.tensor = peak_tensor_,
                            .view = arena_.views.intern(std::move(view)),
                            .otherwise = {}});
    std::vector<ExprId> masks;
    sum_ = unmasked(exprs_, sum_of(exprs_, score_), masks);
    masked_ = !masks.empty();
    points_ = points_of(carrier.guard(seen.domain), masks);
  }

  // Why the sum does not join; "" when it did.
  std::string join(DefId def);
  bool empty() const { return members_.empty(); }
  // Replaces the maximum and its members.
  void build(Trace* trace);

 private:
  static constexpr size_t kReduceAt = 128;  // where reduce axes stand for the time being

  std::vector<AxisImage> frame_images(const std::vector<AxisImage>& points, size_t n_points,
                                      size_t n_reduce) const {
    std::vector<AxisImage> images = points.empty() ? same_axes(arena_, n_points) : points;
    for (size_t r = 0; r < n_reduce; ++r)
      images.push_back(
          {.form = arena_.forms.axis(static_cast<uint32_t>(kReduceAt + r)), .data = {}});
    return images;
  }

  Facts facts() const {
    Forms& forms = arena_.forms;
    Facts facts = program_.assumptions;
    const auto axis = [&](size_t at, FormId extent) {
      const FormId a = forms.axis(static_cast<uint32_t>(at));
      facts.push_back({.form = a});
      facts.push_back({.form = forms.add(forms.sub(extent, a), -1)});
    };
    for (size_t a = 0; a < extents_.size(); ++a) axis(a, extents_[a]);
    for (size_t r = 0; r < reduce_.size(); ++r) axis(kReduceAt + r, reduce_[r]);
    return facts;
  }

  Points points_of(const Guard& domain, const std::vector<ExprId>& masks) {
    Guard all = domain;
    for (const ExprId mask : masks) all = both(arena_, all, guard_of(arena_, mask));
    if (all.condition.valid()) {
      Guard constraints = all;
      constraints.condition = {};
      all = both(arena_, constraints, guard_of(arena_, all.condition));
    }
    Points points;
    const Facts known = facts();
    for (const Constraint& c : all.constraints)
      if (!proves(arena_.forms, known, c)) points.constraints.insert(c);
    std::vector<ExprId> stack;
    if (all.condition.valid()) stack.push_back(all.condition);
    while (!stack.empty()) {
      const ExprId e = stack.back();
      stack.pop_back();
      if (exprs_[e].op == Op::logic_and)
        stack.insert(stack.end(), {exprs_[e].args[0], exprs_[e].args[1]});
      else
        points.conditions.insert(e);
    }
    return points;
  }

  // m, or a finite number where it is -inf: exp of -inf less either is 0.
  bool is_peak(ExprId e) const {
    if (e == peak_leaf_) return true;
    const Expr x = exprs_[e];
    if (x.op != Op::select) return false;
    const Expr test = exprs_[x.args[0]];
    if (op_info(test.op).cls != OpClass::compare || test.args[0] != peak_leaf_ ||
        !is_constant(exprs_, test.args[1], -kInfinity))
      return false;
    const auto finite = [&](ExprId v) {
      const auto c = constant_of(exprs_, v);
      return c && std::isfinite(*c);
    };
    if (test.op == Op::eq) return x.args[2] == peak_leaf_ && finite(x.args[1]);
    return (test.op == Op::ne || test.op == Op::gt) && x.args[1] == peak_leaf_ &&
           finite(x.args[2]);
  }

  bool is_invariant(ExprId e) {
    Comprehension frame;
    frame.extents.assign(kReduceAt + reduce_.size(), arena_.forms.constant(1));
    frame.n_points = static_cast<uint8_t>(kReduceAt);
    frame.reads = list_.reads;
    return Dependence(arena_, frame).is_invariant(e);
  }

  std::string try_to_join(DefId def);
  std::optional<std::vector<AxisImage>> axes_by_peak(const Comprehension& sum);
  std::string match(DefId def, const Comprehension& seen, Member& member);

  const Program& program_;
  Edit& edit_;
  const Overwrites& overwrites_;
  Arena& arena_;
  Exprs& exprs_;
  DefId peak_;
  ReadList list_;
  size_t n_points_ = 0;  // of the maximum; further point axes of members follow in extents_
  std::vector<FormId> extents_, reduce_;
  std::vector<std::string> axis_names_;  // of points, then of reduce axes
  std::vector<std::string> extra_names_;
  ExprId score_, peak_leaf_;
  TensorId peak_tensor_;
  std::vector<uint8_t> peak_axes_;
  Sum sum_;
  bool masked_ = false;
  Points points_;
  std::optional<double> scale_;  // c, once a member is there
  std::vector<Member> members_;
  std::vector<size_t> nodes_;
  std::set<size_t> through_;  // maps that the maximum and the members are seen through
};

// Where the sum's point axes stand in the frame: by the coordinates at which it reads the maximum;
// what it has beyond these stands behind.
std::optional<std::vector<AxisImage>> Group::axes_by_peak(const Comprehension& sum) {
  for (const Read& read : sum.reads) {
    if (read.tensor != peak_tensor_) continue;
    const View& view = arena_.views[read.view];
    std::vector<AxisImage> images(sum.n_points);
    bool plain = !view.guarded;
    for (size_t d = 0; plain && d < view.coords.size(); ++d) {
      const auto v = view.coords[d].is_gather() ? std::nullopt
                                                : arena_.forms.as_var(view.coords[d].form);
      plain = v && v->kind == VarKind::axis && v->index < sum.n_points &&
              !images[v->index].form.valid() &&
              sum.extents[v->index] == extents_[peak_axes_[d]];
      if (plain) images[v->index].form = arena_.forms.axis(peak_axes_[d]);
    }
    if (!plain) continue;
    size_t next = n_points_;
    for (size_t a = 0; a < sum.n_points; ++a) {
      if (images[a].form.valid()) continue;
      while (next < extents_.size() && extents_[next] != sum.extents[a]) ++next;
      if (next >= kReduceAt) return std::nullopt;
      if (next == extents_.size()) {
        extents_.push_back(sum.extents[a]);
        extra_names_.push_back("");
      }
      images[a].form = arena_.forms.axis(static_cast<uint32_t>(next++));
    }
    return images;
  }
  return std::nullopt;
}

std::string Group::match(DefId def, const Comprehension& seen, Member& member) {
  Carrier carrier(arena_, seen, member.own, list_);
  Product p = product_of(exprs_, carrier.expr(seen.components[0].value));
  if (!p.has_exp) return "it sums no exponentials";
  Sum varying;
  for (const auto& [factors, coefficient] : p.exponent.terms) {
    const bool invariant = std::all_of(factors.begin(), factors.end(),
                                       [&](ExprId e) { return is_invariant(e); });
    if (!invariant) {
      varying.add_term(factors, coefficient);
      continue;
    }
    std::vector<ExprId> own = factors;
    for (ExprId& e : own)
      if (is_peak(e)) e = peak_leaf_;
    member.rest.add_term(std::move(own), coefficient);
  }
  // Terms that depend on no reduce index shift every score alike: they are part of neither.
  Sum score;
  for (const auto& [factors, coefficient] : sum_.terms)
    if (!std::all_of(factors.begin(), factors.end(), [&](ExprId e) { return is_invariant(e); }))
      score.add_term(factors, coefficient);
  const auto c = ratio(varying, score);
  if (!c || !(*c > 0)) return "its exponent is no multiple of what the maximum is of";
  if (scale_ && *scale_ != *c) return "its exponent has another factor than the other sums'";
  for (const auto& [factors, coefficient] : sum_.terms)
    if (!score.terms.contains(factors)) member.rest.add_term(factors, -*c * coefficient);
  member.rest.add_term({peak_leaf_}, *c);
  std::erase_if(member.rest.terms, [&](const auto& term) {
    return std::abs(term.second) < 1e-13 * *c;  // what rounding of coefficients left
  });
  const Points own = points_of(carrier.guard(seen.domain), p.masks);
  if (!points_.without(own).empty()) return "it sums points that the maximum leaves out";
  const Points more = own.without(points_);
  ExprId value = exprs_.real(p.coefficient);
  for (const ExprId f : p.factors)
    value = is_constant(exprs_, value, 1.0) ? f : exprs_.make(Op::mul, value, f);
  for (const ExprId f : p.divisors) value = exprs_.make(Op::div, value, f);
  if (!more.empty())
    value = exprs_.select(as_condition(arena_, more.guard(arena_)), value, exprs_.real(0.0));
  scale_ = c;
  member.def = def;
  member.value = value;
  return "";
}

std::string Group::join(DefId def) {
  // What it adds to the frame stays only if it joins.
  const size_t n_extents = extents_.size(), n_extra = extra_names_.size();
  const std::string why = try_to_join(def);
  if (!why.empty()) extents_.resize(n_extents);
  if (!why.empty()) extra_names_.resize(n_extra);
  return why;
}

std::string Group::try_to_join(DefId def) {
  const Comprehension given = edit_.current(def);
  if (!folds_by(arena_, given, Op::add)) return "it is no sum";
  std::set<size_t> through;
  const Comprehension seen = expanded(edit_, given, &through);
  if (seen.n_axes() - seen.n_points != reduce_.size()) return "it sums over other indices";
  const auto points = axes_by_peak(seen);
  if (!points) return "it reads the maximum at other places than its own";
  // The reduce axes in each order that their extents allow.
  std::vector<size_t> order(reduce_.size());
  for (size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::string why = "it sums over other ranges";
  do {
    Member member;
    member.own = *points;
    bool fits = true;
    for (size_t r = 0; r < order.size(); ++r) {
      fits &= seen.extents[seen.n_points + r] == reduce_[order[r]];
      member.own.push_back(
          {.form = arena_.forms.axis(static_cast<uint32_t>(kReduceAt + order[r])), .data = {}});
    }
    if (!fits) continue;
    why = match(def, seen, member);
    if (!why.empty()) continue;
    for (const uint8_t axis : given.components[0].axes)
      member.axes.push_back(
          static_cast<uint8_t>(arena_.forms.as_var(member.own[axis].form)->index));
    for (size_t a = 0; a < given.n_points; ++a) {
      const size_t at = arena_.forms.as_var(member.own[a].form)->index;
      if (at >= n_points_ && extra_names_[at - n_points_].empty())
        extra_names_[at - n_points_] = program_.def(def).axis_names[a];
    }
    // Its value may need neither the maximum nor another member.
    Comprehension needs;
    needs.extents = extents_;
    needs.domain = arena_.no_guard();
    needs.reads = list_.reads;
    needs.components = {{.value = member.value, .axes = {}}, {.value = score_, .axes = {}}};
    const std::vector<bool> used = used_reads(arena_, needs);
    std::vector<Read> reads;
    for (size_t k = 0; k < used.size(); ++k)
      if (used[k]) reads.push_back(needs.reads[k]);
    needs.reads = std::move(reads);
    std::vector<size_t> targets = nodes_;
    targets.push_back(peak_.value);
    targets.push_back(def.value);
    if (depends_on(edit_, needs, targets)) return "its terms need the result of another sum";
    if (overwrites_.deadline(needs) <= *std::max_element(targets.begin(), targets.end()))
      return "an update overwrites what it reads before another sum is computed";
    members_.push_back(std::move(member));
    nodes_.push_back(def.value);
    through_.insert(through.begin(), through.end());
    return "";
  } while (std::next_permutation(order.begin(), order.end()));
  return why;
}

void Group::build(Trace* trace) {
  const Def& peak = program_.def(peak_);
  Step step{.pass = "stabilize-softmax",
            .laws = {law::kExpOfSum, law::kNoWeight},
            .before = {},
            .after = {},
            .equal = {},
            .says = ""};
  Comprehension c{.extents = extents_,
                  .n_points = static_cast<uint8_t>(extents_.size()),
                  .reads = list_.reads,
                  .domain = arena_.guard(points_.guard(arena_)),
                  .monoid = builtin_monoid(arena_, "online_softmax",
                                           std::vector<Type>(1 + members_.size(), Type::f64)),
                  .components = {},
                  .into = {}};
  c.extents.insert(c.extents.end(), reduce_.begin(), reduce_.end());
  ExprId score = score_;
  if (masked_ || *scale_ != 1.0) {
    Sum scaled;
    scaled.add(sum_, *scale_);
    score = expr_of(exprs_, scaled);
  }
  c.components.push_back({.value = score, .axes = peak_axes_});
  for (const Member& m : members_) c.components.push_back({.value = m.value, .axes = m.axes});
  // Reduce axes move to their place.
  Comprehension from = c;
  from.extents.assign(kReduceAt + reduce_.size(), arena_.forms.constant(0));
  std::vector<AxisImage> images(kReduceAt + reduce_.size());
  for (size_t a = 0; a < extents_.size(); ++a)
    images[a].form = arena_.forms.axis(static_cast<uint32_t>(a));
  for (size_t r = 0; r < reduce_.size(); ++r)
    images[kReduceAt + r].form = arena_.forms.axis(static_cast<uint32_t>(extents_.size() + r));
  ReadList list(arena_);
  Carrier carrier(arena_, from, images, list);
  c.domain = arena_.guard(carrier.guard(c.domain));
  for (Component& k : c.components) k.value = carrier.expr(k.value);
  c.reads = list.reads;

  std::vector<std::string> axis_names(axis_names_.begin(), axis_names_.begin() + n_points_);
  axis_names.insert(axis_names.end(), extra_names_.begin(), extra_names_.end());
  axis_names.insert(axis_names.end(), axis_names_.begin() + n_points_, axis_names_.end());
  const auto free_name = [&](const std::string& wanted) {
    std::string name = wanted;
    for (int n = 2; std::count(axis_names.begin(), axis_names.end(), name) > 0; ++n)
      name = fmt::format("{}_{}", wanted, n);
    return name;
  };
  for (size_t e = 0; e < extra_names_.size(); ++e) {
    std::string& name = axis_names[n_points_ + e];
    const std::string wanted = std::exchange(name, "");
    name = free_name(wanted);
  }

  // What stands for each: the component itself, or a map of it.
  const bool direct_peak = *scale_ == 1.0;
  std::vector<std::string> names = {direct_peak ? name_of(peak)
                                                : edit_.fresh(name_of(peak) + "_scaled")};
  std::set<size_t> before = through_;
  before.insert(peak_.value);
  before.insert(nodes_.begin(), nodes_.end());
  step.before = snapshots(edit_, before);
  std::string joined;
  for (const Member& m : members_) {
    const Def& def = program_.def(m.def);
    names.push_back(m.rest.terms.empty() ? name_of(def) : edit_.fresh(name_of(def) + "_online"));
    joined += (joined.empty() ? "" : ", ") + name_of(def);
    if (!m.rest.terms.empty()) step.laws = {law::kExpOfSum, law::kNoWeight, law::kShift};
  }
  step.says = fmt::format("{}, {} fold the same scores: one pass computes them", name_of(peak),
                          joined);
  const Def online = edit_.add(peak_, c, names, axis_names);
  step.after.push_back(online);

  const auto component = [&](uint32_t k) {
    View view{.coords = {}, .guarded = false, .guard = arena_.no_guard()};
    for (const uint8_t axis : c.components[k].axes)
      view.coords.push_back({.form = arena_.forms.axis(axis), .data = {}});
    return Read{.tensor = arena_.component(online.id, k),
                .view = arena_.views.intern(std::move(view)),
                .otherwise = {}};
  };
  std::vector<TensorId> claimed = {arena_.component(edit_.snapshot(peak_).id, 0)};
  for (const Member& m : members_)
    claimed.push_back(arena_.component(edit_.snapshot(m.def).id, 0));
  const auto settle = [&](DefId def, uint32_t k, const Comprehension* map) {
    const TensorId old = arena_.component(program_.def(def).id, 0);
    const TensorId snapshot = claimed[k];
    if (map) {
      edit_.replace(def, *map, {program_.def(def).axis_names.begin(),
                                program_.def(def).axis_names.begin() + map->n_points});
      step.after.push_back(edit_.snapshot(def));
      step.equal.emplace_back(snapshot, arena_.component(step.after.back().id, 0));
    } else {
      edit_.stand_for(old, arena_.component(online.id, k));
      edit_.drop(def);
      step.equal.emplace_back(snapshot, arena_.component(online.id, k));
    }
  };
  // The maps, in the frame of the definitions that they take the place of.
  const auto map_of = [&](DefId def, const std::vector<AxisImage>& own,
                          const std::function<ExprId(ReadList&, Carrier&)>& value) {
    const Comprehension old = edit_.current(def);
    Comprehension frame;
    frame.extents.assign(kReduceAt + reduce_.size(), arena_.forms.constant(0));
    frame.reads = list_.reads;
    std::vector<AxisImage> back(kReduceAt + reduce_.size(),
                                {.form = arena_.forms.constant(0), .data = {}});
    for (size_t a = 0; a < old.n_points; ++a)
      back[arena_.forms.as_var(own[a].form)->index].form =
          arena_.forms.axis(static_cast<uint32_t>(a));
    ReadList reads(arena_);
    // The online components are read in the frame as well.
    std::vector<Read> all = frame.reads;
    for (uint32_t k = 0; k < c.components.size(); ++k) all.push_back(component(k));
    frame.reads = all;
    Carrier to(arena_, frame, back, reads);
    const ExprId made = value(reads, to);
    Comprehension map{.extents = {old.extents.begin(), old.extents.begin() + old.n_points},
                      .n_points = old.n_points,
                      .reads = reads.reads,
                      .domain = arena_.no_guard(),
                      .monoid = {},
                      .components = {{.value = made, .axes = old.components[0].axes}},
                      .into = {}};
    return tidy(arena_, map);
  };
  const uint32_t n_frame_reads = static_cast<uint32_t>(list_.reads.size());
  std::vector<AxisImage> peak_own = same_axes(arena_, n_points_);
  std::vector<std::optional<Comprehension>> maps(1 + members_.size());
  if (!direct_peak)
    maps[0] = map_of(peak_, peak_own, [&](ReadList&, Carrier& to) {
      return exprs_.make(Op::mul, to.read(n_frame_reads), exprs_.real(1.0 / *scale_));
    });
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& m = members_[i];
    if (m.rest.terms.empty()) continue;
    maps[i + 1] = map_of(m.def, m.own, [&](ReadList&, Carrier& to) {
      const ExprId top = to.read(n_frame_reads);
      // The old maximum is the new one over the scale.
      const ExprId old_top =
          direct_peak ? top : exprs_.make(Op::mul, top, exprs_.real(1.0 / *scale_));
      const uint32_t peak_read = exprs_[peak_leaf_].index();
      to.instead = [&, peak_read, old_top](uint32_t k) {
        return k == peak_read ? old_top : ExprId();
      };
      const ExprId shift =
          exprs_.make(Op::exp, to.expr(expr_of(exprs_, m.rest)));
      const ExprId online_sum = to.read(n_frame_reads + 1 + static_cast<uint32_t>(i));
      return exprs_.select(exprs_.make(Op::eq, top, exprs_.real(-kInfinity)), exprs_.real(0.0),
                           exprs_.make(Op::mul, online_sum, shift));
    });
  }
  settle(peak_, 0, maps[0] ? &*maps[0] : nullptr);
  for (size_t i = 0; i < members_.size(); ++i)
    settle(members_[i].def, static_cast<uint32_t>(i + 1), maps[i + 1] ? &*maps[i + 1] : nullptr);
  if (trace) trace->steps.push_back(std::move(step));
}

}  // namespace

Program stabilize_softmax(const Program& given, const RewriteOptions& options, Trace* trace) {
  if (options.strict) return given;
  const Program program = shift_exponents(given, trace);
  Edit edit(program, trace);
  Arena& arena = edit.arena();
  const DefIndex index(program);
  // Readers of each maximum, through maps: whoever follows in order and reaches it by maps alone.
  std::vector<std::set<size_t>> peaks(program.defs.size());  // that a definition sees
  std::vector<std::vector<size_t>> sums(program.defs.size());
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const Comprehension& c = program.comprehension(DefId(d));
    for (const Read& read : c.reads) {
      const auto from = index.of(read.tensor);
      if (!from) continue;
      const Comprehension& source = program.comprehension(*from);
      if (folds_by(arena, source, Op::max)) peaks[d].insert(from->value);
      if (source.is_map()) peaks[d].insert(peaks[from->value].begin(), peaks[from->value].end());
    }
    if (folds_by(arena, c, Op::add))
      for (const size_t peak : peaks[d]) sums[peak].push_back(d);
  }
  const Overwrites overwrites(program);
  std::vector<bool> joined(program.defs.size(), false);
  for (size_t peak = 0; peak < sums.size(); ++peak) {
    if (sums[peak].empty()) continue;
    Group group(program, edit, overwrites, DefId(peak));
    for (const size_t sum : sums[peak]) {
      if (joined[sum]) continue;
      const std::string why = group.join(DefId(sum));
      joined[sum] = why.empty();
      if (!why.empty() && trace)
        trace->refusals.push_back(
            {.pass = "stabilize-softmax", .name = name_of(program.defs[sum]), .why = why});
    }
    if (!group.empty()) group.build(trace);
  }
  // Maps that sums read have fewer readers now.
  return edit.changed() ? substitute_maps(edit.finish(), options, trace) : program;
}

}  // namespace tang
