#include "text/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tang::syntax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Lexing {
 public:
  explicit Lexing(std::string text) {
    const uint32_t file = sources.add("t.tir", std::move(text));
    lexed = lex(sources, file, diagnostics);
  }
  std::vector<TokenKind> kinds() const {
    std::vector<TokenKind> out;
    for (const Token& token : lexed.tokens) out.push_back(token.kind);
    out.pop_back();  // the end
    return out;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Token& token : lexed.tokens)
      out.push_back(sources.text(0).substr(token.begin, token.end - token.begin));
    out.pop_back();
    return out;
  }
  // "name line:column message"
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : diagnostics.all()) {
      const LineColumn at = sources.place(d.span.file, d.span.begin);
      out.push_back(d.name + " " + std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
                    d.message);
    }
    return out;
  }

  Sources sources;
  Diagnostics diagnostics;
  Lexed lexed;
};

TEST(Lexer, AnIntegerBeforeARangeHasNoPoint) {
  const Lexing l("0..L 1..=4096 1.0..2");
  EXPECT_THAT(l.texts(), ElementsAre("0", "..", "L", "1", "..=", "4096", "1.0", "..", "2"));
  EXPECT_THAT(l.errors(), IsEmpty());
}

TEST(Lexer, Numbers) {
  const Lexing l("12 0x1F 0XffFFffFF 1.0 1e-5 2.5E+3 7e2 0");
  using enum TokenKind;
  EXPECT_THAT(l.kinds(), ElementsAre(integer, integer, integer, real, real, real, real, integer));
  EXPECT_THAT(l.errors(), IsEmpty());
}

TEST(Lexer, WhatBeginsLikeANumberAndIsNone) {
  for (const char* text : {"0start", "1.", ".5", "1e", "1.0f", "0x", "0x123456789", "1.x", "12_3",
                           "0xG", "1e5x", "1.5.2"}) {
    const Lexing l(text);
    ASSERT_FALSE(l.diagnostics.all().empty()) << text;
    EXPECT_EQ(l.diagnostics.all()[0].name, "bad-number") << text;
    EXPECT_THAT(l.diagnostics.all()[0].message, HasSubstr("is neither a number nor a name"));
    EXPECT_EQ(l.kinds()[0], TokenKind::invalid) << text;
    EXPECT_TRUE(l.lexed.tokens[0].faulty);
  }
}

TEST(Lexer, TheLongestOperatorWins) {
  const Lexing l("<<=>>=&&&||:==..=....!==");
  EXPECT_THAT(l.texts(), ElementsAre("<<", "=", ">>", "=", "&&", "&", "||", ":=", "=", "..=", "...",
                                     ".", "!=", "="));
}

TEST(Lexer, FiveWordsAreReservedAndUnderscoreIsNoName) {
  const Lexing l("else inf nan true false _ _a dim in sum Inf");
  using enum TokenKind;
  EXPECT_THAT(l.kinds(), ElementsAre(word_else, word_inf, word_nan, word_true, word_false,
                                     underscore, name, name, name, name, name));
}

TEST(Lexer, CommentsAreKeptWithTheirPlaces) {
  const Lexing l("# one Ω\r\na = 1 # two  \n  # three");
  ASSERT_THAT(l.lexed.comments, SizeIs(3));
  EXPECT_TRUE(l.lexed.comments[0].own_line);
  EXPECT_FALSE(l.lexed.comments[1].own_line);
  EXPECT_TRUE(l.lexed.comments[2].own_line);
  const Span two = l.lexed.comments[1].span;
  EXPECT_EQ(l.sources.text(0).substr(two.begin, two.end - two.begin), "# two");
  EXPECT_THAT(l.errors(), IsEmpty());
}

TEST(Lexer, TheFirstTokenOfEachLineIsMarked) {
  const Lexing l("a b\n c # d\n\n(e");
  std::vector<bool> first;
  for (const Token& token : l.lexed.tokens) first.push_back(token.first_on_line);
  EXPECT_THAT(first, ElementsAre(true, false, true, true, false, false));
}

TEST(Lexer, AByteOrderMarkIsNotPartOfTheText) {
  EXPECT_THAT(Lexing("\xEF\xBB\xBF"
                     "a")
                  .texts(),
              ElementsAre("a"));
}

