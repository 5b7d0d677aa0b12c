// Each obligation is one or two questions to the prover; what fails becomes a sentence about the
// values at which it fails. Many obligations of a program are the same question (layers repeat),
// so answers are kept by form, bounds and facts.
#include "check/check.h"

#include <fmt/format.h>

#include <set>
#include <tuple>
#include <unordered_map>

#include "support/panic.h"

namespace tang {

namespace {

using Witness = std::map<Var, int64_t>;

// What an obligation asks, apart from how it is reported.
struct Question {
  const Obligation* of = nullptr;
  bool operator==(const Question& q) const {
    return of->form == q.of->form && of->low == q.of->low && of->high == q.of->high &&
           of->facts == q.of->facts;
  }
};

struct QuestionHash {
  size_t operator()(const Question& q) const {
    uint64_t seed = 11;
    hash_mix(seed, q.of->form.value);
    hash_mix(seed, uint64_t{q.of->low.value} << 32 | q.of->high.value);
    for (const Constraint& fact : q.of->facts) {
      hash_mix(seed, fact.form.value);
      hash_mix(seed, static_cast<uint64_t>(fact.modulus));
    }
    return static_cast<size_t>(seed);
  }
};

enum class Side : uint8_t { below, above };  // which bound is broken

struct Answer {
  Verdict verdict = Verdict::proved;
  Side side = Side::below;
  Witness witness;
};

class Checker {
 public:
  Checker(const Program& program, Diagnostics& diagnostics, const SolverSource& solver)
      : program_(program),
        forms_(program.arena->forms),
        diagnostics_(diagnostics),
        solver_(solver) {}

  void discharge(const Obligation& o);

 private:
  Proof decide(const Facts& facts, std::optional<Constraint> goal);
  Answer answer(const Obligation& o);
  const Answer& remembered(const Obligation& o);
  void report(const Obligation& o, const Answer& a);
  void error(const Obligation& o, std::string name, std::string message);

  std::string name_of(const Obligation& o, Var v) const;
  std::string print(const Obligation& o, FormId form) const {
    return forms_.print(form, [&](Var v) { return name_of(o, v); });
  }
  int64_t value_at(FormId form, const Witness& witness) const;
  std::string values(const Obligation& o, const Witness& witness, const std::vector<FormId>& in,
                     bool dims) const;
  std::string where(const Obligation& o, const Witness& witness) const;
  std::string sizes(const Obligation& o, const Witness& witness) const;
  std::string in_range_message(const Obligation& o, const Answer& a) const;
  std::string gather_message(const Obligation& o, const Answer& a) const;
  std::string extent_message(const Obligation& o, const Answer& a) const;
  std::string injective_message(const Obligation& o, const Answer& a) const;
  std::string width_message(const Obligation& o, const Answer& a) const;

