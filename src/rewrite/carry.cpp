#include "rewrite/carry.h"

#include <algorithm>

#include "ir/dependence.h"
#include "support/panic.h"

namespace tang {

ExprId ReadList::add(Read read) {
  const Type type = kind_of(arena_.tensors[read.tensor].type);
  const auto found = std::find(reads.begin(), reads.end(), read);
  const size_t k = static_cast<size_t>(found - reads.begin());
  if (found == reads.end()) reads.push_back(read);
  return arena_.exprs.leaf(Op::read, type, k);
}

Carrier::Carrier(Arena& arena, const Comprehension& from, std::vector<AxisImage> images,
                 ReadList& to)
    : arena_(arena),
      from_(from),
      images_(std::move(images)),
      to_(to),
      reads_(from.reads.size()) {
  TANG_ASSERT(images_.size() == from.n_axes(), "{} images for {} axes", images_.size(),
              from.n_axes());
}

ExprId Carrier::expr(ExprId root) {
  return arena_.exprs.rewrite(root, memo_, [&](ExprId id, const std::array<ExprId, 3>&) {
    const Expr e = arena_.exprs[id];
    if (e.op == Op::read) return read(e.index());
    if (e.op != Op::form) return ExprId();
    const Coord c = form(e.form());
    return c.is_gather() ? arena_.exprs.cast(e.type, c.data)
                         : arena_.exprs.form(arena_.forms, c.form, e.type);
  });
}

Coord Carrier::form(FormId f) {
  bool data = false;
  arena_.forms.for_each_var(f, [&](Var v) {
    data |= v.kind == VarKind::axis && images_[v.index].is_gather();
  });
  if (!data)
    return {.form = arena_.forms.substitute(f,
                                            [&](Var v) {
                                              return v.kind == VarKind::axis
                                                         ? images_[v.index].form
                                                         : FormId();
                                            }),
            .data = {}};
  if (const auto v = arena_.forms.as_var(f)) return images_[v->index];
  return {.form = {}, .data = form_as_data(f, Type::i64)};
}

// Sums of products, as the form has them; exact unless 64 bits overflow.
ExprId Carrier::form_as_data(FormId f, Type type) {
  Exprs& exprs = arena_.exprs;
  const Form parts = arena_.forms[f];
  ExprId sum;
  const auto add = [&](ExprId term) {
    sum = sum.valid() ? exprs.make(Op::add, sum, term) : term;
  };
  for (const Term& term : parts.terms) {
    ExprId product;
    for (const Atom& atom : term.atoms) {
      ExprId factor;
      if (atom.is_quotient())
        factor = exprs.make(Op::div, form_as_data(atom.numerator, type),
                            exprs.integer(atom.divisor, type));
      else if (atom.var.kind == VarKind::axis && images_[atom.var.index].is_gather())
        factor = exprs.cast(type, images_[atom.var.index].data);
      else
        factor = exprs.form(arena_.forms,
                            atom.var.kind == VarKind::axis ? images_[atom.var.index].form
                                                           : arena_.forms.var(atom.var),
                            type);
      product = product.valid() ? exprs.make(Op::mul, product, factor) : factor;
    }
    if (term.coefficient != 1)
      product = exprs.make(Op::mul, exprs.integer(term.coefficient, type), product);
    add(product);
  }
  if (parts.constant != 0 || !sum.valid()) add(exprs.integer(parts.constant, type));
  return sum;
}

Coord Carrier::coord(const Coord& c) {
  if (!c.is_gather()) return form(c.form);
  const ExprId data = expr(c.data);
  // An index form that stood as data can be what it is.
  const Expr& e = arena_.exprs[data];
  if (e.op == Op::form && arena_.forms.is_coordinate(e.form()))
    return {.form = e.form(), .data = {}};
  return {.form = {}, .data = data};
}

Guard Carrier::guard(GuardId g) {
  const Guard from = arena_.guards[g];
  Guard to;
  for (const Constraint& c : from.constraints) {
    const Coord at = form(c.form);
    if (!at.is_gather()) {
      to.constraints.push_back({.form = at.form, .modulus = c.modulus});
      continue;
    }
    Exprs& exprs = arena_.exprs;
    const Type type = exprs.type(at.data);
    const ExprId zero = exprs.integer(0, type);
    const ExprId holds =
        c.modulus == 0
            ? exprs.make(Op::ge, at.data, zero)
            : exprs.make(Op::eq,
                         exprs.make(Op::mod, at.data, exprs.integer(c.modulus, type)), zero);
    to.condition = exprs.logical_and(to.condition, holds);
  }
  if (from.condition.valid())
    to.condition = arena_.exprs.logical_and(to.condition, expr(from.condition));
  return to;
}

ExprId Carrier::read(uint32_t k) {
  if (!reads_[k].valid()) {
    ExprId leaf = instead ? instead(k) : ExprId();
    reads_[k] = leaf.valid() ? leaf : carry_read(k);
  }
  return reads_[k];
}

ExprId Carrier::carry_read(uint32_t k) {
  const Read from = from_.reads[k];
  const View view = arena_.views[from.view];
  Read to{.tensor = from.tensor, .view = {}, .otherwise = {}};
  View at{.coords = {}, .guarded = view.guarded, .guard = arena_.no_guard()};
  for (const Coord& c : view.coords) at.coords.push_back(coord(c));
  if (view.guarded) {
    at.guard = arena_.guard(guard(view.guard));
    to.otherwise = expr(from.otherwise);
  }
  to.view = arena_.views.intern(std::move(at));
  return to_.add(to);
}

std::vector<AxisImage> same_axes(Arena& arena, size_t n, size_t offset) {
  std::vector<AxisImage> images;
  for (size_t a = 0; a < n; ++a)
    images.push_back({.form = arena.forms.axis(static_cast<uint32_t>(a + offset)), .data = {}});
  return images;
}

ExprId as_condition(Arena& arena, const Guard& guard) {
  Exprs& exprs = arena.exprs;
  ExprId all;
  const ExprId zero = exprs.integer(0, Type::i64);
  for (const Constraint& c : guard.constraints) {
    const FormId form = c.modulus == 0 ? c.form : arena.forms.remainder(c.form, c.modulus);
    const ExprId value = exprs.form(arena.forms, form, Type::i64);
    all = exprs.logical_and(all, exprs.make(c.modulus == 0 ? Op::ge : Op::eq, value, zero));
  }
  all = exprs.logical_and(all, guard.condition);
  return all.valid() ? all : exprs.boolean(true);
}

namespace {

// Everything of `c` through the carrier; the update's own read first finds its place again.
Comprehension carried(Arena& arena, const Comprehension& c, Carrier& carrier,
                      const ReadList& list) {
  Comprehension result{.extents = c.extents,
                       .n_points = c.n_points,
                       .reads = {},
                       .domain = arena.guard(carrier.guard(c.domain)),
                       .monoid = c.monoid,
                       .components = c.components,
                       .into = {}};
  if (c.is_update()) result.into = arena.exprs[carrier.read(*c.into)].index();
  for (Component& k : result.components) k.value = carrier.expr(k.value);
  result.reads = list.reads;
  return result;
}

}  // namespace

Comprehension tidy(Arena& arena, const Comprehension& c) {
  ReadList list(arena);
  Carrier carrier(arena, c, same_axes(arena, c.n_axes()), list);
  return carried(arena, c, carrier, list);
}

Comprehension rebuilt(Arena& arena, const Comprehension& c,
                      const std::function<ExprId(ExprId, const std::array<ExprId, 3>&)>& visit) {
  Comprehension result = c;
  Exprs::Memo memo;
  const auto again = [&](ExprId e) { return arena.exprs.rewrite(e, memo, visit); };
  for (Read& read : result.reads) {
    View view = arena.views[read.view];
    for (Coord& coord : view.coords)
      if (coord.is_gather()) coord.data = again(coord.data);
    Guard guard = arena.guards[view.guard];
    guard.condition = again(guard.condition);
    view.guard = arena.guard(std::move(guard));
    read.view = arena.views.intern(std::move(view));
    read.otherwise = again(read.otherwise);
  }
  Guard domain = arena.guards[c.domain];
  domain.condition = again(domain.condition);
  result.domain = arena.guard(std::move(domain));
  for (Component& k : result.components) k.value = again(k.value);
  return tidy(arena, result);
}

std::vector<bool> used_reads(const Arena& arena, const Comprehension& c) {
  std::vector<ExprId> roots;
  for (const Component& k : c.components) roots.push_back(k.value);
  if (arena.guards[c.domain].condition.valid()) roots.push_back(arena.guards[c.domain].condition);
  std::vector<bool> used(c.reads.size(), false);
  if (c.is_update()) used[*c.into] = true;
  for (const ExprId id : arena.exprs.post_order(roots))
    if (arena.exprs[id].op == Op::read) used[arena.exprs[id].index()] = true;
  for (size_t k = c.reads.size(); k-- > 0;) {
    if (!used[k]) continue;
    roots.clear();
    const View& view = arena.views[c.reads[k].view];
    for (const Coord& coord : view.coords)
      if (coord.is_gather()) roots.push_back(coord.data);
    if (arena.guards[view.guard].condition.valid())
      roots.push_back(arena.guards[view.guard].condition);
    if (c.reads[k].otherwise.valid()) roots.push_back(c.reads[k].otherwise);
    for (const ExprId id : arena.exprs.post_order(roots))
      if (arena.exprs[id].op == Op::read) used[arena.exprs[id].index()] = true;
  }
  return used;
}

std::string why_not_splice(const Arena& arena, const Comprehension& reader, uint32_t k,
                           const Comprehension& map) {
  if (reader.into == k) return "an update writes where it reads it";
  const View& view = arena.views[reader.reads[k].view];
  if (std::none_of(view.coords.begin(), view.coords.end(),
                   [](const Coord& c) { return c.is_gather(); }))
    return "";
  // Its addresses would take two loads in a row to know.
  for (const Read& read : map.reads)
    for (const Coord& coord : arena.views[read.view].coords)
      if (coord.is_gather()) return "it gathers, and is gathered from";
  return "";
}

namespace {

// One read's replacement by a map's body.
class Splicer {
 public:
  Splicer(const Program& program, const Comprehension& reader, Carrier& carrier, ReadList& list)
      : program_(program),
        arena_(*program.arena),
        reader_(reader),
        carrier_(carrier),
        list_(list) {}

