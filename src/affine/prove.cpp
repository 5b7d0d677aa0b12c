// How a question is decided, cheapest first:
//
//   inspect   the goal is a constant, or a fact with a smaller constant
//   relate    only facts connected with the goal by variables are looked at
//   solve     equalities and divisibilities give variables: S % 16 == 0 makes S = 16*t
//   rows      facts and the goal's negation become a linear system (system.h)
//   refute    bounds of its columns cross, or elimination finds a contradiction: proved
//   search    a point of the system that satisfies all facts: refuted (witness.h)
#include "affine/prove.h"

#include <algorithm>
#include <set>
#include <utility>

#include "affine/system.h"
#include "affine/witness.h"
#include "support/integer.h"
#include "support/panic.h"

namespace tang {

namespace {

constexpr int kRounds = 6;                    // of interval propagation
constexpr int kMaxSolved = 16;                // variables replaced
constexpr uint32_t kFreshBase = 0x80000000u;  // kernels do not number their variables this high

Var fresh_var(size_t n) {
  return {.kind = VarKind::local, .index = kFreshBase + static_cast<uint32_t>(n)};
}
bool is_fresh(Var v) {
  return v.kind == VarKind::local && v.index >= kFreshBase;
}

bool always_holds(const Form& f, int64_t modulus) {
  if (modulus == 0) return f.terms.empty() && f.constant >= 0;
  return f.constant % modulus == 0 &&
         std::all_of(f.terms.begin(), f.terms.end(),
                     [&](const Term& t) { return t.coefficient % modulus == 0; });
}

bool holds_by_inspection(const Forms& forms, const Facts& facts, const Constraint& goal) {
  const Form& g = forms[goal.form];
  if (always_holds(g, goal.modulus)) return true;
  return std::any_of(facts.begin(), facts.end(), [&](const Constraint& fact) {
    if (goal.modulus != 0)
      return fact.form == goal.form && fact.modulus != 0 && fact.modulus % goal.modulus == 0;
    if (fact.modulus != 0) return false;
    const Form& f = forms[fact.form];
    return f.constant <= g.constant && f.terms == g.terms;
  });
}

std::vector<Var> vars_of(const Forms& forms, FormId form) {
  std::vector<Var> out;
  forms.for_each_var(form, [&](Var v) {
    if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
  });
  return out;
}

// Facts that share variables, directly or through others; of many those nearest to the goal.
struct Group {
  Facts facts;
  bool complete = true;
};

class Grouping {
 public:
  Grouping(const Forms& forms, const Facts& facts) : forms_(forms), facts_(facts) {
    for (size_t i = 0; i < facts.size(); ++i) {
      vars_.push_back(vars_of(forms, facts[i].form));
      for (const Var v : vars_.back()) by_var_[v].push_back(i);
    }
    taken_.resize(facts.size());
  }

  Group of(std::vector<Var> reached) {
    Group group;
    std::vector<size_t> members;
    for (size_t next = 0; next < reached.size(); ++next) {
      const auto found = by_var_.find(reached[next]);
      if (found == by_var_.end()) continue;
      for (const size_t i : std::exchange(found->second, {})) {
        if (taken_[i]) continue;
        if (members.size() == kMostFacts) group.complete = false;
        if (!group.complete) break;
        taken_[i] = true;
        members.push_back(i);
        for (const Var v : vars_[i])
          if (const auto at = by_var_.find(v); !at->second.empty()) reached.push_back(v);
      }
      if (!group.complete) break;
    }
    std::sort(members.begin(), members.end());
    for (const size_t i : members) group.facts.push_back(facts_[i]);
    return group;
  }

  // The group of the goal, if given, and all others.
  std::vector<Group> all(std::optional<FormId> goal) {
    std::vector<Group> groups;
    if (goal) groups.push_back(of(vars_of(forms_, *goal)));
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (taken_[i]) continue;
      if (!vars_[i].empty()) {
        groups.push_back(of(vars_[i]));
      } else {  // a constant
        taken_[i] = true;
        groups.push_back({.facts = {facts_[i]}});
      }
    }
    return groups;
  }

