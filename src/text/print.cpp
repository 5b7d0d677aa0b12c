// A program item by item: sizes and assumptions, declarations, one definition a comprehension with
// every range explicit, outputs.
#include "text/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/builtin.h"
#include "support/panic.h"
#include "text/print_expr.h"
#include "text/print_names.h"
#include "text/resolve.h"

namespace tang {

namespace {

// The monoids of a product and how many visible components each has.
struct Part {
  std::string name;
  size_t n_components;
};

std::vector<std::string> names_of_parts(const std::string& name) {
  if (!name.starts_with('(')) return {name};
  std::vector<std::string> out{""};
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == ',')
      out.emplace_back();
    else if (name[i] != ' ')
      out.back() += name[i];
  }
  return out;
}

// The program's own monoid of that name, which stands in the pool even if only products use it.
const Monoid* own_monoid(const Arena& arena, const std::string& name) {
  for (size_t i = 0; i < arena.monoids.size(); ++i)
    if (const Monoid& m = arena.monoids[MonoidId(i)]; m.name == name) return &m;
  return nullptr;
}

// Where a monoid folds any number of values, its components are those that are linked: a payload
// follows its value.
std::vector<Part> parts_of(const Arena& arena, const Monoid& monoid) {
  const std::vector<std::string> names = names_of_parts(monoid.name);
  const size_t n_visible = monoid.n_visible();
  if (names.size() == 1) return {{names[0], n_visible}};
  std::vector<size_t> first(n_visible);  // the first component that each is linked to
  for (size_t k = 0; k < n_visible; ++k) {
    first[k] = k;
    for (const ExprId id : arena.exprs.post_order({monoid.combine[k]}))
      if (const Expr& e = arena.exprs[id];
          (e.op == Op::left || e.op == Op::right) && e.index() < first[k])
        first[k] = e.index();
  }
  std::vector<Part> parts;
  size_t next = 0;
  for (const std::string& name : names) {
    const auto builtin = builtin_monoid_arity(name);
    const Monoid* own = builtin ? nullptr : own_monoid(arena, name);
    TANG_ASSERT(builtin || own, "a product of {}", name);
    const MonoidArity arity = builtin.value_or(MonoidArity{own ? own->n_components() : 0, 0});
    size_t n = arity.least;
    while (arity.most > n && next + n < n_visible && first[next + n] < next + n) ++n;
    parts.push_back({name, n});
    next += n;
  }
  return parts;
}

struct Printer {
  explicit Printer(const Program& p) : program(p), arena(*p.arena), names(p) {}

  const Program& program;
  const Arena& arena;
  ProgramNames names;
  std::string out;
  const Comprehension nothing;

  ExprPrinter sizes() const { return {program, names, nothing, {}}; }

  void line(const std::string& text) { out += text + "\n"; }

  std::string all() {
    print_sizes();
    for (const Scalar& s : program.scalars) print_scalar(s);
    print_assumptions();
    print_monoids();
    for (const Input& input : program.inputs) print_input(input);
    // A block stands behind its definition, where its name means that version.
    std::multimap<uint32_t, const ScheduleBlock*> blocks;
    for (const ScheduleBlock& block : program.schedules)
      blocks.emplace(arena.tensors[block.tensor].source, &block);
    for (const Def& def : program.defs) {
      line(definition(def));
      const auto [first, last] = blocks.equal_range(def.id.value);
      for (auto block = first; block != last; ++block) line(schedule(*block->second));
    }
    for (const Output& output : program.outputs) print_output(output);
    return std::move(out);
  }

  // ---- sizes ----

  std::vector<Constraint> assumptions;  // those that no declaration says

  // Takes a constant bound of a dim out of the assumptions: sign 1 for the lower one.
  std::optional<int64_t> take_bound(FormId dim, int64_t sign) {
    for (size_t i = 0; i < assumptions.size(); ++i) {
      if (assumptions[i].modulus != 0) continue;
      const Form& f = arena.forms[assumptions[i].form];
      const Form& d = arena.forms[dim];
      if (f.terms.size() != 1 || f.terms[0].atoms != d.terms[0].atoms ||
          f.terms[0].coefficient != sign)
        continue;
      const int64_t bound = -sign * f.constant;
      assumptions.erase(assumptions.begin() + static_cast<ptrdiff_t>(i));
      return bound;
    }
    return std::nullopt;
  }

