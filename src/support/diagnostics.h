// What the compiler tells its user: an error or warning with a name, a place, one sentence, and
// notes at the other places involved. Stages append to Diagnostics; only the driver prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tang {

// Bytes [begin, end) of a file of Sources. The default span has no place.
struct Span {
  static constexpr uint32_t kNoFile = UINT32_MAX;
  uint32_t file = kNoFile;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool valid() const { return file != kNoFile; }
  bool operator==(const Span&) const = default;
};

// The smallest span that covers both.
Span join(Span a, Span b);

enum class Severity : uint8_t { error, warning };

struct Note {
  Span span;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string name;  // as in docs/errors.md: "range-conflict"
  Span span;
  std::string message;
  std::vector<Note> notes;
};

class Diagnostics {
 public:
  Diagnostic& error(std::string name, Span span, std::string message);
  Diagnostic& warning(std::string name, Span span, std::string message);
  void add(Diagnostic diagnostic);
  bool has_errors() const { return n_errors_ > 0; }
  size_t n_errors() const { return n_errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  size_t n_errors_ = 0;
};

struct LineColumn {
  uint32_t line = 1;    // from 1
  uint32_t column = 1;  // from 1, in bytes
};

// The texts of a compile, by file number.
class Sources {
 public:
  uint32_t add(std::string name, std::string text);
  const std::string& name(uint32_t file) const { return files_[file].name; }
  const std::string& text(uint32_t file) const { return files_[file].text; }
  size_t size() const { return files_.size(); }
  LineColumn place(uint32_t file, uint32_t offset) const;
  std::string_view line(uint32_t file, uint32_t number) const;  // without its newline

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<uint32_t> line_starts;
  };
  std::vector<File> files_;
};

// All of them in order of place, those without a place last.
std::vector<const Diagnostic*> in_order_of_place(const Diagnostics& diagnostics);

// file:line:column, the line, a caret, the notes; in order of place. Colour by ANSI escapes.
std::string render_text(const Diagnostics& diagnostics, const Sources& sources, bool color);

}  // namespace tang
