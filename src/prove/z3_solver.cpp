// The Solver by Z3: integer arithmetic with products and quotients for forms, reals with
// uninterpreted functions for expressions. A plugin with one entry point, so that nothing else of
// tangc needs Z3.
#include <z3++.h>

#include <cmath>
#include <map>
#include <unordered_map>

#include "check/solver.h"

namespace tang {

namespace {

constexpr unsigned kMilliseconds = 2000;  // of one question

class Z3Solver final : public Solver {
 public:
  Proof prove(const Forms& forms, const Facts& facts, std::optional<Constraint> goal) override {
    try {
      z3::context context;
      z3::solver solver(context);
      limit(context, solver);
      Integers integers(context, forms);
      for (const Constraint& fact : facts) solver.add(integers.holds(fact));
      if (goal) solver.add(!integers.holds(*goal));
      switch (solver.check()) {
        case z3::unsat:
          return {.verdict = Verdict::proved, .witness = {}};
        case z3::sat:
          return {.verdict = Verdict::refuted, .witness = integers.values(solver.get_model())};
        case z3::unknown:
          break;
      }
    } catch (const z3::exception&) {
      // What it cannot say is undecided.
    }
    return {};
  }

  Verdict equal(const Exprs& exprs, ExprId a, ExprId b) override {
    try {
      z3::context context;
      z3::solver solver(context);
      limit(context, solver);
      Reals reals(context, exprs);
      const auto x = reals.translate(a), y = reals.translate(b);
      if (!x || !y) return Verdict::unknown;
      solver.add(*x != *y);
      return solver.check() == z3::unsat ? Verdict::proved : Verdict::unknown;
    } catch (const z3::exception&) {
      return Verdict::unknown;
    }
  }

 private:
  static void limit(z3::context& context, z3::solver& solver) {
    z3::params params(context);
    params.set("timeout", kMilliseconds);
    solver.set(params);
  }

  class Integers {
   public:
    Integers(z3::context& context, const Forms& forms) : context_(context), forms_(forms) {}

    z3::expr holds(const Constraint& c) {
      const z3::expr f = form(c.form);
      if (c.modulus == 0) return f >= 0;
      return z3::mod(f, context_.int_val(c.modulus)) == 0;
    }

    std::map<Var, int64_t> values(const z3::model& model) const {
      std::map<Var, int64_t> result;
      for (const auto& [var, e] : variables_) {
        int64_t value = 0;
        if (!model.eval(e, true).is_numeral_i64(value)) throw z3::exception("a large value");
        result[var] = value;
      }
      return result;
    }

   private:
    z3::expr form(FormId id) {
      if (const auto found = forms_seen_.find(id); found != forms_seen_.end())
        return found->second;
      const Form& f = forms_[id];
      z3::expr sum = context_.int_val(f.constant);
      for (const Term& term : f.terms) {
        z3::expr product = context_.int_val(term.coefficient);
        for (const Atom& atom : term.atoms)
          product = product * (atom.is_quotient() ? form(atom.numerator) /
                                                        context_.int_val(atom.divisor)
                                                  : variable(atom.var));
        sum = sum + product;
      }
      forms_seen_.emplace(id, sum);
      return sum;
    }
    z3::expr variable(Var v) {
      const auto found = variables_.find(v);
      if (found != variables_.end()) return found->second;
      const std::string name =
          "v" + std::to_string(static_cast<int>(v.kind)) + "_" + std::to_string(v.index);
      return variables_.emplace(v, context_.int_const(name.c_str())).first->second;
    }

    z3::context& context_;
    const Forms& forms_;
    std::map<Var, z3::expr> variables_;
    std::unordered_map<FormId, z3::expr> forms_seen_;
  };

  class Reals {
   public:
    Reals(z3::context& context, const Exprs& exprs) : context_(context), exprs_(exprs) {}

