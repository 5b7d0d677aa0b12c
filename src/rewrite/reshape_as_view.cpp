// Reshapes are views: quotients and remainders that undo each other leave coordinates, and guards
// that always hold leave reads. Flattening and splitting of dimensions then cost nothing, and a
// guarded read that is never out of range is a plain one.
//
// Exact. Measure: the number of quotients, and of constraints and guards.
#include <algorithm>
#include <unordered_map>

#include "ir/dependence.h"
#include "rewrite/carry.h"
#include "rewrite/edit.h"
#include "rewrite/passes.h"

namespace tang {

namespace {

class Reshaper {
 public:
  Reshaper(const Program& program, const Comprehension& c)
      : program_(program), arena_(*program.arena), c_(c) {}

  Comprehension run() {
    Comprehension result = c_;
    set_facts(c_, axes_of_domain(c_), false);
    Guard domain = arena_.guards[c_.domain];
    simplify(domain);
    result.domain = arena_.guard(domain);
    for (uint32_t k = 0; k < result.reads.size(); ++k) {
      Read& read = result.reads[k];
      set_facts(result, axes_around(arena_, c_, k), true);
      View view = arena_.views[read.view];
      for (Coord& coord : view.coords)
        coord = coord.is_gather() ? Coord{.form = {}, .data = simplify(coord.data)}
                                  : Coord{.form = simplify(coord.form), .data = {}};
      if (view.guarded) {
        Guard guard = arena_.guards[view.guard];
        simplify(guard);
        if (guard.empty() && is_in_range(view, arena_.tensors[read.tensor].shape)) {
          view.guarded = false;
          read.otherwise = {};
        }
        view.guard = arena_.guard(std::move(guard));
        if (read.otherwise.valid()) read.otherwise = simplify(read.otherwise);
      }
      read.view = arena_.views.intern(std::move(view));
    }
    for (Component& k : result.components) {
      AxisSet own = axes_of_domain(result);
      for (const uint8_t axis : k.axes) own.set(axis);
      set_facts(result, own, true);
      k.value = simplify(k.value);
    }
    return result == c_ ? c_ : tidy(arena_, result);
  }

 private:
  // What was found under other facts is forgotten.
  void set_facts(const Comprehension& c, const AxisSet& axes, bool in_domain) {
    Facts facts = facts_of(program_, c, axes, in_domain);
    if (facts == facts_) return;
    facts_ = std::move(facts);
    memo_.clear();
    forms_.clear();
  }

  bool is_in_range(const View& view, const std::vector<FormId>& shape) {
    Forms& forms = arena_.forms;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (view.coords[d].is_gather()) return false;
      const FormId f = view.coords[d].form;
      if (!proves(forms, facts_, {.form = f}) ||
          !proves(forms, facts_, {.form = forms.add(forms.sub(shape[d], f), -1)}))
        return false;
    }
    return true;
  }

  void simplify(Guard& guard) {
    for (Constraint& c : guard.constraints) c.form = simplify(c.form);
    std::erase_if(guard.constraints,
                  [&](const Constraint& c) { return proves(arena_.forms, facts_, c); });
    if (guard.condition.valid()) guard.condition = simplify(guard.condition);
  }

  ExprId simplify(ExprId e) {
    return arena_.exprs.rewrite(e, memo_, [&](ExprId id, const std::array<ExprId, 3>&) {
      const Expr x = arena_.exprs[id];
      if (x.op != Op::form) return ExprId();
      return arena_.exprs.form(arena_.forms, simplify(x.form()), x.type);
    });
  }

  // floor((k*q + r)/k) = q + floor(r/k), and floor(r/k) is known where r stays within one multiple.
  FormId simplify(FormId f) {
    Forms& forms = arena_.forms;
    const bool plain = std::all_of(
        forms[f].terms.begin(), forms[f].terms.end(), [](const Term& t) {
          return std::none_of(t.atoms.begin(), t.atoms.end(),
                              [](const Atom& a) { return a.is_quotient(); });
        });
    if (plain) return f;
    if (const auto found = forms_.find(f); found != forms_.end()) return found->second;
    const Form given = forms[f];
    FormId sum = forms.constant(given.constant);
    for (const Term& term : given.terms) {
      FormId product = forms.constant(term.coefficient);
      for (const Atom& atom : term.atoms)
        product = forms.mul(product, atom.is_quotient()
                                         ? quotient(simplify(atom.numerator), atom.divisor)
                                         : forms.var(atom.var));
      sum = forms.add(sum, product);
    }
    return forms_[f] = sum;
  }

  FormId quotient(FormId n, int64_t k) {
    Forms& forms = arena_.forms;
    FormId whole = forms.constant(0), rest = forms.constant(forms[n].constant);
    const std::vector<Term> terms = forms[n].terms;
    for (const Term& term : terms) {
      const bool divides = term.coefficient % k == 0;
      FormId product = forms.constant(divides ? term.coefficient / k : term.coefficient);
      for (const Atom& atom : term.atoms)
        product = forms.mul(product, atom.is_quotient()
                                         ? forms.quotient(atom.numerator, atom.divisor)
                                         : forms.var(atom.var));
      (divides ? whole : rest) = forms.add(divides ? whole : rest, product);
    }
    const Bounds range = bounds(forms, facts_, rest);
    if (range.low && range.high) {
      const FormId low = forms.quotient(forms.constant(*range.low), k);
      if (low == forms.quotient(forms.constant(*range.high), k)) return forms.add(whole, low);
    }
    return forms.quotient(n, k);
  }

  const Program& program_;
  Arena& arena_;
  const Comprehension& c_;
  Facts facts_;
  Exprs::Memo memo_;
  std::unordered_map<FormId, FormId> forms_;
};

}  // namespace

Comprehension with_simple_views(const Program& program, const Comprehension& c) {
  return Reshaper(program, c).run();
}

Program reshape_as_view(const Program& program, const RewriteOptions&, Trace* trace) {
  Edit edit(program, trace);
  for (size_t d = 0; d < program.defs.size(); ++d) {
    const DefId def(d);
    const Comprehension c = edit.current(def);
    const Comprehension made = with_simple_views(program, c);
    if (made == c) continue;
    edit.replace(def, made,
                 {.pass = "reshape-as-view",
                  .laws = {},
                  .says = name_of(program.defs[d]) + " reads by simpler views"});
  }
  return edit.changed() ? edit.finish() : program;
}

}  // namespace tang
