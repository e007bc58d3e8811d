#pragma once
/// The tokens of a jq program. A string may contain programs, so the parser reads it piece by
/// piece.

#include <string>
#include <string_view>

namespace fettle::jq {

struct Token {
  enum class Kind : uint8_t {
    end,
    symbol,    ///< `|`, `|=`, `?//`, …
    name,      ///< `a`, `a::b`, a keyword
    variable,  ///< `$a`: the text has the `$`
    field,     ///< `.a`: the text is `a`
    number,
    format,  ///< `@a`
    quote,   ///< a string begins
    broken,  ///< the text says what is wrong
  };
  Kind kind = Kind::end;
  std::string text;
  size_t begin = 0;
};

/// A piece of a string, and what ended it.
struct Piece {
  enum class End : uint8_t { quote, query, broken };
  std::string text;
  End end = End::broken;
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  Token next();
  /// The next piece of the string that has begun. After `\(`, the next token is the first of a
  /// query. When that has been read up to its `)`, the string goes on.
  Piece piece();

 private:
  void skip_space();
  bool starts(std::string_view word) const { return source_.substr(at_).starts_with(word); }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  std::string name();
  Token number(size_t begin);
  Token symbol(size_t begin);

  std::string_view source_;
  size_t at_ = 0;
};

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_keyword(std::string_view name);
/// Whether a whole text is a number, with or without a sign.
bool is_number(std::string_view text);

}  // namespace fettle::jq