    // Nothing where a node has no meaning over the reals.
    std::optional<z3::expr> translate(ExprId root) {
      for (const ExprId id : exprs_.post_order({root})) {
        if (known_.contains(id)) continue;
        const auto made = node(exprs_[id]);
        if (!made) return std::nullopt;
        known_.emplace(id, *made);
      }
      return known_.at(root);
    }

   private:
    z3::sort sort_of(Type type) {
      if (type == Type::boolean) return context_.bool_sort();
      return is_real(type) ? context_.real_sort() : context_.int_sort();
    }

    std::optional<z3::expr> constant(const Expr& e) {
      if (e.type == Type::boolean) return context_.bool_val(e.value().integer != 0);
      if (!is_real(e.type)) return context_.int_val(e.value().integer);
      const double value = e.value().real;
      if (!std::isfinite(value)) return std::nullopt;
      int exponent = 0;
      const double mantissa = std::frexp(value, &exponent);
      // An exact fraction: the mantissa's 53 bits over or times a power of two.
      if (exponent > 1000 || exponent < -900) return std::nullopt;
      z3::expr whole =
          context_.real_val(std::to_string(static_cast<int64_t>(std::ldexp(mantissa, 53))).c_str());
      const int power = exponent - 53;
      const z3::expr two = context_.real_val("2");
      for (int n = 0; n < std::abs(power); ++n) whole = power > 0 ? whole * two : whole / two;
      return whole.simplify();
    }

    std::optional<z3::expr> node(const Expr& e) {
      const auto arg = [&](size_t i) { return known_.at(e.args[i]); };
      switch (e.op) {
        case Op::constant:
          return constant(e);
        case Op::variable:
          return context_.constant(("x" + std::to_string(e.index())).c_str(), sort_of(e.type));
        case Op::select:
          return z3::ite(arg(0), arg(1), arg(2));
        case Op::add:
          return arg(0) + arg(1);
        case Op::sub:
          return arg(0) - arg(1);
        case Op::mul:
          return arg(0) * arg(1);
        case Op::neg:
          return -arg(0);
        case Op::div:
          if (!is_real(e.type)) return std::nullopt;
          return arg(0) / arg(1);
        case Op::recip:
          return context_.real_val("1") / arg(0);
        case Op::fma:
          return arg(0) * arg(1) + arg(2);
        case Op::min:
          return z3::ite(arg(0) <= arg(1), arg(0), arg(1));
        case Op::max:
          return z3::ite(arg(0) >= arg(1), arg(0), arg(1));
        case Op::abs:
          return z3::ite(arg(0) >= 0, arg(0), -arg(0));
        case Op::eq:
          return arg(0) == arg(1);
        case Op::ne:
          return arg(0) != arg(1);
        case Op::lt:
          return arg(0) < arg(1);
        case Op::le:
          return arg(0) <= arg(1);
        case Op::gt:
          return arg(0) > arg(1);
        case Op::ge:
          return arg(0) >= arg(1);
        case Op::logic_and:
          return arg(0) && arg(1);
        case Op::logic_or:
          return arg(0) || arg(1);
        case Op::logic_not:
          return !arg(0);
        case Op::cast:
          if (is_real(e.type) && is_integer(exprs_.type(e.args[0]))) return z3::to_real(arg(0));
          return std::nullopt;
        default:
          break;
      }
      if (op_info(e.op).cls != OpClass::real) return std::nullopt;
      // Any function: what is proved of it holds for this one.
      z3::sort_vector domain(context_);
      z3::expr_vector args(context_);
      for (size_t i = 0; i < e.n_args; ++i) {
        domain.push_back(sort_of(exprs_.type(e.args[i])));
        args.push_back(arg(i));
      }
      const std::string name(op_info(e.op).name);
      return context_.function(name.c_str(), domain, sort_of(e.type))(args);
    }

    z3::context& context_;
    const Exprs& exprs_;
    std::unordered_map<ExprId, z3::expr> known_;
  };
};

}  // namespace

extern "C" Solver* tang_make_solver() {
  return new Z3Solver;
}

}  // namespace tang