  const Program& program_;
  Forms& forms_;
  Diagnostics& diagnostics_;
  const SolverSource& solver_;
  std::unordered_map<Question, Answer, QuestionHash> answers_;
  // A place is reported once, though unrolled loops and inlined functions ask there many times.
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> reported_;
};

// Without a goal: whether the facts contradict each other.
Proof Checker::decide(const Facts& facts, std::optional<Constraint> goal) {
  Proof proof = goal ? prove(forms_, facts, *goal) : prove_empty(forms_, facts);
  if (proof.verdict != Verdict::unknown || !solver_) return proof;
  if (Solver* solver = solver_()) proof = solver->prove(forms_, facts, goal);
  return proof;
}

Answer Checker::answer(const Obligation& o) {
  if (o.kind == ObligationKind::satisfiable) {
    // An undecided question is no error: what matters is that no proof of emptiness was found.
    const bool empty = prove_empty(forms_, o.facts).verdict == Verdict::proved;
    return {.verdict = empty ? Verdict::refuted : Verdict::proved, .side = {}, .witness = {}};
  }
  if (o.kind == ObligationKind::apart)
    return {.verdict = decide(o.facts, std::nullopt).verdict, .side = {}, .witness = {}};
  Answer undecided;
  const auto ask = [&](Side side, FormId form) {
    Proof proof = decide(o.facts, Constraint{form});
    if (proof.verdict == Verdict::proved) return false;
    undecided = {proof.verdict, side, std::move(proof.witness)};
    return proof.verdict == Verdict::refuted;
  };
  // A refutation of either bound says more than an undecided one.
  if (o.low.valid() && ask(Side::below, forms_.sub(o.form, o.low))) return undecided;
  if (o.high.valid()) ask(Side::above, forms_.add(forms_.sub(o.high, o.form), -1));
  return undecided;
}

const Answer& Checker::remembered(const Obligation& o) {
  const auto [at, is_new] = answers_.try_emplace({&o});
  if (is_new) at->second = answer(o);
  return at->second;
}

void Checker::discharge(const Obligation& o) {
  if (o.kind == ObligationKind::satisfiable || o.kind == ObligationKind::apart) {
    report(o, answer(o));
    return;
  }
  report(o, remembered(o));
}

std::string Checker::name_of(const Obligation& o, Var v) const {
  switch (v.kind) {
    case VarKind::dim:
      return program_.dims[v.index].name;
    case VarKind::scalar:
      return program_.scalars[v.index].name;
    case VarKind::axis:
      return v.index < o.axis_names.size() ? o.axis_names[v.index] : fmt::format("i{}", v.index);
    case VarKind::local:
      return o.text;  // stands for data, of which the text is all we know
  }
  TANG_PANIC("unknown kind of variable");
}

int64_t Checker::value_at(FormId form, const Witness& witness) const {
  return forms_.evaluate(form, [&](Var v) {
    const auto at = witness.find(v);
    return at == witness.end() ? 0 : at->second;
  });
}

// "i = 9, j = 0": the values of the sizes, or of all else, that stand in the forms.
std::string Checker::values(const Obligation& o, const Witness& witness,
                            const std::vector<FormId>& in, bool dims) const {
  std::set<Var> matter;
  for (const FormId form : in)
    forms_.for_each_var(form, [&](Var v) {
      if ((v.kind == VarKind::dim) == dims && v.kind != VarKind::local) matter.insert(v);
    });
  std::string out;
  for (const auto& [v, value] : witness) {
    const std::string name = name_of(o, v);
    // "i is 9 at i = 9" would say it twice.
    if (!matter.contains(v) || name == o.text) continue;
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  }
  return out;
}

std::string Checker::where(const Obligation& o, const Witness& witness) const {
  const std::string at = values(o, witness, {o.form}, false);
  return at.empty() ? "" : " at " + at;
}

std::string Checker::sizes(const Obligation& o, const Witness& witness) const {
  std::vector<FormId> in = {o.form};
  if (o.high.valid()) in.push_back(o.high);
  const std::string with = values(o, witness, in, true);
  return with.empty() ? "" : fmt::format(" (with {})", with);
}

std::string Checker::in_range_message(const Obligation& o, const Answer& a) const {
  const std::string extent = print(o, o.high);
  if (a.verdict == Verdict::refuted) {
    const std::string value = std::to_string(value_at(o.form, a.witness));
    const std::string is_at =
        value == o.text ? " is" : fmt::format(" is {}{},", value, where(o, a.witness));
    const auto fixed = forms_.as_constant(o.form);
    return fmt::format("{}{} outside of dimension {} of {}, which has {}{}{}", o.text, is_at,
                       o.dimension, o.tensor, extent, sizes(o, a.witness),
                       fixed && *fixed < 0 ? "; coordinates do not count from the end" : "");
  }
  const std::string missing = a.side == Side::below
                                  ? fmt::format("{} >= {}", o.text, print(o, o.low))
                                  : fmt::format("{} < {}", o.text, extent);
  const bool of_sizes = !forms_.depends_on_kind(o.form, VarKind::axis);
  return fmt::format("nothing shows that {} holds, for dimension {} of {}; {}guard the read",
                     missing, o.dimension, o.tensor,
                     of_sizes ? fmt::format("write assume {}, or ", missing) : "");
}

std::string Checker::gather_message(const Obligation& o, const Answer& a) const {
  // That data is an i32 is no bound that a user gave.
  const Bounds known = bounds(forms_, o.facts, o.form);
  if (known.low.value_or(INT32_MIN) <= INT32_MIN && known.high.value_or(INT32_MAX) >= INT32_MAX)
    return fmt::format(
        "nothing bounds the coordinate {} of {}; declare the range or guard the read", o.text,
        o.tensor);
  if (a.verdict == Verdict::refuted)
    return fmt::format(
        "{} may be {}, outside of dimension {} of {}, which has {}{}; narrow its "
        "declared range or guard the read",
        o.text, value_at(o.form, a.witness), o.dimension, o.tensor, print(o, o.high),
        sizes(o, a.witness));
  return fmt::format(
      "nothing shows that {} is {}, for dimension {} of {}; narrow its declared "
      "range or guard the read",
      o.text,
      a.side == Side::below ? "at least " + print(o, o.low) : "less than " + print(o, o.high),
      o.dimension, o.tensor);
}

std::string Checker::extent_message(const Obligation& o, const Answer& a) const {
  if (a.verdict == Verdict::refuted) {
    const std::string with = sizes(o, a.witness);
    return fmt::format("{} is {}{}, and an extent is not negative", o.text,
                       value_at(o.form, a.witness), with);
  }
  return fmt::format("{0} may be negative, and an extent is not; write assume {0} >= 0", o.text);
}

std::string Checker::width_message(const Obligation& o, const Answer& a) const {
  const std::string found = a.verdict == Verdict::refuted
                                ? fmt::format(": it is {}{}{}", value_at(o.form, a.witness),
                                              where(o, a.witness), sizes(o, a.witness))
                                : "";
  return fmt::format("{0} may exceed 32 bits as data{1}; write i64({0}), or bound the sizes",
                     o.text, found);
}

// "i = 0 and i = 1": the two points that write one element.
std::string Checker::injective_message(const Obligation& o, const Answer& a) const {
  const size_t n = o.axis_names.size() / 2;
  if (!o.text.empty())
    return fmt::format("several points write one element of {} where {} is the same; indices that "
                       "are all different are declared distinct",
                       o.tensor, o.text);
  if (a.verdict != Verdict::refuted)
    return fmt::format("nothing shows that different points write different elements of {}",
                       o.tensor);
  std::string points[2];
  for (const auto& [v, value] : a.witness)
    if (v.kind == VarKind::axis && v.index < 2 * n) {
      std::string& point = points[v.index / n];
      point += fmt::format("{}{} = {}", point.empty() ? "" : ", ", o.axis_names[v.index], value);
    }
  return fmt::format("several points write one element of {}: {} and {}{}", o.tensor, points[0],
                     points[1], sizes(o, a.witness));
}

void Checker::error(const Obligation& o, std::string name, std::string message) {
  if (o.span.valid() && !reported_.emplace(o.span.file, o.span.begin, o.span.end).second) return;
  diagnostics_.error(std::move(name), o.span, std::move(message)).notes = o.calls;
}

void Checker::report(const Obligation& o, const Answer& a) {
  if (a.verdict == Verdict::proved) return;
  switch (o.kind) {
    case ObligationKind::in_range:
      return error(o, "index-out-of-range", in_range_message(o, a));
    case ObligationKind::gather_range:
      return error(o, "gather-unproved", gather_message(o, a));
    case ObligationKind::extent:
      return error(o, "negative-extent", extent_message(o, a));
    case ObligationKind::width:
      return error(o, "index-too-wide", width_message(o, a));
    case ObligationKind::injective:
      return error(o, "update-not-injective", injective_message(o, a));
    case ObligationKind::apart:
      return error(o, "update-overwrites",
                   fmt::format("the value reads {0} at elements that this update overwrites; write "
                               "a definition that holds the new values, and update {0} from that",
                               o.tensor));
    case ObligationKind::satisfiable:
      return error(o, "assumptions-empty", "no sizes satisfy the assumptions");
  }
}

}  // namespace

bool check(const Program& program, const std::vector<Obligation>& obligations,
           Diagnostics& diagnostics, const SolverSource& solver) {
  const size_t n_errors = diagnostics.n_errors();
  Checker checker(program, diagnostics, solver);
  for (const Obligation& o : obligations) checker.discharge(o);
  return diagnostics.n_errors() == n_errors;
}

}  // namespace tang
