// Which cases there are where conditions hold: alternatives that the facts exclude are dropped
// first, since that costs no case, then those that matter are told apart while there are few cases.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/panic.h"
#include "text/data_forms.h"

namespace tang {

namespace {

constexpr size_t kMostCases = 24;
constexpr size_t kMostSplits = 64;  // parts of one condition that are looked at
constexpr size_t kMostSteps = 96;

void extend(Facts& to, const Facts& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<ExprId> conjuncts_of(const Exprs& exprs, ExprId condition) {
  std::vector<ExprId> out, stack;
  if (condition.valid()) stack.push_back(condition);
  while (!stack.empty()) {
    const ExprId id = stack.back();
    stack.pop_back();
    if (const Expr& e = exprs[id]; e.op == Op::logic_and)
      stack.insert(stack.end(), {e.args[0], e.args[1]});
    else
      out.push_back(id);
  }
  return out;
}

std::set<Var> vars_of(const Forms& forms, const Facts& facts) {
  std::set<Var> out;
  for (const Constraint& c : facts) forms.for_each_var(c.form, [&](Var v) { out.insert(v); });
  return out;
}

// The variables of a form, and those that facts connect with them.
std::set<Var> connected_vars(const Forms& forms, const Facts& facts, FormId form) {
  std::map<Var, std::vector<size_t>> by_var;
  std::vector<std::set<Var>> vars;
  for (const Constraint& fact : facts) {
    vars.push_back(vars_of(forms, {fact}));
    for (const Var v : vars.back()) by_var[v].push_back(vars.size() - 1);
  }
  std::set<Var> reached;
  std::vector<Var> stack;
  const auto reach = [&](Var v) {
    if (reached.insert(v).second) stack.push_back(v);
  };
  forms.for_each_var(form, reach);
  while (!stack.empty()) {
    const std::vector<size_t> about = std::exchange(by_var[stack.back()], {});
    stack.pop_back();
    for (const size_t i : about)
      for (const Var v : std::exchange(vars[i], {})) reach(v);
  }
  return reached;
}

}  // namespace

// ---- equal values ------------------------------------------------------------------------------

ExprId DataForms::rewritten(ExprId expr) {
  if (!expr.valid()) return expr;
  if (const auto known = canonical_memo.find(expr); known != canonical_memo.end())
    return known->second;
  Exprs& exprs = resolver.arena.exprs;
  return exprs.rewrite(expr, canonical_memo, [&](ExprId old, const std::array<ExprId, 3>&) {
    const Expr e = exprs[old];
    if (e.op != Op::read) return ExprId();
    TANG_ASSERT(e.index() < representatives.size(), "read {} before its place", e.index());
    return exprs.leaf(Op::read, e.type, representatives[e.index()]);
  });
}

// What a read needs was read before it, so one pass in order finds all.
void DataForms::find_representatives() {
  const std::deque<Nest>& nests = resolver.nests;
  for (size_t s = representatives.size(); s < nests[nest].slots.size(); ++s) {
    const Slot& slot = nests[nest].slots[s];
    std::vector<uint64_t> key{slot.tensor.value, slot.nested};
    for (const Coord& c : slot.coords) {
      key.push_back(c.is_gather());
      key.push_back(c.is_gather() ? rewritten(c.data).value : c.form.value);
    }
    std::vector<uint64_t> element = key;
    if (slot.guarded && !slot.early) {
      for (const Constraint& c : slot.guard.constraints) {
        key.push_back(c.form.value);
        key.push_back(static_cast<uint64_t>(c.modulus));
      }
      key.push_back(rewritten(slot.guard.condition).value);
      key.push_back(rewritten(slot.otherwise).value);
    }
    representatives.push_back(slots_by_key.emplace(std::move(key), s).first->second);
    // The result of a reduction that is not finished has no tensor yet.
    if (!slot.tensor.valid()) continue;
    const Type type = resolver.arena.tensors[slot.tensor].type;
    if (is_integer(type) && representatives.back() == s) twins[std::move(element)].push_back(s);
  }
}

bool DataForms::is_satisfied(const Guard& guard, const Facts& known,
                             const std::vector<ExprId>& conjuncts) {
  const auto stands_there = [&](ExprId id) {
    return std::find(conjuncts.begin(), conjuncts.end(), id) != conjuncts.end();
  };
  const std::vector<ExprId> own = conjuncts_of(resolver.arena.exprs, rewritten(guard.condition));
  return std::all_of(own.begin(), own.end(), stands_there) &&
         std::all_of(guard.constraints.begin(), guard.constraints.end(), [&](const Constraint& c) {
           Facts all = known;
           extend(all, base);
           return proves(resolver.arena.forms, all, c);
         });
}

// Where the guards of several reads of one element hold, they are one value: that of a read without
// a guard, which is in range where it is evaluated, or the same element or value out of range.
void DataForms::add_twins(Case& one, ExprId condition) {
  Forms& f = resolver.arena.forms;
  const std::vector<ExprId> conjuncts = conjuncts_of(resolver.arena.exprs, condition);
  const std::set<Var> evaluated = vars_of(f, {{.form = one.form}});
  for (const auto& [element, slots] : twins) {
    if (slots.size() < 2) continue;
    std::map<ExprId, FormId> value;  // by what they give out of range; invalid: they must not be
    for (const size_t s : slots) {
      const Slot& slot = resolver.nests[nest].slots[s];
      const Type kind = kind_of(resolver.arena.tensors[slot.tensor].type);
      const FormId form = of(resolver.arena.exprs.leaf(Op::read, kind, s));
      if (!slot.guarded || slot.early) {
        if (const auto var = f.as_var(form); var && evaluated.contains(*var))
          value.emplace(ExprId(), form);
      } else if (is_satisfied(slot.guard, one.facts, conjuncts)) {
        const auto [same, is_new] = value.emplace(rewritten(slot.otherwise), form);
        for (const FormId gap : {f.sub(same->second, form), f.sub(form, same->second)})
          if (!is_new) one.facts.push_back({.form = gap});
      }
    }
    if (value.size() < 2 || !value.contains(ExprId())) continue;
    for (const auto& [otherwise, form] : value)
      for (const FormId gap : {f.sub(value.at(ExprId()), form), f.sub(form, value.at(ExprId()))})
        if (otherwise.valid()) one.facts.push_back({.form = gap});
  }
}

ExprId DataForms::canonical(ExprId expr) {
  find_representatives();
  return rewritten(expr);
}

// ---- conditions --------------------------------------------------------------------------------

const Conjunction& DataForms::conjunction_of(ExprId condition, bool holds) {
  if (const auto known = conditions[holds].find(condition); known != conditions[holds].end())
    return known->second;
  Conjunction found = find_conjunction(condition, holds);
  return conditions[holds].emplace(condition, std::move(found)).first->second;
}

Conjunction DataForms::find_conjunction(ExprId condition, bool holds) {
  Forms& f = resolver.arena.forms;
  const Exprs& exprs = resolver.arena.exprs;
  Conjunction out;
  std::vector<Conjunction::Part> stack;
  if (condition.valid()) stack.push_back({condition, holds});
  const auto at_least = [&](FormId a, FormId b, int64_t gap) {
    out.facts.push_back({.form = f.add(f.sub(a, b), -gap)});
  };
  while (!stack.empty()) {
    const Conjunction::Part part = stack.back();
    stack.pop_back();
    const Expr e = exprs[part.expr];
    if (e.op == Op::constant) out.never |= (e.value().integer != 0) != part.holds;
    if (e.op == Op::logic_not) stack.push_back({e.args[0], !part.holds});
    if (e.op == Op::logic_and || e.op == Op::logic_or) {
      if (e.op == (part.holds ? Op::logic_and : Op::logic_or))
        for (const ExprId arg : {e.args[0], e.args[1]}) stack.push_back({arg, part.holds});
      else if (out.splits.size() < kMostSplits)
        out.splits.push_back(part);
    }
    if (op_info(e.op).cls != OpClass::compare || !is_integer(exprs.type(e.args[0]))) continue;
    if (e.op == (part.holds ? Op::ne : Op::eq)) {
      if (out.splits.size() < kMostSplits) out.splits.push_back(part);
      continue;
    }
    const FormId a = of_canonical(e.args[0]), b = of_canonical(e.args[1]);
    const bool equal = e.op == (part.holds ? Op::eq : Op::ne);
    if (equal || e.op == (part.holds ? Op::le : Op::gt)) at_least(b, a, 0);
    if (equal || e.op == (part.holds ? Op::ge : Op::lt)) at_least(a, b, 0);
    if (e.op == (part.holds ? Op::lt : Op::ge)) at_least(b, a, 1);
    if (e.op == (part.holds ? Op::gt : Op::le)) at_least(a, b, 1);
  }
  return out;
}

DataForms::Alternatives DataForms::alternatives(const Conjunction::Part& part) {
  const Expr e = resolver.arena.exprs[part.expr];
  if (op_info(e.op).cls == OpClass::logic)
    return {{conjunction_of(e.args[0], part.holds), {}},
            {conjunction_of(e.args[1], part.holds), {}}};
  Forms& f = resolver.arena.forms;  // a != b: one of them is less
  const FormId gap = f.sub(of_canonical(e.args[0]), of_canonical(e.args[1]));
  return {{{.facts = {{.form = f.add(f.scale(gap, -1), -1)}}, .splits = {}}, {}},
          {{.facts = {{.form = f.add(gap, -1)}}, .splits = {}}, {}}};
}

// ---- cases -------------------------------------------------------------------------------------

struct DataForms::Open {
  Case made;
  std::vector<Conjunction::Part> splits;