  void drop(const Constraint& c) {
    const auto found = std::find(assumptions.begin(), assumptions.end(), c);
    if (found != assumptions.end()) assumptions.erase(found);
  }

  void print_sizes() {
    assumptions = program.assumptions;
    Forms& forms = program.arena->forms;  // of variables that the program has already
    for (uint32_t n = 0; n < program.scalars.size(); ++n)
      for (const Constraint& c : scalar_facts(forms, program.scalars[n], n)) drop(c);
    for (uint32_t n = 0; n < program.dims.size(); ++n) {
      const FormId dim = forms.var({VarKind::dim, n});
      drop({.form = dim});
      const std::vector<Constraint> before = assumptions;
      const auto low = take_bound(dim, 1), high = take_bound(dim, -1);
      if (low && high) {
        line(fmt::format("dim {} in {}..={}", names.dims[n], *low, *high));
      } else {
        assumptions = before;
        line(fmt::format("dim {}", names.dims[n]));
      }
    }
  }

  void print_assumptions() {
    ExprPrinter printer = sizes();
    for (const std::string& fact : printer.conjuncts(assumptions)) line("assume " + fact);
  }

  // ---- declarations ----

  void print_monoids() {
    std::vector<std::string> done;
    for (const Def& def : program.defs) {
      const Comprehension& c = arena.comprehensions[def.id];
      if (c.is_map()) continue;
      for (const std::string& name : names_of_parts(arena.monoids[c.monoid].name)) {
        if (builtin_monoid_arity(name) || std::find(done.begin(), done.end(), name) != done.end())
          continue;
        done.push_back(name);
        const Monoid* own = own_monoid(arena, name);
        TANG_ASSERT(own, "no monoid has the name {}", name);
        line(monoid(*own));
      }
    }
  }

  // Its components are c0, c1 ..., since the graph knows them by number.
  std::string monoid(const Monoid& m) const {
    std::vector<std::string> components, declared, identity, combine;
    for (size_t k = 0; k < m.n_components(); ++k) {
      components.push_back(fmt::format("c{}", k));
      declared.push_back(components[k] +
                         (is_real(m.types[k]) ? "" : fmt::format(": {}", type_name(m.types[k]))));
    }
    ExprPrinter printer(program, names, nothing, {}, components);
    for (size_t k = 0; k < m.n_components(); ++k) {
      identity.push_back(printer.expr(m.identity[k]));
      combine.push_back(printer.expr(m.combine[k]));
    }
    return fmt::format("monoid {}({}) {{ identity ({}); combine(x, y) = ({}){} }}", m.name,
                       fmt::join(declared, ", "), fmt::join(identity, ", "),
                       fmt::join(combine, ", "), m.commutative ? "; commutative" : "");
  }

  std::string range_text(const Range& range) const {
    if (!range.lo.valid() || !range.hi.valid()) return "";
    ExprPrinter printer = sizes();
    return fmt::format(" in {}..{}", printer.form(range.lo), printer.form(range.hi));
  }

  void print_scalar(const Scalar& s) {
    const auto position = static_cast<size_t>(&s - program.scalars.data());
    line(fmt::format("scalar {}: {}{}", names.scalars[position], type_name(s.type),
                     range_text(s.range)));
  }

  void print_input(const Input& input) {
    const Tensor& t = arena.tensors[input.tensor];
    ExprPrinter printer = sizes();
    std::vector<std::string> shape;
    for (const FormId extent : t.shape) shape.push_back(printer.form(extent));
    line(fmt::format(
        "{} {}: {}{}{}{}{}", input.role == Role::input ? "input" : "inout", names.of(input.tensor),
        type_name(t.type), shape.empty() ? "" : fmt::format("[{}]", fmt::join(shape, ", ")),
        range_text(input.range), input.sorted ? " sorted" : "", input.distinct ? " distinct" : ""));
  }

