#include "support/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>

namespace tang {

Span join(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid() || a.file != b.file) return a;
  return {.file = a.file, .begin = std::min(a.begin, b.begin), .end = std::max(a.end, b.end)};
}

Diagnostic& Diagnostics::error(std::string name, Span span, std::string message) {
  add({.severity = Severity::error,
       .name = std::move(name),
       .span = span,
       .message = std::move(message),
       .notes = {}});
  return all_.back();
}

Diagnostic& Diagnostics::warning(std::string name, Span span, std::string message) {
  add({.severity = Severity::warning,
       .name = std::move(name),
       .span = span,
       .message = std::move(message),
       .notes = {}});
  return all_.back();
}

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::error) ++n_errors_;
  all_.push_back(std::move(diagnostic));
}

uint32_t Sources::add(std::string name, std::string text) {
  File file{.name = std::move(name), .text = std::move(text), .line_starts = {0}};
  for (size_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n') file.line_starts.push_back(static_cast<uint32_t>(i + 1));
  files_.push_back(std::move(file));
  return static_cast<uint32_t>(files_.size() - 1);
}

LineColumn Sources::place(uint32_t file, uint32_t offset) const {
  const auto& starts = files_[file].line_starts;
  const auto after = std::upper_bound(starts.begin(), starts.end(), offset);
  const auto line = static_cast<uint32_t>(after - starts.begin());
  return {.line = line, .column = offset - starts[line - 1] + 1};
}

std::string_view Sources::line(uint32_t file, uint32_t number) const {
  const File& f = files_[file];
  const uint32_t begin = f.line_starts[number - 1];
  const size_t end = number < f.line_starts.size() ? f.line_starts[number] - 1 : f.text.size();
  std::string_view text(f.text);
  text = text.substr(begin, end - begin);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

namespace {

constexpr size_t kWidestLine = 160;  // longer source lines are shown around the caret only

void render_snippet(std::string& out, const Sources& sources, Span span, const char* paint,
                    const char* reset) {
  const LineColumn at = sources.place(span.file, span.begin);
  std::string_view line = sources.line(span.file, at.line);
  size_t column = std::min<size_t>(at.column - 1, line.size());
  const LineColumn to = sources.place(span.file, span.end);
  size_t last = to.line == at.line ? std::max<size_t>(to.column - 1, column + 1) : line.size();
  last = std::max(std::min(last, line.size()), column + 1);
  if (line.size() > kWidestLine) {
    const size_t from = column > kWidestLine / 2 ? column - kWidestLine / 2 : 0;
    line = line.substr(from, kWidestLine);
    column -= from;
    last = std::min(last - from, kWidestLine);
  }
  std::string shown, marks;
  for (size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    shown += c == '\t' ? ' ' : c < 0x20 || c == 0x7F ? '?' : line[i];
  }
  // One caret column a character: continuation bytes of UTF-8 take no column.
  const auto continues = [&](size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  for (size_t i = 0; i < column; ++i)
    if (!continues(i)) marks += ' ';
  for (size_t i = column; i < last; ++i)
    if (!continues(i)) marks += i == column ? '^' : '~';
  out += fmt::format("  {}\n  {}{}{}\n", shown, paint, marks, reset);
}

std::string where(const Sources& sources, Span span) {
  const LineColumn at = sources.place(span.file, span.begin);
  return fmt::format("{}:{}:{}", sources.name(span.file), at.line, at.column);
}

}  // namespace

std::vector<const Diagnostic*> in_order_of_place(const Diagnostics& diagnostics) {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& d : diagnostics.all()) order.push_back(&d);
  std::stable_sort(order.begin(), order.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return std::pair(a->span.file, a->span.begin) < std::pair(b->span.file, b->span.begin);
  });
  return order;
}

std::string render_text(const Diagnostics& diagnostics, const Sources& sources, bool color) {
  const char* bold = color ? "\x1b[1m" : "";
  const char* red = color ? "\x1b[1;31m" : "";
  const char* magenta = color ? "\x1b[1;35m" : "";
  const char* cyan = color ? "\x1b[1;36m" : "";
  const char* green = color ? "\x1b[1;32m" : "";
  const char* reset = color ? "\x1b[0m" : "";
  std::string out;
  for (const Diagnostic* d : in_order_of_place(diagnostics)) {
    const bool is_error = d->severity == Severity::error;
    if (d->span.valid()) out += fmt::format("{}{}:{} ", bold, where(sources, d->span), reset);
    out += fmt::format("{}{}:{} {} [{}]\n", is_error ? red : magenta,
                       is_error ? "error" : "warning", reset, d->message, d->name);
    if (d->span.valid()) render_snippet(out, sources, d->span, green, reset);
    for (const Note& note : d->notes) {
      if (note.span.valid()) out += fmt::format("{}{}:{} ", bold, where(sources, note.span), reset);
      out += fmt::format("{}note:{} {}\n", cyan, reset, note.message);
      if (note.span.valid()) render_snippet(out, sources, note.span, green, reset);
    }
  }
  return out;
}

}  // namespace tang
