// Reductions over one space, for the same readers, become one reduction under the product of their
// monoids: what they read is read once, and their readers wait for one kernel.
//
// Two reductions are siblings when the same definitions read them, at coordinates that say which
// point of the one goes with which point of the other (or nothing reads them, and their points are
// alike), when they fold the same points, and neither needs the other. Exact: each component folds
// what it folded, in the same order. Measure: the number of reductions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "ir/builtin.h"
#include "rewrite/carry.h"
#include "rewrite/expand.h"
#include "rewrite/passes.h"

namespace tang {

namespace {

// Which axes of a reader the dimensions of a tensor are, by the tensor's points.
using AxesInReader = std::vector<uint32_t>;

class Siblings {
 public:
  Siblings(const Program& program, Trace* trace)
      : program_(program), trace_(trace), edit_(program, trace), arena_(edit_.arena()) {}

  Program run() {
    find_readers();
    std::map<std::vector<size_t>, std::vector<size_t>> families;  // by readers
    std::map<std::vector<FormId>, std::vector<size_t>> unread;    // outputs alone, by extents
    for (size_t d = 0; d < program_.defs.size(); ++d) {
      const Comprehension& c = program_.comprehension(DefId(d));
      if (c.is_map() || arena_.monoids[c.monoid].keeps_lists()) continue;
      if (readers_[d].empty())
        unread[c.extents].push_back(d);
      else
        families[readers_[d]].push_back(d);
    }
    std::vector<std::vector<size_t>> in_order;
    for (const auto& [key, family] : families) in_order.push_back(family);
    for (const auto& [key, family] : unread) in_order.push_back(family);
    std::sort(in_order.begin(), in_order.end());
    for (const std::vector<size_t>& family : in_order) merge(family);
    return edit_.changed() ? edit_.finish() : program_;
  }

 private:
  void find_readers() {
    const DefIndex index(program_);
    readers_.resize(program_.defs.size());
    const Overwrites overwrites(program_);
    for (size_t d = 0; d < program_.defs.size(); ++d) {
      const Comprehension& c = program_.comprehension(DefId(d));
      deadline_.push_back(overwrites.deadline(c));
      for (const Read& read : c.reads)
        if (const auto from = index.of(read.tensor))
          if (readers_[from->value].empty() || readers_[from->value].back() != d)
            readers_[from->value].push_back(d);
    }
  }

  // The reader's axis at each point axis of the definition, when every read of it says the same.
  std::optional<AxesInReader> axes_in(size_t reader, size_t def) const {
    const Comprehension& c = program_.comprehension(DefId(def));
    const ComprehensionId id = program_.def(DefId(def)).id;
    constexpr uint32_t kNone = UINT32_MAX;
    AxesInReader axes(c.n_points, kNone);
    for (const Read& read : program_.comprehension(DefId(reader)).reads) {
      const Tensor& t = arena_.tensors[read.tensor];
      if (t.kind != TensorKind::component || t.source != id.value) continue;
      const View& view = arena_.views[read.view];
      if (view.guarded) return std::nullopt;
      const std::vector<uint8_t>& dims = c.components[t.component].axes;
      for (size_t d = 0; d < dims.size(); ++d) {
        const auto v = view.coords[d].is_gather() ? std::nullopt
                                                  : arena_.forms.as_var(view.coords[d].form);
        if (!v || v->kind != VarKind::axis) return std::nullopt;
        uint32_t& axis = axes[dims[d]];
        if (axis != kNone && axis != v->index) return std::nullopt;
        axis = v->index;
      }
    }
    if (std::count(axes.begin(), axes.end(), kNone) > 0) return std::nullopt;
    return axes;
  }

  // For each point axis of `b`, the one of `a` that goes with it.
  std::optional<std::vector<uint32_t>> points_of(size_t b, size_t a) const {
    const Comprehension& from = program_.comprehension(DefId(b));
    const Comprehension& to = program_.comprehension(DefId(a));
    std::vector<uint32_t> same(from.n_points);
    for (uint32_t p = 0; p < same.size(); ++p) same[p] = p;
    if (from.n_points != to.n_points || from.n_axes() != to.n_axes()) return std::nullopt;
    std::optional<std::vector<uint32_t>> found;
    for (const size_t reader : readers_[a]) {
      const auto of_a = axes_in(reader, a), of_b = axes_in(reader, b);
      if (!of_a || !of_b) return std::nullopt;
      std::vector<uint32_t> points;
      for (const uint32_t axis : *of_b) {
        const auto at = std::find(of_a->begin(), of_a->end(), axis);
        if (at == of_a->end()) return std::nullopt;
        points.push_back(static_cast<uint32_t>(at - of_a->begin()));
      }
      if (found && *found != points) return std::nullopt;
      found = points;
    }
    return found ? found : same;
  }

