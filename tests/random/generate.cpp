// A whole program: sizes, scalars and inputs first, then definitions that read what is there.
#include "generate.h"

#include <fmt/format.h>

#include <set>

#include "body.h"

namespace tang::random {
namespace {

constexpr int64_t kMostElements = 250;  // of a defined tensor
constexpr int kDepth = 3;               // of expressions

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed) {
    result_.text = fmt::format("# Random program {}.\n", seed);
  }

  Generated run() {
    names_.f64 = rng_.chance(25);
    add_sizes();
    add_scalars();
    add_inputs();
    for (int64_t k = 0, n = rng_.between(1, 5); k < n; ++k) {
      add_definition();
      if (rng_.chance(20)) add_inout();
      if (!inouts_.empty() && rng_.chance(30)) negate(names_.tensors[rng_.pick(inouts_)]);
    }
    add_outputs();
    return std::move(result_);
  }

 private:
  void line(const std::string& text) { result_.text += text + "\n"; }

  void add_sizes() {
    for (const int64_t n : {1, 2, 3, 5, 8})
      if (rng_.chance(40))
        names_.sizes.push_back({.base = "", .offset = n, .value = n, .least = n});
    for (int64_t k = 0, n = rng_.between(1, 2); k < n; ++k) {
      const std::string name = fmt::format("N{}", k);
      const int64_t least = rng_.between(0, 3), most = least + rng_.between(0, 5);
      const int64_t value = rng_.between(least, most);
      line(fmt::format("dim {} in {}..={}", name, least, most));
      result_.dims[name] = value;
      const Extent size{.base = name, .offset = 0, .value = value, .least = least};
      names_.sizes.push_back(size);
      names_.sizes.push_back(size.plus(rng_.between(1, 2)));
      if (least > 0) names_.sizes.push_back(size.plus(-1));
    }
  }

  void add_scalars() {
    if (rng_.chance(40)) {
      line("scalar s0: f32");
      names_.scalars.push_back({.name = "s0", .kind = Kind::real, .bound = input_bound()});
      names_.scalars.back().bound.wide = false;
    }
    if (rng_.chance(40)) {
      line("scalar s1: i32 in 0..2");
      names_.scalars.push_back({.name = "s1", .kind = Kind::integer, .below = 2});
    }
  }

  // Inputs are multiples of 1/4 within -2..2.
  Bound input_bound() const { return {.magnitude = 2, .fraction = 2, .wide = names_.f64}; }

  std::vector<Extent> shape(int64_t rank) {
    std::vector<Extent> shape;
    for (int64_t d = 0; d < rank; ++d) shape.push_back(rng_.pick(names_.sizes));
    return shape;
  }

  void add_input(Tensor tensor, const char* type) {
    tensor.name = fmt::format("x{}", names_.tensors.size());
    std::string text = fmt::format("input {}: {}", tensor.name, type);
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      text += (d == 0 ? "[" : ", ") + tensor.shape[d].text();
    if (!tensor.shape.empty()) text += "]";
    if (tensor.below) text += fmt::format(" in 0..{}", tensor.below->text());
    line(text);
    names_.tensors.push_back(std::move(tensor));
  }

  void add_inputs() {
    for (int64_t k = 0, n = rng_.between(2, 4); k < n; ++k)
      add_input({.name = "", .shape = shape(rng_.between(0, 3)), .bound = input_bound()},
                names_.f64        ? "f64"
                : rng_.chance(80) ? "f32"
                                  : "f16");
    if (rng_.chance(50))
      add_input({.name = "", .kind = Kind::integer, .shape = shape(rng_.between(1, 2))}, "i32");
    if (rng_.chance(40))
      add_input({.name = "", .kind = Kind::boolean, .shape = shape(rng_.between(1, 2))}, "bool");
    const Extent size = rng_.pick(names_.sizes);
    if (size.least > 0)
      add_input({.name = "", .kind = Kind::integer, .shape = shape(1), .bound = {}, .below = size},
                rng_.chance(80) ? "i32" : "u8");
  }