  ExprId body(uint32_t k, const Comprehension& map) {
    const Read read = reader_.reads[k];
    const View view = arena_.views[read.view];
    std::vector<AxisImage> images(map.n_axes());
    for (size_t d = 0; d < view.coords.size(); ++d)
      images[map.components[0].axes[d]] = carrier_.coord(view.coords[d]);
    if (!view.guarded) {
      Carrier inner(arena_, map, images, list_);
      return inner.expr(map.components[0].value);
    }
    const Facts facts = facts_of(program_, reader_, axes_around(arena_, reader_, k), true);
    const Guard inside = where_in_range(map, images, carrier_.guard(view.guard), facts);
    const ExprId otherwise = carrier_.expr(read.otherwise);
    if (inside.empty()) {
      Carrier inner(arena_, map, images, list_);
      return inner.expr(map.components[0].value);
    }
    if (const ExprId leaf = as_guarded_read(map, images, inside, otherwise); leaf.valid())
      return leaf;
    Carrier inner(arena_, map, images, list_);
    return arena_.exprs.select(as_condition(arena_, inside), inner.expr(map.components[0].value),
                               otherwise);
  }

 private:
  // The guard, and that each coordinate lies in the tensor where the facts do not prove it.
  Guard where_in_range(const Comprehension& map, const std::vector<AxisImage>& images, Guard guard,
                       const Facts& facts) {
    Exprs& exprs = arena_.exprs;
    Forms& forms = arena_.forms;
    for (size_t a = 0; a < map.n_axes(); ++a) {
      const FormId extent = map.extents[a];
      if (images[a].is_gather()) {
        const Type type = exprs.type(images[a].data);
        const ExprId above =
            exprs.make(Op::ge, images[a].data, exprs.integer(0, type));
        const ExprId below =
            exprs.make(Op::lt, exprs.cast(Type::i64, images[a].data),
                       exprs.form(forms, extent, Type::i64));
        guard.condition =
            exprs.logical_and(exprs.logical_and(above, below), guard.condition);
        continue;
      }
      for (const FormId f : {images[a].form, forms.add(forms.sub(extent, images[a].form), -1)})
        if (!proves(forms, facts, {.form = f})) guard.constraints.push_back({.form = f});
    }
    return arena_.guards[arena_.guard(std::move(guard))];
  }

