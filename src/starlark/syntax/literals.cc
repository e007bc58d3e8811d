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
        // A number out of range is either far too small, which means zero, or too large.
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

/// Reads one escape behind its backslash. False: there was an error.
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
