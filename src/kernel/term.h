// Expressions written with C++'s operators, for legalizations and the functions that they add: a
// formula reads as a formula. A number beside a term is a constant of the term's type.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernel/module.h"

namespace tang::kernel {

struct Term {
  Exprs* exprs = nullptr;
  ExprId id;
  Type type() const { return exprs->type(id); }
};

template <class N>
concept Number = std::is_arithmetic_v<N>;

template <Number N>
Term constant(Exprs& exprs, Type type, N value) {
  const Value v = is_real(type) ? real_value(static_cast<double>(value))
                                : integer_value(static_cast<int64_t>(value));
  return {&exprs, exprs.constant(type, v)};
}
template <Number N>
Term same_type(Term like, N value) {
  return constant(*like.exprs, like.type(), value);
}
inline Term same_type(Term /*like*/, Term value) {
  return value;
}

inline Term apply(Op op, Term a) {
  return {a.exprs, a.exprs->make(op, a.id)};
}
inline Term apply(Op op, Term a, Term b) {
  return {a.exprs, a.exprs->make(op, a.id, b.id)};
}

#define TANG_TERM_OPERATOR(symbol, op)          \
  inline Term operator symbol(Term a, Term b) { \
    return apply(op, a, b);                     \
  }                                             \
  template <Number N>                           \
  Term operator symbol(Term a, N b) {           \
    return apply(op, a, same_type(a, b));       \
  }                                             \
  template <Number N>                           \
  Term operator symbol(N a, Term b) {           \
    return apply(op, same_type(b, a), b);       \
  }
TANG_TERM_OPERATOR(+, Op::add)
TANG_TERM_OPERATOR(-, Op::sub)
TANG_TERM_OPERATOR(*, Op::mul)
TANG_TERM_OPERATOR(/, Op::div)
TANG_TERM_OPERATOR(&, Op::bit_and)
TANG_TERM_OPERATOR(|, Op::bit_or)
TANG_TERM_OPERATOR(^, Op::bit_xor)
TANG_TERM_OPERATOR(<<, Op::shift_left)
TANG_TERM_OPERATOR(>>, Op::shift_right)
TANG_TERM_OPERATOR(==, Op::eq)
TANG_TERM_OPERATOR(!=, Op::ne)
TANG_TERM_OPERATOR(<, Op::lt)
TANG_TERM_OPERATOR(<=, Op::le)
TANG_TERM_OPERATOR(>, Op::gt)
TANG_TERM_OPERATOR(>=, Op::ge)
#undef TANG_TERM_OPERATOR

// Both evaluate what they need only, as everywhere in kernel IR.
inline Term both(Term a, Term b) {
  return apply(Op::logic_and, a, b);
}
inline Term either(Term a, Term b) {
  return apply(Op::logic_or, a, b);
}
inline Term negation(Term a) {
  return apply(Op::logic_not, a);
}
inline Term operator-(Term a) {
  return apply(Op::neg, a);
}
inline Term cast(Type to, Term a) {
  return {a.exprs, a.exprs->cast(to, a.id)};
}
inline Term bits_of(Term a) {  // of an f32 or f64, as an integer
  return {a.exprs, a.exprs->bitcast(a.type() == Type::f32 ? Type::i32 : Type::i64, a.id)};
}
inline Term from_bits(Term a) {
  return {a.exprs, a.exprs->bitcast(a.type() == Type::i32 ? Type::f32 : Type::f64, a.id)};
}

// One of the two choices is a Term.
template <class A, class B>
Term select(Term condition, A a, B b) {
  Term yes, no;
  if constexpr (std::is_same_v<A, Term>) {
    yes = a;
    no = same_type(a, b);
  } else {
    no = b;
    yes = same_type(b, a);
  }
  return {condition.exprs, condition.exprs->select(condition.id, yes.id, no.id)};
}

// c0 + x*(c1 + x*(c2 + ...))
Term polynomial(Term x, std::initializer_list<double> coefficients);

Term call(Module& module, uint32_t function, const std::vector<Term>& args);

// Makes a function of a module: parameters, then named values, then the result.
class FunctionBuilder {
 public:
  FunctionBuilder(Module& module, std::string name, std::string comment);
  Term parameter(const std::string& name, Type type);
  // A name for a value; a name given twice gets a number.
  Term let(const std::string& name, Term value);
  // Adds the function to the module and gives its number.
  uint32_t finish(Term result);

 private:
  Term variable(std::string name, Type type);
  Module& module_;
  Function function_;
};

// The number of the function of that name, which `add` adds to the module if it is not there.
template <class Add>
uint32_t function_named(Module& module, std::string_view name, const Add& add) {
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].name == name) return static_cast<uint32_t>(i);
  return add();
}

}  // namespace tang::kernel
