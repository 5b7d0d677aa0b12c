// Functions are inlined where they are called. A call that is a whole right side or argument runs
// the body's items as definitions of the program; a call inside an expression, whose parameters and
// definitions are all scalars, becomes part of the expression.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "support/panic.h"
#include "text/resolve.h"

namespace tang {

using syntax::ExprNodeId;

namespace {

constexpr size_t kMaxCallDepth = 200;
constexpr uint32_t kMaxCalls = 500'000;
constexpr uint32_t kFirstFrame = 1u << 20;  // of calls, which have a frame each

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

const FunctionInfo* Resolver::find_function(const std::string& name) const {
  for (const size_t number : visible_files()) {
    const auto& functions = libraries[number].functions;
    if (const auto found = functions.find(name); found != functions.end()) return &found->second;
  }
  return nullptr;
}

// Only scalars go in, are defined, and come out: such a call may stand in an expression.
bool Resolver::is_scalar_function(const FunctionInfo& info) const {
  const syntax::File& where = *libraries[info.file].file;
  const syntax::Function& f = *info.function;
  const bool scalar_params = std::none_of(f.params.begin(), f.params.end(),
                                          [](const syntax::Param& p) { return p.brackets; });
  return scalar_params && std::all_of(f.body.begin(), f.body.end(), [&](syntax::ItemId id) {
           const syntax::ItemData& data = where[id].data;
           if (const auto* d = std::get_if<syntax::Definition>(&data))
             return d->lefts.size() == 1 && !d->lefts[0].brackets && d->lefts[0].name.exists();
           if (const auto* r = std::get_if<syntax::Return>(&data))
             return r->values.parts.size() == 1;
           return std::holds_alternative<syntax::Consts>(data);
         });
}

// The argument of each parameter, by position and then by name; absent: the default.
std::optional<std::vector<ExprNodeId>> Resolver::match_arguments(const syntax::Call& call,
                                                                 const syntax::Function& f,
                                                                 Span span) {
  std::vector<ExprNodeId> given(f.params.size());
  bool good = true;
  size_t next = 0;
  for (const syntax::Argument& a : call.arguments) {
    if (!a.name.exists()) {
      if (next < given.size()) given[next] = a.value;
      ++next;
      continue;
    }
    const auto param = std::find_if(f.params.begin(), f.params.end(), [&](const syntax::Param& p) {
      return p.name.text == a.name.text;
    });
    if (param == f.params.end() || param->brackets) {
      fail("bad-argument", a.name.span,
           fmt::format("{} has no scalar parameter {}", f.name.text, a.name.text));
      good = false;
      continue;
    }
    ExprNodeId& slot = given[static_cast<size_t>(param - f.params.begin())];
    if (slot.valid()) {
      fail("bad-argument", a.name.span, fmt::format("{} is given twice", a.name.text));
      good = false;
    }
    slot = a.value;
  }
  bool enough = next <= f.params.size();
  for (size_t i = 0; i < given.size(); ++i)
    enough &= given[i].valid() || f.params[i].initial.valid();
  if (!enough && good) {
    const size_t least = static_cast<size_t>(
        std::count_if(f.params.begin(), f.params.end(),
                      [](const syntax::Param& p) { return !p.initial.valid(); }));
    fail("argument-count", span,
         fmt::format("{} takes {}{} argument{}, {} given", f.name.text, least,
                     least == f.params.size() ? "" : fmt::format(" to {}", f.params.size()),
                     f.params.size() == 1 ? "" : "s", call.arguments.size()));
    return std::nullopt;
  }
  return good ? std::optional(given) : std::nullopt;
}

// False when the call would never end, nests too deep, or is one too many.
bool Resolver::may_enter(const FunctionInfo& info, Span span) {
  const auto same = [&](const ActiveCall& c) { return c.function == info.function; };
  if (std::any_of(calls.begin(), calls.end(), same)) {
    fail("recursive-function", span,
         fmt::format("{} calls itself, and calls are inlined", info.function->name.text));
    return false;
  }
  if (calls.size() >= kMaxCallDepth) {
    fail("limit", span, fmt::format("functions nest deeper than {}", kMaxCallDepth));
    return false;
  }
  if (next_frame - kFirstFrame < kMaxCalls) return true;
  if (!stopped)
    fail("limit", span,
         fmt::format("functions are called more than {} times, and calls are inlined", kMaxCalls));
  stopped = true;
  return false;
}

Resolver::CallState Resolver::enter(const FunctionInfo& info, Span span) {
  CallState outer{.file = file,
                  .sight = sight,
                  .loop_depth = loop_depth,
                  .mark = values.mark(),
                  .packs = std::exchange(packs, {}),
                  .prefix = prefix};
  calls.push_back({.function = info.function, .span = span});
  file = libraries[info.file].file;
  sight = {.local = next_frame++, .file = static_cast<uint32_t>(info.file)};
  loop_depth = 0;
  prefix = info.function->name.text + "_";
  return outer;
}

void Resolver::leave(CallState outer) {
  calls.pop_back();
  values.undo_to(outer.mark);
  file = outer.file;
  sight = outer.sight;
  loop_depth = outer.loop_depth;
  packs = std::move(outer.packs);
  prefix = std::move(outer.prefix);
}

// ---- calls inside an expression ----------------------------------------------------------------

Meaning Resolver::inline_call(const syntax::Call& call, const FunctionInfo& info, Span span) {
  const syntax::Function& f = *info.function;
  const auto given = match_arguments(call, f, span);
  if (!given || !may_enter(info, span)) return {.span = span};
  std::vector<Meaning> args;
  bool good = true;
  for (const ExprNodeId id : *given) {
    args.push_back(id.valid() ? resolve(id) : Meaning{});
    good &= !id.valid() || !args.back().faulty;
  }
  if (!good) return {.span = span};
  CallState outer = enter(info, span);
  // The body does not see the indices of the caller.
  auto outer_indices = std::exchange(index_names, {});
  const auto bind_scalar = [&](const syntax::Name& name, const Meaning& m) {
    values.define(name.text, {.kind = m.faulty ? SymbolKind::faulty : SymbolKind::parameter,
                              .meaning = m,
                              .frame = sight.local,
                              .home = now,
                              .span = name.span});
  };
  for (size_t i = 0; i < args.size(); ++i)
    bind_scalar(f.params[i].name, (*given)[i].valid() ? args[i] : resolve(f.params[i].initial));
  Meaning result{.span = span};
  bool returned_value = false;
  for (const syntax::ItemId id : f.body) {
    const syntax::ItemData& data = (*file)[id].data;
    if (const auto* d = std::get_if<syntax::Definition>(&data)) {
      if (check_new_name(d->lefts[0].name)) bind_scalar(d->lefts[0].name, resolve(d->value));
    } else if (const auto* r = std::get_if<syntax::Return>(&data)) {
      result = resolve(r->values.parts[0]);
      returned_value = true;
      break;
    } else {
      declare_consts_here(std::get<syntax::Consts>(data));
    }
  }
  if (!returned_value) no_return(f);
  index_names = std::move(outer_indices);
  leave(std::move(outer));
  result.span = span;
  return result;
}

void Resolver::no_return(const syntax::Function& f) {
  fail("no-return", f.name.span, fmt::format("{} returns nothing", f.name.text));
}

// ---- whole calls -------------------------------------------------------------------------------

namespace {

bool has_reads(const Exprs& exprs, ExprId id) {
  if (!id.valid()) return false;
  const std::vector<ExprId> order = exprs.post_order({id});
  return std::any_of(order.begin(), order.end(), [&](ExprId e) { return exprs[e].op == Op::read; });
}

}  // namespace

// What an argument or a returned value is: a tensor, a leading slice, or a scalar.
std::optional<Symbol> Resolver::resolve_whole(ExprNodeId id, const std::string& name) {
  const syntax::ExprNode& n = node(id);
  if (const auto* ref = std::get_if<syntax::NameRef>(&n.data)) {
    const Symbol* found = values.find(ref->name.text, sight);
    if (found && found->kind == SymbolKind::faulty) return std::nullopt;
    if (found && found->kind == SymbolKind::tensor) return *found;
  }
  if (const auto* member = std::get_if<syntax::Member>(&n.data);
      member && state_tensors.contains(member->base.text)) {
    const auto number = state_component(member->base, member->member);
    if (!number) return std::nullopt;
    return Symbol{.kind = SymbolKind::tensor,
                  .tensor = state_tensors.at(member->base.text)[*number]};
  }
  if (const auto* read = std::get_if<syntax::Read>(&n.data)) {
    bool good = true;
    if (auto slice = resolve_slice(*read, n.span, good)) return slice;
    if (!good) return std::nullopt;
  }
  if (const auto* call = std::get_if<syntax::Call>(&n.data)) {
    const FunctionInfo* info = find_function(call->function.text);
    if (info && !is_scalar_function(*info)) {
      auto results = call_function(*call, *info, n.span);
      if (!results) return std::nullopt;
      if (results->size() == 1) return results->front();
      fail("result-count", n.span,
           fmt::format("{} gives {} results where one is needed", call->function.text,
                       results->size()));
      return std::nullopt;
    }
  }
  begin_definition(prefix + name);
  const Meaning m = resolve(id);
  if (m.faulty) return std::nullopt;
  // What needs no read of its own is as good as a constant.
  if (m.is_form() || !has_reads(arena.exprs, m.expr))
    return Symbol{.kind = SymbolKind::parameter, .meaning = m, .span = n.span};
  syntax::Definition definition;
  definition.lefts.push_back({.span = n.span, .name = {.text = name, .span = n.span}});
  definition.value = id;
  const auto def = make_definition(definition, n.span);
  if (!def) return std::nullopt;
  return Symbol{.kind = SymbolKind::tensor,
                .tensor = arena.component(program.def(*def).id, 0),
                .span = n.span};
}

std::vector<FormId> Resolver::shape_of(const Symbol& symbol) const {
  const std::vector<FormId>& shape = arena.tensors[symbol.tensor].shape;
  return {shape.begin() + static_cast<ptrdiff_t>(symbol.leading.size()), shape.end()};
}

std::optional<std::vector<Symbol>> Resolver::call_function(const syntax::Call& call,
                                                           const FunctionInfo& info, Span span) {
  begin_definition("");
  const syntax::Function& f = *info.function;
  const auto given = match_arguments(call, f, span);
  if (!given || !may_enter(info, span)) return std::nullopt;
  std::vector<Symbol> args(given->size());
  bool good = true;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(*given)[i].valid()) continue;
    const auto arg = resolve_whole((*given)[i], f.name.text + "_" + f.params[i].name.text);
    good &= arg.has_value();
    if (!arg) continue;
    args[i] = *arg;
    good &= fits_parameter(f.params[i], args[i], node((*given)[i]).span);
  }
  if (!good) return std::nullopt;
  CallState outer = enter(info, span);
  std::vector<std::pair<ExprNodeId, FormId>> computed;
  good = match_shapes(f, args, span, computed);
  for (size_t i = 0; good && i < args.size(); ++i) {
    if (!(*given)[i].valid()) {
      begin_definition("");
      const Meaning m = resolve(f.params[i].initial);
      good &= !m.faulty;
      args[i] = {.kind = SymbolKind::parameter, .meaning = m};
    }
    args[i].frame = sight.local;
    args[i].loop_depth = 0;
    args[i].span = f.params[i].name.span;
    values.define(f.params[i].name.text, args[i]);
  }
  good = good && match_computed(computed, span);
  std::optional<std::vector<Symbol>> results;
  const auto outer_returned = std::exchange(returned, std::nullopt);
  if (good) {
    const size_t errors = diagnostics.n_errors();
    for (const syntax::ItemId id : f.body) resolve_item(id);
    if (returned)
      results = *returned;
    else if (diagnostics.n_errors() == errors)
      no_return(f);
  }
  returned = outer_returned;
  leave(std::move(outer));
  return results;
}

