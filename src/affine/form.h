// Quasi-affine forms: the one algebra of coordinates, extents and addresses.
//
// A form is a constant plus terms; a term is an integer times a product of atoms; an atom is a
// variable or a floor quotient of a form by a positive constant. Equal forms have equal ids, so
// equality of extents is comparison of ids. Three uses, told apart by predicates, not by types:
//
//   coordinate  linear in axes and run-time scalars, with integer coefficients   2*i + r - 1, j/16
//   extent      a polynomial in dims and quotients of such                       S*H, (S + 2)/2
//   address     linear in loop variables, whose coefficients are extents         i*S*64 + j*64 + d
//
// Remainders are a - k*(a/k); the printer turns them back into a % k. Values are exact integers; a
// coefficient that leaves 64 bits sets overflowed(), which stays set, and the result is
// unspecified.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/hash.h"
#include "support/ids.h"

namespace tang {

enum class VarKind : uint8_t {
  dim,     // a symbolic size of the program
  scalar,  // an integer run-time scalar of the program
  axis,    // an index of a comprehension, by position: point axes first, then reduce axes
  local,   // a variable of kernel IR
};

struct Var {
  VarKind kind = VarKind::dim;
  uint32_t index = 0;
  auto operator<=>(const Var&) const = default;
};

using FormId = Id<struct FormTag>;

// A variable, or floor(numerator / divisor) when divisor > 0.
struct Atom {
  Var var;
  FormId numerator;
  int64_t divisor = 0;
  bool is_quotient() const { return divisor != 0; }
  auto operator<=>(const Atom&) const = default;
};

struct Term {
  int64_t coefficient = 1;  // never 0
  std::vector<Atom> atoms;  // sorted, never empty; a power stands several times
  auto operator<=>(const Term&) const = default;
};

struct Form {
  int64_t constant = 0;
  std::vector<Term> terms;  // sorted by atoms, no two alike
  bool operator==(const Form&) const = default;
  uint64_t hash() const;
};

class Forms {
 public:
  FormId constant(int64_t value);
  FormId var(Var v);
  FormId axis(uint32_t index) { return var({VarKind::axis, index}); }
  FormId add(FormId a, FormId b);
  FormId sub(FormId a, FormId b);
  FormId mul(FormId a, FormId b);
  FormId scale(FormId a, int64_t factor);
  FormId add(FormId a, int64_t c) { return add(a, constant(c)); }
  FormId quotient(FormId a, int64_t divisor);   // floor; divisor > 0
  FormId remainder(FormId a, int64_t divisor);  // in [0, divisor); divisor > 0
  FormId ceil_quotient(FormId a, int64_t divisor) { return quotient(add(a, divisor - 1), divisor); }

  const Form& operator[](FormId id) const { return pool_[id]; }
  std::optional<int64_t> as_constant(FormId id) const;
  std::optional<Var> as_var(FormId id) const;
  bool is_constant(FormId id, int64_t value) const { return as_constant(id) == value; }

  // The form with each variable replaced by what `map` gives; an invalid id keeps the variable.
  FormId substitute(FormId id, const std::function<FormId(Var)>& map);
  int64_t evaluate(FormId id, const std::function<int64_t(Var)>& value) const;
  // Calls `visit` for every occurrence of a variable, within quotients too.
  void for_each_var(FormId id, const std::function<void(Var)>& visit) const;
  bool depends_on(FormId id, Var v) const;
  bool depends_on_kind(FormId id, VarKind kind) const;
  // Every term holds at most one atom that depends on anything but dims, and if it holds such an
  // atom it holds no other: an integer combination, as a coordinate must be.
  bool is_coordinate(FormId id) const;
  bool is_extent(FormId id) const;  // depends on dims only
  // f = coefficient * v + rest with neither depending on v; nothing when v stands elsewhere.
  struct Linear {
    FormId coefficient, rest;
  };
  std::optional<Linear> linear_in(FormId id, Var v);

  // In the language's own syntax, with the precedence of `+` outside. `name` gives variables'
  // names.
  std::string print(FormId id, const std::function<std::string(Var)>& name) const;
  bool overflowed() const { return overflowed_; }
  void clear_overflow() { overflowed_ = false; }
  size_t size() const { return pool_.size(); }

 private:
  FormId intern(Form form);
  Form sum(const Form& a, const Form& b, int64_t factor);
  int64_t times(int64_t a, int64_t b);
  int64_t plus(int64_t a, int64_t b);

  Pool<Form, FormTag> pool_;
  bool overflowed_ = false;
};

}  // namespace tang

template <>
struct std::hash<tang::Var> {
  size_t operator()(const tang::Var& v) const noexcept {
    return static_cast<size_t>(v.kind) << 32 | v.index;
  }
};