  // Indices go by the names that they have in print.
  std::string schedule(const ScheduleBlock& block) const {
    std::vector<std::string> own, printed;
    if (const auto def = program.def_of(block.tensor)) {
      own = program.def(*def).axis_names;
      printed = names.axes_of(program, program.def(*def));
    }
    std::vector<std::string> clauses;
    for (const auto& clause : block.clauses) {
      std::vector<std::string> words;
      for (const ScheduleWord& word : clause) {
        const auto axis = std::find(own.begin(), own.end(), word.name) - own.begin();
        const bool is_axis = !words.empty() && axis < std::ssize(own);
        std::string text = word.tensor.valid() ? names.of(word.tensor)
                           : is_axis           ? printed[static_cast<size_t>(axis)]
                                               : word.name;
        if (word.number) text += fmt::format("{}{}", text.empty() ? "" : "=", *word.number);
        if (!word.value.empty()) text += "=" + word.value;
        words.push_back(text);
      }
      clauses.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
    const std::string body = clauses.empty() ? "" : fmt::format(" {} ", fmt::join(clauses, ", "));
    return fmt::format("schedule {} {{{}}}", names.of(block.tensor), body);
  }

  void print_output(const Output& output) {
    if (program.is_inout(output.tensor)) return;
    const std::string& name = names.of(output.tensor);
    if (name != output.name) line(fmt::format("{} = {}", output.name, name));
    line(fmt::format("output {}: {}", output.name, type_name(output.type)));
  }

  // ---- definitions ----

  std::string definition(const Def& def) {
    const Comprehension& c = arena.comprehensions[def.id];
    const std::vector<std::string> axes = names.axes_of(program, def);
    ExprPrinter printer(program, names, c, axes);
    const auto binder = [&](size_t a) {
      return fmt::format("{}: {}", axes[a], printer.form(c.extents[a]));
    };
    std::string left;
    const size_t n_visible = c.is_map() ? 1 : arena.monoids[c.monoid].n_visible();
    for (size_t k = 0; k < n_visible; ++k) {
      const std::string& name =
          names.of(program.arena->component(def.id, static_cast<uint32_t>(k)));
      std::vector<std::string> own;
      for (const uint8_t a : c.components[k].axes) own.push_back(binder(a));
      left += k > 0 ? ", " : "";
      left += name;
      // `y = s` would be another name of s.
      const bool copies_rank0 = c.is_map() && printer.is_rank0_read(c.components[k].value);
      if (name != "_" && (!own.empty() || copies_rank0))
        left += fmt::format("[{}]", fmt::join(own, ", "));
    }
    if (c.is_update())
      return fmt::format("{} := {}", printer.updated(), printer.expr(c.components[0].value));
    if (c.is_map()) {
      std::string value = printer.expr(c.components[0].value);
      // A name alone would be another name of what it reads.
      const bool bare = value.find('[') == std::string::npos;
      if (printer.is_rank0_read(c.components[0].value) && bare) value += "[]";
      return fmt::format("{} = {}", left, value);
    }
    std::vector<std::string> reduce;
    for (size_t a = c.n_points; a < c.n_axes(); ++a) reduce.push_back(binder(a));
    const Guard& domain = arena.guards[c.domain];
    return fmt::format("{} = {}[{}{}]({})", left, arena.monoids[c.monoid].name,
                       fmt::join(reduce, ", "), domain.empty() ? "" : " | " + printer.guard(domain),
                       values(c, printer));
  }

  std::string values(const Comprehension& c, ExprPrinter& printer) const {
    const Monoid& monoid = arena.monoids[c.monoid];
    const std::vector<Part> parts = parts_of(arena, monoid);
    std::vector<std::string> values;
    size_t k = 0;
    for (const Part& part : parts) {
      std::vector<std::string> own;
      for (size_t i = 0; i < part.n_components; ++i, ++k)
        own.push_back(printer.expr(c.components[k].value, {.identity = monoid.identity[k]}));
      const bool tuple = parts.size() > 1 && own.size() > 1;
      const std::string list = fmt::format("{}", fmt::join(own, ", "));
      values.push_back(tuple ? "(" + list + ")" : list);
    }
    return fmt::format("{}", fmt::join(values, ", "));
  }
};

}  // namespace

std::string print(const Program& program) {
  return Printer(program).all();
}

std::string print_def(const Program& program, DefId def) {
  return Printer(program).definition(program.def(def));
}

std::vector<std::string> print_defs(const Program& program) {
  Printer printer(program);
  std::vector<std::string> lines;
  for (const Def& def : program.defs) lines.push_back(printer.definition(def));
  return lines;
}

std::vector<std::string> print_schedule(const Program& program,
                                        const std::vector<ScheduleBlock>& blocks) {
  const Printer printer(program);
  std::vector<std::string> lines;
  for (const ScheduleBlock& block : blocks) lines.push_back(printer.schedule(block));
  return lines;
}

}  // namespace tang
