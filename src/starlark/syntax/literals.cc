/// Numbers, texts and bytes as they are written.

#include <utf8proc.h>

#include <array>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "starlark/syntax/characters.h"
#include "starlark/syntax/lexer.h"

namespace fettle::starlark {

void Lexer::scan_number() {
  const size_t start = p_;
  const auto scan_digits = [&] {
    const size_t from = p_;
    while (more() && is(source_[p_], digit))
      ++p_;
    return p_ - from;
  };
  large = false;
  radix = 10;
  token = Token::integer;
  const char second = static_cast<char>(peek(1) | 32);
  if (source_[p_] == '0' && (second == 'x' || second == 'o' || second == 'b')) {
    radix = second == 'x' ? 16 : second == 'o' ? 8 : 2;
    if (!scan_digits_of_radix())
      return;
  } else {
    scan_digits();
    bool is_real = false;
    if (peek(0) == '.') {
      is_real = true;
      ++p_;
      scan_digits();
    }
    if (peek(0) == 'e' || peek(0) == 'E') {
      is_real = true;
      ++p_;
      if (peek(0) == '+' || peek(0) == '-')
        ++p_;
      if (scan_digits() == 0)
        return fail(u32(p_), "invalid float literal");
    }
    text = {source_ + start, p_ - start};
    if (is_real)
      return read_real();
    if (text.size() > 1 && text[0] == '0' &&
        text.find_first_not_of('0') != std::string_view::npos) {
      if (text.find_first_of("89") != std::string_view::npos)
        return fail(at, "invalid int literal");
      return fail(u32(p_), cat("obsolete form of octal literal; use 0o", text.substr(1)));
    }
  }
  uint64_t number = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, radix);
  large = problem != std::errc() || number > u64(Value::largest_small);
  integer = large ? 0 : i64(number);
}

/// What follows `0x`, `0o` and `0b`. False after an error.
bool Lexer::scan_digits_of_radix() {
  p_ += 2;
  const size_t from = p_;
  while (is(peek(0), radix == 16 ? hex : digit) && (radix == 16 || peek(0) - '0' < radix))
    ++p_;
  text = {source_ + from, p_ - from};
  if (!text.empty())
    return true;
  const char* kind = radix == 16 ? "hex" : radix == 8 ? "octal" : "binary";
  fail(radix == 16 ? at : u32(p_), cat("invalid ", kind, " literal"));
  return false;
}

/// Out of range is either far too small, which is zero, or too large.
void Lexer::read_real() {
  token = Token::real;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), real);
  bool is_wrong = false;
  if (problem == std::errc::result_out_of_range) {
    const size_t e = text.find_first_of("eE");
    is_wrong = e == std::string_view::npos ? text.find_first_not_of("0.") < 300
                                           : !text.substr(e + 1).starts_with('-');
    if (!is_wrong)
      real = 0;
  } else {
    is_wrong = problem != std::errc() || end != text.data() + text.size();
  }
  if (is_wrong)
    fail(u32(p_), "invalid float literal");
}

bool Lexer::fail_escape(bool bytes, std::string message) {
  fail(at + (bytes ? 1 : 0), std::move(message));  // where the quotes are
  return false;
}

/// One escape after its backslash; false after an error.
bool Lexer::scan_escape(std::string& out, bool bytes, size_t& p) {
  constexpr std::string_view letters = "abfnrtv\\'\"", meant = "\a\b\f\n\r\t\v\\'\"";
  const char c = source_[p];
  if (const size_t i = letters.find(c); i != letters.npos) {
    out.push_back(meant[i]);
    ++p;
    return true;
  }
  if (c >= '0' && c <= '7')
    return scan_octal(out, bytes, p);
  ++p;
  switch (c) {
    case '\n':
      return true;
    case '\r':
      if (p < size_ && source_[p] == '\n')
        ++p;
      return true;
    case 'x':
    case 'u':
    case 'U':
      return scan_code(out, bytes, p);
    default:
      return fail_escape(bytes, cat("invalid escape sequence \\", c));
  }
}

/// Up to three digits.
bool Lexer::scan_octal(std::string& out, bool bytes, size_t& p) {
  const size_t start = p - 1;
  uint32_t n = 0;
  for (int i = 0; i < 3 && p < size_ && source_[p] >= '0' && source_[p] <= '7'; ++i)
    n = n * 8 + u32(source_[p++] - '0');
  const std::string_view whole(source_ + start, p - start);
  if (!bytes && n > 127) {
    constexpr char hex_digits[] = "0123456789ABCDEF";
    const std::string code = {hex_digits[n >> 8 & 15], hex_digits[n >> 4 & 15], hex_digits[n & 15]};
    return fail_escape(bytes, cat("non-ASCII octal escape ", whole, " (use \\u0", code,
                                  " for the UTF-8 encoding of U+0", code, ")"));
  }
  if (n > 255)
    return fail_escape(bytes, cat("invalid escape sequence ", whole));
  out.push_back(static_cast<char>(n));
  return true;
}

/// The digits after `x`, `u` or `U`: a byte, or a code point.
bool Lexer::scan_code(std::string& out, bool bytes, size_t& p) {
  const size_t start = p - 2;
  const char c = source_[p - 1];
  const size_t wanted = c == 'x' ? 2 : c == 'u' ? 4 : 8;
  uint64_t n = 0;
  size_t found = 0;
  while (found < wanted && p < size_ && is(source_[p], hex)) {
    const char d = source_[p++];
    n = n * 16 + u64(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
    ++found;
  }
  const std::string_view whole(source_ + start, p - start);
  if (found < wanted)
    return fail_escape(bytes, cat("truncated escape sequence ", whole));
  if (c == 'x') {
    if (!bytes && n > 127) {
      const std::string code = upper_case(whole.substr(2));
      return fail_escape(bytes, cat("non-ASCII hex escape ", whole, " (use \\u00", code,
                                    " for the UTF-8 encoding of U+00", code, ")"));
    }
    out.push_back(static_cast<char>(n));
    return true;
  }
  if (n > 0x10FFFF)
    return fail_escape(bytes, cat("code point out of range: ", whole, " (max \\U00110000)"));
  if (n >= 0xD800 && n < 0xE000)
    return fail_escape(
        bytes, cat("invalid Unicode code point U+", upper_case(whole.substr(whole.size() - 4))));
  append_utf8(out, u32(n));
  return true;
}

void Lexer::scan_string(bool raw, bool bytes) {
  const char quote = source_[p_];
  const bool triple = peek(1) == quote && peek(2) == quote;
  p_ += triple ? 3 : 1;
  const size_t start = p_;
  size_t p = p_;
  // Most strings contain nothing that must be decoded.
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
  if (plain)
    text = {source_ + start, end - start};
  else
    decode_string(start, end, raw, bytes);
}

void Lexer::decode_string(size_t start, size_t end, bool raw, bool bytes) {
  std::string out;
  out.reserve(end - start);
  for (size_t p = start; p < end;) {
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

}  // namespace fettle::starlark
