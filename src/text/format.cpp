// Comments go with the items: one on a line of its own stays before what follows it, one after an
// item stays there, and one inside an item moves before it, since an item takes one line.
#include "text/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "text/format_expr.h"
#include "text/syntax.h"

namespace tang::syntax {

namespace {

constexpr size_t kIndent = 2;

class Formatter {
 public:
  Formatter(const Sources& sources, const File& file)
      : sources_(sources), file_(file), text_(sources.text(file.file)) {}

  std::string run() {
    items(file_.top, static_cast<uint32_t>(text_.size()));
    return std::move(out_);
  }

 private:
  // ---- Lines, blank lines and comments ----

  bool is_blank(char c) const { return c == ' ' || c == '\t' || c == '\r'; }

  // Whether the program leaves a line blank before this place.
  bool blank_before(uint32_t place) const {
    size_t n_newlines = 0;
    for (uint32_t i = place; i > 0 && (is_blank(text_[i - 1]) || text_[i - 1] == '\n'); --i)
      n_newlines += text_[i - 1] == '\n';
    return n_newlines >= 2;
  }

  void begin_line(bool blank) {
    if (blank && !first_in_block_) out_ += '\n';
    first_in_block_ = false;
    out_.append(depth_ * kIndent, ' ');
  }

  std::string_view text_of(Span span) const {
    return text_.substr(span.begin, span.end - span.begin);
  }

  bool comment_before(uint32_t place) const {
    return next_comment_ < file_.comments.size() &&
           file_.comments[next_comment_].span.begin < place;
  }

  void comment_line(bool blank) {
    begin_line(blank);
    out_ += text_of(file_.comments[next_comment_++].span);
    out_ += '\n';
  }

  // Comments that stand before what begins at `place` and whose inside before `inner` is written
  // on one line; then begins that line.
  void begin_element(uint32_t place, uint32_t inner) {
    while (comment_before(place)) comment_line(blank_before(next_comment_begin()));
    bool blank = blank_before(place);
    while (comment_before(inner)) {
      comment_line(blank);
      blank = false;
    }
    begin_line(blank);
  }

  uint32_t next_comment_begin() const { return file_.comments[next_comment_].span.begin; }

  // Ends a line whose last token ended at `place`, with the comment that follows it there.
  void end_line(uint32_t place) {
    if (next_comment_ < file_.comments.size() && next_comment_begin() >= place) {
      const std::string_view between = text_.substr(place, next_comment_begin() - place);
      if (std::all_of(between.begin(), between.end(),
                      [&](char c) { return is_blank(c) || c == ';'; })) {
        out_ += "  ";
        out_ += text_of(file_.comments[next_comment_++].span);
      }
    }
    out_ += '\n';
  }

  // ---- Blocks ----

  void items(const Block& block, uint32_t end) {
    first_in_block_ = true;
    for (ItemId id : block) {
      const Item& item = file_[id];
      begin_element(item.span.begin, inner_end(item));
      std::visit([&](const auto& data) { write(data); }, item.data);
      end_line(item.span.end);
    }
    while (comment_before(end)) comment_line(blank_before(next_comment_begin()));
    first_in_block_ = false;
  }

  // Where the part of an item that is written on one line ends: at its block.
  static uint32_t inner_end(const Item& item) {
    Span block;
    if (const auto* function = std::get_if<Function>(&item.data)) block = function->body.span;
    if (const auto* monoid = std::get_if<Monoid>(&item.data)) block = monoid->body;
    if (const auto* entry = std::get_if<Entry>(&item.data)) block = entry->body.span;
    if (const auto* loop = std::get_if<Loop>(&item.data)) block = loop->body.span;
    return block.valid() ? block.begin : item.span.end;
  }

  // From { to }: what is inside is written by `body`.
  template <class F>
  void braces(Span span, bool empty, F body) {
    out_ += '{';
    if (empty && !comment_before(span.end)) {
      out_ += '}';
      return;
    }
    end_line(span.begin + 1);
    ++depth_;
    body();
    --depth_;
    begin_line(false);
    out_ += '}';
  }

