#include "starlark/syntax/lexer.h"

#include <sys/mman.h>
#include <utf8proc.h>

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>

#include "base/text.h"

namespace fettle::starlark {
namespace {

constexpr std::array token_texts = {"end of file",
                                    "newline",
                                    "indent",
                                    "outdent",
                                    "identifier",
                                    "int literal",
                                    "float literal",
                                    "string literal",
                                    "bytes literal",
                                    "'+'",
                                    "'-'",
                                    "'*'",
                                    "'/'",
                                    "'//'",
                                    "'%'",
                                    "'&'",
                                    "'|'",
                                    "'^'",
                                    "'<<'",
                                    "'>>'",
                                    "'~'",
                                    "'.'",
                                    "','",
                                    "'='",
                                    "';'",
                                    "':'",
                                    "'('",
                                    "')'",
                                    "'['",
                                    "']'",
                                    "'{'",
                                    "'}'",
                                    "'<'",
                                    "'>'",
                                    "'>='",
                                    "'<='",
                                    "'=='",
                                    "'!='",
                                    "'+='",
                                    "'-='",
                                    "'*='",
                                    "'/='",
                                    "'//='",
                                    "'%='",
                                    "'&='",
                                    "'|='",
                                    "'^='",
                                    "'<<='",
                                    "'>>='",
                                    "'**'",
                                    "and",
                                    "break",
                                    "continue",
                                    "def",
                                    "elif",
                                    "else",
                                    "for",
                                    "if",
                                    "in",
                                    "lambda",
                                    "load",
                                    "not",
                                    "or",
                                    "pass",
                                    "return",
                                    "while",
                                    "not in",
                                    "illegal token"};
static_assert(token_texts.size() == static_cast<size_t>(Token::reserved) + 1);

constexpr std::array reserved_words = {"as",    "class",  "del",    "except", "finally",
                                       "from",  "global", "import", "is",     "nonlocal",
                                       "raise", "try",    "with",   "yield"};

enum CharClass : uint8_t { other = 0, letter = 1, digit = 2, hex = 4, space = 8, high = 16 };
constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> table{};
  for (size_t c = 0; c < 256; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
      table[c] |= letter;
    if (c >= '0' && c <= '9')
      table[c] |= digit | hex;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
      table[c] |= hex;
    if (c == ' ' || c == '\t' || c == '\r')
      table[c] |= space;
    if (c >= 0x80)
      table[c] |= high;
  }
  return table;
}
constexpr auto classes = make_classes();
inline bool is(char c, uint8_t wanted) { return (classes[static_cast<uint8_t>(c)] & wanted) != 0; }

bool is_unicode_letter(int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

/// A character between quotes, escaped when it cannot be seen.
std::string quoted_character(uint32_t c) {
  constexpr std::string_view named = "\a\b\t\n\v\f\r", letters = "abtnvfr";
  if (const size_t at = named.find(static_cast<char>(c)); c < 0x80 && at != named.npos)
    return cat("'\\", letters[at], "'");
  const utf8proc_category_t category = utf8proc_category(static_cast<int32_t>(c));
  std::string text;
  if (c == ' ' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_SO)) {
    append_utf8(text, c);
    return cat("'", text, "'");
  }
  constexpr char digits[] = "0123456789abcdef";
  const int size = c < 0x80 ? 2 : c < 0x10000 ? 4 : 8;
  for (int i = size; i-- > 0;)
    text += digits[c >> 4 * i & 15];
  return cat("'", size == 2 ? "\\x" : size == 4 ? "\\u" : "\\U", text, "'");
}

bool is_unicode_digit(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_ND; }

}  // namespace

std::string to_string(Token token) { return token_texts[static_cast<size_t>(token)]; }

/// Whether it is UTF-8. Most lines are ASCII, eight bytes of which are seen at once.
static bool is_valid_source(std::string_view text) {
  constexpr uint64_t beyond_ascii = 0x8080808080808080u;
  for (size_t at = 0; at < text.size();) {
    uint64_t bytes = 0;
    for (; at + 8 <= text.size(); at += 8) {
      std::memcpy(&bytes, text.data() + at, 8);
      if ((bytes & beyond_ascii) != 0)
        break;
    }
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (!is_valid_utf8(line))
      return false;
    at += line.size() + 1;
  }
  return true;
}