bool Resolver::fits_parameter(const syntax::Param& param, const Symbol& arg, Span span) {
  const bool tensor = arg.kind == SymbolKind::tensor;
  const size_t rank = tensor ? shape_of(arg).size() : 0;
  const bool needs_rank = std::any_of(param.shape.begin(), param.shape.end(),
                                      [](const syntax::ParamDim& d) { return !d.rest.exists(); });
  if (param.brackets && (!tensor || (rank == 0 && needs_rank))) {
    fail("argument-not-tensor", span,
         fmt::format("{} takes a tensor, and {} is a scalar", param.name.text, source_text(span)));
    return false;
  }
  if (!param.brackets && rank > 0) {
    fail("bad-argument", span,
         fmt::format("{} takes a scalar, and {} has {} dimension{}", param.name.text,
                     source_text(span), rank, rank == 1 ? "" : "s"));
    return false;
  }
  return true;
}

bool Resolver::mismatch(const std::string& what, FormId a, FormId b, Span span) {
  if (same_extent(a, b)) return false;
  fail("shape-mismatch", span,
       fmt::format("{} is {} and {} in this call of {}", what, print_form(a), print_form(b),
                   calls.back().function->name.text));
  return true;
}

// Names in the shapes of parameters are sizes of the function: the first place gives each its
// value, all others must agree. What is computed, perhaps from scalar parameters, is left for
// later.
bool Resolver::match_shapes(const syntax::Function& f, const std::vector<Symbol>& args, Span span,
                            std::vector<std::pair<ExprNodeId, FormId>>& computed) {
  bool good = true;
  for (size_t i = 0; i < args.size(); ++i)
    if (f.params[i].brackets) good &= match_shape(f.params[i], shape_of(args[i]), span, computed);
  return good;
}

