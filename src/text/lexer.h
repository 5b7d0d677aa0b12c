// Text to tokens, with brackets matched, so that the parser can look behind a closing bracket.
#pragma once

#include "support/diagnostics.h"
#include "text/token.h"

namespace tang::syntax {

constexpr size_t kMaxFileBytes = size_t{1} << 24;
constexpr size_t kMaxNameBytes = 1024;
// So many errors of one file are worth reading; after them its reading ends.
constexpr size_t kMaxSyntaxErrors = 100;

// Appends bad-character, bad-number, unbalanced and limit. Always gives tokens up to an `end`.
Lexed lex(const Sources& sources, uint32_t file, Diagnostics& diagnostics);

// The part of lex() that sets Token::match.
void match_brackets(std::vector<Token>& tokens, uint32_t file, Diagnostics& diagnostics);

}  // namespace tang::syntax
