#include "model/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "base/text.h"

namespace fettle::model {
namespace {

constexpr std::array<std::string_view, 28> reserved_words{
    "typedef", "as",       "entity", "extends",   "end",    "in",   "implementation",
    "for",     "matching", "index",  "implement", "using",  "when", "and",
    "or",      "not",      "true",   "false",     "import", "is",   "defined",
    "dict",    "null",     "undef",  "parents",   "if",     "else", "elif"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return is_letter(c) || is_digit(c) || c == '-'; }

const std::unordered_map<std::string_view, Token>& words() {
  static const auto made = [] {
    std::unordered_map<std::string_view, Token> table;
    for (size_t i = 0; i < reserved_words.size(); ++i)
      table.emplace(reserved_words[i],
                    static_cast<Token>(static_cast<size_t>(Token::word_typedef) + i));
    return table;
  }();
  return made;
}

class Lexer {
 public:
  Lexer(std::string_view name, std::string_view text, uint32_t file)
      : name_(name), text_(text), file_(file) {}

  Tokens run() {
    std::optional<Error> error;
    while (!error) {
      skip_blanks();
      start_ = at_;
      if (at_ >= text_.size())
        break;
      if (const Status read = one(); !read)
        error = read.error();
    }
    push(Token::end_of_file, 0);
    return {std::move(found_), std::move(error)};
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool sees(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#')
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      if (at_ >= text_.size())
        return;
      if (text_[at_] == '\n')
        new_line(at_ + 1);
      else if (text_[at_] != ' ' && text_[at_] != '\t')
        return;
    }
  }
  void new_line(size_t start) {
    ++line_;
    counted_ = start;
    column_ = 1;
  }
  /// The place of `start_`. Code points are counted from the last place on the line.
  Place place() {
    for (; counted_ < start_; ++counted_)
      column_ += (static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80;
    Place at;
    at.file = file_ & Place::last_file;
    at.line = std::min<uint64_t>(line_, Place::last_line) & Place::last_line;
    at.column = std::min<uint64_t>(column_, Place::last_column) & Place::last_column;
    return at;
  }

  void push(Token token, size_t length) { push_text(token, text_.substr(at_, length), length); }
  void push_text(Token token, std::string_view text, size_t length) {
    found_.push_back(
        {token, length == 1 && token == Token::punctuation ? text[0] : '\0', text, place()});
    at_ += length;
  }
  Error fail(std::string message) {
    const Place at = place();
    Error error = user_error(std::move(message), where_of(name_, at));
    error.excerpt = excerpt(text_, static_cast<int>(at.line), static_cast<int>(at.column));
    return error;
  }

  Status one() {
    const char c = peek();
    if ((c == 'r' || c == 'f') && (peek(1) == '"' || peek(1) == '\''))
      return short_string(c == 'r' ? Token::raw_string : Token::f_string, 1);
    if (is_letter(c))
      return word();
    if (const size_t length = number_length(); length > 0)
      return {};
    if (c == '"' && sees("\"\"\""))
      return long_string();
    if (c == '"' || c == '\'')
      return short_string(Token::string, 0);
    return punctuation();
  }

  Status word() {
    size_t length = 1;
    while (continues_name(peek(length)))
      ++length;
    const std::string_view text = text_.substr(at_, length);
    if (const auto found = words().find(text); found != words().end()) {
      if (found->second == Token::word_matching && regex(length))
        return {};
      push(found->second, length);
      return {};
    }
    push(text[0] >= 'A' && text[0] <= 'Z' ? Token::cid : Token::id, length);
    return {};
  }

  /// Reads `matching /…/` as one token. False: there is none.
  bool regex(size_t length) {
    size_t from = at_ + length;
    while (from < text_.size() && (text_[from] == ' ' || text_[from] == '\t'))
      ++from;
    if (from >= text_.size() || text_[from] != '/')
      return false;
    size_t to = from + 1;
    while (to < text_.size() && text_[to] != '/' && text_[to] != '\n')
      to += text_[to] == '\\' ? 2 : 1;
    if (to >= text_.size() || text_[to] != '/')
      return false;
    push_text(Token::regex, text_.substr(from + 1, to - from - 1), to + 1 - at_);
    return true;
  }

  /// Pushes a number and returns its length. 0: there is none.
  size_t number_length() {
    size_t length = peek() == '-' ? 1 : 0;
    const size_t digits = length;
    while (is_digit(peek(length)))
      ++length;
    const bool has_digits = length > digits;
    if (peek(length) == '.' && is_digit(peek(length + 1))) {
      ++length;
      while (is_digit(peek(length)))
        ++length;
      push(Token::floating, length);
      return length;
    }
    if (!has_digits)
      return 0;
    push(Token::integer, length);
    return length;
  }

  Status long_string() {
    size_t quotes = 3;
    while (quotes < 5 && peek(quotes) == '"')
      ++quotes;
    size_t close = at_ + quotes;
    while (true) {
      if (close >= text_.size())
        return short_string(Token::string, 0);  // an empty one, and what follows
      if (text_[close] == '\\')
        close += 2;
      else if (text_.substr(close).starts_with("\"\"\""))
        break;
      else
        ++close;
    }
    size_t end = close + 3;
    while (end < text_.size() && end < close + 5 && text_[end] == '"')
      ++end;
    const size_t start = at_;
    push_text(Token::long_string, text_.substr(start + 3, end - 3 - (start + 3)), end - start);
    for (size_t i = start; i < end; ++i)
      if (text_[i] == '\n')
        new_line(i + 1);
    return {};
  }

  Status short_string(Token token, size_t prefix) {
    const char quote = peek(prefix);
    size_t close = at_ + prefix + 1;
    while (close < text_.size() && text_[close] != quote) {
      if (text_[close] == '\n')
        break;
      if (text_[close] == '\\' && close + 1 < text_.size() && text_[close + 1] != '\n')
        ++close;
      ++close;
    }
    if (close >= text_.size() || text_[close] != quote)
      return illegal_character();
    push_text(token, text_.substr(at_ + prefix + 1, close - at_ - prefix - 1), close + 1 - at_);
    return {};
  }

  Status punctuation() {
    for (const std::string_view arrow : {"--", "->", "<-"})
      if (sees(arrow))
        return put(Token::arrow, 2);
    for (const std::string_view compare : {"==", "!=", "<=", ">="})
      if (sees(compare))
        return put(Token::compare, 2);
    if (sees("+="))
      return put(Token::plus_assign, 2);
    if (sees("::"))
      return put(Token::separator, 2);
    if (sees("**"))
      return put(Token::power, 2);
    if (peek() == '<' || peek() == '>')
      return put(Token::compare, 1);
    if (std::string_view("[](){}=+,.?:-*/%").find(peek()) != std::string_view::npos)
      return put(Token::punctuation, 1);
    return illegal_character();
  }
  /// A string that does not end is an illegal quote.
  Error illegal_character() {
    size_t length = 1;
    while (at_ + length < text_.size() && (static_cast<unsigned char>(peek(length)) & 0xC0) == 0x80)
      ++length;
    const std::string shown = peek() == '\r' ? "\\r" : std::string(text_.substr(at_, length));
    const Place at = place();
    Error error = fail(cat("Syntax error: Illegal character '", shown, "' (", name_, ":",
                           uint64_t{at.line}, ":", uint64_t{at.column}, ")"));
    if (shown == "\"" || shown == "'")
      error.excerpt += "\n  this string does not end on its line";
    return error;
  }
  Status put(Token token, size_t length) {
    push(token, length);
    return {};
  }

  std::string_view name_;
  std::string_view text_;
  uint32_t file_;
  size_t at_ = 0;
  size_t start_ = 0;
  size_t counted_ = 0;
  uint32_t line_ = 1;
  uint32_t column_ = 1;
  std::vector<Lexeme> found_;
};

}  // namespace

Result<Tokens> read_tokens(std::string_view file_name, std::string_view text, uint32_t file) {
  if (!is_valid_utf8(text)) {
    const LineAndColumn end = end_of_utf8(text);
    return user_error("Syntax error: the file is not valid UTF-8",
                      {std::string(file_name), end.line, end.column});
  }
  return Lexer(file_name, text, file).run();
}

std::span<const std::string_view> mistakable_words() {
  static const auto made = [] {
    std::vector<std::string_view> found;
    std::ranges::copy_if(reserved_words, std::back_inserter(found),
                         [](std::string_view word) { return word.size() > 2; });
    return found;
  }();
  return made;
}

}  // namespace fettle::model
