// Blocks of items: loops, which are unrolled; entry points; and imported files.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/panic.h"
#include "text/library.h"
#include "text/resolve.h"
#include "text/syntax.h"

namespace tang {

namespace {

constexpr size_t kMaxRounds = 100'000;

}  // namespace

void Resolver::resolve_loop(const syntax::Loop& loop, Span span) {
  begin_definition("");
  const auto range = resolve_range(loop.range);
  if (!range || !check_new_name(loop.index)) return;
  const auto low = arena.forms.as_constant(range->lo), high = arena.forms.as_constant(range->hi);
  if (!low || !high) {
    const syntax::ExprNodeId open = low ? loop.range.high : loop.range.low;
    fail("not-constant", node(open).span,
         fmt::format("a loop is unrolled, and {} is not a constant", source_text(node(open).span)));
    return;
  }
  for (int64_t round = *low; round < *high; ++round) {
    if (++n_rounds > kMaxRounds) {
      fail("limit", span, fmt::format("loops unroll to more than {} rounds", kMaxRounds));
      stopped = true;
    }
    if (stopped) return;
    const size_t errors = diagnostics.n_errors();
    const size_t mark = values.mark();
    ++loop_depth;
    values.define(loop.index.text,
                  {.kind = SymbolKind::loop_name,
                   .meaning = of_form(arena.forms.constant(round), Type::i32, loop.index.span),
                   .frame = sight.local,
                   .loop_depth = loop_depth,
                   .span = loop.index.span});
    for (const syntax::ItemId id : loop.body) resolve_item(id);
    --loop_depth;
    values.undo_to(mark);
    // The other rounds would say the same.
    if (diagnostics.n_errors() > errors) return;
  }
}

// ---- entry points ------------------------------------------------------------------------------

// The block of the entry point asked for, if the file has entries; false when none fits.
bool Resolver::choose_entry(const syntax::File& top, const syntax::Entry*& chosen) {
  std::vector<const syntax::Entry*> entries;
  for (const syntax::ItemId id : top.top)
    if (const auto* entry = std::get_if<syntax::Entry>(&top[id].data)) entries.push_back(entry);
  Suggestion suggestion(options.entry);
  std::string names;
  for (const syntax::Entry* entry : entries) {
    if (entry->name.text == options.entry || (options.entry.empty() && entries.size() == 1))
      chosen = entry;
    for (const syntax::Entry* other : entries) {
      if (other == entry) break;
      if (other->name.text != entry->name.text) continue;
      diagnostics
          .error("redefinition", entry->name.span,
                 fmt::format("the entry {} is already defined", entry->name.text))
          .notes.push_back({other->name.span, "first defined here"});
    }
    suggestion.consider(entry->name.text);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry->name.text);
  }
  if (chosen) {
    program.entry = chosen->name.text;
    return true;
  }
  const bool by_default = options.entry.empty() || options.entry == program.entry;
  if (entries.empty() && by_default) return true;
  const Span start{.file = top.file, .begin = 0, .end = 0};
  if (entries.empty())
    fail("no-entry", start, fmt::format("the program has no entry {}", options.entry));
  else if (options.entry.empty())
    fail("no-entry", start, fmt::format("the program has the entries {}: choose one", names));
  else
    fail("no-entry", start,
         fmt::format("there is no entry {}, only {}{}", options.entry, names, suggestion.text()));
  return false;
}

// ---- files -------------------------------------------------------------------------------------

// Makes the functions of a file known, and those of the files it imports.
void Resolver::add_file(const syntax::File& top, size_t number) {
  for (const syntax::ItemId id : top.top) {
    const syntax::Item& item = top[id];
    if (const auto* import = std::get_if<syntax::Import>(&item.data)) load_import(*import, number);
    const auto* f = std::get_if<syntax::Function>(&item.data);
    if (!f) continue;
    const auto [known, is_new] = libraries[number].functions.emplace(
        f->name.text, FunctionInfo{.file = number, .function = f});
    if (is_new) continue;
    failed = true;
    diagnostics
        .error("redefinition", f->name.span,
               fmt::format("the function {} is already defined", f->name.text))
        .notes.push_back({known->second.function->name.span, "first defined here"});
  }
}

// The file whose names are looked up, and those that it imports, itself or through others: the
// nearest first.
std::vector<size_t> Resolver::visible_files() const {
  std::vector<size_t> files = {sight.file};
  for (size_t k = 0; k < files.size(); ++k)
    for (const size_t other : libraries[files[k]].imports)
      if (std::find(files.begin(), files.end(), other) == files.end()) files.push_back(other);
  return files;
}

void Resolver::load_import(const syntax::Import& item, size_t into) {
  std::string name = item.file.text;
  const std::string beside = libraries[into].folder + name;
  std::optional<std::string> text;
  if (!libraries[into].built_in && options.import) text = options.import(beside);
  const bool built_in = !text;
  if (!built_in) name = beside;
  if (const auto known = imported.find({built_in, name}); known != imported.end()) {
    if (!libraries[known->second].complete)
      fail("import-cycle", item.file.span, fmt::format("{} imports itself", name));
    else if (auto& list = libraries[into].imports;
             std::find(list.begin(), list.end(), known->second) == list.end())
      list.push_back(known->second);
    return;
  }
  if (built_in) text = library_text(name);
  if (!text) {
    fail("import-not-found", item.file.span,
         fmt::format("there is no file {}.tir beside this one or in the library", name));
    return;
  }
  const size_t number = libraries.size();
  imported.emplace(std::pair(built_in, name), number);
  libraries.push_back({.built_in = built_in});
  if (!built_in) libraries.back().folder = name.substr(0, name.find_last_of('/') + 1);
  const uint32_t source = sources.add((built_in ? "library/" : "") + name + ".tir", *text);
  if (auto parsed = syntax::parse_syntax(sources, source, diagnostics)) {
    libraries[number].own = std::move(*parsed);
    libraries[number].file = &libraries[number].own;
    resolve_library(number);
    libraries[into].imports.push_back(number);
  } else {
    failed = true;
  }
  libraries[number].complete = true;
}

// Functions, monoids, constants and imports of an imported file, which sees only itself.
void Resolver::resolve_library(size_t number) {
  const syntax::File* outer_file = std::exchange(file, libraries[number].file);
  const auto own = static_cast<uint32_t>(number);
  const Sight outer_sight = std::exchange(sight, Sight{.local = own, .file = own});
  add_file(*file, number);
  for (const syntax::ItemId id : file->top) {
    const syntax::Item& item = (*file)[id];
    using namespace syntax;
    const bool allowed = std::holds_alternative<Function>(item.data) ||
                         std::holds_alternative<Import>(item.data) ||
                         std::holds_alternative<syntax::Monoid>(item.data) ||
                         std::holds_alternative<Consts>(item.data);
    if (allowed)
      resolve_item(id);
    else
      fail("import-item", item.span,
           "an imported file holds functions, monoids, constants and imports only");
  }
  file = outer_file;
  sight = outer_sight;
}

}  // namespace tang
