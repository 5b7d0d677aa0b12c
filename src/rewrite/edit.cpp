#include "rewrite/edit.h"

#include <fmt/format.h>

#include "support/panic.h"

namespace tang {

Edit::Edit(const Program& program, Trace* trace)
    : program_(program), trace_(trace), added_before_(program.defs.size()) {
  for (const Input& input : program.inputs) taken_.insert(input.name);
  for (const Dim& dim : program.dims) taken_.insert(dim.name);
  for (const Scalar& scalar : program.scalars) taken_.insert(scalar.name);
  for (const Output& output : program.outputs) taken_.insert(output.name);
  for (size_t d = 0; d < program.defs.size(); ++d) {
    nodes_.push_back({.def = program.defs[d], .dropped = false, .made = {}});
    by_id_.emplace(program.defs[d].id.value, d);
    for (const std::string& name : program.defs[d].names) taken_.insert(name);
    note(program.defs[d]);
  }
}

void Edit::note(const Def& def) {
  if (trace_) trace_->defs.emplace(def.id.value, def);
}

TensorId Edit::now(TensorId tensor) const {
  for (auto found = replaced_.find(tensor); found != replaced_.end();
       found = replaced_.find(tensor))
    tensor = found->second;
  return tensor;
}

size_t Edit::node_of(ComprehensionId id) const {
  const auto found = by_id_.find(id.value);
  TANG_ASSERT(found != by_id_.end(), "comprehension {} is no definition", id.value);
  return found->second;
}

std::optional<Edit::Source> Edit::source(TensorId tensor) const {
  const Tensor& t = arena().tensors[now(tensor)];
  if (t.kind != TensorKind::component) return std::nullopt;
  const ComprehensionId id(size_t{t.source});
  Source source{node_of(id), arena().comprehensions[id], t.component};
  for (Read& read : source.comprehension.reads) read.tensor = now(read.tensor);
  return source;
}

Comprehension Edit::current(DefId def) const {
  Comprehension c = arena().comprehensions[nodes_[def.value].def.id];
  for (Read& read : c.reads) read.tensor = now(read.tensor);
  return c;
}

Def Edit::snapshot(size_t n) {
  Node& node = nodes_[n];
  const ComprehensionId old = node.def.id;
  Comprehension c = arena().comprehensions[old];
  for (Read& read : c.reads) read.tensor = now(read.tensor);
  const size_t n_components = c.components.size();
  const ComprehensionId id = arena().comprehensions.intern(std::move(c));
  if (id != old) {
    for (uint32_t k = 0; k < n_components; ++k)
      replaced_.emplace(arena().component(old, k), arena().component(id, k));
    node.def.id = id;
    by_id_.emplace(id.value, n);
    note(node.def);
  }
  return node.def;
}

void Edit::replace(DefId def, Comprehension c, std::vector<std::string> axis_names) {
  Node& node = nodes_[def.value];
  const ComprehensionId old = node.def.id;
  const size_t n = c.components.size();
  const ComprehensionId id = arena().comprehensions.intern(std::move(c));
  if (id == old) return;
  changed_ = true;
  for (uint32_t k = 0; k < n; ++k)
    stand_for(arena().component(old, k), arena().component(id, k));
  node.def.id = id;
  node.def.axis_names = std::move(axis_names);
  by_id_.emplace(id.value, def.value);
  note(node.def);
}

void Edit::replace(DefId def, Comprehension c, const Reason& reason) {
  const Def before = snapshot(def);
  replace(def, std::move(c), before.axis_names);
  const Def after = snapshot(def);
  if (!trace_) return;
  Step step{.pass = reason.pass,
            .laws = reason.laws,
            .before = {before},
            .after = {after},
            .equal = {},
            .says = reason.says};
  for (uint32_t k = 0; k < before.names.size(); ++k)
    step.equal.emplace_back(arena().component(before.id, k), arena().component(after.id, k));
  trace_->steps.push_back(std::move(step));
}

Def Edit::add(DefId before, Comprehension c, std::vector<std::string> names,
              std::vector<std::string> axis_names) {
  changed_ = true;
  Def def{.id = arena().comprehensions.intern(std::move(c)),
          .names = std::move(names),
          .axis_names = std::move(axis_names),
          .span = program_.def(before).span};
  if (by_id_.emplace(def.id.value, nodes_.size()).second) {
    added_before_[before.value].push_back(nodes_.size());
    nodes_.push_back({.def = def, .dropped = false, .made = {}});
    note(def);
  } else {
    nodes_[by_id_.at(def.id.value)].dropped = false;
  }
  return def;
}

void Edit::stand_for(TensorId old, TensorId other) {
  old = now(old);
  other = now(other);
  if (old == other) return;
  const Tensor& a = arena().tensors[old];
  const Tensor& b = arena().tensors[other];
  TANG_ASSERT(a.shape == b.shape && kind_of(a.type) == kind_of(b.type),
              "a tensor stands for one of another shape or kind");
  replaced_.emplace(old, other);
  changed_ = true;
}

void Edit::drop(DefId def) {
  nodes_[def.value].dropped = true;
  changed_ = true;
}

std::string Edit::fresh(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
  return name;
}

TensorId Edit::finished(TensorId tensor) const {
  tensor = now(tensor);
  const Tensor& t = arena().tensors[tensor];
  if (t.kind != TensorKind::component) return tensor;
  const Node& node = nodes_[node_of(ComprehensionId(size_t{t.source}))];
  TANG_ASSERT(node.made.valid(), "{} is read and dropped",
              node.def.names.empty() ? "" : node.def.names[0]);
  return arena().component(node.made, t.component);
}

void Edit::emit(size_t n, std::vector<Def>& defs) {
  Node& node = nodes_[n];
  Comprehension c = arena().comprehensions[node.def.id];
  for (Read& read : c.reads) read.tensor = finished(read.tensor);
  node.made = arena().comprehensions.intern(std::move(c));
  Def def = node.def;
  def.id = node.made;
  note(def);
  const auto [found, is_new] = emitted_.emplace(node.made.value, defs.size());
  if (is_new) return defs.push_back(std::move(def));
  for (size_t k = 0; k < def.names.size(); ++k)
    if (defs[found->second].names[k].empty()) defs[found->second].names[k] = def.names[k];
}

// Each after what it reads, and an update after all that reads the version which it overwrites; the
// given order wherever that allows it.
std::vector<size_t> Edit::in_order() const {
  std::unordered_map<TensorId, std::vector<size_t>> readers;  // of what updates overwrite
  for (const Node& node : nodes_) {
    const Comprehension& c = arena().comprehensions[node.def.id];
    if (!node.dropped && c.is_update()) readers[now(arena().updated(c))];
  }
  for (size_t n = 0; !readers.empty() && n < nodes_.size(); ++n) {
    if (nodes_[n].dropped) continue;
    for (const Read& read : arena().comprehensions[nodes_[n].def.id].reads)
      if (const auto found = readers.find(now(read.tensor)); found != readers.end())
        found->second.push_back(n);
  }
  const auto needs = [&](size_t n) {
    std::vector<size_t> all;
    const Comprehension& c = arena().comprehensions[nodes_[n].def.id];
    for (const Read& read : c.reads) {
      const Tensor& t = arena().tensors[now(read.tensor)];
      if (t.kind == TensorKind::component)
        all.push_back(node_of(ComprehensionId(size_t{t.source})));
    }
    if (c.is_update())
      for (const size_t reader : readers.at(now(arena().updated(c))))
        if (reader != n) all.push_back(reader);
    return all;
  };
  enum class Mark : uint8_t { none, open, done };
  std::vector<Mark> marks(nodes_.size(), Mark::none);
  std::vector<size_t> order;
  struct Frame {
    size_t node;
    std::vector<size_t> needs;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  const auto visit = [&](size_t root) {
    if (marks[root] == Mark::done) return;
    marks[root] = Mark::open;
    stack.push_back({root, needs(root)});
    while (!stack.empty()) {
      if (stack.back().next < stack.back().needs.size()) {
        const size_t n = stack.back().needs[stack.back().next++];
        if (marks[n] == Mark::done) continue;
        TANG_ASSERT(marks[n] == Mark::none, "definitions need each other");
        marks[n] = Mark::open;
        stack.push_back({n, needs(n)});
      } else {
        marks[stack.back().node] = Mark::done;
        order.push_back(stack.back().node);
        stack.pop_back();
      }
    }
  };
  for (size_t d = 0; d < added_before_.size(); ++d) {
    for (const size_t n : added_before_[d])
      if (!nodes_[n].dropped) visit(n);
    if (!nodes_[d].dropped) visit(d);
  }
  return order;
}

Program Edit::finish() {
  Program result = program_;
  result.defs.clear();
  emitted_.clear();
  // A definition may have become what a dropped one was: its readers read the one that stays.
  for (size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].dropped) continue;
    size_t& owner = by_id_.at(nodes_[n].def.id.value);
    if (nodes_[owner].dropped) owner = n;
  }
  for (const size_t n : in_order()) emit(n, result.defs);
  for (Output& output : result.outputs) output.tensor = finished(output.tensor);
  const auto keep = [&](TensorId tensor) {
    if (!tensor.valid()) return tensor;
    const TensorId to = now(tensor);
    const Tensor& t = arena().tensors[to];
    if (t.kind != TensorKind::component) return to;
    const auto found = by_id_.find(t.source);
    const bool lives = found != by_id_.end() && nodes_[found->second].made.valid();
    return lives ? finished(to) : tensor;
  };
  for (ScheduleBlock& block : result.schedules) {
    block.tensor = keep(block.tensor);
    for (auto& clause : block.clauses)
      for (ScheduleWord& word : clause) word.tensor = keep(word.tensor);
  }
  return result;
}

}  // namespace tang
