#include "interp/graph.h"

#include "support/panic.h"

namespace tang::interpreter {

int64_t Instance::value_of(Var v) const {
  switch (v.kind) {
    case VarKind::dim:
      return dims[v.index];
    case VarKind::scalar:
      return scalars[v.index].integer;
    case VarKind::axis:
    case VarKind::local:
      break;
  }
  TANG_PANIC("a size depends on an axis or a kernel's variable");
}

int64_t Instance::extent(FormId form) const {
  const int64_t n = arena().forms.evaluate(form, [&](Var v) { return value_of(v); });
  TANG_ASSERT(n >= 0, "an extent is {}", n);
  return n;
}

std::vector<int64_t> Instance::shape(TensorId tensor) const {
  std::vector<int64_t> out;
  for (const FormId form : arena().tensors[tensor].shape) out.push_back(extent(form));
  return out;
}

Graph::Graph(const Instance& instance, const Comprehension& comprehension,
             std::vector<int64_t> extents)
    : forms(instance.arena().forms, [&instance](Var v) { return instance.value_of(v); }),
      instance_(&instance),
      extents_(std::move(extents)) {
  // In order, since a read's own expressions use earlier reads.
  for (const Read& read : comprehension.reads) reads_.push_back(lower_read(read));
}

uint32_t Graph::add(Node node) {
  nodes.push_back(std::move(node));
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t Graph::constant(Type type, Value value) {
  return add({.kind = Node::Kind::constant, .type = type, .value = value});
}

uint32_t Graph::state(Type type) {
  return add({.kind = Node::Kind::state, .type = type});
}

void Graph::set_states(std::vector<uint32_t> left, std::vector<uint32_t> right) {
  left_ = std::move(left);
  right_ = std::move(right);
  node_of_.clear();  // what is known of other states is not known of these
}

uint32_t Graph::select(Type type, uint32_t condition, uint32_t a, uint32_t b) {
  return add(
      {.kind = Node::Kind::select, .op = Op::select, .type = type, .args = {condition, a, b}});
}

uint32_t Graph::lower(ExprId root) {
  if (const auto found = node_of_.find(root); found != node_of_.end()) return found->second;
  const Exprs& exprs = instance_->arena().exprs;
  for (const ExprId id : exprs.post_order({root}))
    if (!node_of_.contains(id)) node_of_.emplace(id, lower_node(exprs[id]));
  return node_of_.at(root);
}

uint32_t Graph::lower_node(const Expr& e) {
  Node node{.kind = Node::Kind::apply, .op = e.op, .type = e.type};
  for (size_t i = 0; i < e.n_args; ++i) node.args.push_back(node_of_.at(e.args[i]));
  if (e.n_args > 0) node.operand = nodes[node.args[0]].type;
  switch (e.op) {
    case Op::constant:
      return constant(e.type, e.value());
    case Op::scalar:
      return constant(e.type, instance_->scalars[e.index()]);
    case Op::form:
      return add({.kind = Node::Kind::form, .type = e.type, .number = forms.add(e.form())});
    case Op::read:
      return reads_[e.index()];
    case Op::left:
      return left_.at(e.index());
    case Op::right:
      return right_.at(e.index());
    case Op::select:
      node.kind = Node::Kind::select;
      return add(std::move(node));
    case Op::logic_and:
    case Op::logic_or:
      node.kind = Node::Kind::both;
      return add(std::move(node));
    case Op::variable:
    case Op::load:
    case Op::call:
      TANG_PANIC("{} stands in a graph", op_info(e.op).name);
    default:
      return add(std::move(node));
  }
}

uint32_t Graph::number_of(TensorId tensor) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i] == tensor) return static_cast<uint32_t>(i);
  tensors.push_back(tensor);
  return static_cast<uint32_t>(tensors.size() - 1);
}

bool Graph::always_in_range(const Locator& locator) const {
  for (const Locator::Dimension& d : locator.dimensions) {
    if (d.is_data) return false;
    const auto range = forms.range(d.form, extents_);
    if (!range || range->low < 0 || range->high >= d.extent) return false;
  }
  return true;
}

Locator Graph::locator_of(const Read& read) {
  const View& view = instance_->arena().views[read.view];
  Locator locator{.dimensions = {}, .guarded = view.guarded, .tensor = read.tensor};
  const std::vector<int64_t> shape = instance_->shape(read.tensor);
  int64_t stride = 1;
  for (const int64_t extent : shape) stride *= extent;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Coord& coord = view.coords[d];
    if (shape[d] != 0) stride /= shape[d];
    locator.dimensions.push_back({.is_data = coord.is_gather(),
                                  .form = coord.is_gather() ? 0 : forms.add(coord.form),
                                  .extent = shape[d],
                                  .stride = stride});
  }
  return locator;
}

uint32_t Graph::locate(const Read& read) {
  return locate(read, locator_of(read));
}

// Out of range unless the guard's constraints hold, then its condition, then every coordinate is
// within the tensor; each step may rely on the ones before.
uint32_t Graph::locate(const Read& read, Locator locator) {
  const View& view = instance_->arena().views[read.view];
  std::vector<uint32_t> data;
  for (const Coord& coord : view.coords)
    if (coord.is_gather()) data.push_back(lower(coord.data));
  locators.push_back(std::move(locator));
  uint32_t offset = add({.kind = Node::Kind::locate,
                         .type = Type::i64,
                         .args = std::move(data),
                         .number = static_cast<uint32_t>(locators.size() - 1)});
  const Guard& guard = instance_->arena().guards[view.guard];
  const uint32_t outside = constant(Type::i64, integer_value(-1));
  const auto only_where = [&](uint32_t condition) {
    offset = select(Type::i64, condition, offset, outside);
  };
  if (guard.condition.valid()) only_where(lower(guard.condition));
  if (!guard.constraints.empty()) {
    const uint32_t test = add({.kind = Node::Kind::test,
                               .type = Type::boolean,
                               .number = static_cast<uint32_t>(tests.size()),
                               .n = static_cast<uint32_t>(guard.constraints.size())});
    for (const Constraint& c : guard.constraints)
      tests.push_back({.form = forms.add(c.form), .modulus = c.modulus});
    only_where(test);
  }
  return offset;
}

uint32_t Graph::is_inside(uint32_t offset) {
  return add({.kind = Node::Kind::apply,
              .op = Op::ge,
              .operand = Type::i64,
              .type = Type::boolean,
              .args = {offset, constant(Type::i64, integer_value(0))}});
}

uint32_t Graph::lower_read(const Read& read) {
  const View& view = instance_->arena().views[read.view];
  const uint32_t tensor = number_of(read.tensor);
  const Type kind = kind_of(instance_->arena().tensors[read.tensor].type);
  Locator locator = locator_of(read);
  if (instance_->arena().guards[view.guard].empty() && always_in_range(locator)) {
    uint32_t offset = forms.constant(0);
    for (const Locator::Dimension& d : locator.dimensions)
      offset = forms.add_scaled(offset, d.stride, d.form);
    return add({.kind = Node::Kind::fetch_at, .type = kind, .number = tensor, .form = offset});
  }
  const uint32_t offset = locate(read, std::move(locator));
  const uint32_t value =
      add({.kind = Node::Kind::fetch, .type = kind, .args = {offset}, .number = tensor});
  if (!view.guarded) return value;
  return select(kind, is_inside(offset), value, lower(read.otherwise));
}

}  // namespace tang::interpreter