TEST(Lexer, BadCharacters) {
  EXPECT_THAT(Lexing("a = Ωω + 1").errors(),
              ElementsAre("bad-character 1:5 the character 'Ω' has no meaning here"));
  EXPECT_THAT(Lexing("a $ b @").errors(), SizeIs(2));
  EXPECT_THAT(Lexing(std::string("a\0b", 3)).errors(),
              ElementsAre("bad-character 1:2 the control character 0x00 has no meaning here"));
  EXPECT_THAT(Lexing("a \xFF\xFE").errors(),
              ElementsAre("bad-character 1:3 this byte is not UTF-8"));
  EXPECT_THAT(Lexing("# \xC0\x80\xC0\x80\na").errors(),  // an overlong form; once a comment
              ElementsAre("bad-character 1:3 this byte is not UTF-8"));
  EXPECT_THAT(Lexing("# \xED\xA0\x80").errors(), SizeIs(1));  // half of a surrogate pair
  EXPECT_THAT(Lexing("# \xF0\x9F\x98\x80 \xE2\x89\xA4").errors(), IsEmpty());
}

TEST(Lexer, Strings) {
  EXPECT_THAT(Lexing("import \"nn\"").texts(), ElementsAre("import", "\"nn\""));
  EXPECT_THAT(Lexing("import \"nn\nx").errors(),
              ElementsAre("unbalanced 1:8 this \" is never closed"));
  EXPECT_THAT(Lexing("\"\"").errors(), SizeIs(1));
  EXPECT_THAT(Lexing("\"Ω\"").errors(), SizeIs(1));
}

TEST(Lexer, NamesHaveALimit) {
  EXPECT_THAT(Lexing(std::string(kMaxNameBytes, 'a')).errors(), IsEmpty());
  EXPECT_THAT(Lexing(std::string(kMaxNameBytes + 1, 'a')).errors(),
              ElementsAre("limit 1:1 a name has at most 1024 characters"));
}

TEST(Lexer, BracketsKnowTheirPartners) {
  const Lexing l("{ f(a[i]) }");
  const std::vector<Token>& t = l.lexed.tokens;
  EXPECT_EQ(t[0].match, 8u);
  EXPECT_EQ(t[8].match, 0u);
  EXPECT_EQ(t[2].match, 7u);
  EXPECT_EQ(t[4].match, 6u);
  EXPECT_EQ(t[1].match, Token::kNoMatch);
}

TEST(Lexer, ABracketThatIsNeverClosedIsReportedWhereItOpened) {
  EXPECT_THAT(Lexing("a = (b + c\nd = e").errors(),
              ElementsAre("unbalanced 1:5 this ( is never closed"));
  // The brace closes the block, so the parenthesis within was forgotten.
  const Lexing l("fn f(a) { b = (a }\nc = d");
  EXPECT_THAT(l.errors(), ElementsAre("unbalanced 1:15 this ( is never closed"));
  ASSERT_THAT(l.diagnostics.all()[0].notes, SizeIs(1));
  EXPECT_EQ(l.diagnostics.all()[0].notes[0].span.begin, 17u);
  // In f(a[i) the outer bracket is the one that closes.
  EXPECT_THAT(Lexing("f(a[i)").errors(), ElementsAre("unbalanced 1:4 this [ is never closed"));
}

TEST(Lexer, ABracketThatClosesNothing) {
  EXPECT_THAT(Lexing("a = b)").errors(), ElementsAre("unbalanced 1:6 this ) closes nothing"));
  EXPECT_THAT(Lexing("{ a = b) }").errors(), ElementsAre("unbalanced 1:8 this ) closes nothing"));
  // A block is not closed by a parenthesis that opened before it.
  EXPECT_THAT(Lexing("( { ) }").errors(), ElementsAre("unbalanced 1:5 this ) closes nothing",
                                                      "unbalanced 1:1 this ( is never closed"));
  const Lexing wrong("a = (b + c]");
  EXPECT_THAT(wrong.errors(), ElementsAre("unbalanced 1:11 this ] closes nothing"));
  ASSERT_THAT(wrong.diagnostics.all()[0].notes, SizeIs(1));
  EXPECT_EQ(wrong.diagnostics.all()[0].notes[0].span.begin, 4u);
}

TEST(Lexer, ManyErrorsEndTheReading) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "$ ";
  EXPECT_LE(Lexing(text).errors().size(), kMaxSyntaxErrors + 1);
  EXPECT_LE(Lexing(std::string(10000, ')')).errors().size(), kMaxSyntaxErrors + 1);
  EXPECT_LE(Lexing(std::string(10000, '(')).errors().size(), kMaxSyntaxErrors + 1);
}

}  // namespace
}  // namespace tang::syntax
