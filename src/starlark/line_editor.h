#pragma once
/// Lines from a terminal, with editing and a history. Arrows, Home, End and Delete work, and ^A ^B
/// ^D ^E ^F ^H ^K ^L ^N ^P ^U ^W as in a shell. Input that is no terminal is read as it comes.

#include <string>
#include <string_view>
#include <vector>

namespace fettle::starlark {

class LineEditor {
 public:
  /// The history is read from `history`, a file of lines, and each line is added to it. Empty:
  /// there is none.
  explicit LineEditor(std::string history);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class End {
    line,
    interrupted,  ///< ^C
    closed        ///< ^D in an empty line, or the end of the input
  };
  struct Line {
    End end;
    std::string text;  ///< without newline
  };
  Line read(std::string_view prompt);

 private:
  Line edit(std::string_view prompt);
  Line read_plain();
  /// Whether the line goes on. If not, `line_` is complete, or `end_` says what else happened.
  bool take_key();
  void take_escape();
  void take_text(char first);
  bool read_byte(char& byte);
  void move_in_history(int by);
  void remember();
  void show(std::string_view prompt);
  size_t before(size_t at) const;
  size_t after(size_t at) const;

  bool terminal_;
  std::string history_file_;
  std::vector<std::string> history_;
  // The line that is being edited.
  std::string line_;
  size_t cursor_ = 0;
  size_t shown_ = 0;   ///< the line of the history that is shown; its size for the new one
  std::string fresh_;  ///< the new one while an old one is shown
  End end_ = End::line;
};

}  // namespace fettle::starlark