/// A copy; a large one in huge pages, whose first touch costs less.
static std::string copy_of(std::string_view text) {
  constexpr size_t large = size_t{8} << 20, page = size_t{2} << 20;
  std::string copy;
  copy.reserve(text.size());
  if (text.size() >= large) {
    void* begin = copy.data();
    size_t room = text.size();
    if (std::align(page, page, begin, room) != nullptr)
      madvise(begin, room / page * page, MADV_HUGEPAGE);  // only speed depends on it
  }
  copy = text;
  return copy;
}

std::string source_text(std::string_view text) {
  std::string source = copy_of(text);
  for (size_t at = source.find('\r'); at != std::string::npos; at = source.find('\r', at + 1)) {
    if (at + 1 == source.size() || source[at + 1] != '\n')
      source[at] = '\n';
  }
  if (is_valid_source(source))
    return source;
  std::string repaired;
  for (size_t at = 0; at < source.size();) {
    utf8proc_int32_t code = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const uint8_t*>(source.data() + at),
                                         static_cast<utf8proc_ssize_t>(source.size() - at), &code);
    repaired += length > 0 ? std::string_view(source).substr(at, size_t(length)) : "\xEF\xBF\xBD";
    at += length > 0 ? size_t(length) : 1;
  }
  return repaired;
}

Lexer::Lexer(std::string_view source, Arena& arena, Symbols& symbols, LexerOptions options)
    : source_(source.data()),
      size_(source.size()),
      arena_(arena),
      symbols_(symbols),
      options_(options) {
  for (auto kind = Token::kw_and; kind <= Token::kw_while; kind = static_cast<Token>(u8(kind) + 1))
    symbols_.find(token_texts[static_cast<size_t>(kind)])->token = kind;
  for (const char* word : reserved_words)
    symbols_.find(word)->token = Token::reserved;
  if (options_.assert_reserved)
    symbols_.find("assert")->token = Token::reserved;
  if (options_.async_reserved) {
    symbols_.find("async")->token = Token::reserved;
    symbols_.find("await")->token = Token::reserved;
  }
  if (source.starts_with("\xEF\xBB\xBF"))
    p_ = 3;
  if (source.size() > (size_t{1} << 30))
    fail(0, "source is larger than 1 GB");
}

void Lexer::fail(uint32_t offset, std::string message) {
  if (!failed) {
    failed = true;
    error = {offset, std::move(message)};
  }
  p_ = size_;
  pending_outdents_ = 0;
  token = Token::end;
}

void Lexer::fail_in_text() {
  fail(u32(at), "unexpected EOF in string");
  ends_in_text = true;
}

/// Measures the indentation of the next line that holds anything.
void Lexer::begin_line() {
  line_start_ = false;
  int column = 0;
  for (;; ++p_) {
    const char c = peek(0);
    if (c == ' ') {
      ++column;
    } else if (c == '\t' && more()) {
      if (!options_.tabs_indent) {
        fail(u32(p_), "tab characters are not allowed for indentation. Use spaces instead.");
        return;
      }
      column += 8 - column % 8;
    } else if (c == '\n') {
      column = 0;
    } else if (c == '\r' && peek(1) == '\n') {
      column = 0;
      ++p_;
    } else if (c == '#') {
      skip_comment();
      if (!more())
        break;
      column = 0;
    } else {
      if (c == '\0' && options_.nul_ends)
        size_ = p_;
      break;
    }
  }
  if (!more())
    column = 0;
  if (column > indents_.back()) {
    indents_.push_back(column);
    pending_outdents_ = -1;  // an indent
    return;
  }
  while (column < indents_.back()) {
    indents_.pop_back();
    ++pending_outdents_;
    if (column > indents_.back()) {
      fail(u32(p_), "unindent does not match any outer indentation level");
      return;
    }
  }
}

void Lexer::skip_comment() {
  while (more() && source_[p_] != '\n' && (source_[p_] != '\0' || !options_.nul_ends))
    ++p_;
  if (peek(0) == '\0')
    size_ = p_;
}