  // A map that only moves elements: its read, guarded by both guards, where that says the same.
  ExprId as_guarded_read(const Comprehension& map, const std::vector<AxisImage>& images,
                         const Guard& inside, ExprId otherwise) {
    const Expr e = arena_.exprs[map.components[0].value];
    if (e.op != Op::read) return {};
    const Read read = map.reads[e.index()];
    const View view = arena_.views[read.view];
    Carrier inner(arena_, map, images, list_);
    for (const Coord& c : view.coords)
      if (c.is_gather()) return {};
    View at{.coords = {}, .guarded = true, .guard = {}};
    for (const Coord& c : view.coords) {
      at.coords.push_back(inner.coord(c));
      if (at.coords.back().is_gather()) return {};
    }
    Guard guard = inside;
    if (view.guarded) {
      if (inner.expr(read.otherwise) != otherwise) return {};
      const Guard own = inner.guard(view.guard);
      guard.constraints.insert(guard.constraints.end(), own.constraints.begin(),
                               own.constraints.end());
      guard.condition = arena_.exprs.logical_and(guard.condition, own.condition);
    }
    at.guard = arena_.guard(std::move(guard));
    return list_.add({.tensor = read.tensor,
                      .view = arena_.views.intern(std::move(at)),
                      .otherwise = otherwise});
  }

  const Program& program_;
  Arena& arena_;
  const Comprehension& reader_;
  Carrier& carrier_;
  ReadList& list_;
};

}  // namespace

Comprehension splice(const Program& program, const Comprehension& reader,
                     const std::vector<const Comprehension*>& maps) {
  Arena& arena = *program.arena;
  ReadList list(arena);
  Carrier carrier(arena, reader, same_axes(arena, reader.n_axes()), list);
  Splicer splicer(program, reader, carrier, list);
  carrier.instead = [&](uint32_t k) {
    return maps[k] ? splicer.body(k, *maps[k]) : ExprId();
  };
  return carried(arena, reader, carrier, list);
}

}  // namespace tang
