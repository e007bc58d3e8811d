#include "jq/lexer.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

constexpr std::array<std::string_view, 21> keywords{
    "or",    "and",   "module", "import", "include", "def",    "as",
    "label", "break", "null",   "true",   "false",   "if",     "then",
    "elif",  "else",  "end",    "try",    "catch",   "reduce", "foreach"};
/// A longer symbol stands before those with which it begins.
constexpr std::array<std::string_view, 18> symbols{
    "?//", "//=", "..", "|=", "+=", "-=", "*=", "/=", "//",
    "%=",  "==",  "!=", ">=", "<=", "=",  ">",  "<",  "?"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

/// The length of the number at the beginning of a text. 0: something is wrong with it.
size_t length_of_number(std::string_view text) {
  size_t at = 0, count = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at]))
      ++at;
    return at - begin;
  };
  const auto is_at = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != any.npos;
  };
  count = digits();
  if (is_at(".")) {
    ++at;
    count += digits();
  }
  if (count == 0 || is_at("."))
    return 0;
  if (is_at("eE")) {
    ++at;
    if (is_at("+-"))
      ++at;
    if (digits() == 0)
      return 0;
  }
  return at < text.size() && is_letter(text[at]) ? 0 : at;
}

}  // namespace

bool is_keyword(std::string_view name) {
  return std::ranges::find(keywords, name) != keywords.end();
}

bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+'))
    text.remove_prefix(1);
  return !text.empty() && length_of_number(text) == text.size();
}

void Lexer::skip_space() {
  while (true) {
    at_ = std::min(source_.find_first_not_of(" \t\r\n", at_), source_.size());
    if (peek() != '#')
      return;
    // A backslash continues a comment on the next line.
    while (at_ < source_.size() && peek() != '\n' && peek() != '\r') {
      const bool escapes = peek() == '\\';
      ++at_;
      if (escapes && starts("\r\n"))
        at_ += 2;
      else if (escapes && (peek() == '\\' || peek() == '\n' || peek() == '\r'))
        ++at_;
    }
  }
}

std::string Lexer::name() {
  const size_t begin = at_;
  const auto letters = [&] {
    while (is_letter(peek()) || is_digit(peek()))
      ++at_;
  };
  letters();
  if (starts("::") && is_letter(peek(2))) {
    at_ += 2;
    letters();
  }
  return std::string(source_.substr(begin, at_ - begin));
}

Token Lexer::number(size_t begin) {
  const size_t length = length_of_number(source_.substr(begin));
  if (length == 0)
    return {Token::Kind::broken, "a number is not complete", begin};
  at_ = begin + length;
  return {Token::Kind::number, std::string(source_.substr(begin, length)), begin};
}

Token Lexer::symbol(size_t begin) {
  for (const std::string_view symbol : symbols)
    if (starts(symbol)) {
      at_ += symbol.size();
      return {Token::Kind::symbol, std::string(symbol), begin};
    }
  const size_t length = length_of_character(source_, at_);
  at_ += length;
  return {Token::Kind::symbol, std::string(source_.substr(begin, length)), begin};
}

Token Lexer::next() {
  skip_space();
  const size_t begin = at_;
  if (at_ >= source_.size())
    return {Token::Kind::end, "", begin};
  const char c = peek();
  if (is_letter(c))
    return {Token::Kind::name, name(), begin};
  if (is_digit(c) || (c == '.' && is_digit(peek(1))))
    return number(begin);
  if ((c == '$' && is_letter(peek(1))) || (c == '@' && (is_letter(peek(1)) || is_digit(peek(1))))) {
    ++at_;
    return {c == '$' ? Token::Kind::variable : Token::Kind::format, c + name(), begin};
  }
  if (c == '.' && is_letter(peek(1))) {
    ++at_;
    const size_t first = at_;
    while (is_letter(peek()) || is_digit(peek()))
      ++at_;
    return {Token::Kind::field, std::string(source_.substr(first, at_ - first)), begin};
  }
  if (c == '"') {
    ++at_;
    return {Token::Kind::quote, "\"", begin};
  }
  return symbol(begin);
}

Piece Lexer::piece() {
  const size_t begin = at_;
  // Read like a string of JSON, but control characters need not be escaped.
  std::string json = "\"";
  const auto meant = [&](Piece::End end) -> Piece {
    const auto text = read(json + '"', Numbers::real);
    return text ? Piece{text->text(), end} : Piece{"a string cannot be read", Piece::End::broken};
  };
  for (; at_ < source_.size(); ++at_) {
    const char c = source_[at_];
    if (c == '"') {
      ++at_;
      return meant(Piece::End::quote);
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      std::string quoted;
      append_quoted(quoted, std::string_view(&c, 1));
      json += quoted.substr(1, quoted.size() - 2);
      continue;
    }
    json += c;
    if (c != '\\')
      continue;
    ++at_;
    if (peek() == '(') {
      json.pop_back();
      ++at_;
      return meant(Piece::End::query);
    }
    const bool is_unicode =
        peek() == 'u' && is_hex(peek(1)) && is_hex(peek(2)) && is_hex(peek(3)) && is_hex(peek(4));
    if (!is_unicode &&
        (peek() == '\0' || std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos))
      return {
          cat("invalid escape `\\", peek() == '\0' ? "" : std::string(1, peek()), "` in a string"),
          Piece::End::broken};
    json += peek();
  }
  at_ = source_.size();
  return {cat("a string is not closed, from column ", count_characters(source_.substr(0, begin))),
          Piece::End::broken};
}

}  // namespace fettle::jq