  void add(const Conjunction& more) {
    extend(made.facts, more.facts);
    for (const Conjunction::Part& part : more.splits)
      if (splits.size() < kMostSplits) splits.push_back(part);
  }
};

bool DataForms::excludes(const Facts& known, const Conjunction& alternative) {
  if (alternative.never) return true;
  Forms& f = resolver.arena.forms;
  return std::any_of(alternative.facts.begin(), alternative.facts.end(),
                     [&](const Constraint& fact) {
                       if (fact.modulus != 0) return false;
                       const FormId broken = f.add(f.scale(fact.form, -1), -1);
                       Facts all = known;
                       extend(all, base);
                       extend(all, facts_about(all, broken));
                       return proves(f, all, {.form = broken});
                     });
}

// Takes over the facts of every part that has one possible alternative left. False: one has none.
bool DataForms::apply_forced(Open& open) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < open.splits.size(); ++i) {
      Alternatives left = alternatives(open.splits[i]);
      std::erase_if(left,
                    [&](const Alternative& a) { return excludes(open.made.facts, a.conjunction); });
      if (left.empty()) return false;
      if (left.size() > 1) continue;
      open.splits.erase(open.splits.begin() + static_cast<std::ptrdiff_t>(i--));
      open.add(left[0].conjunction);
      again = true;
    }
  }
  return true;
}