bool Resolver::match_computed(const std::vector<std::pair<ExprNodeId, FormId>>& computed,
                              Span span) {
  begin_definition("");
  for (const auto& [id, extent] : computed) {
    const auto wanted = resolve_size(id);
    if (!wanted || mismatch(source_text(node(id).span), *wanted, extent, span)) return false;
  }
  return true;
}

bool Resolver::match_shape(const syntax::Param& param, const std::vector<FormId>& shape, Span span,
                           std::vector<std::pair<ExprNodeId, FormId>>& computed) {
  const size_t n_packs =
      static_cast<size_t>(std::count_if(param.shape.begin(), param.shape.end(),
                                        [](const syntax::ParamDim& d) { return d.rest.exists(); }));
  const size_t n_single = param.shape.size() - n_packs;
  if (n_packs > 1) {
    fail("pack-misplaced", param.name.span,
         fmt::format("the shape of {} has two packs", param.name.text));
    return false;
  }
  if (shape.size() < n_single || (n_packs == 0 && shape.size() != n_single)) {
    fail("shape-mismatch", span,
         fmt::format("{} of {} has {}{} dimension{}, and {} given", param.name.text,
                     calls.back().function->name.text, n_packs > 0 ? "at least " : "", n_single,
                     n_single == 1 ? "" : "s",
                     shape.size() == 1 ? "1 is" : fmt::format("{} are", shape.size())));
    return false;
  }
  bool good = true;
  auto next = shape.begin();
  for (const syntax::ParamDim& dim : param.shape) {
    if (dim.rest.exists()) {
      const auto end = next + static_cast<ptrdiff_t>(shape.size() - n_single);
      good &= match_pack(dim.rest, {next, end}, span);
      next = end;
      continue;
    }
    const FormId extent = *next++;
    const auto* name = std::get_if<syntax::NameRef>(&node(dim.extent).data);
    if (!name) {
      computed.emplace_back(dim.extent, extent);
      continue;
    }
    const Symbol* known = values.find(name->name.text, sight);
    if (known && known->frame == sight.local)
      good &= !mismatch(name->name.text, known->meaning.form, extent, span);
    else
      values.define(name->name.text, {.kind = SymbolKind::dim,
                                      .meaning = of_form(extent, Type::i32, name->name.span),
                                      .frame = sight.local,
                                      .span = name->name.span});
  }
  return good;
}

