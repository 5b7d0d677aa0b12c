// What must hold for any bytes given as a program, checked by doing it twice.
#include "targets.h"

#include <fmt/format.h>

#include "../unit/text/syntax_dump.h"
#include "check/check.h"
#include "ir/verify.h"
#include "support/panic.h"
#include "text/format.h"
#include "text/parse.h"
#include "text/print.h"
#include "text/syntax.h"

namespace tang::fuzz {
namespace {

// Rendering is part of what must not fail.
std::string rendered(const Diagnostics& diagnostics, const Sources& sources) {
  return render_text(diagnostics, sources, false);
}

struct Formatted {
  std::string text, dump;
};

// Nothing when the text is no program; then there is an error that says so.
std::optional<Formatted> formatted(std::string_view text) {
  Sources sources;
  const uint32_t file = sources.add("fuzz.tir", std::string(text));
  Diagnostics diagnostics;
  const std::optional<syntax::File> tree = syntax::parse_syntax(sources, file, diagnostics);
  const std::string messages = rendered(diagnostics, sources);
  TANG_ASSERT(tree.has_value() != diagnostics.has_errors(), "a tree and errors: {}", messages);
  if (!tree) return std::nullopt;
  return Formatted{syntax::format(sources, *tree), syntax::Dump::of(*tree)};
}

struct Checked {
  std::string text;  // printed
  std::string messages;
};

std::optional<Checked> checked(std::string_view text, std::string& messages) {
  Sources sources;
  const uint32_t file = sources.add("fuzz.tir", std::string(text));
  const ParseOptions options{.import = [](const std::string&) { return std::nullopt; }};
  Diagnostics diagnostics;
  const std::optional<Parsed> parsed = parse(sources, file, options, diagnostics);
  const bool good = parsed && !diagnostics.has_errors() &&
                    check(parsed->program, parsed->obligations, diagnostics);
  messages = rendered(diagnostics, sources);
  TANG_ASSERT(good != diagnostics.has_errors(), "a program and errors: {}", messages);
  if (!good) return std::nullopt;
  const std::vector<std::string> broken = verify(parsed->program);
  TANG_ASSERT(broken.empty(), "{}", fmt::join(broken, "; "));
  return Checked{print(parsed->program), messages};
}

}  // namespace

void fuzz_parse(std::string_view text) {
  const std::optional<Formatted> once = formatted(text);
  if (!once) return;
  const std::optional<Formatted> twice = formatted(once->text);
  TANG_ASSERT(twice.has_value(), "the formatted text is no program:\n{}", once->text);
  TANG_ASSERT(twice->dump == once->dump, "formatting changed the program:\n{}", once->text);
  TANG_ASSERT(twice->text == once->text, "formatting twice differs:\n{}\n---\n{}", once->text,
              twice->text);
}

void fuzz_front(std::string_view text) {
  std::string messages;
  const std::optional<Checked> once = checked(text, messages);
  if (!once) return;
  const std::optional<Checked> twice = checked(once->text, messages);
  TANG_ASSERT(twice.has_value(), "the printed text is no program:\n{}\n{}", once->text, messages);
  TANG_ASSERT(twice->text == once->text, "printing twice differs:\n{}\n---\n{}", once->text,
              twice->text);
}

}  // namespace tang::fuzz