void Lexer::next() {
  end_of_previous = u32(p_);
again:
  if (line_start_ && depth_ == 0) {
    begin_line();
    if (failed)
      return;
  }
  if (pending_outdents_ != 0) {
    at = u32(p_);
    token = pending_outdents_ < 0 ? Token::indent : Token::outdent;
    pending_outdents_ += pending_outdents_ < 0 ? 1 : -1;
    return;
  }
  while (more() && is(source_[p_], space))
    ++p_;
  at = u32(p_);
  if (!more()) {
    // The last line of a block need not end; what is still open there is told as its end.
    const bool fresh = depth_ > 0 && source_[p_ - 1] == '\n';
    depth_ = 0;
    if (indents_.size() > 1 && token != Token::end && !failed) {
      line_start_ = true;
      if (fresh)
        goto again;
      if (token != Token::newline && token != Token::outdent) {
        token = Token::newline;
        return;
      }
    }
    token = Token::end;
    return;
  }
  const char c = source_[p_];
  if (is(c, letter)) {
    const char after = peek(1);
    if ((after == '"' || after == '\'') && (c == 'r' || c == 'b')) {
      ++p_;
      scan_string(c == 'r', c == 'b');
      return;
    }
    if (c == 'r' && after == 'b' && (peek(2) == '"' || peek(2) == '\'')) {
      p_ += 2;
      scan_string(true, true);
      return;
    }
    scan_identifier();
    return;
  }
  if (is(c, digit) || (c == '.' && is(peek(1), digit))) {
    scan_number();
    return;
  }
  const auto with_equal = [&](Token plain, Token assigning, size_t length) {
    if (peek(length) == '=')
      finish(assigning, length + 1);
    else
      finish(plain, length);
  };
  const auto open = [&](Token kind) {
    ++depth_;
    finish(kind, 1);
  };
  const auto close = [&](Token kind) {
    if (depth_ == 0) {
      fail(at, cat("unexpected '", c, "'"));
      return;
    }
    --depth_;
    finish(kind, 1);
  };
  switch (c) {
    case '\n':
      ++p_;
      if (depth_ > 0)
        goto again;
      line_start_ = true;
      if (token == Token::newline || token == Token::indent || token == Token::outdent)
        goto again;
      token = Token::newline;
      return;
    case '#':
      skip_comment();
      goto again;
    case '\0':
      if (!options_.nul_ends)
        break;
      size_ = p_;
      goto again;
    case '\\':
      if (peek(1) == '\n') {
        p_ += 2;
        goto again;
      }
      if (peek(1) == '\r' && peek(2) == '\n') {
        p_ += 3;
        goto again;
      }
      fail(at + 1, "stray backslash in program");
      return;
    case '"':
    case '\'':
      scan_string(false, false);
      return;
    case '(':
      open(Token::left_paren);
      return;
    case '[':
      open(Token::left_bracket);
      return;
    case '{':
      open(Token::left_brace);
      return;
    case ')':
      close(Token::right_paren);
      return;
    case ']':
      close(Token::right_bracket);
      return;
    case '}':
      close(Token::right_brace);
      return;
    case ',':
      finish(Token::comma, 1);
      return;
    case ';':
      finish(Token::semicolon, 1);
      return;
    case ':':
      finish(Token::colon, 1);
      return;
    case '.':
      finish(Token::dot, 1);
      return;
    case '~':
      finish(Token::tilde, 1);
      return;
    case '+':
      with_equal(Token::plus, Token::plus_equal, 1);
      return;
    case '-':
      with_equal(Token::minus, Token::minus_equal, 1);
      return;
    case '*':
      if (peek(1) == '*')
        finish(Token::star_star, 2);
      else
        with_equal(Token::star, Token::star_equal, 1);
      return;
    case '/':
      if (peek(1) == '/')
        with_equal(Token::slash_slash, Token::slash_slash_equal, 2);
      else
        with_equal(Token::slash, Token::slash_equal, 1);
      return;
    case '%':
      with_equal(Token::percent, Token::percent_equal, 1);
      return;
    case '&':
      with_equal(Token::ampersand, Token::ampersand_equal, 1);
      return;
    case '|':
      with_equal(Token::pipe, Token::pipe_equal, 1);
      return;
    case '^':
      with_equal(Token::caret, Token::caret_equal, 1);
      return;
    case '=':
      with_equal(Token::equal, Token::equal_equal, 1);
      return;
    case '<':
      if (peek(1) == '<')
        with_equal(Token::less_less, Token::less_less_equal, 2);
      else
        with_equal(Token::less, Token::less_equal, 1);
      return;
    case '>':
      if (peek(1) == '>')
        with_equal(Token::greater_greater, Token::greater_greater_equal, 2);
      else
        with_equal(Token::greater, Token::greater_equal, 1);
      return;
    case '!':
      if (peek(1) == '=') {
        finish(Token::not_equal, 2);
        return;
      }
      break;
    default:
      if (is(c, high)) {
        utf8proc_int32_t code = 0;
        if (utf8proc_iterate(reinterpret_cast<const uint8_t*>(source_ + p_),
                             static_cast<utf8proc_ssize_t>(size_ - p_), &code) > 0 &&
            is_unicode_letter(code)) {
          scan_identifier();
          return;
        }
        if (code > 0) {
          fail(at, cat("unexpected input character ", quoted_character(u32(code))));
          return;
        }
        fail(at, "source is not valid UTF-8");
        return;
      }
      break;
  }
  fail(at, cat("unexpected input character ", quoted_character(static_cast<uint8_t>(c))));
}