bool Resolver::match_pack(const syntax::Name& name, const std::vector<FormId>& extents, Span span) {
  const auto [known, is_new] = packs.emplace(name.text, extents);
  if (is_new) return true;
  if (known->second.size() != extents.size()) {
    fail("shape-mismatch", span,
         fmt::format("{}... is {} and {} dimensions in this call of {}", name.text,
                     known->second.size(), extents.size(), calls.back().function->name.text));
    return false;
  }
  bool good = true;
  for (size_t k = 0; k < extents.size(); ++k)
    good &= !mismatch(fmt::format("dimension {} of {}...", k, name.text), known->second[k],
                      extents[k], span);
  return good;
}

void Resolver::resolve_return(const syntax::Return& item, Span span) {
  if (returned) {
    fail("misplaced-item", span, "a function returns once, at its end");
    return;
  }
  std::vector<Symbol> results;
  for (const ExprNodeId id : item.values.parts) {
    auto value = resolve_whole(id, "result");
    // Something to define the names on the left by, whatever went wrong.
    results.push_back(value ? std::move(*value) : Symbol{});
  }
  returned = std::move(results);
}

// y = f(x): true when the right side is such a call.
bool Resolver::define_call(const syntax::Definition& definition) {
  const syntax::ExprNode& value = node(definition.value);
  const auto* call = std::get_if<syntax::Call>(&value.data);
  if (!call) return false;
  const FunctionInfo* info = find_function(call->function.text);
  if (!info) return false;
  const bool plain = std::none_of(definition.lefts.begin(), definition.lefts.end(),
                                  [](const syntax::Left& left) { return left.brackets; });
  if (!plain || (definition.lefts.size() == 1 && is_scalar_function(*info))) return false;
  auto results = call_function(*call, *info, value.span);
  if (results && results->size() != definition.lefts.size()) {
    fail("result-count", value.span,
         fmt::format("{} gives {} result{}, {} name{} on the left", call->function.text,
                     results->size(), results->size() == 1 ? "" : "s", definition.lefts.size(),
                     definition.lefts.size() == 1 ? " is" : "s are"));
    results.reset();
  }
  if (!results) {
    mark_faulty(definition);
    return true;
  }
  for (size_t k = 0; k < results->size(); ++k) {
    Symbol symbol = (*results)[k];
    const syntax::Name& name = definition.lefts[k].name;
    if (!name.exists()) continue;
    if (symbol.kind == SymbolKind::parameter) symbol = define_scalar(name, symbol.meaning);
    bind(name, std::move(symbol));
  }
  return true;
}