  // Read by the same, but not for the same points, or over other points: not siblings. `why` is
  // for those that might be.
  bool can_join(size_t b, size_t a, const std::vector<size_t>& group,
                std::vector<AxisImage>& images) {
    const Comprehension from = edit_.current(DefId(b)), to = edit_.current(DefId(a));
    const auto points = points_of(b, a);
    if (!points) return false;
    images.clear();
    for (const uint32_t p : *points) images.push_back({.form = arena_.forms.axis(p), .data = {}});
    for (uint32_t r = from.n_points; r < from.n_axes(); ++r)
      images.push_back({.form = arena_.forms.axis(r), .data = {}});
    for (uint32_t p = 0; p < from.n_axes(); ++p)
      if (from.extents[p] != to.extents[p < from.n_points ? (*points)[p] : p]) return false;
    ReadList list(arena_);
    list.reads = to.reads;
    Carrier carrier(arena_, from, images, list);
    if (arena_.guard(carrier.guard(from.domain)) != to.domain) return false;
    const size_t first = std::min(a, b), last = std::max(a, b);
    if (deadline_[first] < last || depends_on(edit_, from, group)) return false;
    for (const size_t member : group)
      if (depends_on(edit_, edit_.current(DefId(member)), {b})) return false;
    return true;
  }

  void merge(const std::vector<size_t>& family) {
    std::vector<bool> taken(family.size(), false);
    for (size_t i = 0; i < family.size(); ++i) {
      if (taken[i]) continue;
      std::vector<size_t> group = {family[i]};
      std::vector<std::vector<AxisImage>> images = {
          same_axes(arena_, program_.comprehension(DefId(family[i])).n_axes())};
      for (size_t j = i + 1; j < family.size(); ++j) {
        std::vector<AxisImage> own;
        if (taken[j] || !can_join(family[j], family[i], group, own)) continue;
        taken[j] = true;
        group.push_back(family[j]);
        images.push_back(own);
      }
      if (group.size() > 1) build(group, images);
    }
  }

  void build(const std::vector<size_t>& group, const std::vector<std::vector<AxisImage>>& images) {
    Step step{.pass = "merge-siblings",
              .laws = {},
              .before = {},
              .after = {},
              .equal = {},
              .says = ""};
    Comprehension c = edit_.current(DefId(group[0]));
    ReadList list(arena_);
    std::vector<MonoidId> monoids;
    std::vector<std::vector<Component>> parts;
    size_t n_visible = 0, n_all = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      const Comprehension from = edit_.current(DefId(group[i]));
      Carrier carrier(arena_, from, images[i], list);
      c.domain = arena_.guard(carrier.guard(from.domain));
      std::vector<Component> part = from.components;
      for (Component& k : part) {
        k.value = carrier.expr(k.value);
        for (uint8_t& axis : k.axes)
          axis = static_cast<uint8_t>(arena_.forms.as_var(images[i][axis].form)->index);
      }
      monoids.push_back(from.monoid);
      n_visible += arena_.monoids[from.monoid].n_visible();
      n_all += part.size();
      parts.push_back(std::move(part));
    }
    c.reads = list.reads;
    c.monoid = product_monoid(arena_, monoids);
    c.components.assign(n_all, {});
    std::vector<std::string> names;
    std::string said;
    size_t visible = 0, hidden = n_visible;
    std::vector<size_t> first;
    for (size_t i = 0; i < group.size(); ++i) {
      const Def& def = program_.def(DefId(group[i]));
      step.before.push_back(edit_.snapshot(DefId(group[i])));
      first.push_back(visible);
      const size_t own_visible = arena_.monoids[monoids[i]].n_visible();
      for (size_t k = 0; k < parts[i].size(); ++k)
        c.components[k < own_visible ? visible++ : hidden++] = parts[i][k];
      names.insert(names.end(), def.names.begin(), def.names.end());
      said += (i == 0 ? "" : i + 1 == group.size() ? " and " : ", ") + name_of(def);
    }
    step.says = said + " fold the same points for the same readers: one pass computes them";
    const Def merged =
        edit_.add(DefId(group[0]), c, names, program_.def(DefId(group[0])).axis_names);
    step.after = {merged};
    for (size_t i = 0; i < group.size(); ++i) {
      const ComprehensionId old = program_.def(DefId(group[i])).id;
      for (uint32_t k = 0; k < arena_.monoids[monoids[i]].n_visible(); ++k) {
        const TensorId made = arena_.component(merged.id, static_cast<uint32_t>(first[i] + k));
        step.equal.emplace_back(arena_.component(step.before[i].id, k), made);
        edit_.stand_for(arena_.component(old, k), made);
      }
      edit_.drop(DefId(group[i]));
    }
    if (trace_) trace_->steps.push_back(std::move(step));
  }

  const Program& program_;
  Trace* trace_;
  Edit edit_;
  Arena& arena_;
  std::vector<std::vector<size_t>> readers_;  // by DefId, in order
  std::vector<size_t> deadline_;              // the update that overwrites what it reads
};

}  // namespace

Program merge_siblings(const Program& program, const RewriteOptions&, Trace* trace) {
  return Siblings(program, trace).run();
}

}  // namespace tang