void Lexer::scan_identifier() {
  size_t p = p_;
  for (;;) {
    while (p < size_ && is(source_[p], letter | digit))
      ++p;
    if (p == size_ || !is(source_[p], high)) [[likely]]
      break;
    utf8proc_int32_t code = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const uint8_t*>(source_ + p),
                                         static_cast<utf8proc_ssize_t>(size_ - p), &code);
    if (length <= 0 || (!is_unicode_letter(code) && !is_unicode_digit(code)))
      break;
    p += size_t(length);
  }
  p_ = p;
  symbol = symbols_.find({source_ + at, p_ - at});
  token = symbol->token;
}

void Lexer::scan_number() {
  const size_t start = p_;
  const auto scan_digits = [&](uint8_t wanted) {
    const size_t from = p_;
    while (more() && is(source_[p_], wanted))
      ++p_;
    return p_ - from;
  };
  large = false;
  radix = 10;
  token = Token::integer;
  const char second = peek(1);
  if (source_[p_] == '0' && (second == 'x' || second == 'X' || second == 'o' || second == 'O' ||
                             second == 'b' || second == 'B')) {
    p_ += 2;
    const char lower = static_cast<char>(second | 32);
    radix = lower == 'x' ? 16 : lower == 'o' ? 8 : 2;
    const size_t from = p_;
    while (is(peek(0), radix == 16 ? hex : digit) && (radix == 16 || peek(0) - '0' < radix))
      ++p_;
    text = {source_ + from, p_ - from};
    if (text.empty()) {
      const char* kind = radix == 16 ? "hex" : radix == 8 ? "octal" : "binary";
      fail(radix == 16 ? at : u32(p_), cat("invalid ", kind, " literal"));
      return;
    }
  } else {
    scan_digits(digit);
    bool is_real = false;
    if (peek(0) == '.') {
      is_real = true;
      ++p_;
      scan_digits(digit);
    }
    if (peek(0) == 'e' || peek(0) == 'E') {
      is_real = true;
      ++p_;
      if (peek(0) == '+' || peek(0) == '-')
        ++p_;
      if (scan_digits(digit) == 0) {
        fail(u32(p_), "invalid float literal");
        return;
      }
    }
    text = {source_ + start, p_ - start};
    if (is_real) {
      token = Token::real;
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), real);
      if (problem == std::errc::result_out_of_range) {
        // Out of range is either far too small, which is zero, or too large.
        const size_t e = text.find_first_of("eE");
        const bool tiny = e != std::string_view::npos && text.substr(e + 1).starts_with('-');
        if (!tiny && e != std::string_view::npos) {
          fail(u32(p_), "invalid float literal");
          return;
        }
        if (e == std::string_view::npos) {
          if (text.find_first_not_of("0.") < 300) {
            fail(u32(p_), "invalid float literal");
            return;
          }
        }
        real = 0;
      } else if (problem != std::errc() || end != text.data() + text.size()) {
        fail(u32(p_), "invalid float literal");
      }
      return;
    }
    if (text.size() > 1 && text[0] == '0' &&
        text.find_first_not_of('0') != std::string_view::npos) {
      if (text.find_first_of("89") != std::string_view::npos)
        fail(at, "invalid int literal");
      else
        fail(u32(p_), cat("obsolete form of octal literal; use 0o", text.substr(1)));
      return;
    }
  }
  uint64_t number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, radix);
  large = problem != std::errc() || number > u64(Value::largest_small);
  integer = large ? 0 : i64(number);
}

