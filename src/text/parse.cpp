#include "text/parse.h"

#include "text/resolve.h"
#include "text/syntax.h"

namespace tang {

std::optional<Parsed> parse(Sources& sources, uint32_t file, const ParseOptions& options,
                            Diagnostics& diagnostics) {
  const std::optional<syntax::File> syntax = syntax::parse_syntax(sources, file, diagnostics);
  if (!syntax) return std::nullopt;
  Resolver resolver(sources, options, diagnostics);
  if (!resolver.run(*syntax)) return std::nullopt;
  return Parsed{.program = std::move(resolver.program),
                .obligations = std::move(resolver.obligations)};
}

}  // namespace tang