// A returned scalar that needed no definition in the function gets one here.
Symbol Resolver::define_scalar(const syntax::Name& name, const Meaning& m) {
  begin_definition(prefix + name.text);
  nest().values.push_back(as_data(m, m.type));
  syntax::Definition definition;
  definition.lefts.push_back({.span = name.span, .name = name});
  DefId def;
  if (!finish_definition(definition, name.span, def)) return {};
  return {.kind = SymbolKind::tensor, .tensor = arena.component(program.def(def).id, 0)};
}

// ---- packs -------------------------------------------------------------------------------------

// How many indices b... stands for: the dimensions that B... matched.
std::optional<size_t> Resolver::pack_size(const syntax::Name& name) {
  for (const auto& [pack, extents] : packs)
    if (pack == name.text || lower_case(pack) == lower_case(name.text)) return extents.size();
  if (packs.size() == 1) return packs.begin()->second.size();
  fail("pack-unknown", name.span,
       packs.empty()
           ? fmt::format("{0}... is a pack of indices, and no parameter here has a pack", name.text)
           : fmt::format("{}... is no pack of the parameters here", name.text));
  return std::nullopt;
}

// The binders with each pack as its indices b_0, b_1 ...
std::optional<std::vector<syntax::Binder>> Resolver::expand_packs(
    const std::vector<syntax::Binder>& binders) {
  std::vector<syntax::Binder> out;
  for (const syntax::Binder& binder : binders) {
    if (!binder.rest) {
      out.push_back(binder);
      continue;
    }
    if (binder.range.valid()) {
      fail("pack-misplaced", binder.name.span,
           fmt::format("a pack has the ranges of its parameter; {} cannot be given one",
                       binder.name.text));
      return std::nullopt;
    }
    const auto n = pack_size(binder.name);
    if (!n) return std::nullopt;
    for (size_t k = 0; k < *n; ++k)
      out.push_back(
          {.name = {.text = fmt::format("{}_{}", binder.name.text, k), .span = binder.name.span}});
  }
  return out;
}

}  // namespace tang
