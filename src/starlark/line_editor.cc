#include "starlark/line_editor.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "base/text.h"

namespace fettle::starlark {
namespace {

constexpr size_t most_history = 1'000;
constexpr char escape = 27, backspace = 127;
constexpr char control(char letter) { return static_cast<char>(letter & 31); }

/// While this lives, keys come one by one, and ^C is a key.
class RawTerminal {
 public:
  RawTerminal() : changed_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN);
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (changed_)
      tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  ~RawTerminal() {
    if (changed_)
      tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool changed_;
};

size_t columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
size_t width_of(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), continues));
}

}  // namespace

LineEditor::LineEditor(std::string history)
    : terminal_(isatty(STDIN_FILENO) != 0), history_file_(terminal_ ? std::move(history) : "") {
  std::ifstream file(history_file_);
  for (std::string line; std::getline(file, line);)
    history_.push_back(std::move(line));
  if (history_.size() > most_history)
    history_.erase(history_.begin(), history_.end() - most_history);
}

LineEditor::Line LineEditor::read(std::string_view prompt) {
  return terminal_ ? edit(prompt) : read_plain();
}

LineEditor::Line LineEditor::read_plain() {
  char* text = nullptr;
  size_t capacity = 0;
  const ssize_t size = getline(&text, &capacity, stdin);
  Line line{size < 0 ? End::closed : End::line, std::string(text, size < 0 ? 0 : size_t(size))};
  std::free(text);
  if (line.text.ends_with('\n'))
    line.text.pop_back();
  return line;
}

LineEditor::Line LineEditor::edit(std::string_view prompt) {
  const RawTerminal raw;
  line_.clear();
  fresh_.clear();
  cursor_ = 0;
  shown_ = history_.size();
  end_ = End::line;
  show(prompt);
  while (take_key())
    show(prompt);
  cursor_ = line_.size();
  show(prompt);
  std::fputs(end_ == End::interrupted ? "^C\n" : "\n", stdout);
  std::fflush(stdout);
  if (end_ != End::line)
    line_.clear();
  remember();
  return {end_, line_};
}

bool LineEditor::read_byte(char& byte) {
  ssize_t size;
  do {
    size = ::read(STDIN_FILENO, &byte, 1);
  } while (size < 0 && errno == EINTR);
  return size == 1;
}

bool LineEditor::take_key() {
  char key = 0;
  if (!read_byte(key)) {
    end_ = End::closed;
    return false;
  }
  switch (key) {
    case '\r':
    case '\n':
      return false;
    case control('C'):
      end_ = End::interrupted;
      return false;
    case control('D'):
      if (line_.empty()) {
        end_ = End::closed;
        return false;
      }
      line_.erase(cursor_, after(cursor_) - cursor_);
      break;
    case control('A'):
      cursor_ = 0;
      break;
    case control('E'):
      cursor_ = line_.size();
      break;
    case control('B'):
      cursor_ = before(cursor_);
      break;
    case control('F'):
      cursor_ = after(cursor_);
      break;
    case control('P'):
      move_in_history(-1);
      break;
    case control('N'):
      move_in_history(1);
      break;
    case control('H'):
    case backspace: {
      const size_t from = before(cursor_);
      line_.erase(from, cursor_ - from);
      cursor_ = from;
      break;
    }
    case control('K'):
      line_.resize(cursor_);
      break;
    case control('U'):
      line_.erase(0, cursor_);
      cursor_ = 0;
      break;
    case control('W'): {
      size_t from = cursor_;
      while (from > 0 && line_[from - 1] == ' ')
        --from;
      while (from > 0 && line_[from - 1] != ' ')
        --from;
      line_.erase(from, cursor_ - from);
      cursor_ = from;
      break;
    }
    case control('L'):
      std::fputs("\x1b[H\x1b[2J", stdout);
      break;
    case escape:
      take_escape();
      break;
    default:
      if (key == '\t' || static_cast<unsigned char>(key) >= ' ')
        take_text(key);
      break;
  }
  return true;
}

/// A tab is four spaces: the line must be as wide as it looks.
void LineEditor::take_text(char first) {
  const std::string text = first == '\t' ? "    " : std::string(1, first);
  line_.insert(cursor_, text);
  cursor_ += text.size();
}

/// Reads `ESC [ A` and the like: arrows, Home, End, Delete.
void LineEditor::take_escape() {
  char key = 0;
  if (!read_byte(key) || (key != '[' && key != 'O') || !read_byte(key))
    return;
  char number = 0;
  if (key >= '0' && key <= '9') {
    number = key;
    while (read_byte(key) && (key == ';' || (key >= '0' && key <= '9'))) {
    }
  }
  if (key == 'A' || key == 'B')
    move_in_history(key == 'A' ? -1 : 1);
  else if (key == 'C')
    cursor_ = after(cursor_);
  else if (key == 'D')
    cursor_ = before(cursor_);
  else if (key == 'H' || (key == '~' && (number == '1' || number == '7')))
    cursor_ = 0;
  else if (key == 'F' || (key == '~' && (number == '4' || number == '8')))
    cursor_ = line_.size();
  else if (key == '~' && number == '3')
    line_.erase(cursor_, after(cursor_) - cursor_);
}

void LineEditor::move_in_history(int by) {
  if ((by < 0 && shown_ == 0) || (by > 0 && shown_ == history_.size()))
    return;
  if (shown_ == history_.size())
    fresh_ = line_;
  shown_ = by < 0 ? shown_ - 1 : shown_ + 1;
  line_ = shown_ == history_.size() ? fresh_ : history_[shown_];
  cursor_ = line_.size();
}

void LineEditor::remember() {
  if (trim(line_).empty() || (!history_.empty() && history_.back() == line_))
    return;
  history_.push_back(line_);
  if (!history_file_.empty())
    std::ofstream(history_file_, std::ios::app) << line_ << '\n';
}

/// Draws the line again. If it is long, the part around the cursor.
void LineEditor::show(std::string_view prompt) {
  const size_t room = columns() - prompt.size() - 1;
  size_t begin = 0;
  while (width_of(std::string_view(line_).substr(begin, cursor_ - begin)) > room)
    begin = after(begin);
  size_t end = cursor_;
  while (end < line_.size() && width_of(std::string_view(line_).substr(begin, end - begin)) < room)
    end = after(end);
  const size_t column =
      prompt.size() + width_of(std::string_view(line_).substr(begin, cursor_ - begin));
  const std::string drawn =
      cat("\r", prompt, line_.substr(begin, end - begin), "\x1b[K\r\x1b[", column, "C");
  std::fputs(drawn.c_str(), stdout);
  std::fflush(stdout);
}

size_t LineEditor::before(size_t at) const {
  if (at > 0)
    --at;
  while (at > 0 && continues(line_[at]))
    --at;
  return at;
}

size_t LineEditor::after(size_t at) const {
  if (at < line_.size())
    ++at;
  while (at < line_.size() && continues(line_[at]))
    ++at;
  return at;
}

}  // namespace fettle::starlark
