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

/// What begins with a character, by what follows it. `end`: nothing.
struct Operators {
  Token once = Token::end;
  Token equal = Token::end;        ///< before `=`
  Token twice = Token::end;        ///< before itself
  Token twice_equal = Token::end;  ///< before itself and `=`
  int nests = 0;                   ///< 1 opens a bracket, -1 closes one
};

constexpr std::array<Operators, 128> operators = [] {
  using enum Token;
  std::array<Operators, 128> made{};
  made[','] = {comma};
  made[';'] = {semicolon};
  made[':'] = {colon};
  made['.'] = {dot};
  made['~'] = {tilde};
  made['('] = {left_paren, end, end, end, 1};
  made['['] = {left_bracket, end, end, end, 1};
  made['{'] = {left_brace, end, end, end, 1};
  made[')'] = {right_paren, end, end, end, -1};
  made[']'] = {right_bracket, end, end, end, -1};
  made['}'] = {right_brace, end, end, end, -1};
  made['+'] = {plus, plus_equal};
  made['-'] = {minus, minus_equal};
  made['*'] = {star, star_equal, star_star};
  made['/'] = {slash, slash_equal, slash_slash, slash_slash_equal};
  made['%'] = {percent, percent_equal};
  made['&'] = {ampersand, ampersand_equal};
  made['|'] = {pipe, pipe_equal};
  made['^'] = {caret, caret_equal};
  made['='] = {equal, equal_equal};
  made['<'] = {less, less_equal, less_less, less_less_equal};
  made['>'] = {greater, greater_equal, greater_greater, greater_greater_equal};
  made['!'] = {end, not_equal};
  return made;
}();

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
  while (!scan_token()) {
  }
}

/// False: what was there is no token, and is passed.
bool Lexer::scan_token() {
  if (line_start_ && depth_ == 0) {
    begin_line();
    if (failed)
      return true;
  }
  if (pending_outdents_ != 0) {
    at = u32(p_);
    token = pending_outdents_ < 0 ? Token::indent : Token::outdent;
    pending_outdents_ += pending_outdents_ < 0 ? 1 : -1;
    return true;
  }
  while (more() && is(source_[p_], space))
    ++p_;
  at = u32(p_);
  if (!more())
    return scan_end();
  const char c = source_[p_];
  if (is(c, letter)) {
    scan_word(c);
    return true;
  }
  if (is(c, digit) || (c == '.' && is(peek(1), digit))) {
    scan_number();
    return true;
  }
  switch (c) {
    case '\n':
      return scan_line_end();
    case '#':
      skip_comment();
      return false;
    case '\\':
      return scan_backslash();
    case '"':
    case '\'':
      scan_string(false, false);
      return true;
    case '\0':
      if (options_.nul_ends) {
        end_at_zero_byte();
        return false;
      }
      [[fallthrough]];
    default:
      if (!scan_operator(c))
        scan_other(c);
      return true;
  }
}

/// The last line of a block need not end; what is still open there is told as its end.
bool Lexer::scan_end() {
  const bool fresh = depth_ > 0 && source_[p_ - 1] == '\n';
  depth_ = 0;
  if (indents_.size() > 1 && token != Token::end && !failed) {
    line_start_ = true;
    if (fresh)
      return false;
    if (token != Token::newline && token != Token::outdent) {
      token = Token::newline;
      return true;
    }
  }
  token = Token::end;
  return true;
}

bool Lexer::scan_line_end() {
  ++p_;
  if (depth_ > 0)
    return false;
  line_start_ = true;
  if (token == Token::newline || token == Token::indent || token == Token::outdent)
    return false;
  token = Token::newline;
  return true;
}

/// Joins two lines.
bool Lexer::scan_backslash() {
  const size_t length = peek(1) == '\n' ? 2 : peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  p_ += length;
  if (length == 0)
    fail(at + 1, "stray backslash in program");
  return length == 0;
}

/// An identifier or a keyword, or a string with letters before it.
void Lexer::scan_word(char c) {
  const auto is_quote = [](char mark) { return mark == '"' || mark == '\''; };
  const char after = peek(1);
  if (is_quote(after) && (c == 'r' || c == 'b')) {
    ++p_;
    scan_string(c == 'r', c == 'b');
  } else if (c == 'r' && after == 'b' && is_quote(peek(2))) {
    p_ += 2;
    scan_string(true, true);
  } else {
    scan_identifier();
  }
}

/// False: no operator begins with this character.
bool Lexer::scan_operator(char c) {
  if (is(c, high))
    return false;
  const Operators& row = operators[static_cast<size_t>(c)];
  if (row.nests < 0 && depth_ == 0) {
    fail(at, cat("unexpected '", c, "'"));
    return true;
  }
  depth_ += row.nests;
  const bool is_twice = row.twice != Token::end && peek(1) == c;
  const size_t length = is_twice ? 2 : 1;
  const Token plain = is_twice ? row.twice : row.once;
  const Token assigning = is_twice ? row.twice_equal : row.equal;
  if (assigning != Token::end && peek(length) == '=')
    finish(assigning, length + 1);
  else if (plain != Token::end)
    finish(plain, length);
  else
    return false;
  return true;
}

/// An identifier that begins beyond ASCII, or what no program may contain.
void Lexer::scan_other(char c) {
  if (!is(c, high))
    return fail(at, cat("unexpected input character ", quoted_character(static_cast<uint8_t>(c))));
  utf8proc_int32_t code = 0;
  if (utf8proc_iterate(reinterpret_cast<const uint8_t*>(source_ + p_),
                       static_cast<utf8proc_ssize_t>(size_ - p_), &code) > 0 &&
      is_unicode_letter(code))
    scan_identifier();
  else if (code > 0)
    fail(at, cat("unexpected input character ", quoted_character(u32(code))));
  else
    fail(at, "source is not valid UTF-8");
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
