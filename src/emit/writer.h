// Lines of source text: indentation, wrapping at 100 columns, comments.
#pragma once

#include <string>
#include <string_view>

namespace tang::emit {

class Writer {
 public:
  // One statement or declaration. A long one is broken after a comma or an operator, the loosest
  // inside the fewest brackets, and goes on behind the open bracket or indented by four more.
  void line(std::string_view text);
  // A declaration padded to `width` and a comment behind it, or above it where that is too long.
  void line(std::string_view text, size_t width, std::string_view comment);
  // A `//` comment; its lines are kept, and long ones wrapped at spaces: prose flush, what is
  // indented by four more.
  void comment(std::string_view text);
  void blank();                      // one empty line, unless there is one or nothing yet
  void raw(std::string_view text);   // as it is
  void open(std::string_view head);  // `head {`
  void close(std::string_view tail = "");
  void close_and_open(std::string_view word);  // `} word {`
  void indent() { ++depth_; }

  bool at_block_start() const { return at_block_start_; }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void put(std::string_view text, size_t extra);

  std::string text_;
  int depth_ = 0;
  bool at_block_start_ = true;
};

}  // namespace tang::emit
