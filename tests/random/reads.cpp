// Reads: coordinates that are in range by construction, guarded ones that need not be, gathers, and
// reads that only the condition around them keeps in range.
#include <fmt/format.h>

#include <utility>

#include "body.h"

namespace tang::random {

std::string Extent::text() const {
  if (base.empty()) return fmt::format("{}", offset);
  if (offset == 0) return base;
  return fmt::format("{} {} {}", base, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
}

namespace {

std::string plus(const std::string& form, int64_t n) {
  if (n == 0) return form;
  return fmt::format("{} {} {}", form, n < 0 ? '-' : '+', n < 0 ? -n : n);
}

}  // namespace

// A coordinate made of this index that is in 0..extent at all sizes; empty if none is known.
std::string Body::index_coordinate(const Extent& extent, Index& index) {
  const Extent& range = index.range;
  if (range.same_base(extent) && range.offset <= extent.offset) {
    const int64_t room = extent.offset - range.offset;
    if (rng_.chance(20)) return fmt::format("{} - 1 - {}", range.text(), index.name);
    for (const Scalar& s : names_.scalars)
      if (s.below > 0 && s.below <= room + 1 && rng_.chance(50))
        return fmt::format("{} + {}", index.name, s.name);
    const int64_t shift = rng_.between(0, room);
    (room == 0 ? index.told : index.written) |= shift == 0;
    return plus(index.name, shift);
  }
  if (!extent.base.empty()) return {};
  if (extent.offset > 1 && rng_.chance(30))
    return fmt::format("{} % {}", index.name, extent.offset);
  if (!range.base.empty()) return {};
  const int64_t last = range.offset - 1, room = extent.offset - 1;  // both are numbers
  if (last <= 2 * room + 1) return index.name + "/2";
  return {};
}

// A coordinate in 0..extent at all sizes.
std::optional<std::string> Body::inner_coordinate(const Extent& extent) {
  if (rng_.chance(20))
    for (const Tensor& t : names_.tensors)
      if (t.below == extent && rng_.chance(70))
        if (std::optional<Term> gather = plain_read(t)) return gather->text;
  for (const Fact& fact : facts_)
    if (fact.range == extent && rng_.chance(40))
      return fmt::format("{} - {}", fact.later, fact.earlier);
  const auto n = static_cast<int64_t>(indices_.size());
  const int64_t start = n == 0 ? 0 : rng_.below(n);
  for (int64_t k = 0; k < n; ++k) {
    const std::string form =
        index_coordinate(extent, indices_[static_cast<size_t>((start + k) % n)]);
    if (!form.empty()) return form;
  }
  if (extent.least < 1) return std::nullopt;
  return fmt::format("{}", rng_.below(extent.least));
}

// Any integer coordinate: the read around it is guarded.
std::string Body::outer_coordinate(const Extent& extent) {
  if (rng_.chance(40))
    if (std::optional<std::string> form = inner_coordinate(extent)) return *form;
  if (indices_.empty()) return fmt::format("{}", rng_.between(-1, 3));
  const std::string& i = rng_.pick(indices_).name;
  const std::string& j = rng_.pick(indices_).name;
  switch (rng_.below(6)) {
    case 0:
      return plus(i, rng_.between(-3, 3));
    case 1:
      return plus(fmt::format("2*{} + {}", i, j), rng_.between(-3, 1));
    case 2:
      return fmt::format("{} - {}", extent.text(), i);
    case 3:
      return fmt::format("({})/2", plus(fmt::format("{} + {}", i, j), rng_.between(-2, 2)));
    case 4:
      return fmt::format("({})/{} exact", plus(i, rng_.between(-2, 2)), rng_.between(2, 3));
    default:
      return integer(1).text;
  }
}

std::optional<Term> Body::plain_read(const Tensor& tensor) {
  const std::vector<Index> indices = indices_;
  std::string text = tensor.name;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::optional<std::string> form = inner_coordinate(tensor.shape[d]);
    if (!form) {
      indices_ = indices;  // what the discarded text told of them is void
      return std::nullopt;
    }
    text += (d == 0 ? "[" : ", ") + *form;
  }
  if (!tensor.shape.empty()) text += "]";
  return Term{text, tensor.bound};
}

std::string Body::otherwise(Kind kind) {
  switch (kind) {
    case Kind::real:
      return fmt::format("{:.3f}", static_cast<double>(rng_.between(0, 8)) / 4);
    case Kind::integer:
      return fmt::format("{}", rng_.between(0, 3));
    case Kind::boolean:
      return rng_.chance(50) ? "true" : "false";
  }
  return {};
}

Term Body::guarded_read(const Tensor& tensor) {
  const std::optional<Kind> identity = std::exchange(identity_, std::nullopt);
  const std::vector<Index> indices = indices_;
  std::string coords;
  for (const Extent& extent : tensor.shape)
    coords += (coords.empty() ? "" : ", ") + outer_coordinate(extent);
  const bool asks = rng_.chance(30);
  if (asks) coords += " | " + boolean(1).text;
  identity_ = identity;
  // A guarded read tells a range only where nothing else does: the range is written.
  for (size_t k = 0; k < indices_.size(); ++k) indices_[k].told = indices[k].told;
  Bound bound = either_bound(tensor.bound, constant_bound(2));
  if (identity == tensor.kind && rng_.chance(70)) {
    bound.finite = false;  // a maximum's identity, for one
    return {fmt::format("{}?[{}]", tensor.name, coords), bound};
  }
  return {fmt::format("({}{}[{}] else {})", tensor.name, asks ? "?" : "", coords,
                      otherwise(tensor.kind)),
          bound};
}

std::optional<Term> Body::read(Kind kind) {
  std::vector<const Tensor*> known;
  for (const Tensor& t : names_.tensors)
    if (t.kind == kind) known.push_back(&t);
  for (int attempt = 0; attempt < 3 && !known.empty(); ++attempt) {
    const Tensor& tensor = *rng_.pick(known);
    if (!tensor.shape.empty() && rng_.chance(25)) return guarded_read(tensor);
    if (std::optional<Term> term = plain_read(tensor)) return term;
  }
  return std::nullopt;
}

// A neighbour that exists only where the condition before it holds: (i >= 1 ? x[i - 1] : 0).
Term Body::edge_read(Kind kind, int depth) {
  for (const Tensor& t : names_.tensors) {
    if (t.kind != kind || t.shape.size() != 1 || !rng_.chance(60)) continue;
    for (size_t k = 0; k < indices_.size(); ++k) {
      if (!(indices_[k].range == t.shape[0])) continue;
      const std::string i = indices_[k].name;
      const Term other = value(kind, depth - 1);
      const std::string there = rng_.chance(50) ? fmt::format("{0} >= 1 ? {1}[{0} - 1]", i, t.name)
                                                : fmt::format("{0} + 1 < {2} ? {1}[{0} + 1]", i,
                                                              t.name, t.shape[0].text());
      return Term{fmt::format("({} : {})", there, other.text), either_bound(t.bound, other.bound)};
    }
  }
  return value(kind, 0);
}

}  // namespace tang::random