  void block(const Block& block) {
    braces(block.span, block.empty(), [&] { items(block, block.span.end); });
  }

  // ---- Parts of items ----

  void expr(ExprNodeId id, Surroundings where = {}) {
    format_expr(out_, sources_, file_, id, where);
  }
  void sum(ExprNodeId id) { expr(id, {.level = kSumPrecedence}); }

  template <class List, class F>
  void list(const List& elements, F element) {
    for (const auto& e : elements) {
      if (&e != &*elements.begin()) out_ += ", ";
      element(e);
    }
  }

  void names(const std::vector<Name>& all) {
    list(all, [&](const Name& name) { out_ += name.text; });
  }

  void exprs(const std::vector<ExprNodeId>& all) {
    list(all, [&](ExprNodeId id) { expr(id); });
  }

  void range(const Range& r) {
    sum(r.low);
    out_ += r.closed ? "..=" : "..";
    sum(r.high);
  }

  void declared_range(const Range& r) {
    if (!r.exists()) return;
    out_ += " in ";
    range(r);
  }

  void shape(bool brackets, const std::vector<ExprNodeId>& extents) {
    if (!brackets) return;
    out_ += '[';
    list(extents, [&](ExprNodeId id) { sum(id); });
    out_ += ']';
  }

  void optional_type(const Name& type) {
    if (type.exists()) out_ += ": " + type.text;
  }

  // ---- Items ----

  void write(const Dims& item) {
    out_ += "dim ";
    list(item.dims, [&](const DimDecl& dim) {
      out_ += dim.name.text;
      declared_range(dim.range);
      if (dim.has_modulus) out_ += fmt::format(" % {} == {}", dim.modulus, dim.remainder);
    });
  }

  void write(const Assume& item) {
    out_ += "assume ";
    expr(item.condition);
  }

  void write(const Consts& item) {
    out_ += "const ";
    list(item.consts, [&](const ConstDecl& decl) {
      out_ += decl.name.text + " = ";
      expr(decl.value);
    });
  }

  void write(const Tensors& item) {
    out_ += item.inout ? "inout " : "input ";
    names(item.names);
    out_ += ": " + item.type.type.text;
    shape(item.type.brackets, item.type.shape);
    declared_range(item.range);
    if (item.sorted) out_ += " sorted";
    if (item.distinct) out_ += " distinct";
  }

  void write(const Scalars& item) {
    out_ += "scalar ";
    names(item.names);
    optional_type(item.type);
    declared_range(item.range);
  }

  void write(const Outputs& item) {
    out_ += "output ";
    names(item.names);
    optional_type(item.type);
  }

  void write(const Import& item) { out_ += fmt::format("import \"{}\"", item.file.text); }

  void write(const Function& item) {
    out_ += "fn " + item.name.text + "(";
    list(item.params, [&](const Param& param) { write(param); });
    out_ += ") ";
    block(item.body);
  }

  void write(const Param& param) {
    out_ += param.name.text;
    if (param.initial.valid()) {
      out_ += " = ";
      expr(param.initial);
    }
    if (!param.brackets) return;
    out_ += '[';
    list(param.shape, [&](const ParamDim& dim) {
      if (dim.rest.exists())
        out_ += dim.rest.text + "...";
      else
        sum(dim.extent);
    });
    out_ += ']';
  }

  void write(const Return& item) {
    out_ += item.values.tuple ? "return (" : "return ";
    exprs(item.values.parts);
    if (item.values.tuple) out_ += ')';
  }

  void write(const Monoid& item) {
    out_ += "monoid " + item.name.text + "(";
    list(item.components, [&](const Component& component) {
      out_ += component.name.text;
      shape(component.brackets, component.shape);
      optional_type(component.type);
    });
    out_ += ") ";
    const bool empty =
        !item.identity.span.valid() && !item.combine.span.valid() && !item.commutative_span.valid();
    braces(item.body, empty, [&] { clauses(item); });
  }

