// Items: sizes and what is assumed of them, constants, inputs, scalars, and the outputs at the end.
#include <fmt/format.h>

#include <algorithm>

#include "support/integer.h"
#include "support/panic.h"
#include "text/habits.h"
#include "text/resolve.h"
#include "text/safety.h"
#include "text/syntax.h"

namespace tang {

namespace {

constexpr size_t kMaxRank = 16;

std::string type_suggestion(const std::string& name) {
  Suggestion suggestion(name);
  suggestion.best = type_of_habit(name);
  if (!suggestion.best.empty()) suggestion.distance = 0;
  std::string all;
  for (int t = 0; t < kTypeCount; ++t) {
    const std::string_view known = type_name(static_cast<Type>(t));
    suggestion.consider(known);
    all += fmt::format("{}{}", t == 0 ? "" : " ", known);
  }
  return fmt::format("{} is not a storage type; there are {}{}", name, all, suggestion.text());
}

}  // namespace

Facts scalar_facts(Forms& forms, const Scalar& scalar, uint32_t number) {
  Facts facts;
  if (!is_integer(scalar.type)) return facts;
  const FormId value = forms.var({VarKind::scalar, number});
  if (scalar.type != Type::i64) {
    facts.push_back({.form = forms.add(value, -integer_min(scalar.type))});
    facts.push_back({.form = forms.sub(forms.constant(integer_max(scalar.type)), value)});
  }
  if (scalar.range.lo.valid()) facts.push_back({.form = forms.sub(value, scalar.range.lo)});
  if (scalar.range.hi.valid())
    facts.push_back({.form = forms.add(forms.sub(scalar.range.hi, value), -1)});
  return facts;
}

Resolver::Resolver(Sources& sources_in, const ParseOptions& options_in, Diagnostics& diagnostics_in)
    : sources(sources_in),
      options(options_in),
      diagnostics(diagnostics_in),
      program{.arena = std::make_shared<Arena>()},
      arena(*program.arena) {
  begin_definition("");
}

bool Resolver::run(const syntax::File& top) {
  file = &top;
  libraries.emplace_back();
  libraries[0].file = file;
  libraries[0].complete = false;
  for (const syntax::Item& item : top.items)
    if (const auto* definition = std::get_if<syntax::Definition>(&item.data))
      for (const syntax::Left& left : definition->lefts) written_names.insert(left.name.text);
  const syntax::Entry* entry = nullptr;
  const bool found = choose_entry(top, entry);
  add_file(top, 0);
  for (const syntax::ItemId id : top.top) resolve_item(id);
  if (entry) {
    for (const auto& [name, type] : wanted_outputs)
      fail("output-outside-entry", name.span,
           fmt::format("the file has entries, so {} is an output of one of them", name.text));
    wanted_outputs.clear();
    for (const syntax::ItemId id : entry->body) resolve_item(id);
  }
  if (found) finish_outputs();
  for (const auto& [name, value] : options.bind)
    if (!bound.contains(name))
      diagnostics.error("undefined", {},
                        fmt::format("there is no dim {} to bind to {}", name, value));
  finish_obligations();
  return !diagnostics.has_errors();
}

void Resolver::not_available(Span span, const std::string& what) {
  fail("not-available", span, fmt::format("{} are not available in this version", what));
}

void Resolver::resolve_item(syntax::ItemId id) {
  if (stopped) return;
  const syntax::Item& item = (*file)[id];
  using namespace syntax;
  std::visit(detail::Overloaded{
                 [&](const Dims& i) { declare_dims(i); },
                 [&](const Assume& i) { add_assumption(i.condition); },
                 [&](const Consts& i) { declare_consts(i); },
                 [&](const Tensors& i) { declare_tensors(i); },
                 [&](const Scalars& i) { declare_scalars(i); },
                 [&](const Outputs& i) {
                   for (const Name& name : i.names) wanted_outputs.emplace_back(name, i.type);
                 },
                 [&](const Import&) {},    // read by add_file
                 [&](const Function&) {},  // read where it is called
                 [&](const Return& i) { resolve_return(i, item.span); },
                 [&](const syntax::Monoid& i) { declare_monoid(i); },
                 [&](const Entry&) {},  // the one that is asked for is read last
                 [&](const Loop& i) { resolve_loop(i, item.span); },
                 [&](const Grad& i) {
                   not_available(item.span, "gradients");
                   for (const Name& name : i.results)
                     if (check_new_name(name)) bind(name, {.kind = SymbolKind::faulty});
                 },
                 [&](const Schedule& i) { add_schedule(i); },
                 [&](const Definition& i) { define(i, item.span); },
                 [&](const Update& i) { update(i, item.span); },
             },
             item.data);
}

// A result of a definition; invalid after an error.
TensorId Resolver::scheduled_tensor(const std::string& name, Span span) {
  const Symbol* symbol = values.find(name, sight);
  if (!symbol) {
    fail("undefined", span,
         fmt::format("{} is not defined here{}", name, values.suggestion(name, sight)));
  } else if (symbol->kind != SymbolKind::faulty) {
    if (symbol->kind == SymbolKind::tensor && symbol->leading.empty() &&
        program.arena->tensors[symbol->tensor].kind == TensorKind::component)
      return symbol->tensor;
    fail("bad-schedule", span,
         fmt::format("{} is no definition, and only one can be scheduled", name));
  }
  return {};
}

// What a block means is for the stage that makes the schedule; what it names must exist.
void Resolver::add_schedule(const syntax::Schedule& item) {
  if (item.when.valid()) return not_available(node(item.when).span, "conditions of schedules");
  const TensorId target = scheduled_tensor(item.target.text, item.target.span);
  if (!target.valid()) return;
  ScheduleBlock block{.tensor = target, .clauses = {}, .span = item.target.span};
  for (const auto& clause : item.clauses) {
    std::vector<ScheduleWord> words;
    for (const syntax::ScheduleWord& w : clause) {
      const bool numbered = !w.name.exists() || (w.has_value && !w.value.exists());
      const bool placed = !words.empty() && words[0].name == "place";
      words.push_back({.name = w.name.text,
                       .value = w.value.text,
                       .number = numbered ? std::optional(w.number) : std::nullopt,
                       .tensor = placed ? scheduled_tensor(w.name.text, w.span) : TensorId(),
                       .span = w.span});
    }
    block.clauses.push_back(std::move(words));
  }
  program.schedules.push_back(std::move(block));
}

// ---- sizes -------------------------------------------------------------------------------------

// A name is defined once; in a loop, a definition from outside of the round may be replaced.
bool Resolver::check_new_name(const syntax::Name& name) {
  const Symbol* known = values.find(name.text, sight);
  if (!known || known->frame != sight.local) return true;
  const bool outside = known->loop_depth < loop_depth;
  const bool input = known->kind == SymbolKind::tensor && is_input(name.text, known->tensor);
  const bool definition = known->kind == SymbolKind::tensor || known->kind == SymbolKind::faulty;
  if (outside && definition && !input) return true;
  redefined.insert(name.text);
  if (outside && input) {
    report("rebound-input", name.span,
           fmt::format("{} is an input; a loop can only rebind a definition", name.text))
        .notes.push_back({known->span, "declared here"});
    return false;
  }
  report("redefinition", name.span, fmt::format("{} is already defined", name.text))
      .notes.push_back({known->span, "first defined here"});
  return false;
}

// Whether a name is that of the input itself, not another name of it.
bool Resolver::is_input(const std::string& name, TensorId tensor) const {
  const Tensor& t = arena.tensors[tensor];
  return t.kind == TensorKind::input && program.inputs[t.source].name == name;
}

// A size built of constants and dims, whatever its sign.
std::optional<FormId> Resolver::resolve_size(syntax::ExprNodeId id) {
  const Meaning m = resolve_in(Place::range, id);
  if (m.faulty) return std::nullopt;
  if (!is_integer(m.type)) {
    fail("type", m.span,
         fmt::format("a size is an integer, and {} is a {}", source_text(m.span),
                     is_real(m.type) ? "real" : "bool"));
    return std::nullopt;
  }
  if (!m.is_form() || !arena.forms.is_extent(m.form)) {
    fail("range-not-constant", m.span,
         fmt::format("{} is not built of sizes by + - * and quotients by constants",
                     source_text(m.span)));
    return std::nullopt;
  }
  return m.form;
}

std::optional<FormId> Resolver::resolve_extent(syntax::ExprNodeId id) {
  const auto form = resolve_size(id);
  if (!form) return std::nullopt;
  const Span span = node(id).span;
  if (const auto n = arena.forms.as_constant(*form)) {
    if (*n >= 0) return form;
    const std::string text = source_text(span), value = std::to_string(*n);
    fail("negative-extent", span,
         text == value ? "a size is not negative, and this one is " + value
                       : fmt::format("{} is {}", text, value));
    return std::nullopt;
  }
  // A size alone is never negative.
  if (!arena.forms.as_var(*form))
    obligations.push_back({.kind = ObligationKind::extent,
                           .form = *form,
                           .low = arena.forms.constant(0),
                           .high = {},
                           .facts = {},
                           .span = span,
                           .text = source_text(span),
                           .tensor = "",
                           .dimension = 0,
                           .axis_names = {},
                           .calls = call_notes(span)});
  return form;
}

// Half-open, whichever way it is written; nothing when a bound is wrong.
std::optional<Range> Resolver::resolve_range(const syntax::Range& range) {
  if (!range.exists()) return Range{};
  const auto low = resolve_size(range.low), high = resolve_size(range.high);
  if (!low || !high) return std::nullopt;
  return Range{.lo = *low, .hi = range.closed ? arena.forms.add(*high, 1) : *high};
}

void Resolver::declare_dims(const syntax::Dims& item) {
  for (const syntax::DimDecl& decl : item.dims) declare_dim(decl);
}

void Resolver::declare_dim(const syntax::DimDecl& decl) {
  begin_definition("");
  const std::string& name = decl.name.text;
  if (const Symbol* known = values.find(name, sight);
      known && known->kind == SymbolKind::dim && decl.has_modulus && !decl.range.exists()) {
    // A fact about a size declared before.
    add_modulus(decl, known->meaning.form);
    return;
  }
  if (!check_new_name(decl.name)) return;
  const auto range = resolve_range(decl.range);
  Symbol symbol{.kind = SymbolKind::dim, .span = decl.name.span};
  if (const auto value = options.bind.find(name); value != options.bind.end()) {
    bound.insert(name);
    symbol.meaning = of_form(arena.forms.constant(value->second), Type::i32, decl.name.span);
    values.define(name, symbol);
    if (range) bind_dim(decl, value->second, *range);
    return;
  }
  const FormId dim = arena.forms.var({VarKind::dim, static_cast<uint32_t>(program.dims.size())});
  program.dims.push_back({.name = name, .span = decl.name.span});
  symbol.meaning = of_form(dim, Type::i32, decl.name.span);
  values.define(name, symbol);
  add_fact({.form = dim});
  if (range && range->present()) {
    first_assumption = first_assumption.valid() ? first_assumption : decl.range.span;
    add_fact({.form = arena.forms.sub(dim, range->lo)});
    add_fact({.form = arena.forms.add(arena.forms.sub(range->hi, dim), -1)});
  }
  if (decl.has_modulus) add_modulus(decl, dim);
}

// name % modulus == remainder
void Resolver::add_modulus(const syntax::DimDecl& decl, FormId dim) {
  const Span span = decl.modulus_span;
  if (decl.modulus <= 0) {
    fail(decl.modulus == 0 ? "division-by-zero" : "type", span,
         fmt::format("{} is not a positive divisor", decl.modulus));
    return;
  }
  if (decl.remainder < 0 || decl.remainder >= decl.modulus) {
    fail("assumptions-empty", span,
         fmt::format("no remainder by {} is {}", decl.modulus, decl.remainder));
    return;
  }
  first_assumption = first_assumption.valid() ? first_assumption : span;
  if (const auto value = arena.forms.as_constant(dim)) {
    if (floor_mod(*value, decl.modulus) != decl.remainder)
      fail("assumption-broken", span,
           fmt::format("{} is {}, and {} % {} is {}", decl.name.text, *value, *value, decl.modulus,
                       floor_mod(*value, decl.modulus)));
    return;
  }
  add_fact(multiple_of(arena.forms, arena.forms.add(dim, -decl.remainder), decl.modulus));
}

void Resolver::bind_dim(const syntax::DimDecl& decl, int64_t value, const Range& range) {
  const std::string& name = decl.name.text;
  Forms& forms = arena.forms;
  if (value < 0)
    fail("dim-range", decl.name.span,
         fmt::format("{} is {}, and a size is not negative", name, value));
  const FormId v = forms.constant(value);
  if (range.present() && value >= 0) {
    const FormId above = forms.sub(v, range.lo);
    const FormId below = forms.add(forms.sub(range.hi, v), -1);
    const auto a = forms.as_constant(above), b = forms.as_constant(below);
    if ((a && *a < 0) || (b && *b < 0)) {
      const std::string last = print_form(forms.add(range.hi, -1));
      fail("dim-range", decl.range.span,
           fmt::format("{} is {}, and {} allows {} to {}", name, value,
                       source_text(decl.range.span), print_form(range.lo), last));
    } else {
      // A bound that names other sizes is a fact about them.
      if (!a) add_fact({.form = above});
      if (!b) add_fact({.form = below});
    }
  }
  if (decl.has_modulus) add_modulus(decl, v);
}

void Resolver::add_fact(Constraint fact) {
  program.assumptions.push_back(fact);
}

void Resolver::add_assumption(syntax::ExprNodeId condition) {
  begin_definition("");
  const Meaning m = resolve_in(Place::assumption, condition);
  if (!is_condition(m, "an assumption")) return;
  const Truth truth = truth_of(m, true);
  if (truth.rest.valid()) {
    fail("type", m.span, "an assumption joins comparisons of sizes and integer scalars by &&");
    return;
  }
  if (!first_assumption.valid()) first_assumption = m.span;
  for (const Constraint& fact : truth.facts) {
    const auto value = arena.forms.as_constant(fact.form);
    const bool holds =
        value && (fact.modulus == 0 ? *value >= 0 : floor_mod(*value, fact.modulus) == 0);
    if (!value) add_fact(fact);
    if (!value || holds) continue;
    if (bound.empty())
      fail("assumptions-empty", m.span, "no sizes satisfy the assumptions");
    else
      fail("assumption-broken", m.span,
           fmt::format("the sizes given break the assumption {}", source_text(m.span)));
    return;
  }
  note_equalities(truth.facts);
}

// f >= 0 and -f >= 0 say that f is 0: one size of it is given by the others.
void Resolver::note_equalities(const Facts& facts) {
  Forms& forms = arena.forms;
  const auto reduce = [&](FormId f) {
    return forms.substitute(f, [&](Var v) {
      const auto found = equal_sizes.find(v);
      return found == equal_sizes.end() ? FormId() : found->second;
    });
  };
  for (size_t i = 0; i + 1 < facts.size(); ++i) {
    if (facts[i].modulus != 0 || facts[i + 1].modulus != 0) continue;
    if (facts[i + 1].form != forms.scale(facts[i].form, -1)) continue;
    const FormId zero = reduce(facts[i].form);
    if (!forms.is_extent(zero)) continue;
    // The size declared last is replaced, so that the first one names the extent.
    std::vector<Var> sizes;
    forms.for_each_var(zero, [&](Var v) { sizes.push_back(v); });
    std::sort(sizes.rbegin(), sizes.rend());
    for (const Var v : sizes) {
      const auto linear = forms.linear_in(zero, v);
      if (!linear) continue;
      const auto factor = forms.as_constant(linear->coefficient);
      if (!factor || (*factor != 1 && *factor != -1)) continue;
      const FormId value = forms.scale(linear->rest, -*factor);
      for (auto& [other, form] : equal_sizes)
        form = forms.substitute(form, [&](Var w) { return w == v ? value : FormId(); });
      equal_sizes.emplace(v, value);
      break;
    }
  }
}

void Resolver::declare_consts(const syntax::Consts& item) {
  begin_definition("");
  declare_consts_here(item);
}

// Leaves the definition that is being read as it is.
void Resolver::declare_consts_here(const syntax::Consts& item) {
  for (const syntax::ConstDecl& decl : item.consts) {
    const bool is_new = check_new_name(decl.name);
    const Meaning m = resolve_in(Place::constant, decl.value);
    if (!is_new) continue;
    Symbol symbol{.kind = SymbolKind::faulty,
                  .frame = sight.local,
                  .loop_depth = loop_depth,
                  .span = decl.name.span};
    if (arena.forms.overflowed()) {
      arena.forms.clear_overflow();
      fail("limit", m.span, fmt::format("{} does not fit 64 bits", source_text(m.span)));
    } else if (!m.faulty && m.type == Type::boolean) {
      fail("type", m.span,
           fmt::format("a const is an integer or a real, and {} is a bool", source_text(m.span)));
    } else if (!m.faulty) {
      symbol.kind = SymbolKind::constant;
      symbol.meaning = m;
      symbol.meaning.dividend = {};
    }
    values.define(decl.name.text, symbol);
  }
}

// ---- inputs ------------------------------------------------------------------------------------

std::optional<Type> Resolver::resolve_type(const syntax::Name& name) {
  const auto type = type_from_name(name.text);
  if (!type) fail("unknown-type", name.span, type_suggestion(name.text));
  return type;
}

void Resolver::declare_tensors(const syntax::Tensors& item) {
  begin_definition("");
  const auto type = resolve_type(item.type.type);
  bool good = type.has_value();
  std::vector<FormId> shape;
  for (const syntax::ExprNodeId id : item.type.shape) {
    const auto extent = resolve_extent(id);
    good &= extent.has_value();
    if (extent) shape.push_back(*extent);
  }
  if (item.type.shape.size() > kMaxRank) {
    fail("limit", node(item.type.shape[kMaxRank]).span,
         fmt::format("{} dimensions, and {} is the most", item.type.shape.size(), kMaxRank));
    good = false;
  }
  const auto range = resolve_range(item.range);
  good &= range.has_value();
  if (type && !is_integer(*type) && (item.range.exists() || item.sorted || item.distinct)) {
    fail("range-of-real", item.range.exists() ? item.range.span : item.type.type.span,
         fmt::format("ranges, sorted and distinct are promises about integers, and the type is {}",
                     type_name(*type)));
    good = false;
  }
  for (const syntax::Name& name : item.names) {
    if (!check_new_name(name)) continue;
    if (good)
      declare_tensor(name, item, *type, shape, *range);
    else
      values.define(name.text,
                    {.kind = SymbolKind::faulty, .frame = sight.local, .span = name.span});
  }
}

void Resolver::declare_tensor(const syntax::Name& name, const syntax::Tensors& item, Type type,
                              const std::vector<FormId>& shape, const Range& range) {
  const TensorId tensor =
      arena.tensors.intern({.kind = TensorKind::input,
                            .source = static_cast<uint32_t>(program.inputs.size()),
                            .component = 0,
                            .type = type,
                            .shape = shape});
  program.inputs.push_back({.name = name.text,
                            .tensor = tensor,
                            .role = item.inout ? Role::inout : Role::input,
                            .range = range,
                            .sorted = item.sorted,
                            .distinct = item.distinct,
                            .span = name.span});
  program_names.insert(name.text);
  tensors[tensor] = {.range = range, .has_f64 = type == Type::f64};
  values.define(name.text, {.kind = SymbolKind::tensor, .tensor = tensor, .span = name.span});
}

void Resolver::declare_scalars(const syntax::Scalars& item) {
  begin_definition("");
  const auto type = resolve_type(item.type);
  const auto range = resolve_range(item.range);
  bool good = type && range;
  if (type && !is_integer(*type) && item.range.exists()) {
    fail("range-of-real", item.range.span,
         fmt::format("a range is a promise about integers, and the type is {}", type_name(*type)));
    good = false;
  }
  for (const syntax::Name& name : item.names) {
    if (!check_new_name(name)) continue;
    if (good)
      declare_scalar(name, *type, *range);
    else
      values.define(name.text,
                    {.kind = SymbolKind::faulty, .frame = sight.local, .span = name.span});
  }
}

void Resolver::declare_scalar(const syntax::Name& name, Type type, const Range& range) {
  const auto number = static_cast<uint32_t>(program.scalars.size());
  program.scalars.push_back({.name = name.text, .type = type, .range = range, .span = name.span});
  program_names.insert(name.text);
  Symbol symbol{.kind = SymbolKind::scalar, .span = name.span};
  if (!is_integer(type)) {
    symbol.meaning = of_data(arena.exprs.leaf(Op::scalar, kind_of(type), number), name.span);
    values.define(name.text, symbol);
    return;
  }
  Forms& forms = arena.forms;
  const FormId value = forms.var({VarKind::scalar, number});
  symbol.meaning = of_form(value, kind_of(type), name.span);
  values.define(name.text, symbol);
  for (const Constraint& fact : scalar_facts(forms, program.scalars.back(), number)) add_fact(fact);
}

// ---- outputs -----------------------------------------------------------------------------------

void Resolver::finish_outputs() {
  bool updates = false;
  for (const Input& input : program.inputs) {
    if (input.role != Role::inout) continue;
    const Symbol* symbol = values.find(input.name, sight);
    TANG_ASSERT(symbol && symbol->kind != SymbolKind::dim, "the inout {} is lost", input.name);
    if (symbol->kind != SymbolKind::tensor) continue;
    updates |= symbol->tensor != input.tensor;
    program.outputs.push_back({.name = input.name,
                               .tensor = symbol->tensor,
                               .type = arena.tensors[input.tensor].type,
                               .span = input.span});
  }
  for (const auto& [name, type] : wanted_outputs) add_output(name, type);
  name_outputs();
  check_overwritten();
  if (diagnostics.has_errors() || updates || !wanted_outputs.empty()) return;
  const Span start{.file = file->file, .begin = 0, .end = 0};
  if (program.defs.empty())
    diagnostics.error("nothing-defined", start, "the program defines nothing");
  else
    diagnostics.error("no-output", start, "the program has no output; write output and a name");
}

void Resolver::add_output(const syntax::Name& name, const syntax::Name& type) {
  begin_definition(name.text);
  const std::optional<Type> given = type.exists() ? resolve_type(type) : std::nullopt;
  const Symbol* symbol = values.find(name.text, sight);
  if (!symbol) {
    definition_name.clear();
    undefined(name, name.span);
    return;
  }
  if (symbol->kind == SymbolKind::faulty || (type.exists() && !given)) return;
  if (redefined.contains(name.text)) return;
  const bool input = symbol->kind == SymbolKind::tensor && is_input(name.text, symbol->tensor);
  if (symbol->kind != SymbolKind::tensor || input) {
    if (input && program.is_inout(symbol->tensor))
      fail("output-of-input", name.span,
           fmt::format("{} is an inout, whose last version is an output already", name.text));
    else
      fail("output-of-input", name.span,
           fmt::format("{} is a{}, not a definition", name.text,
                       input ? "n input" : fmt::format(" {}", symbol_kind_name(symbol->kind))));
    return;
  }
  TensorId tensor = symbol->tensor;
  const std::vector<FormId> leading = symbol->leading;
  for (const Output& o : program.outputs)
    if (o.name == name.text) {
      report("redefinition", name.span, fmt::format("{} is already an output", name.text))
          .notes.push_back({o.span, "first here"});
      return;
    }
  // An input, a version of an inout or a slice is copied; one result may be several outputs.
  if (arena.tensors[tensor].kind == TensorKind::input || program.is_inout(tensor) ||
      !leading.empty())
    tensor = materialize(name.text, tensor, leading, name.span);
  const Type kind = kind_of(arena.tensors[tensor].type);
  const Type by_default = is_real(kind) ? (tensors[tensor].has_f64 ? Type::f64 : Type::f32) : kind;
  program.outputs.push_back(
      {.name = name.text, .tensor = tensor, .type = given.value_or(by_default), .span = name.span});
}

// A copy as a definition.
TensorId Resolver::materialize(const std::string& name, TensorId tensor,
                               const std::vector<FormId>& leading, Span span) {
  const Tensor source = arena.tensors[tensor];
  Comprehension c{.extents = {source.shape.begin() + static_cast<ptrdiff_t>(leading.size()),
                              source.shape.end()},
                  .n_points = static_cast<uint8_t>(source.shape.size() - leading.size()),
                  .reads = {},
                  .domain = arena.no_guard(),
                  .monoid = {},
                  .components = {}};
  View view{.coords = {}, .guarded = false, .guard = arena.no_guard()};
  Component value{.value = arena.exprs.leaf(Op::read, kind_of(source.type), 0), .axes = {}};
  Def def{.id = {}, .names = {program_name(name)}, .axis_names = {}, .span = span};
  for (const FormId form : leading) view.coords.push_back({.form = form, .data = {}});
  for (uint8_t a = 0; a < c.n_points; ++a) {
    view.coords.push_back({.form = arena.forms.axis(a), .data = {}});
    value.axes.push_back(a);
    def.axis_names.push_back(fmt::format("i{}", a));
  }
  c.reads.push_back(
      {.tensor = tensor, .view = arena.views.intern(std::move(view)), .otherwise = {}});
  c.components.push_back(std::move(value));
  def.id = arena.comprehensions.intern(std::move(c));
  const TensorId copy = arena.component(def.id, 0);
  tensors[copy] = tensors[tensor];
  add_def(std::move(def), false);
  return copy;
}

// An output's definition has the output's name; another definition of that name takes its old one.
void Resolver::name_outputs() {
  std::unordered_map<std::string, std::string*> holders;
  for (Def& def : program.defs)
    for (std::string& name : def.names)
      if (!name.empty()) holders.emplace(name, &name);
  for (const Output& output : program.outputs) {
    const Tensor& t = arena.tensors[output.tensor];
    if (program.is_inout(output.tensor)) continue;
    std::string& own = program.defs[def_of_comprehension.at(t.source).value].names[t.component];
    if (own == output.name) continue;
    if (const auto other = holders.find(output.name); other != holders.end()) {
      holders[own] = other->second;
      *other->second = own;
    }
    holders[output.name] = &own;
    own = output.name;
  }
}

// Assumptions may follow what needs them.
void Resolver::finish_obligations() {
  for (Obligation& o : obligations)
    o.facts.insert(o.facts.end(), program.assumptions.begin(), program.assumptions.end());
  if (!first_assumption.valid()) return;
  obligations.push_back({.kind = ObligationKind::satisfiable,
                         .form = {},
                         .low = {},
                         .high = {},
                         .facts = program.assumptions,
                         .span = first_assumption,
                         .text = source_text(first_assumption),
                         .tensor = "",
                         .dimension = 0,
                         .axis_names = {}});
}

}  // namespace tang