// Tells the alternatives of one part or choice apart that has to do with the form. False: there is
// none.
bool DataForms::split(Open& open, std::vector<Open>& out) {
  Forms& f = resolver.arena.forms;
  std::optional<Var> chosen;
  f.for_each_var(open.made.form, [&](Var v) {
    if (choices.contains(v)) chosen = std::max(chosen.value_or(v), v);
  });
  if (chosen) {
    for (const Alternative& a : choices.at(*chosen)) {
      if (excludes(open.made.facts, a.conjunction)) continue;
      Open next = open;
      next.add(a.conjunction);
      const auto replace = [&](FormId form) {
        return f.substitute(form, [&](Var v) { return v == *chosen ? a.value : FormId(); });
      };
      next.made.form = replace(next.made.form);
      for (Constraint& c : next.made.facts) c.form = replace(c.form);
      out.push_back(std::move(next));
    }
    return true;
  }
  if (open.splits.empty()) return false;
  Facts near = open.made.facts;
  extend(near, facts_about(near, open.made.form));
  const std::set<Var> reached = connected_vars(f, near, open.made.form);
  for (size_t i = 0; i < open.splits.size(); ++i) {
    const Alternatives parts = alternatives(open.splits[i]);
    const bool matters = std::any_of(parts.begin(), parts.end(), [&](const Alternative& a) {
      const std::set<Var> vars = vars_of(f, a.conjunction.facts);
      return std::any_of(vars.begin(), vars.end(), [&](Var v) { return reached.contains(v); });
    });
    if (!matters) continue;
    Open rest = open;
    rest.splits.erase(rest.splits.begin() + static_cast<std::ptrdiff_t>(i));
    for (const Alternative& a : parts) {
      out.push_back(rest);
      out.back().add(a.conjunction);
    }
    return true;
  }
  return false;
}

std::vector<Case> DataForms::cases(FormId form, const Truth& known) {
  Open first{.made = {.form = form, .facts = known.facts}, .splits = {}};
  if (const ExprId condition = canonical(known.rest); condition.valid()) {
    const Conjunction& holds = conjunction_of(condition, true);
    if (holds.never) return {};
    first.add(holds);
    add_twins(first.made, condition);
  }
  std::vector<Case> out;
  std::vector<Open> stack;
  stack.push_back(std::move(first));
  for (size_t step = 0; !stack.empty(); ++step) {
    Open open = std::move(stack.back());
    stack.pop_back();
    if (!apply_forced(open)) continue;
    const bool few = out.size() + stack.size() + 2 <= kMostCases && step < kMostSteps;
    if (!few || !split(open, stack)) out.push_back(std::move(open.made));
  }
  return out;
}

}  // namespace tang
