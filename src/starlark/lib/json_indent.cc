/// JSON text with new white space. Errors are in the words of Go's scanner, which knows only the
/// byte at which it stands.

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

class Indenter {
 public:
  Indenter(Vm& vm, std::string_view text, std::string_view prefix, std::string_view indent,
           std::string& out, std::string& problem)
      : vm_(vm), text_(text), prefix_(prefix), indent_(indent), out_(out), problem_(problem) {}

  bool run() {
    if (!vm_.charge(text_.size()))
      return false;
    skip();
    if (!value())
      return false;
    while (!open_.empty()) {
      if (!step())
        return false;
    }
    const size_t end = p_;
    skip();
    out_ += text_.substr(end, p_ - end);
    return p_ == text_.size() || fail("after top-level value");
  }

 private:
  /// At the end of the text, Go looks at a space, which fits into no word and no number.
  bool fail(std::string_view where, bool inside = false) {
    if (p_ >= text_.size() && !inside) {
      problem_ = "unexpected end of JSON input";
      return false;
    }
    const uint32_t c = p_ < text_.size() ? static_cast<uint8_t>(text_[p_]) : ' ';
    std::string letter, shown;
    append_utf8(letter, c);
    quote_text(shown, letter);
    shown = c == '"' ? "\"" : c == '\'' ? "\\'" : shown.substr(1, shown.size() - 2);
    problem_ = cat("invalid character '", shown, "' ", where);
    return false;
  }

  char here() const { return p_ < text_.size() ? text_[p_] : '\0'; }
  bool at_digit() const { return here() >= '0' && here() <= '9'; }
  void skip() { p_ = std::min(text_.find_first_not_of(" \n\r\t", p_), text_.size()); }

  bool line() {
    const size_t size = prefix_.size() + open_.size() * indent_.size();
    if (size > 64 && !vm_.charge(size / 64))
      return false;
    if (out_.size() + size > checked_ + 65536) {
      checked_ = out_.size() + size;
      if (!vm_.heap().may_take(checked_ * 6)) {
        vm_.fail_memory();
        return false;
      }
    }
    out_ += '\n';
    out_ += prefix_;
    for (size_t n = 0; n < open_.size(); ++n)
      out_ += indent_;
    return true;
  }

  bool value() {
    const size_t start = p_;
    const char c = here();
    if (c == '{' || c == '[')
      return open(c);
    bool ok = false;
    if (c == '"')
      ok = string();
    else if (c == '-' || at_digit())
      ok = number();
    else if (c == 't' || c == 'f' || c == 'n')
      ok = word(c == 't' ? "true" : c == 'f' ? "false" : "null");
    else
      return fail("looking for beginning of value");
    out_ += text_.substr(start, p_ - start);
    return ok;
  }

  bool open(char c) {
    out_ += c;
    ++p_;
    skip();
    const char end = c == '{' ? '}' : ']';
    if (here() == end) {
      out_ += end;
      ++p_;
      return true;
    }
    open_ += c;
    return line() && (c == '{' ? key() : value());
  }

  bool key() {
    const size_t start = p_;
    if (here() != '"')
      return fail("looking for beginning of object key string");
    if (!string())
      return false;
    out_ += text_.substr(start, p_ - start);
    skip();
    if (here() != ':')
      return fail("after object key");
    ++p_;
    out_ += ": ";
    skip();
    return value();
  }

  /// Reads what stands behind a value in an object or a list.
  bool step() {
    const bool is_object = open_.back() == '{';
    skip();
    if (here() == ',') {
      ++p_;
      out_ += ',';
      skip();
      return line() && (is_object ? key() : value());
    }
    if (here() != (is_object ? '}' : ']'))
      return fail(is_object ? "after object key:value pair" : "after array element");
    open_.pop_back();
    return line() && (out_ += text_[p_++], true);
  }

  bool word(std::string_view wanted) {
    for (size_t i = 0; i < wanted.size(); ++i, ++p_) {
      if (here() != wanted[i])
        return fail(cat("in literal ", wanted, " (expecting '", wanted[i], "')"), true);
    }
    return true;
  }

  bool digits(std::string_view where) {
    if (!at_digit())
      return fail(where, true);
    while (at_digit())
      ++p_;
    return true;
  }

  bool number() {
    if (here() == '-')
      ++p_;
    if (here() == '0')
      ++p_;
    else if (!digits("in numeric literal"))
      return false;
    if (here() == '.') {
      ++p_;
      if (!digits("after decimal point in numeric literal"))
        return false;
    }
    if (here() != 'e' && here() != 'E')
      return true;
    ++p_;
    if (here() == '+' || here() == '-')
      ++p_;
    return digits("in exponent of numeric literal");
  }

  bool string() {
    for (++p_; here() != '"'; ++p_) {
      if (p_ >= text_.size() || static_cast<uint8_t>(here()) < 0x20)
        return fail("in string literal");
      if (here() != '\\')
        continue;
      ++p_;
      if (here() == 'u') {
        for (int i = 0; i < 4; ++i) {
          ++p_;
          if (!at_digit() && (here() < 'a' || here() > 'f') && (here() < 'A' || here() > 'F'))
            return fail("in \\u hexadecimal character escape");
        }
      } else if (p_ >= text_.size() ||
                 std::string_view("\"\\/bfnrt").find(here()) == std::string_view::npos) {
        return fail("in string escape code");
      }
    }
    ++p_;
    return true;
  }

  Vm& vm_;
  std::string_view text_, prefix_, indent_;
  std::string& out_;
  std::string& problem_;
  size_t p_ = 0, checked_ = 0;
  std::string open_;  ///< the brackets around, outermost first
};

}  // namespace

bool indent_json(Vm& vm, std::string_view text, std::string_view prefix, std::string_view indent,
                 std::string& out, std::string& problem) {
  return Indenter(vm, text, prefix, indent, out, problem).run();
}

}  // namespace fettle::starlark
