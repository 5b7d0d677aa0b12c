// Definitions and updates. Both begin with a list of left sides; `=` or `:=` after it says whether
// the brackets list indices or coordinates.
#include <fmt/format.h>

#include <utility>

#include "text/names.h"
#include "text/syntax.h"
#include "text/syntax_parser.h"

namespace tang::syntax {

ItemData Parser::parse_assignment(Context context) {
  const Token& first = peek();
  if (first.kind != TokenKind::name && first.kind != TokenKind::underscore) {
    if (first.kind >= TokenKind::word_else && first.kind <= TokenKind::word_false)
      fail_reserved(first, "a tensor");
    else
      fail_expected("an item, which begins with a name");
    return Definition{};
  }
  std::vector<Target> targets;
  do {
    targets.push_back(parse_target());
  } while (accept(TokenKind::comma));
  if (at(TokenKind::update)) {
    check_place("an update", kRunning, context);
    if (targets.size() > 1)
      fail("syntax", span_of(peek()), "an update writes one tensor");
    else if (!targets.front().name.exists())
      fail("syntax", targets.front().span, "an update writes a tensor, and _ is none");
    advance();
    return to_update(std::move(targets.front()));
  }
  if (!accept(TokenKind::assign)) fail_assignment(targets.front());
  Definition item;
  for (const Target& target : targets) item.lefts.push_back(to_left(target));
  item.value = parse_expr();
  return item;
}

// A left side is followed by neither: a word that was to begin an item may be misspelled.
void Parser::fail_assignment(const Target& target) {
  const TokenKind next = peek().kind;
  if (!target.brackets && !peek().first_on_line &&
      (next == TokenKind::name || next == TokenKind::string)) {
    Suggestion suggestion(target.name.text);
    for (const Keyword& keyword : kKeywords) suggestion.consider(keyword.word);
    if (!suggestion.text().empty())
      return fail("syntax", target.span,
                  fmt::format("{} begins no item{}", quoted(target.name.text), suggestion.text()));
  }
  fail_expected("'=' or ':='");
}

Parser::Target Parser::parse_target() {
  const uint32_t first = at_;
  Target target;
  if (!accept(TokenKind::underscore)) {
    target.name = expect_name("a tensor");
    target.guarded = accept(TokenKind::question);
    target.brackets = at(TokenKind::open_bracket);
    if (target.brackets) {
      const Nested nested(*this);
      const WithMode mode(*this, {.bar_ends = true});
      const uint32_t opener = open(TokenKind::open_bracket);
      while (!at(TokenKind::close_bracket) && !at(TokenKind::bar) && !failed_) {
        target.slots.push_back(parse_slot());
        if (!more_follows()) break;
      }
      target.condition_span = span_of(peek());
      target.condition = parse_condition();
      close(opener, "',' or ']'");
    }
  }
  target.span = span_from(first);
  return target;
}

Parser::Target::Slot Parser::parse_slot() {
  const uint32_t first = at_;
  Target::Slot slot;
  const TokenKind next = peek(1).kind;
  if (at(TokenKind::name) && (next == TokenKind::comma || next == TokenKind::colon ||
                              next == TokenKind::close_bracket || next == TokenKind::bar)) {
    slot.plain = expect_name("an index");
    slot.place.coord.span = slot.plain.span;
  } else {
    slot.place.coord = parse_coord();
  }
  slot.outer = span_from(first);
  if (accept(TokenKind::colon)) slot.place.range = parse_sum();
  return slot;
}

Left Parser::to_left(const Target& target) {
  Left left{.span = target.span, .name = target.name, .brackets = target.brackets, .indices = {}};
  if (failed_) return left;
  if (target.guarded)
    report("syntax", target.span,
           fmt::format("a definition covers all of its points and has no guard; write {}[…] = …",
                       target.name.text));
  if (target.condition.valid())
    report("syntax", target.condition_span,
           "a definition covers all of its points; conditions stand on the right side");
  for (const Target::Slot& slot : target.slots) {
    const Name& rest = slot.place.coord.rest;
    if (!slot.plain.exists() && !rest.exists()) {
      report("lhs-not-index", slot.outer,
             fmt::format("the left side lists its indices, and {} is not a name; elements of a "
                         "tensor are written with inout and :=",
                         quoted(text_of(slot.outer))));
      continue;
    }
    left.indices.push_back({.name = rest.exists() ? rest : slot.plain,
                            .rest = rest.exists(),
                            .range = slot.place.range});
  }
  return left;
}

ItemData Parser::to_update(Target target) {
  Update item;
  item.tensor = std::move(target.name);
  item.guarded = target.guarded;
  item.brackets = target.brackets;
  item.condition = target.condition;
  for (Target::Slot& slot : target.slots) {
    if (slot.plain.exists())
      slot.place.coord.value = add(slot.plain.span, NameRef{.name = std::move(slot.plain)});
    item.places.push_back(std::move(slot.place));
  }
  item.value = parse_expr();
  return item;
}

}  // namespace tang::syntax
