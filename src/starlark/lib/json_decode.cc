/// Turns JSON text into values. Numbers are exact; nesting needs no recursion.

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

/// Replaces each byte that is no UTF-8 by U+FFFD.
std::string repaired(std::string_view text) {
  std::string whole;
  for (size_t i = 0, length = 1; i < text.size(); i += length)
    append_utf8(whole, decode(text.substr(i), length));
  return whole;
}

/// Makes values while it reads. Open containers stand on a stack of its own.
class Decoder {
 public:
  Decoder(Vm& vm, std::string_view text, std::string& problem)
      : vm_(vm), heap_(vm.heap()), text_(text), problem_(problem) {}

  bool run(Value& result) {
    skip();
    if (!value())
      return false;
    while (!levels_.empty()) {
      if (!step())
        return false;
    }
    skip();
    if (p_ < text_.size())
      return fail(cat("unexpected character ", shown(), " after value"));
    result = made_;
    return true;
  }

 private:
  struct Level {
    Object* object;
    Value key;
  };

  bool fail(std::string_view what) {
    problem_ = cat("at offset ", p_, ", ", what);
    return false;
  }
  /// The byte here, as the code point of its number.
  std::string shown() const {
    std::string c;
    append_utf8(c, static_cast<uint8_t>(text_[p_]));
    if (c == "\"")
      return "'\"'";
    if (c == "'")
      return "'\\''";
    std::string text;
    quote_text(text, c);
    return cat("'", std::string_view(text).substr(1, text.size() - 2), "'");
  }
  void skip() {
    while (p_ < text_.size() &&
           (text_[p_] == ' ' || text_[p_] == '\n' || text_[p_] == '\r' || text_[p_] == '\t'))
      ++p_;
  }
  bool at_end() {
    skip();
    return p_ >= text_.size();
  }

  /// Goes on with the innermost container, whose value in `made_` is complete.
  bool step() {
    if (!vm_.charge(1))
      return fail("stopped");
    const Level& level = levels_.back();
    const bool is_list = level.object->kind == Kind::list;
    const bool kept = is_list ? list_push(heap_, static_cast<List*>(level.object), made_)
                              : table_put(vm_, static_cast<Dict*>(level.object), level.key,
                                          hash_of_text(level.key), made_);
    if (!kept)
      return no_memory();
    if (at_end())
      return fail("unexpected end of file");
    const char closing = is_list ? ']' : '}';
    if (text_[p_] == closing)
      return close();
    if (text_[p_] != ',')
      return fail(
          cat(is_list ? "" : "in object, ", "got ", shown(), ", want ',' or '", closing, "'"));
    ++p_;
    skip();
    return (is_list || key()) && value();
  }

  /// Nobody else looks at memory while containers open one in another.
  bool open(Object* object) {
    levels_.push_back({object, Value::none()});
    return levels_.size() % 4096 != 0 || heap_.may_take(levels_.size() * sizeof(Level)) ||
           no_memory();
  }

  bool close() {
    ++p_;
    made_ = Value::object(levels_.back().object);
    levels_.pop_back();
    return true;
  }

  bool no_memory() {
    vm_.fail_memory();
    return fail("out of memory");
  }

  /// A key, up to its value.
  bool key() {
    if (at_end())
      return fail("unexpected end of file");
    if (text_[p_] != '"')
      return wrong_key();
    Value name;
    if (!string(name))
      return false;
    if (at_end())
      return fail("unexpected end of file");
    if (text_[p_] != ':')
      return fail(cat("after object key, got ", shown(), ", want ':' "));
    ++p_;
    skip();
    levels_.back().key = name;
    return true;
  }

  /// A key that is no string: a scalar is named by its type.
  bool wrong_key() {
    const char c = text_[p_];
    if (c == '-' || (c >= '0' && c <= '9') ? !number() : !word())
      return false;
    return fail(cat("got ", type_name_of(made_), " for object key, want string"));
  }

  bool value() {
    // A container that is not empty opens a level and goes on with its first value.
    for (;;) {
      if (p_ >= text_.size())
        return fail("unexpected end of file");
      const char c = text_[p_];
      if (c == '"')
        return string(made_);
      if (c == '-' || (c >= '0' && c <= '9'))
        return number();
      if (c == '[') {
        ++p_;
        List* list = make_list(heap_);
        if (at_end())
          return fail("unexpected end of file");
        if (text_[p_] == ']') {
          ++p_;
          made_ = Value::object(list);
          return true;
        }
        if (!open(list))
          return false;
        continue;
      }
      if (c == '{') {
        ++p_;
        Dict* dict = make_dict(vm_);
        if (at_end())
          return fail("unexpected end of file");
        if (text_[p_] == '}') {
          ++p_;
          made_ = Value::object(dict);
          return true;
        }
        if (!open(dict) || !key())
          return false;
        continue;
      }
      return word();
    }
  }

  bool word() {
    const std::string_view rest = text_.substr(p_);
    const std::pair<std::string_view, Value> words[] = {
        {"null", Value::none()}, {"true", Value::boolean(true)}, {"false", Value::boolean(false)}};
    for (const auto& [name, meaning] : words) {
      if (rest.starts_with(name)) {
        p_ += name.size();
        made_ = meaning;
        return true;
      }
    }
    return fail(cat("unexpected character ", shown()));
  }

