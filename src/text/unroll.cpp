// Evaluates a comprehension at each of its points with expressions for values: axes are numbers,
// reads are the cells that they find, a fold is a chain of combines.
#include "text/unroll.h"

#include "support/panic.h"

namespace tang {

namespace {

constexpr size_t kMostNodes = 4'000'000;  // of the arena: as for a whole program

}  // namespace

// A comprehension at one point of all its axes.
struct Unroller::Point {
  const Comprehension& c;
  const std::vector<int64_t>& axes;
  Exprs::Memo memo;
};

const std::vector<ExprId>* Unroller::cells(TensorId tensor) const {
  const auto found = cells_.find(tensor);
  return found == cells_.end() ? nullptr : &found->second;
}

void Unroller::refuse(const std::string& why) {
  if (why_not_.empty()) why_not_ = why;
}

std::optional<int64_t> Unroller::at(const Point& point, FormId form) const {
  return arena_.forms.as_constant(arena_.forms.substitute(form, [&](Var v) {
    return v.kind == VarKind::axis ? arena_.forms.constant(point.axes[v.index]) : FormId();
  }));
}

ExprId Unroller::value(Point& point, ExprId root) {
  Exprs& exprs = arena_.exprs;
  return exprs.rewrite(root, point.memo, [&](ExprId old, const std::array<ExprId, 3>&) {
    const Expr e = exprs[old];
    if (e.op == Op::read) return read(point, e.index());
    if (e.op != Op::form) return ExprId();
    const auto number = at(point, e.form());
    if (number) return exprs.integer(*number, e.type);
    refuse("it depends on a size that is not known");
    return old;
  });
}

// Where all holds: a constant, or what its data says. Constraints of constants are decided here.
ExprId Unroller::holds(Point& point, const Guard& guard) {
  for (const Constraint& c : guard.constraints) {
    const auto number = at(point, c.form);
    if (!number) refuse("it depends on a size that is not known");
    const int64_t n = number.value_or(0);
    if (c.modulus == 0 ? n < 0 : n % c.modulus != 0) return arena_.exprs.boolean(false);
  }
  return guard.condition.valid() ? value(point, guard.condition) : arena_.exprs.boolean(true);
}

ExprId Unroller::read(Point& point, uint32_t number) {
  const Read read = point.c.reads[number];
  const View view = arena_.views[read.view];
  const Tensor tensor = arena_.tensors[read.tensor];
  const ExprId nothing = arena_.exprs.constant(kind_of(tensor.type), {});
  const std::vector<ExprId>* known = cells(read.tensor);
  if (!known) refuse("it reads a tensor that is no part of its states");
  bool inside = known != nullptr;
  int64_t offset = 0;
  for (size_t d = 0; d < view.coords.size() && inside; ++d) {
    const ExprId data = view.coords[d].is_gather() ? value(point, view.coords[d].data) : ExprId();
    std::optional<int64_t> c;
    if (!data.valid())
      c = at(point, view.coords[d].form);
    else if (arena_.exprs.is_constant(data))
      c = arena_.exprs[data].value().integer;
    if (!c) refuse("where it reads a state depends on data");
    const int64_t extent = arena_.forms.as_constant(tensor.shape[d]).value_or(0);
    inside = c && *c >= 0 && *c < extent;
    offset = offset * extent + c.value_or(0);
  }
  const ExprId cell = inside ? (*known)[static_cast<size_t>(offset)] : nothing;
  if (!view.guarded) return cell;
  const ExprId otherwise = value(point, read.otherwise);
  if (!inside) return otherwise;
  return arena_.exprs.select(holds(point, Guard(arena_.guards[view.guard])), cell, otherwise);
}

// One value joins the state, where the domain holds.
void Unroller::fold(const Comprehension& c, std::vector<int64_t>& axes,
                    std::vector<ExprId>& state) {
  Point point{c, axes, {}};
  Exprs& exprs = arena_.exprs;
  const ExprId inside = holds(point, Guard(arena_.guards[c.domain]));
  if (exprs.is_constant(inside) && exprs[inside].value().integer == 0) return;
  std::vector<ExprId> right;
  for (const Component& k : c.components) right.push_back(value(point, k.value));
  const std::vector<ExprId> combine = arena_.monoids[c.monoid].combine;
  const std::vector<ExprId> left = state;
  Exprs::Memo memo;
  for (size_t k = 0; k < combine.size(); ++k) {
    const ExprId joined =
        exprs.rewrite(combine[k], memo, [&](ExprId old, const std::array<ExprId, 3>&) {
          const Expr e = exprs[old];
          if (e.op == Op::left) return left[e.index()];
          return e.op == Op::right ? right[e.index()] : ExprId();
        });
    state[k] = exprs.select(inside, joined, left[k]);
  }
}

void Unroller::fold_axes(const Comprehension& c, std::vector<int64_t>& axes, size_t axis,
                         std::vector<ExprId>& state) {
  if (arena_.exprs.size() > kMostNodes) refuse("it is too large to be written out");
  if (!why_not_.empty()) return;
  if (axis == c.n_axes()) return fold(c, axes, state);
  const int64_t extent = arena_.forms.as_constant(c.extents[axis]).value_or(0);
  for (axes[axis] = 0; axes[axis] < extent; ++axes[axis]) fold_axes(c, axes, axis + 1, state);
}

bool Unroller::unroll(ComprehensionId id, std::string& why_not) {
  const Comprehension c = arena_.comprehensions[id];
  why_not_.clear();
  for (const FormId extent : c.extents)
    if (!arena_.forms.as_constant(extent)) refuse("it runs over a size that is not known");
  if (!c.is_map() && arena_.monoids[c.monoid].keeps_lists()) refuse("it keeps lists");
  std::vector<int64_t> extents;
  for (const FormId extent : c.extents)
    extents.push_back(arena_.forms.as_constant(extent).value_or(0));
  for (uint32_t k = 0; k < c.components.size(); ++k) {
    int64_t n = 1;
    const std::vector<uint8_t>& own = c.components[k].axes;
    for (const uint8_t axis : own) n *= extents[axis];
    std::vector<ExprId> cells;
    for (int64_t cell = 0; cell < n && why_not_.empty(); ++cell) {
      std::vector<int64_t> axes(c.n_axes());
      int64_t rest = cell;
      for (size_t d = own.size(); d-- > 0; rest /= extents[own[d]])
        axes[own[d]] = rest % extents[own[d]];
      if (c.is_map()) {
        Point point{c, axes, {}};
        cells.push_back(value(point, c.components[0].value));
      } else {
        std::vector<ExprId> state = arena_.monoids[c.monoid].identity;
        fold_axes(c, axes, c.n_points, state);
        cells.push_back(state[k]);
      }
      if (arena_.exprs.size() > kMostNodes) refuse("it is too large to be written out");
    }
    if (why_not_.empty()) cells_[arena_.component(id, k)] = std::move(cells);
  }
  why_not = why_not_;
  return why_not_.empty();
}

}  // namespace tang
