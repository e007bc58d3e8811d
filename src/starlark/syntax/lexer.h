#pragma once
/// Turns source text into tokens, one at a time. The lexer decides what a line and a block are:
/// `newline`, `indent` and `outdent` are tokens. After an error, every token is `end`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "starlark/syntax/symbols.h"

namespace fettle::starlark {

enum class Token : uint8_t {
  end,
  newline,
  indent,
  outdent,
  identifier,
  integer,
  real,
  string,
  bytes,
  // Operators; their order is that of `token_texts`.
  plus,
  minus,
  star,
  slash,
  slash_slash,
  percent,
  ampersand,
  pipe,
  caret,
  less_less,
  greater_greater,
  tilde,
  dot,
  comma,
  equal,
  semicolon,
  colon,
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  less,
  greater,
  greater_equal,
  less_equal,
  equal_equal,
  not_equal,
  plus_equal,
  minus_equal,
  star_equal,
  slash_equal,
  slash_slash_equal,
  percent_equal,
  ampersand_equal,
  pipe_equal,
  caret_equal,
  less_less_equal,
  greater_greater_equal,
  star_star,
  // Keywords.
  kw_and,
  kw_break,
  kw_continue,
  kw_def,
  kw_elif,
  kw_else,
  kw_for,
  kw_if,
  kw_in,
  kw_lambda,
  kw_load,
  kw_not,
  kw_or,
  kw_pass,
  kw_return,
  kw_while,
  not_in,   ///< made by the parser
  reserved  ///< a word that no program may use
};

/// The name of a token in starlark-go's messages.
std::string to_string(Token token);

struct SyntaxError {
  uint32_t at = 0;  ///< byte offset
  std::string message;
};

struct LexerOptions {
  bool tabs_indent = true;  ///< tabs may indent, to multiples of 8
  bool assert_reserved = false;
  bool async_reserved = true;
  bool nul_ends = false;               ///< a zero byte outside texts ends the file
  bool as_of_2023 = false;             ///< the words of starlark-go of that time
  uint64_t most_bytes = ~uint64_t{0};  ///< that a tree may take
};

/// The text that a lexer needs: `\r` alone becomes `
/// `, and each byte that is no UTF-8 becomes U+FFFD, as in starlark-go.
std::string source_text(std::string_view text);

class Lexer {
 public:
  Lexer(std::string_view source, Arena& arena, Symbols& symbols, LexerOptions options);

  void next();
  // The current token.
  Token token = Token::newline;
  uint32_t at = 0;           ///< where it begins
  Symbol* symbol = nullptr;  ///< of an identifier or keyword
  std::string_view text;     ///< decoded text of a string or bytes; digits of a large integer
  int64_t integer = 0;       ///< of an integer below 2^60
  bool large = false;        ///< an integer beyond that: `text` are its digits in `radix`
  int radix = 10;
  double real = 0;
  uint32_t end_of_previous = 0;

  /// The offset behind the current token: the place in starlark-go's messages.
  uint32_t position() const { return u32(p_); }
  /// How many brackets are open; at the end of the source, none.
  int depth() const { return depth_; }
  bool follows(char c) const { return peek(0) == c; }
  void fail(uint32_t offset, std::string message);
  bool failed = false;
  bool ends_in_text = false;  ///< the source ended within a string: more of it may be to come
  std::optional<uint32_t> zero_byte;  ///< where one ended the text
  SyntaxError error;

 private:
  void end_at_zero_byte() {
    if (more())
      zero_byte = u32(p_);
    size_ = p_;
  }
  void begin_line();
  void fail_in_text();
  void skip_comment();
  bool scan_token();
  bool scan_end();
  bool scan_line_end();
  bool scan_backslash();
  bool scan_operator(char c);
  void scan_word(char c);
  void scan_other(char c);
  void scan_identifier();
  void scan_number();
  bool scan_digits_of_radix();
  void read_real();
  void scan_string(bool raw, bool bytes);
  void decode_string(size_t start, size_t end, bool raw, bool bytes);
  bool scan_escape(std::string& out, bool bytes, size_t& p);
  bool scan_octal(std::string& out, bool bytes, size_t& p);
  bool scan_code(std::string& out, bool bytes, size_t& p);
  /// False.
  bool fail_escape(bool bytes, std::string message);
  void finish(Token kind, size_t length) {
    token = kind;
    p_ += length;
  }
  char peek(size_t ahead) const { return p_ + ahead < size_ ? source_[p_ + ahead] : '\0'; }
  bool more() const { return p_ < size_; }

  const char* source_;
  size_t size_;
  size_t p_ = 0;
  Arena& arena_;
  Symbols& symbols_;
  LexerOptions options_;
  std::vector<int> indents_{0};
  int pending_outdents_ = 0;
  int depth_ = 0;  ///< of open brackets
  bool line_start_ = true;
};

}  // namespace fettle::starlark