  bool number() {
    const size_t start = p_;
    const auto digits = [&] {
      const size_t from = p_;
      while (p_ < text_.size() && text_[p_] >= '0' && text_[p_] <= '9')
        ++p_;
      return p_ - from;
    };
    if (text_[p_] == '-')
      ++p_;
    const size_t first = p_;
    bool is_float_ = false;
    const size_t whole = digits();
    const bool begins_with_point = whole == 0 && p_ < text_.size() && text_[p_] == '.';
    if (whole == 0 && !begins_with_point) {
      p_ = std::min(text_.find_first_not_of("0123456789.eE+-", p_), text_.size());
      return fail(cat("invalid number: ", text_.substr(start, p_ - start)));
    }
    const auto bad = [&] {
      while (p_ < text_.size() && (std::isalnum(static_cast<uint8_t>(text_[p_])) ||
                                   text_[p_] == '.' || text_[p_] == '+' || text_[p_] == '-'))
        ++p_;
      const std::string_view shown_ = text_.substr(start, p_ - start);
      return fail(cat("invalid number: ", shown_));
    };
    if (whole > 1 && text_[first] == '0')
      return bad();
    if (p_ < text_.size() && text_[p_] == '.') {
      is_float_ = true;
      ++p_;
      if (digits() == 0 && begins_with_point)
        return bad();
    }
    if (p_ < text_.size() && (text_[p_] | 32) == 'e') {
      is_float_ = true;
      ++p_;
      if (p_ < text_.size() && (text_[p_] == '+' || text_[p_] == '-'))
        ++p_;
      if (digits() == 0)
        return bad();
    }
    if (p_ < text_.size() && std::string_view("0123456789.eE+-").find(text_[p_]) != text_.npos)
      return bad();
    const std::string_view number_text = text_.substr(start, p_ - start);
    if (is_float_) {
      double x = 0;
      const auto [end, problem] =
          std::from_chars(number_text.data(), number_text.data() + number_text.size(), x);
      if (problem == std::errc::result_out_of_range) {
        const size_t e = number_text.find_first_of("eE");
        if (e == std::string_view::npos || number_text[e + 1] != '-')
          return bad();
        x = number_text[0] == '-' ? -0.0 : 0.0;
      }
      made_ = make_float(heap_, x);
      return true;
    }
    const bool negative = number_text[0] == '-';
    if (!vm_.charge(number_text.size() / 2 + number_text.size() * number_text.size() / (1 << 17)))
      return fail("stopped");
    made_ = parse_integer(heap_, number_text.substr(negative), 10, negative);
    if (vm_.failed)
      return fail("stopped");
    return made_.is_error() ? bad() : true;
  }

  bool hex4(size_t at, uint32_t& code) const {
    if (at + 4 > text_.size())
      return false;
    const auto [end, problem] = std::from_chars(text_.data() + at, text_.data() + at + 4, code, 16);
    return problem == std::errc() && end == text_.data() + at + 4;
  }

  /// Reads the escape behind a backslash. Stays at its last letter.
  bool escape(std::string& decoded) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (const size_t at = letters.find(text_[p_]); at != letters.npos) {
      decoded += meanings[at];
      return true;
    }
    if (text_[p_] != 'u') {
      const std::string wrong = shown();
      p_ = std::min(text_.size(), text_.find('"', p_) + 1);
      return fail(cat("invalid character ", wrong, " in string escape code"));
    }
    uint32_t code = 0;
    if (!hex4(p_ + 1, code))
      return fail("incomplete or invalid \\uXXXX escape");
    p_ += 4;
    uint32_t low = 0;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(p_ + 1, 2) == "\\u" && hex4(p_ + 3, low) &&
        low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      p_ += 6;
    }
    append_utf8(decoded, code);
    return true;
  }

  bool string(Value& result) {
    const size_t start = p_++;
    std::string decoded;
    size_t plain = p_;
    bool escapes = false, beyond_ascii = false;
    for (;; ++p_) {
      if (p_ >= text_.size()) {
        p_ = start;
        return fail("unclosed string literal");
      }
      const char c = text_[p_];
      if (c == '"')
        break;
      beyond_ascii |= static_cast<uint8_t>(c) >= 0x80;
      if (c != '\\')
        continue;
      escapes = true;
      decoded += text_.substr(plain, p_ - plain);
      if (++p_ >= text_.size()) {
        p_ = start;
        return fail("unclosed string literal");
      }
      if (!escape(decoded))
        return false;
      plain = p_ + 1;
    }
    const std::string_view tail = text_.substr(plain, p_ - plain);
    ++p_;
    if (escapes)
      decoded += tail;
    const std::string_view whole = escapes ? decoded : tail;
    result = !beyond_ascii || is_valid_utf8(whole) ? make_text(heap_, whole)
                                                   : make_text(heap_, repaired(whole));
    return result.is_error() ? no_memory() : true;
  }

  Vm& vm_;
  Heap& heap_;
  std::string_view text_;
  std::string& problem_;
  size_t p_ = 0;
  Value made_;
  std::vector<Level> levels_;
};

}  // namespace

bool decode_json(Vm& vm, std::string_view text, Value& result, std::string& problem) {
  return Decoder(vm, text, problem).run(result);
}

}  // namespace fettle::starlark