 private:
  static constexpr size_t kMostFacts = 200;
  const Forms& forms_;
  const Facts& facts_;
  std::vector<std::vector<Var>> vars_;         // by fact
  std::map<Var, std::vector<size_t>> by_var_;  // facts not reached yet
  std::vector<bool> taken_;
};

// What is left of a question after solving; `solved` gives each replaced variable by later ones.
struct Question {
  Facts facts;
  std::optional<Constraint> goal;
  std::vector<std::pair<Var, FormId>> solved;
  size_t n_fresh = 0;
};

// The variable of a form with coefficient 1 or -1 that stands nowhere else in it; indices before
// sizes, so that what is left speaks of sizes.
std::optional<Var> solvable_var(const Forms& forms, FormId form) {
  const Form& f = forms[form];
  std::optional<Var> best;
  for (const Term& term : f.terms) {
    if (term.atoms.size() != 1 || term.atoms[0].is_quotient()) continue;
    if (term.coefficient != 1 && term.coefficient != -1) continue;
    const Var v = term.atoms[0].var;
    if (best && v < *best) continue;
    size_t n_seen = 0;
    forms.for_each_var(form, [&](Var w) { n_seen += w == v ? 1 : 0; });
    if (n_seen == 1) best = v;
  }
  return best;
}

int64_t unit_coefficient(const Forms& forms, FormId form, Var v) {
  for (const Term& term : forms[form].terms)
    if (term.atoms.size() == 1 && !term.atoms[0].is_quotient() && term.atoms[0].var == v)
      return term.coefficient;
  TANG_PANIC("a solved variable is not in its form");
}

void replace(Forms& forms, Question& q, Var v, FormId by) {
  const auto apply = [&](Constraint& c) {
    if (forms.depends_on(c.form, v))
      c.form = forms.substitute(c.form, [&](Var w) { return w == v ? by : FormId{}; });
  };
  for (Constraint& fact : q.facts) apply(fact);
  if (q.goal) apply(*q.goal);
  std::erase_if(q.facts,
                [&](const Constraint& c) { return always_holds(forms[c.form], c.modulus); });
  q.solved.emplace_back(v, by);
}

bool are_opposite(const Form& a, const Form& b) {
  if (a.terms.size() != b.terms.size() || a.constant == INT64_MIN || a.constant != -b.constant)
    return false;
  for (size_t i = 0; i < a.terms.size(); ++i)
    if (a.terms[i].coefficient == INT64_MIN || a.terms[i].coefficient != -b.terms[i].coefficient ||
        a.terms[i].atoms != b.terms[i].atoms)
      return false;
  return true;
}

// form = 0: coefficient*v + rest = 0, so v = -coefficient*rest for a coefficient of 1 or -1.
bool solve_equality(Forms& forms, Question& q) {
  for (size_t i = 0; i < q.facts.size(); ++i) {
    if (q.facts[i].modulus != 0) continue;
    for (size_t j = i + 1; j < q.facts.size(); ++j) {
      const FormId form = q.facts[i].form;
      if (q.facts[j].modulus != 0 || !are_opposite(forms[form], forms[q.facts[j].form])) continue;
      const std::optional<Var> v = solvable_var(forms, form);
      if (!v) continue;
      const int64_t c = unit_coefficient(forms, form, *v);
      replace(forms, q, *v, forms.sub(forms.var(*v), forms.scale(form, c)));
      return true;
    }
  }
  return false;
}

// g*f is a multiple of g*m where f is one of m.
Constraint reduced(Forms& forms, const Constraint& fact) {
  const Form& f = forms[fact.form];
  int64_t common = gcd_of(f.constant, fact.modulus);
  for (const Term& term : f.terms) common = gcd_of(common, term.coefficient);
  if (common <= 1) return fact;
  return {.form = forms.quotient(fact.form, common), .modulus = fact.modulus / common};
}

// form = modulus*t with a fresh t: v = coefficient*(modulus*t - rest).
bool solve_divisibility(Forms& forms, Question& q) {
  for (Constraint& fact : q.facts) {
    if (fact.modulus == 0) continue;
    fact = reduced(forms, fact);
    const std::optional<Var> v = solvable_var(forms, fact.form);
    if (!v) continue;
    const int64_t c = unit_coefficient(forms, fact.form, *v);
    const FormId multiple = forms.scale(forms.var(fresh_var(q.n_fresh++)), fact.modulus);
    const FormId by = forms.add(forms.sub(forms.var(*v), forms.scale(fact.form, c)), multiple);
    replace(forms, q, *v, by);
    return true;
  }
  return false;
}

Question solve(Forms& forms, const Facts& facts, std::optional<Constraint> goal) {
  Question q{.facts = facts, .goal = goal, .solved = {}, .n_fresh = 0};
  if (forms.overflowed()) return q;  // of the caller: solving could not notice its own
  for (int n = 0; n < kMaxSolved; ++n)
    if (!solve_equality(forms, q) && !solve_divisibility(forms, q)) break;
  if (!forms.overflowed()) return q;
  forms.clear_overflow();
  return {.facts = facts, .goal = goal, .solved = {}, .n_fresh = 0};
}

// lower <= form - modulus*t <= upper with a fresh t.
void add_remainder(System& system, Row form, int64_t modulus, Var t, int64_t lower, int64_t upper) {
  const std::optional<uint32_t> column =
      system.column_of({{.var = t, .numerator = {}, .divisor = 0}});
  if (!column || !is_near(modulus)) return;
  const Row quotient{.terms = {{*column, 1}}, .constant = 0};
  const int64_t constant = form.constant;
  form.constant = constant - lower;
  if (auto row = combine({&form, 1}, {&quotient, -Wide{modulus}})) system.add(std::move(*row));
  form.constant = constant - upper;
  if (auto row = combine({&form, -1}, {&quotient, modulus})) system.add(std::move(*row));
}

void add_facts(Question& q, System& system) {
  for (const Constraint& fact : q.facts) {
    std::optional<Row> row = system.row_of(fact.form);
    if (!row) continue;
    if (fact.modulus == 0)
      system.add(std::move(*row));
    else
      add_remainder(system, *row, fact.modulus, fresh_var(q.n_fresh++), 0, 0);
  }
}

// Facts and the negated goal. Nothing when the goal does not fit.
std::optional<System> system_of(const Forms& forms, Question& q) {
  System system(forms);
  std::optional<Row> goal;
  if (q.goal) {
    goal = system.row_of(q.goal->form);
    if (!goal) return std::nullopt;
  }
  add_facts(q, system);
  if (goal && q.goal->modulus != 0) {
    add_remainder(system, *goal, q.goal->modulus, fresh_var(q.n_fresh++), 1, q.goal->modulus - 1);
  } else if (goal) {
    const Row one{.terms = {}, .constant = 1};
    auto negated = combine({&*goal, -1}, {&one, -1});
    if (!negated) return std::nullopt;
    system.add(std::move(*negated));
  }
  return system;
}

bool has_products(const System& system) {
  return std::any_of(system.columns.begin(), system.columns.end(),
                     [](const Column& c) { return c.is_product(); });
}

// Bounds of all columns, and rows for products. False: no point is left.
bool refine(System& system, Box& box) {
  if (!propagate(system, box, kRounds)) return false;
  if (!has_products(system)) return true;
  system.add_product_rows(box);
  return propagate(system, box, kRounds);
}

// Elimination is over the rationals; what intervals of integers fixed, it would not find again.
void add_fixed_columns(System& system, const Box& box) {
  for (uint32_t c = 0; c < box.size(); ++c) {
    if (!box[c].is_fixed() || !is_near(box[c].low)) continue;
    system.add({.terms = {{c, 1}}, .constant = -box[c].low});
    system.add({.terms = {{c, -1}}, .constant = box[c].low});
  }
}

bool contradicts(System system) {
  Box box;
  if (!refine(system, box)) return true;
  add_fixed_columns(system, box);
  return !eliminate(std::move(system.rows), system.columns.size(), std::nullopt).has_value();
}

// Value of a form at a point, exactly; nothing when it leaves 64 bits.
std::optional<int64_t> exact_value(const Forms& forms, FormId form, const Point& point) {
  const Form& f = forms[form];
  int64_t total = f.constant;
  for (const Term& term : f.terms) {
    int64_t product = term.coefficient;
    for (const Atom& atom : term.atoms) {
      std::optional<int64_t> factor;
      if (atom.is_quotient()) {
        factor = exact_value(forms, atom.numerator, point);
        if (factor) factor = floor_div(*factor, atom.divisor);
      } else if (const auto at = point.find(atom.var); at != point.end()) {
        factor = at->second;
      } else {
        factor = 0;
      }
      if (!factor) return std::nullopt;
      factor = checked_mul(product, *factor);
      if (!factor) return std::nullopt;
      product = *factor;
    }
    const std::optional<int64_t> sum = checked_add(total, product);
    if (!sum) return std::nullopt;
    total = *sum;
  }
  return total;
}

std::optional<bool> holds_at(const Forms& forms, const Constraint& c, const Point& point) {
  const std::optional<int64_t> value = exact_value(forms, c.form, point);
  if (!value) return std::nullopt;
  return c.modulus == 0 ? *value >= 0 : floor_mod(*value, c.modulus) == 0;
}

// A point over the variables of `facts` and `goal` from one over those of the solved question.
std::optional<Point> unsolved(const Forms& forms, const Question& q, Point point,
                              const Facts& facts, std::optional<Constraint> goal) {
  for (auto it = q.solved.rbegin(); it != q.solved.rend(); ++it) {
    const std::optional<int64_t> value = exact_value(forms, it->second, point);
    if (!value) return std::nullopt;
    point[it->first] = *value;
  }
  const auto mention = [&](Var v) { point.emplace(v, 0); };
  for (const Constraint& fact : facts) forms.for_each_var(fact.form, mention);
  if (goal) forms.for_each_var(goal->form, mention);
  std::erase_if(point, [](const auto& entry) { return is_fresh(entry.first); });
  for (const Constraint& fact : facts)
    if (holds_at(forms, fact, point) != true) return std::nullopt;
  if (goal && holds_at(forms, *goal, point) != false) return std::nullopt;
  return point;
}

std::optional<Point> search(const Forms& forms, const Question& q, const System& system,
                            const Facts& facts, std::optional<Constraint> goal) {
  std::optional<Point> found;
  find_point(system, [&](const Point& point) {
    found = unsolved(forms, q, point, facts, goal);
    return found.has_value();
  });
  return found;
}

Proof decide(Forms& forms, const Facts& facts, std::optional<Constraint> goal) {
  std::vector<Group> groups =
      Grouping(forms, facts).all(goal ? std::optional(goal->form) : std::nullopt);
  Proof proof;
  bool all_found = true;
  for (size_t i = 0; i < groups.size(); ++i) {
    // The goal belongs to the first group; of the others only a contradiction matters.
    const std::optional<Constraint> question = i == 0 ? goal : std::nullopt;
    const Facts& own = groups[i].facts;
    Question q = solve(forms, own, question);
    const std::optional<System> system = system_of(forms, q);
    if (!system) {
      all_found = false;
      continue;
    }
    if (contradicts(*system)) return {.verdict = Verdict::proved, .witness = {}};
    all_found &= groups[i].complete;
    if (!all_found) continue;
    const std::optional<Point> point = search(forms, q, *system, own, question);
    if (!point)
      all_found = false;
    else
      proof.witness.insert(point->begin(), point->end());
  }
  if (!all_found) return {};
  proof.verdict = Verdict::refuted;
  return proof;
}

}  // namespace