/// One escape after its backslash; false after an error.
bool Lexer::scan_escape(std::string& out, bool bytes, size_t& p) {
  const uint32_t start = u32(p - 1);
  const auto fail = [&](uint32_t, std::string message) {
    this->fail(at + (bytes ? 1 : 0), std::move(message));  // where the quotes are
  };
  const char c = source_[p++];
  const auto simple = [&](char made) {
    out.push_back(made);
    return true;
  };
  switch (c) {
    case 'a':
      return simple('\a');
    case 'b':
      return simple('\b');
    case 'f':
      return simple('\f');
    case 'n':
      return simple('\n');
    case 'r':
      return simple('\r');
    case 't':
      return simple('\t');
    case 'v':
      return simple('\v');
    case '\\':
      return simple('\\');
    case '\'':
      return simple('\'');
    case '"':
      return simple('"');
    case '\n':
      return true;
    case '\r':
      if (p < size_ && source_[p] == '\n')
        ++p;
      return true;
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7': {
      uint32_t n = u32(c - '0');
      for (int i = 0; i < 2 && p < size_ && source_[p] >= '0' && source_[p] <= '7'; ++i)
        n = n * 8 + u32(source_[p++] - '0');
      if (!bytes && n > 127) {
        constexpr char hex_digits[] = "0123456789ABCDEF";
        const std::string code = {hex_digits[n >> 8 & 15], hex_digits[n >> 4 & 15],
                                  hex_digits[n & 15]};
        fail(start, cat("non-ASCII octal escape ", std::string_view(source_ + start, p - start),
                        " (use \\u0", code, " for the UTF-8 encoding of U+0", code, ")"));
        return false;
      }
      if (n > 255) {
        fail(start, cat("invalid escape sequence ", std::string_view(source_ + start, p - start)));
        return false;
      }
      return simple(static_cast<char>(n));
    }
    case 'x':
    case 'u':
    case 'U': {
      const size_t wanted = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      uint64_t n = 0;
      size_t found = 0;
      while (found < wanted && p < size_ && is(source_[p], hex)) {
        const char d = source_[p++];
        n = n * 16 + u64(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
        ++found;
      }
      const std::string_view whole(source_ + start, p - start);
      if (found < wanted) {
        fail(start, cat("truncated escape sequence ", whole));
        return false;
      }
      if (c == 'x') {
        if (!bytes && n > 127) {
          const std::string code(whole.substr(2));
          std::string upper = code;
          for (char& digit_ : upper)
            digit_ = static_cast<char>(digit_ >= 'a' ? digit_ - 32 : digit_);
          fail(start, cat("non-ASCII hex escape ", whole, " (use \\u00", upper,
                          " for the UTF-8 encoding of U+00", upper, ")"));
          return false;
        }
        return simple(static_cast<char>(n));
      }
      if (n > 0x10FFFF) {
        fail(start, cat("code point out of range: ", whole, " (max \\U00110000)"));
        return false;
      }
      if (n >= 0xD800 && n < 0xE000) {
        fail(start,
             cat("invalid Unicode code point U+", upper_case(whole.substr(whole.size() - 4))));
        return false;
      }
      append_utf8(out, u32(n));
      return true;
    }
    default:
      fail(start, cat("invalid escape sequence \\", c));
      return false;
  }
}

void Lexer::scan_string(bool raw, bool bytes) {
  const char quote = source_[p_];
  const bool triple = peek(1) == quote && peek(2) == quote;
  p_ += triple ? 3 : 1;
  const size_t start = p_;
  size_t p = p_;
  // Most strings hold nothing that must be decoded.
  bool plain = true;
  for (;; ++p) {
    if (p >= size_) {
      fail_in_text();
      return;
    }
    const char c = source_[p];
    if (c == quote &&
        (!triple || (p + 2 < size_ && source_[p + 1] == quote && source_[p + 2] == quote)))
      break;
    if ((c == '\n' || c == '\r') && !triple) {
      fail(u32(at), "unexpected newline in string");
      return;
    }
    if (c == '\r')
      plain = false;
    if (c == '\\') {
      plain = plain && raw;
      if (++p >= size_) {
        fail_in_text();
        return;
      }
      if (source_[p] == '\r') {
        plain = false;
        ++p;  // a line feed, which the text before this has
      }
    }
  }
  const size_t end = p;
  p_ = end + (triple ? 3 : 1);
  token = bytes ? Token::bytes : Token::string;
  if (plain) {
    text = {source_ + start, end - start};
  } else {
    std::string out;
    out.reserve(end - start);
    for (p = start; p < end;) {
      const char c = source_[p++];
      if (c == '\r') {
        if (p < end && source_[p] == '\n')
          ++p;
        out.push_back('\n');
      } else if (c == '\\' && raw) {
        out.push_back(c);
        if (source_[p] != '\r')
          out.push_back(source_[p++]);
      } else if (c == '\\') {
        if (!scan_escape(out, bytes, p))
          return;
      } else {
        out.push_back(c);
      }
    }
    text = arena_.copy(std::string_view(out));
  }
}

}  // namespace fettle::starlark
