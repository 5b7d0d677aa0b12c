// The range of an index: given, else by the votes of the reads that use it alone as a coordinate.
#include <fmt/format.h>

#include <utility>

#include "text/resolve.h"

namespace tang {

// Equal as polynomials, under the assumptions.
bool Resolver::same_extent(FormId a, FormId b) {
  Forms& forms = arena.forms;
  const auto reduce = [&](FormId f) {
    return forms.substitute(f, [&](Var v) {
      const auto found = equal_sizes.find(v);
      return found == equal_sizes.end() ? FormId() : found->second;
    });
  };
  if (a == b) return true;
  a = reduce(a);
  b = reduce(b);
  if (a == b) return true;
  const FormId gap = forms.sub(a, b);
  if (forms.as_constant(gap)) return false;
  return proves(forms, program.assumptions, {.form = gap}) &&
         proves(forms, program.assumptions, {.form = forms.sub(b, a)});
}

// True when the range is known. A failure is reported here, unless one before explains it.
bool Resolver::fix_range(uint32_t number) {
  IndexInfo& index = indices[number];
  if (index.faulty) return false;
  if (index.extent.valid()) return true;
  for (const std::vector<Vote>* votes : {&index.strong, &index.weak}) {
    if (votes->empty()) continue;
    const Vote& first = votes->front();
    for (const Vote& vote : *votes) {
      if (same_extent(first.extent, vote.extent)) continue;
      failed = index.faulty = true;
      Diagnostic& d =
          diagnostics.error("range-conflict", vote.span,
                            fmt::format("{} runs over {} in {} and over {} in {}", index.name,
                                        print_form(first.extent), first.tensor,
                                        print_form(vote.extent), vote.tensor));
      d.notes.push_back(
          {first.span, fmt::format("{} runs over {} here", index.name, print_form(first.extent))});
      d.notes.push_back({first.declared, fmt::format("{} is declared here", first.tensor)});
      if (!(vote.declared == first.declared))
        d.notes.push_back({vote.declared, fmt::format("{} is declared here", vote.tensor)});
      for (Note& call : call_notes(vote.span)) d.notes.push_back(std::move(call));
      return false;
    }
    index.extent = first.extent;
    return true;
  }
  for (const uint32_t bounded : index.prefix)
    if (indices[bounded].extent.valid()) {
      index.extent = indices[bounded].extent;
      return true;
    }
  index.faulty = true;
  // Without the range of an index that this one bounds, that one's error says it all.
  failed = true;
  if (index.prefix.empty())
    fail("range-unknown", index.span,
         fmt::format("nothing gives the range of {0}: read a tensor at [{0}] or write {0}: n",
                     index.name));
  return false;
}

std::string Resolver::axis_name(Var v) const {
  switch (v.kind) {
    case VarKind::dim:
      return program.dims[v.index].name;
    case VarKind::scalar:
      return program.scalars[v.index].name;
    case VarKind::axis:
      return v.index < indices.size() ? indices[v.index].name : "?";
    case VarKind::local:
      break;
  }
  return "?";
}

std::string Resolver::print_form(FormId form) const {
  return arena.forms.print(form, [this](Var v) { return axis_name(v); });
}

}  // namespace tang