Proof prove(Forms& forms, const Facts& facts, Constraint goal) {
  if (holds_by_inspection(forms, facts, goal)) return {.verdict = Verdict::proved, .witness = {}};
  return decide(forms, facts, goal);
}

bool proves(Forms& forms, const Facts& facts, Constraint goal) {
  if (holds_by_inspection(forms, facts, goal)) return true;
  for (const Constraint& fact : facts)  // nothing is where one of them never holds
    if (const auto c = forms.as_constant(fact.form); c && fact.modulus == 0 && *c < 0) return true;
  Question q = solve(forms, Grouping(forms, facts).of(vars_of(forms, goal.form)).facts, goal);
  const std::optional<System> system = system_of(forms, q);
  return system && contradicts(*system);
}

Proof prove_empty(Forms& forms, const Facts& facts) {
  return decide(forms, facts, std::nullopt);
}

Bounds bounds(Forms& forms, const Facts& facts, FormId form) {
  Question q =
      solve(forms, Grouping(forms, facts).of(vars_of(forms, form)).facts, Constraint{form});
  System system(forms);
  const std::optional<Row> row = system.row_of(q.goal->form);
  const std::optional<uint32_t> column =
      system.column_of({{.var = fresh_var(q.n_fresh++), .numerator = {}, .divisor = 0}});
  if (!row || !column) return {};
  // The new column equals the form; all others are eliminated.
  const Row value{.terms = {{*column, 1}}, .constant = 0};
  if (auto above = combine({&value, 1}, {&*row, -1})) system.add(std::move(*above));
  if (auto below = combine({&value, -1}, {&*row, 1})) system.add(std::move(*below));
  add_facts(q, system);
  Box box;
  refine(system, box);
  Interval found = box[*column];
  const auto rows = eliminate(std::move(system.rows), system.columns.size(), column);
  for (const Row& r : rows.value_or(std::vector<Row>{})) {
    // After tightening the coefficient is 1 or -1.
    if (r.terms[0].coefficient > 0)
      found.low = std::max(found.low, -r.constant);
    else
      found.high = std::min(found.high, r.constant);
  }
  Bounds out;
  if (found.has_low()) out.low = found.low;
  if (found.has_high()) out.high = found.high;
  return out;
}

}  // namespace tang
