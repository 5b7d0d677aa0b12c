// The parser behind parse_syntax: recursive descent over items and brackets, operator precedence
// with an explicit stack. Recursion is as deep as the program nests, which is limited.
//
// After an error `failed_` makes every token look like the end of the file, so that all functions
// come back quickly with whatever they have; the loop over items then skips to the next line.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/ast.h"
#include "text/token.h"

namespace tang::syntax {

constexpr size_t kMaxNesting = 1000;
constexpr size_t kMaxExprNodes = 4'000'000;

std::string quoted(std::string_view text);

// What an item stands in.
enum class Context : uint8_t { file, function, monoid, loop, entry };

constexpr unsigned bit(Context context) {
  return 1u << static_cast<unsigned>(context);
}

constexpr unsigned kFile = bit(Context::file);
constexpr unsigned kDeclaring = bit(Context::file) | bit(Context::entry);
constexpr unsigned kReturning = bit(Context::function) | bit(Context::monoid);
constexpr unsigned kRunning = kDeclaring | bit(Context::function) | bit(Context::loop);

// A word that begins an item, and the contexts in which the item may stand.
struct Keyword {
  std::string_view word;
  unsigned contexts;
};
inline constexpr std::array kKeywords = {
    Keyword{"dim", kDeclaring},    Keyword{"assume", kDeclaring}, Keyword{"const", kRunning},
    Keyword{"input", kDeclaring},  Keyword{"inout", kDeclaring},  Keyword{"scalar", kDeclaring},
    Keyword{"output", kDeclaring}, Keyword{"import", kFile},      Keyword{"fn", kFile},
    Keyword{"return", kReturning}, Keyword{"monoid", kFile},      Keyword{"entry", kFile},
    Keyword{"for", kRunning},      Keyword{"grad", kRunning},     Keyword{"schedule", kDeclaring},
};

class Parser {
 public:
  Parser(std::string_view text, uint32_t file, const Lexed& lexed, Diagnostics& diagnostics)
      : text_(text), tokens_(lexed.tokens), diagnostics_(diagnostics) {
    out_.file = file;
    out_.comments = lexed.comments;
  }
  File run();

 private:
  // An expression and its place with parentheses around it.
  struct Operand {
    ExprNodeId id;
    Span outer;
  };
  struct PendingOp {
    BinaryOp op;
    Span span;
    int level;
  };
  // What ends an expression besides a token that cannot continue it.
  struct Mode {
    bool bar_ends = false;      // `|` begins the condition of the brackets around
    bool modulus_ends = false;  // `% INT ==` begins the modulus of a dimension
  };
  class WithMode {
   public:
    WithMode(Parser& parser, Mode mode) : parser_(parser), saved_(parser.mode_) {
      parser.mode_ = mode;
    }
    ~WithMode() { parser_.mode_ = saved_; }
    WithMode(const WithMode&) = delete;
    WithMode& operator=(const WithMode&) = delete;

   private:
    Parser& parser_;
    Mode saved_;
  };
  class Nested {
   public:
    explicit Nested(Parser& parser, size_t levels = 1) : parser_(parser), levels_(levels) {
      parser.depth_ += levels;
      if (parser.depth_ > kMaxNesting) parser.fail_nesting();
    }
    ~Nested() { parser_.depth_ -= levels_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
    size_t levels_;
  };
  // A left side, before `=` or `:=` says which it is.
  struct Target {
    Span span;
    Name name;  // absent: `_`
    bool guarded = false;
    bool brackets = false;
    struct Slot {
      Place place;
      Name plain;  // the coordinate is a name alone, and has no node yet
      Span outer;  // of the coordinate
    };
    std::vector<Slot> slots;
    ExprNodeId condition;
    Span condition_span;  // of `|`
  };

