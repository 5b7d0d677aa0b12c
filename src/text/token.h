// The tokens of a file. What a name means is the parser's business: the language has five reserved
// words, and all others mean something only in their place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/ast.h"

namespace tang::syntax {

enum class TokenKind : uint8_t {
#define TOKEN(kind, spelling) kind,
#include "text/tokens.def"
};

struct Token {
  static constexpr uint32_t kNoMatch = UINT32_MAX;
  TokenKind kind = TokenKind::end;
  bool first_on_line = false;
  bool faulty = false;  // already reported: errors that it leads to are not
  uint32_t begin = 0, end = 0;
  uint32_t match = kNoMatch;  // of a bracket: the token that closes or opens it
};

struct Lexed {
  std::vector<Token> tokens;
  std::vector<Comment> comments;
};

// How a token of this kind is spelled; of a kind with many spellings, what it is.
std::string_view spelling(TokenKind kind);

}  // namespace tang::syntax
