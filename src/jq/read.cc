#include <cmath>

#include "base/budget.h"
#include "base/text.h"
#include "jq/lexer.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

/// A character as Go shows it in single quotes.
std::string shown(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '\'' || c == '\\')
    return cat("'\\", c, "'");
  // A byte of a longer character is shown as the character of that number.
  std::string made;
  append_utf8(made, static_cast<unsigned char>(c));
  return cat("'", printable(made), "'");
}

class Reader {
 public:
  Reader(std::string_view text, Numbers numbers) : text_(text), numbers_(numbers) {}

  tl::expected<Json, std::string> document() {
    Json value = any(0);
    if (why_.empty() && (skip_space(), at_ < text_.size()))
      return more_follows();
    if (!why_.empty())
      return tl::unexpected(why_);
    return value;
  }

 private:
  /// Go's decoder of a stream leaves the rest to a caller that asks for more.
  tl::expected<Json, std::string> more_follows() {
    if (numbers_ == Numbers::numeral)
      return tl::unexpected(std::string());
    unexpected("after top-level value");
    return tl::unexpected(why_);
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!is_at(c))
      return false;
    ++at_;
    return true;
  }
  bool fail(std::string why) {
    if (why_.empty())
      why_ = std::move(why);
    return false;
  }
  bool unexpected(std::string_view where) {
    if (at_ >= text_.size() && numbers_ == Numbers::numeral)
      return fail(text_.find_first_not_of(" \t\r\n") == text_.npos ? "EOF" : "unexpected EOF");
    if (at_ >= text_.size())
      return fail("unexpected end of JSON input");
    return fail(cat("invalid character ", shown(text_, at_), " ", where));
  }

  Json any(uint32_t depth) {
    skip_space();
    Budget::current().spend(1);
    if (depth > deepest) {
      fail(cat("nested deeper than ", deepest));
      return {};
    }
    if (take('{'))
      return dict(depth);
    if (take('['))
      return list(depth);
    if (take('"'))
      return Json::text(string());
    if (is_at('-') || (at_ < text_.size() && is_digit(text_[at_])))
      return number();
    for (const auto& [word, value] :
         {std::pair("null", Json()), std::pair("true", Json::boolean(true)),
          std::pair("false", Json::boolean(false))})
      if (is_at(*word))
        return literal(word) ? value : Json();
    unexpected("looking for beginning of value");
    return {};
  }

  bool literal(std::string_view word) {
    for (const char c : word)
      if (!take(c))
        return unexpected(cat("in literal ", word, " (expecting '", c, "')"));
    return true;
  }

  Json list(uint32_t depth) {
    Json::List items;
    if (skip_space(); take(']'))
      return Json::list({});
    while (why_.empty()) {
      items.push_back(any(depth + 1));
      if (skip_space(); take(']'))
        return Json::list(std::move(items));
      if (!take(','))
        unexpected("after array element");
    }
    return {};
  }

  Json dict(uint32_t depth) {
    Json::Dict members;
    if (skip_space(); take('}'))
      return Json::dict({});
    while (why_.empty()) {
      if (skip_space(); !take('"')) {
        unexpected("looking for beginning of object key string");
        break;
      }
      Json key = Json::text(string());
      if (skip_space(); !take(':')) {
        unexpected("after object key");
        break;
      }
      Json value = any(depth + 1);
      members.push_back({std::move(key), std::move(value)});
      if (skip_space(); take('}'))
        return Json::dict(std::move(members));
      if (!take(','))
        unexpected("after object key:value pair");
    }
    return {};
  }

  Json number() {
    const size_t begin = at_;
    take('-');
    if (!take('0') && !digits())
      unexpected("in numeric literal");
    if (take('.') && !digits())
      unexpected("after decimal point in numeric literal");
    if (take('e') || take('E')) {
      if (!take('+'))
        take('-');
      if (!digits())
        unexpected("in exponent of numeric literal");
    }
    if (!why_.empty())
      return {};
    const std::string text(text_.substr(begin, at_ - begin));
    if (numbers_ == Numbers::numeral)
      return Json::numeral(text);
    const double number = std::strtod(text.c_str(), nullptr);
    if (std::isinf(number))
      fail(cat("cannot unmarshal number ", text, " into Go value of type float64"));
    return Json::real(number);
  }
  bool digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_]))
      ++at_;
    return at_ > begin;
  }

  std::string string() {
    std::string made;
    while (why_.empty() && !take('"')) {
      if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) {
        unexpected("in string literal");
      } else if (take('\\')) {
        escape(made);
      } else {
        const size_t length = length_of_character(text_, at_);
        const bool is_broken = length == 1 && static_cast<unsigned char>(text_[at_]) >= 0x80;
        made += is_broken ? std::string_view("\xEF\xBF\xBD") : text_.substr(at_, length);
        at_ += length;
      }
    }
    return made;
  }

  void escape(std::string& made) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    if (take('u')) {
      unicode(made);
    } else if (const size_t known = at_ < text_.size() ? letters.find(text_[at_]) : letters.npos;
               known != letters.npos) {
      made += meant[known];
      ++at_;
    } else {
      unexpected("in string escape code");
    }
  }

  /// Half of a surrogate pair becomes U+FFFD.
  void unicode(std::string& made) {
    uint32_t code = hex();
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const size_t back = at_;
      at_ += 2;
      if (const uint32_t low = hex(); low >= 0xDC00 && low < 0xE000)
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      else
        at_ = back;
    }
    append_utf8(made, code);
  }
  uint32_t hex() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!is_digit(c) && !is_letter) {
        unexpected("in \\u hexadecimal character escape");
        return 0;
      }
      code = code * 16 + static_cast<uint32_t>(is_letter ? (c | 0x20) - 'a' + 10 : c - '0');
    }
    return code;
  }

  std::string_view text_;
  Numbers numbers_;
  size_t at_ = 0;
  std::string why_;
};

}  // namespace

tl::expected<Json, std::string> read(std::string_view text, Numbers numbers) {
  return Reader(text, numbers).document();
}

}  // namespace fettle::jq