  // In the order of the program.
  void clauses(const Monoid& item) {
    std::array spans = {item.identity.span, item.combine.span, item.commutative_span};
    std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
    first_in_block_ = true;
    for (Span span : spans) {
      if (!span.valid()) continue;
      if (span == item.commutative_span) {
        begin_element(span.begin, span.end);
        out_ += "commutative";
      } else if (span == item.identity.span) {
        begin_element(span.begin, part_inner_end(item.identity));
        out_ += "identity ";
        part(item.identity);
      } else {
        begin_element(span.begin, part_inner_end(item.combine));
        out_ += fmt::format("combine({}, {}) ", item.left.text, item.right.text);
        if (!item.combine.is_block) out_ += "= ";
        part(item.combine);
      }
      end_line(span.end);
    }
    while (comment_before(item.body.end)) comment_line(blank_before(next_comment_begin()));
    first_in_block_ = false;
  }

  static uint32_t part_inner_end(const MonoidPart& part) {
    return part.is_block ? part.block.span.begin : part.span.end;
  }

  void part(const MonoidPart& part) {
    if (part.is_block) return block(part.block);
    out_ += '(';
    exprs(part.tuple);
    out_ += ')';
  }

  void write(const Entry& item) {
    out_ += "entry " + item.name.text + " ";
    block(item.body);
  }

  void write(const Loop& item) {
    out_ += "for " + item.index.text + " in ";
    range(item.range);
    out_ += ' ';
    block(item.body);
  }

  void write(const Grad& item) {
    out_ += "grad ";
    names(item.results);
    out_ += " = " + item.output.text + " wrt ";
    names(item.wrt);
    if (item.seed.exists()) out_ += " seed " + item.seed.text;
  }

  void write(const Schedule& item) {
    out_ += "schedule " + item.target.text;
    if (item.when.valid()) {
      out_ += " when ";
      expr(item.when);
    }
    out_ += " {";
    list(item.clauses, [&](const std::vector<ScheduleWord>& clause) {
      for (const ScheduleWord& word : clause) {
        if (&word != clause.data() || &clause == item.clauses.data()) out_ += ' ';
        write(word);
      }
    });
    out_ += item.clauses.empty() ? "}" : " }";
  }

  void write(const ScheduleWord& word) {
    out_ += word.name.text;
    if (word.has_value) out_ += '=';
    if (word.value.exists())
      out_ += word.value.text;
    else if (word.has_value || !word.name.exists())
      out_ += std::to_string(word.number);
  }

  void write(const Definition& item) {
    list(item.lefts, [&](const Left& left) {
      out_ += left.name.exists() ? left.name.text : "_";
      if (!left.brackets) return;
      out_ += '[';
      format_binders(out_, sources_, file_, left.indices, {.level = kSumPrecedence});
      out_ += ']';
    });
    out_ += " = ";
    expr(item.value);
  }

  void write(const Update& item) {
    out_ += item.tensor.text;
    if (item.guarded) out_ += '?';
    if (item.brackets) places(item);
    out_ += " := ";
    expr(item.value);
  }

  void places(const Update& item) {
    const bool plain = std::all_of(item.places.begin(), item.places.end(), [&](const Place& place) {
      return is_plain(file_, place.coord) && !place.range.valid();
    });
    out_ += '[';
    for (const Place& place : item.places) {
      if (&place != item.places.data()) out_ += plain ? "," : ", ";
      if (place.coord.rest.exists())
        out_ += place.coord.rest.text + "...";
      else
        expr(place.coord.value, {.bar_ends = true});
      if (place.coord.exact) out_ += " exact";
      if (!place.range.valid()) continue;
      out_ += ": ";
      sum(place.range);
    }
    if (item.condition.valid()) {
      out_ += item.places.empty() ? "| " : " | ";
      expr(item.condition);
    }
    out_ += ']';
  }

  const Sources& sources_;
  const File& file_;
  std::string_view text_;
  std::string out_;
  size_t next_comment_ = 0;
  size_t depth_ = 0;
  bool first_in_block_ = true;
};

}  // namespace

std::string format(const Sources& sources, const File& file) {
  return Formatter(sources, file).run();
}

}  // namespace tang::syntax