  void add_definition() {
    Body body(names_, rng_);
    std::vector<Extent> shape;
    int64_t elements = 1;
    for (int64_t k = 0, rank = rng_.between(0, 3); k < rank; ++k) {
      const Extent range = rng_.pick(names_.sizes);
      if (elements * range.value > kMostElements) break;
      elements *= range.value;
      body.add_index(range);
      shape.push_back(range);
    }
    Reduction right;
    if (rng_.chance(45)) {
      const Kind kind = rng_.chance(65)   ? Kind::real
                        : rng_.chance(70) ? Kind::integer
                                          : Kind::boolean;
      const Term term = body.value(kind, kDepth);
      right = {.text = term.text, .kinds = {kind}, .bounds = {stored_bound(term.bound)}};
    } else {
      right = body.reduction(kDepth);
    }
    std::string left;
    const size_t dropped = right.kinds.size() > 1 && rng_.chance(30) ? 0 : right.kinds.size();
    for (size_t r = 0; r < right.kinds.size(); ++r) {
      left += r == 0 ? "" : ", ";
      if (r == dropped) {
        left += "_";
        continue;
      }
      const std::string name = fmt::format("t{}", names_.tensors.size());
      const int64_t places = r < right.places.size() ? right.places[r] : 0;
      left += body.left(name, places);
      names_.tensors.push_back(
          {.name = name, .kind = right.kinds[r], .shape = shape, .bound = right.bounds[r]});
      if (places > 0)
        names_.tensors.back().shape.push_back(
            {.base = "", .offset = places, .value = places, .least = places});
      defined_.push_back(names_.tensors.size() - 1);
    }
    // Another name of an inout could not be read once that is updated.
    for (const size_t inout : inouts_)
      if (right.text == names_.tensors[inout].name) right.text = "-" + right.text;
    line(fmt::format("{} = {}", left, right.text));
  }

  // An inout and an update of it, through coordinates that tell the points apart.
  void add_inout() {
    Body body(names_, rng_);
    Tensor tensor{.name = fmt::format("c{}", names_.tensors.size()),
                  .kind = rng_.chance(60)   ? Kind::real
                          : rng_.chance(60) ? Kind::integer
                                            : Kind::boolean,
                  .shape = {}};
    std::vector<Extent> ranges;
    for (int64_t k = 0, rank = rng_.between(0, 2); k < rank; ++k) {
      ranges.push_back(rng_.pick(names_.sizes));
      body.add_index(ranges.back());
    }
    const Term value = body.value(tensor.kind, kDepth);
    std::string places;
    for (size_t k = 0; k < ranges.size(); ++k) {
      const std::string& index = body.index_name(k);
      const int64_t shift = rng_.between(0, 2);
      tensor.shape.push_back(ranges[k].plus(shift));
      std::string place = index;
      if (shift > 0) place = fmt::format("{} + {}", index, rng_.between(0, shift));
      if (shift == 0 && rng_.chance(30))
        place = fmt::format("{} - 1 - {}", ranges[k].text(), index);
      places += fmt::format("{}{}: {}", k == 0 ? "" : ", ", place, ranges[k].text());
    }
    const bool guarded = rng_.chance(40);
    if (guarded) places += (ranges.empty() ? "| " : " | ") + body.value(Kind::boolean, 2).text;
    std::string shape;
    for (const Extent& extent : tensor.shape) shape += (shape.empty() ? "[" : ", ") + extent.text();
    if (!shape.empty()) shape += "]";
    const char* type = tensor.kind == Kind::integer   ? "i32"
                       : tensor.kind == Kind::boolean ? "bool"
                       : names_.f64                   ? "f64"
                                                      : "f32";
    line(fmt::format("inout {}: {}{}", tensor.name, type, shape));
    const std::string brackets = places.empty() ? "" : "[" + places + "]";
    line(fmt::format("{}{}{} := {}", tensor.name, guarded ? "?" : "", brackets, value.text));
    tensor.bound = either_bound(input_bound(), stored_bound(value.bound));
    names_.tensors.push_back(std::move(tensor));
    inouts_.push_back(names_.tensors.size() - 1);
  }

  // An update that reads what it writes; what was defined before still sees the old version.
  void negate(const Tensor& tensor) {
    std::string places;
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      places += fmt::format("{}i{}", d == 0 ? "[" : ",", d);
    if (!places.empty()) places += "]";
    const char* sign = tensor.kind == Kind::boolean ? "!" : "-";
    line(fmt::format("{0}{1} := {2}{0}{1}", tensor.name, places, sign));
  }

  void add_outputs() {
    for (const size_t inout : inouts_) {  // outputs by themselves, before the others
      const Tensor& t = names_.tensors[inout];
      result_.outputs.push_back(
          {.name = t.name, .tolerance = t.kind == Kind::real ? tolerance(t.bound) : 0});
    }
    for (size_t k = 0; k < defined_.size(); ++k) {
      if (k + 1 < defined_.size() && rng_.chance(30)) continue;
      const Tensor& t = names_.tensors[defined_[k]];
      // What it depends on may fold away, and its tolerance is that of f64.
      line("output " + t.name + (names_.f64 && t.kind == Kind::real ? ": f64" : ""));
      result_.outputs.push_back(
          {.name = t.name, .tolerance = t.kind == Kind::real ? tolerance(t.bound) : 0});
    }
  }

  Rng rng_;
  Names names_;
  Generated result_;
  std::vector<size_t> defined_;  // positions in names_.tensors
  std::vector<size_t> inouts_;   // the same
};

}  // namespace

Generated generate(uint64_t seed) {
  return Generator(seed).run();
}

}  // namespace tang::random
