// Programs that are large, deep or nonsense: whatever comes in, the parser comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parsing.h"
#include "syntax_dump.h"
#include "text/format.h"
#include "text/lexer.h"
#include "text/syntax_parser.h"

namespace tang::syntax {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string repeat(const std::string& text, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

TEST(SyntaxLimits, NestingIsAnErrorAndNoCrash) {
  const std::vector<std::pair<std::string, std::string>> nests = {
      {"(", ")"},
      {"-", ""},
      {"!", ""},
      {"f(", ")"},
      {"x[", "]"},
      {"x[i] else ", ""},
      {"a ? ", " : b"},
      {"a ? b : ", ""},
      {"sum[i](", ")"},
      {"sum[i](q, (p, ", "))"},
      {"sum[i: x[", "]](1)"},
      {"x?[i | ", "]"},
      {"topk(", ")[i](1)"},
  };
  for (const auto& [open, close] : nests) {
    const Parsing fine("r = " + repeat(open, 400) + "a" + repeat(close, 400));
    EXPECT_TRUE(fine.file) << open << (fine.errors().empty() ? "" : fine.errors()[0]);
    for (const size_t n : {1100, 20000}) {
      const Parsing deep("r = " + repeat(open, n) + "a" + repeat(close, n) + "\ns = 1 1\n");
      ASSERT_THAT(deep.errors(), SizeIs(2)) << open;  // and the next line is read
      EXPECT_THAT(deep.errors()[0], HasSubstr("limit 1:")) << open;
    }
  }
}

TEST(SyntaxLimits, TheNestingLimitIsExact) {
  EXPECT_TRUE(Parsing("r = " + repeat("(", kMaxNesting) + "a" + repeat(")", kMaxNesting)).file);
  EXPECT_FALSE(
      Parsing("r = " + repeat("(", kMaxNesting + 1) + "a" + repeat(")", kMaxNesting + 1)).file);
  EXPECT_TRUE(Parsing("r = " + repeat("-", kMaxNesting) + "a").file);
  EXPECT_FALSE(Parsing("r = " + repeat("-", kMaxNesting + 1) + "a").file);
}

TEST(SyntaxLimits, BlocksNestToo) {
  const auto blocks = [](size_t n) {
    return Parsing(repeat("for l in 0..2 { ", n) + "a = 1" + repeat(" }", n));
  };
  EXPECT_TRUE(blocks(kMaxNesting).file);
  EXPECT_THAT(blocks(kMaxNesting + 1).errors()[0], HasSubstr("limit"));
  EXPECT_FALSE(blocks(5000).file);
}

TEST(SyntaxLimits, LongChainsAndManyItemsAreFine) {
  const Parsing sum("r = a" + repeat(" + a", 20000));
  ASSERT_TRUE(sum.file);
  EXPECT_EQ(sum.file->exprs.size(), 40001u);
  const Parsing mixed("r = a" + repeat(" + a * b < c && a == b || c", 10000));
  ASSERT_TRUE(mixed.file);
  EXPECT_TRUE(Parsing(repeat("a = b\n", 10000)).file);
  EXPECT_TRUE(Parsing("r = f(a" + repeat(", a", 10000) + ")").file);
}

// ---- Whatever comes in -------------------------------------------------------------------------

const char* const kPrograms[] = {
    "dim S in 1..=4096 % 16 == 0, T\nconst D = 64\ninput x, y: f32[S, D]\n"
    "input idx: i32[T] in 0..S sorted\nscalar pos: i32 in 0..S\n"
    "p[s,t] = sum[d | d <= s && m[t]](x[s,d] * x[t,d]) # scores\n"
    "hi, first, where = (max, argmax)[t](a[t], (b[t], t))\noutput p: f16\n",
    "monoid mat(a, b[N, N]: f32) {\n  identity { I[i: N] = 1.0; return (I, 0) }\n"
    "  combine(x, y) = (x.a * y.a, y.b[i,k] else 0)\n  commutative\n}\n"
    "entry e { cache?[s + pos, d: D | m[s]] := -y[s,d]; output cache }\n"
    "schedule z when S >= 256 { tile i=64 j=64, stage x, store f16 }\n",
    "fn rms(x[B..., C], eps = 1e-5) { y[b..., c] = x[b..., c] * rsqrt(x?[c/2 exact] else 0xFF)\n"
    "  return y }\nimport \"nn\"\nfor l in 0..4 { r = c ? inf : nan }\n"
    "grad dq, dk = o wrt q, k seed do\nassume !(S < T) || S == 2*T\n_, h[t] = topk(2)[u: 3](a[u] "
    "<< 2 | 1)\n",
};

// Must come back; and what it takes for a program must survive formatting.
void try_text(const std::string& text) {
  const Parsing p(text);
  EXPECT_EQ(p.file.has_value(), !p.diagnostics.has_errors());
  for (const Diagnostic& d : p.diagnostics.all()) {
    ASSERT_LE(d.span.end, text.size()) << text;
    ASSERT_LE(d.span.begin, d.span.end) << text;
  }
  render_text(p.diagnostics, p.sources, false);
  if (!p.file) return;
  const Parsing again(format(p.sources, *p.file));
  ASSERT_TRUE(again.file) << text << "\n" << again.errors()[0];
  ASSERT_EQ(Dump::of(*p.file), Dump::of(*again.file)) << text;
  ASSERT_EQ(format(again.sources, *again.file), again.sources.text(0)) << text;
}

TEST(SyntaxFuzz, RandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = static_cast<char>(random());
    try_text(text);
  }
}

TEST(SyntaxFuzz, RandomTokens) {
  std::mt19937 random(2);
  std::vector<std::string> words;
  for (const char* program : kPrograms) {
    Parsing p(program);
    ASSERT_TRUE(p.file) << p.errors()[0];
    Diagnostics ignored;
    for (const Token& token : lex(p.sources, 0, ignored).tokens)
      words.push_back(p.sources.text(0).substr(token.begin, token.end - token.begin));
  }
  words.insert(words.end(), {"\n", "\n", "\n", "# c\n", ";", "else"});
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    for (size_t n = random() % 25; n-- > 0;) text += words[random() % words.size()] + " ";
    try_text(text);
  }
}

TEST(SyntaxFuzz, MutatedPrograms) {
  std::mt19937 random(3);
  for (int round = 0; round < 1500; ++round) {
    std::string text = kPrograms[random() % std::size(kPrograms)];
    for (size_t n = 1 + random() % 4; n-- > 0;) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 3);
          break;
        case 1:
          text.insert(at, 1, "()[]{}|?:;,.=-#\n0a_"[random() % 19]);
          break;
        case 2:
          text[at] = static_cast<char>(random());
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
      }
      if (text.empty()) text = "a";
    }
    try_text(text);
  }
}

TEST(SyntaxFuzz, PrefixesOfPrograms) {
  for (const char* program : kPrograms)
    for (size_t n = 0; program[n] != '\0'; ++n) try_text(std::string(program, n));
}

}  // namespace
}  // namespace tang::syntax
