#include "check/laws.h"

#include <set>

#include "ir/builtin.h"

namespace tang {

namespace {

// States as leaves of their own: component k of state s is variable s*n + k.
class States {
 public:
  States(Arena& arena, const Monoid& monoid) : arena_(arena), monoid_(monoid) {}

  std::vector<ExprId> state(size_t s) const {
    std::vector<ExprId> leaves;
    for (size_t k = 0; k < monoid_.n_components(); ++k)
      leaves.push_back(arena_.exprs.leaf(Op::variable, monoid_.types[k],
                                         s * monoid_.n_components() + k));
    return leaves;
  }
  std::vector<ExprId> combine(const std::vector<ExprId>& a, const std::vector<ExprId>& b) const {
    Exprs::Memo memo;
    std::vector<ExprId> result;
    for (const ExprId root : monoid_.combine)
      result.push_back(arena_.exprs.rewrite(
          root, memo, [&](ExprId id, const std::array<ExprId, 3>&) {
            const Expr e = arena_.exprs[id];
            if (e.op == Op::left) return a[e.index()];
            return e.op == Op::right ? b[e.index()] : ExprId();
          }));
    return result;
  }

 private:
  Arena& arena_;
  const Monoid& monoid_;
};

bool all_equal(Solver* solver, const Exprs& exprs, const std::vector<ExprId>& a,
               const std::vector<ExprId>& b) {
  for (size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k] && (!solver || solver->equal(exprs, a[k], b[k]) != Verdict::proved))
      return false;
  return true;
}

// A product's name lists those of its parts.
bool is_builtin(const std::string& name) {
  std::string word;
  for (const char c : name + ",") {
    if (c == '(' && word.empty()) continue;
    if (c != ',' && c != ' ' && c != ')') {
      word += c;
      continue;
    }
    if (!word.empty() && !builtin_monoid_arity(word)) return false;
    word.clear();
  }
  return true;
}

}  // namespace

std::vector<LawReport> monoid_laws(const Program& program, Solver* solver) {
  Arena& arena = *program.arena;
  std::vector<LawReport> reports;
  std::set<MonoidId> seen;
  for (const Def& def : program.defs) {
    const Comprehension& c = arena.comprehensions[def.id];
    if (c.is_map() || !seen.insert(c.monoid).second) continue;
    const Monoid monoid = arena.monoids[c.monoid];
    if (is_builtin(monoid.name)) continue;
    const States states(arena, monoid);
    const auto x = states.state(0), y = states.state(1), z = states.state(2);
    const auto same = [&](const auto& a, const auto& b) {
      return all_equal(solver, arena.exprs, a, b);
    };
    reports.push_back({monoid.name, "associative",
                       same(states.combine(states.combine(x, y), z),
                            states.combine(x, states.combine(y, z)))});
    reports.push_back({monoid.name, "identity",
                       same(states.combine(monoid.identity, x), x) &&
                           same(states.combine(x, monoid.identity), x)});
    if (monoid.commutative)
      reports.push_back(
          {monoid.name, "commutative", same(states.combine(x, y), states.combine(y, x))});
  }
  return reports;
}

}  // namespace tang
