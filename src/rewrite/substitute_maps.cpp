// The one fusion rule: the body of a map in place of reads of it, with the views composed.
//
// A cheap map (ir/cost.h) goes into every reader. A dearer one goes into its only reader
// when that evaluates it at most once for each of its points, so that no work is repeated. What is
// stored anyway, an output, is read rather than computed again, unless it only moves elements.
// Readers are visited in order, so that a chain is one sweep; an expression never grows beyond
// kMost operations. Measure: the number of reads of maps that may be spliced.
#include <fmt/format.h>

#include <algorithm>

#include "ir/cost.h"
#include "rewrite/carry.h"
#include "rewrite/edit.h"
#include "rewrite/passes.h"
#include "rewrite/terms.h"

namespace tang {

namespace {

constexpr int64_t kMost = 256;  // operations of one definition's point

class Substitution {
 public:
  Substitution(const Program& program, Trace* trace)
      : program_(program), trace_(trace), edit_(program, trace), arena_(edit_.arena()) {
    const DefIndex index(program);
    const std::vector<bool> live = live_defs(program, index);
    const size_t n = program.defs.size();
    n_reads_.resize(n);
    is_output_.resize(n);
    const Overwrites overwrites(program);
    for (size_t d = 0; d < n; ++d) {
      const Comprehension& c = program.comprehension(DefId(d));
      deadline_.push_back(overwrites.deadline(c));
      for (const Read& read : c.reads)
        if (const auto from = index.of(read.tensor); from && live[d]) ++n_reads_[from->value];
    }
    for (const Output& o : program.outputs)
      if (const auto def = index.of(o.tensor)) is_output_[def->value] = true;
    cost_.resize(n);
    for (size_t d = 0; d < n; ++d) cost_[d] = cost_again(arena_, program.comprehension(DefId(d)));
  }

  Program run() {
    for (size_t d = 0; d < program_.defs.size(); ++d) visit(d);
    if (!edit_.changed()) return program_;
    drop_unread();
    return edit_.finish();
  }

 private:
  // Maps that went into all of their readers.
  void drop_unread() {
    std::vector<bool> live = is_output_;
    for (size_t d = program_.defs.size(); d-- > 0;) {
      if (!live[d]) {
        edit_.drop(DefId(d));
        continue;
      }
      for (const Read& read : edit_.current(DefId(d)).reads)
        if (const auto source = edit_.source(read.tensor)) live[source->node] = true;
    }
  }

  // The reader evaluates the read no more often than the map has points: each axis over which it
  // does is a coordinate by itself.
  bool reads_once(const Comprehension& reader, uint32_t k) const {
    AxisSet coordinates;
    for (const Coord& coord : arena_.views[reader.reads[k].view].coords) {
      const auto v = coord.is_gather() ? std::nullopt : arena_.forms.as_var(coord.form);
      if (v && v->kind == VarKind::axis) coordinates.set(v->index);
    }
    return (axes_around(arena_, reader, k) & ~coordinates).none();
  }

  // Why the map stays; "" when it goes into the reader.
  std::string why_not(size_t d, const Comprehension& reader, uint32_t k, size_t map,
                      const Comprehension& body) const {
    if (is_output_[map] && cost_[map] > 0) return "it is an output";
    if (cost_[map] > kCheap && n_reads_[map] > 1)
      return fmt::format("it is read {} times and takes {} operations", n_reads_[map], cost_[map]);
    if (cost_[map] > kCheap && !reads_once(reader, k))
      return fmt::format("{} would compute it more than once a point, {} operations",
                         name_of(program_.defs[d]), cost_[map]);
    if (cost_[d] + cost_[map] > kMost)
      return fmt::format("{} would take more than {} operations", name_of(program_.defs[d]),
                         kMost);
    if (d >= deadline_[map]) return "an update overwrites what it reads";
    return why_not_splice(arena_, reader, k, body);
  }

  void visit(size_t d) {
    const Comprehension reader = edit_.current(DefId(d));
    std::vector<Comprehension> bodies(reader.reads.size());
    std::vector<const Comprehension*> maps(reader.reads.size(), nullptr);
    std::vector<size_t> spliced;
    for (uint32_t k = 0; k < reader.reads.size(); ++k) {
      auto source = edit_.source(reader.reads[k].tensor);
      if (!source || !source->comprehension.is_map() || source->comprehension.is_update()) continue;
      const std::string why = why_not(d, reader, k, source->node, source->comprehension);
      if (!why.empty()) {
        refuse(source->node, why);
        continue;
      }
      cost_[d] += cost_[source->node];
      bodies[k] = std::move(source->comprehension);
      maps[k] = &bodies[k];
      spliced.push_back(source->node);
      deadline_[d] = std::min(deadline_[d], deadline_[source->node]);
    }
    if (spliced.empty()) return;
    const Comprehension made = splice(program_, reader, maps);
    Step step{.pass = "substitute-maps",
              .laws = {},
              .before = {},
              .after = {},
              .equal = {},
              .says = ""};
    std::string names;
    std::sort(spliced.begin(), spliced.end());
    spliced.erase(std::unique(spliced.begin(), spliced.end()), spliced.end());
    for (const size_t map : spliced) {
      step.before.push_back(edit_.snapshot(DefId(map)));
      names += (names.empty() ? "" : ", ") + name_of(program_.defs[map]);
    }
    step.before.push_back(edit_.snapshot(DefId(d)));
    step.says = fmt::format("{} computes {} where it reads {}", name_of(program_.defs[d]), names,
                            spliced.size() == 1 ? "it" : "them");
    edit_.replace(DefId(d), made, program_.defs[d].axis_names);
    cost_[d] = cost_again(arena_, made);
    step.after.push_back(edit_.snapshot(DefId(d)));
    for (uint32_t k = 0; k < program_.defs[d].names.size(); ++k)
      step.equal.emplace_back(arena_.component(step.before.back().id, k),
                              arena_.component(step.after.back().id, k));
    if (trace_) trace_->steps.push_back(std::move(step));
  }

  void refuse(size_t map, const std::string& why) {
    if (trace_)
      trace_->refusals.push_back(
          {.pass = "substitute-maps", .name = name_of(program_.defs[map]), .why = why});
  }

  const Program& program_;
  Trace* trace_;
  Edit edit_;
  Arena& arena_;
  std::vector<size_t> n_reads_;  // by DefId; of the program as given
  std::vector<bool> is_output_;
  std::vector<int64_t> cost_;     // of one point, by now
  std::vector<size_t> deadline_;  // the update that overwrites what it reads; SIZE_MAX: none
};

}  // namespace

Program substitute_maps(const Program& program, const RewriteOptions&, Trace* trace) {
  return Substitution(program, trace).run();
}

}  // namespace tang
