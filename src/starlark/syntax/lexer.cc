#include "starlark/syntax/lexer.h"

#include <utf8proc.h>

#include <array>

#include "base/text.h"
#include "starlark/syntax/characters.h"

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

bool is_unicode_letter(int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

/// A character between quotes. It is escaped if it cannot be seen.
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

/// Measures the indentation of the next line that is not empty.
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
        end_at_zero_byte();
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
  if (more() && source_[p_] == '\0')
    end_at_zero_byte();
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
    // The last line of a block need not end. What is still open there is reported as its end.
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
      end_at_zero_byte();
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

}  // namespace fettle::starlark