  // Tokens: syntax.cpp
  const Token& peek(size_t ahead = 0) const;
  const Token& partner(const Token& bracket, size_t ahead = 0) const;
  bool at(TokenKind kind, size_t ahead = 0) const { return peek(ahead).kind == kind; }
  bool at_word(std::string_view word) const;
  bool accept(TokenKind kind);
  bool accept_word(std::string_view word);       // on whatever line
  bool accept_word_here(std::string_view word);  // on this line: else it begins an item
  void advance() { at_ += failed_ ? 0 : 1; }
  void expect(TokenKind kind);
  bool more_follows();  // after a comma
  uint32_t open(TokenKind kind);
  void close(uint32_t opener, std::string_view expected);
  Name expect_name(const char* what);
  int64_t expect_integer();
  int64_t integer_value(const Token& token);
  std::string_view text_of(const Token& token) const;
  std::string_view text_of(Span span) const;
  Span span_of(const Token& token) const;
  Span span_from(uint32_t first) const;  // up to the last token consumed

  // Errors: syntax.cpp
  Diagnostic& report(const char* name, Span span, std::string message);  // and read on
  void fail(const char* name, Span span, std::string message);           // and leave the item
  void fail(const char* name, Span span, std::string message, uint32_t about);
  void fail_expected(std::string_view expected);
  void fail_expected(std::string_view expected, uint32_t about);
  std::string hint(std::string_view expected) const;  // syntax_hints.cpp
  bool defines_here() const;
  std::string hint_about_word(std::string_view word) const;
  std::string hint_about_coordinates(std::string_view expected) const;
  std::string hint_about_left_side() const;
  void fail_nesting();
  void fail_reserved(const Token& token, const char* what);
  bool ends_line() const;
  std::string found() const;
  void recover(uint32_t start);

  // Expressions: syntax_expr.cpp
  ExprNodeId add(Span span, ExprData data);
  ExprNodeId parse_expr() { return parse_conditional().id; }
  ExprNodeId parse_sum();  // the level of + and -
  ExprNodeId parse_condition();
  Operand parse_conditional();
  Operand parse_binary(int min_level);
  std::optional<PendingOp> binary_operator(int min_level) const;
  void reduce();
  void check_chained(const PendingOp& op, Operand left, Operand right);
  Operand parse_unary();
  Operand parse_primary();
  Operand parse_number();
  Operand parse_constant(Word word);
  Operand parse_name();
  Operand parse_parenthesised();
  Operand parse_call();
  Operand parse_read();
  Operand parse_reduction();
  void parse_monoid(Reduction& reduction);
  Coord parse_coord();
  Binder parse_binder(int range_level);
  Value parse_value();
  std::vector<ExprNodeId> parse_exprs();

  // Items: syntax_item.cpp
  Block parse_items(Context context);
  Block parse_block(Context context);
  ItemId parse_item(Context context);
  ItemData parse_item_data(Context context);
  void check_place(std::string_view word, unsigned contexts, Context context);
  void end_of_item(Context context);
  uint32_t line_without_operand() const;
  Range parse_range(bool modulus_ends = false);
  TypeRef parse_type();
  std::vector<ExprNodeId> parse_shape();
  std::vector<Name> parse_names(const char* what);
  ItemData parse_dims();
  DimDecl parse_dim();
  ItemData parse_consts();
  ItemData parse_tensors(bool inout);
  ItemData parse_scalars();
  ItemData parse_outputs();
  ItemData parse_import();
  ItemData parse_function();
  Param parse_param();
  ItemData parse_return();
  ItemData parse_monoid();
  Component parse_component();
  MonoidPart parse_monoid_part(bool assigned);
  void parse_monoid_clause(Monoid& monoid);
  ItemData parse_entry();
  ItemData parse_loop();
  ItemData parse_grad();
  ItemData parse_schedule();
  ScheduleWord parse_schedule_word();

  // Definitions and updates: syntax_assign.cpp
  ItemData parse_assignment(Context context);
  void fail_assignment(const Target& target);
  Target parse_target();
  Target::Slot parse_slot();
  Left to_left(const Target& target);
  ItemData to_update(Target target);

  std::string_view text_;
  const std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  File out_;
  uint32_t at_ = 0;
  uint32_t item_start_ = 0;
  bool failed_ = false;
  size_t depth_ = 0;
  size_t n_unclosed_ = 0;  // blocks around whose brace is never closed
  size_t n_errors_ = 0;
  Mode mode_;
  std::vector<PendingOp> operators_;
  std::vector<Operand> operands_;
};

}  // namespace tang::syntax
