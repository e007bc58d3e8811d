#include "model/syntax/strings.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::model {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

/// Reads up to `count` digits of `radix` at `at`, and moves `at` behind them.
std::optional<uint32_t> read_code(std::string_view text, size_t& at, size_t count, int radix,
                                  bool exactly) {
  uint32_t code = 0;
  size_t length = 0;
  while (length < count && at + length < text.size() && digit_value(text[at + length]) < radix) {
    code =
        code * static_cast<uint32_t>(radix) + static_cast<uint32_t>(digit_value(text[at + length]));
    ++length;
  }
  if (length == 0 || (exactly && length < count) || code > 0x10FFFF)
    return std::nullopt;
  at += length;
  return code;
}

std::optional<char> simple_escape(char c) {
  constexpr std::string_view from = "\\'\"abfnrtv";
  constexpr std::string_view to = "\\'\"\a\b\f\n\r\t\v";
  const size_t found = from.find(c);
  if (found == std::string_view::npos)
    return std::nullopt;
  return to[found];
}

Error broken_escape(size_t from, size_t to, std::string_view why) {
  return user_error(
      cat("'unicodeescape' codec can't decode bytes in position ", from, "-", to, ": ", why));
}

/// The error for an escape at `at` that stands for no character.
Error refused_escape(std::string_view text, size_t at) {
  const char c = text[at];
  const size_t start = at - 1;
  if (c == 'N') {
    const bool is_open = at + 1 < text.size() && text[at + 1] == '{';
    const size_t close = is_open ? text.find('}', at) : text.npos;
    if (close == text.npos || close == at + 2)
      return broken_escape(start, close == text.npos ? (is_open ? text.size() - 1 : at) : close - 1,
                           "malformed \\N character escape");
    return user_error(
        cat("`\\", text.substr(at, close + 1 - at),
            "`: names of characters are not supported; write the character itself, or "
            "`\\u` and its number"));
  }
  const size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
  size_t length = 0;
  while (length < count && at + 1 + length < text.size() && digit_value(text[at + 1 + length]) < 16)
    ++length;
  if (length == count)
    return broken_escape(start, at + length, "illegal Unicode character");
  return broken_escape(start, at + length,
                       cat("truncated \\", text.substr(at, 1), std::string(count, 'X'), " escape"));
}

/// Reads the escape behind the backslash at `at - 1`. False: it is left as it is.
bool append_escape(std::string& made, std::string_view text, size_t& at) {
  const char c = text[at];
  if (const auto simple = simple_escape(c)) {
    made.push_back(*simple);
    ++at;
    return true;
  }
  if (c == '\n') {
    ++at;
    return true;
  }
  size_t after = at;
  std::optional<uint32_t> code;
  if (c >= '0' && c <= '7')
    code = read_code(text, after, 3, 8, false);
  else if (c == 'x' || c == 'u' || c == 'U')
    code = read_code(text, ++after, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16, true);
  if (!code)
    return false;
  append_utf8(made, *code);
  at = after;
  return true;
}

bool is_path_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

/// The places in a text whose first character stands at `start`. They are asked for from front to
/// back, so that a text with many of them is walked once.
class Places {
 public:
  Places(std::string_view text, Place start) : text_(text), place_(start) {}

  Place of(std::string_view part) {
    const auto offset = static_cast<size_t>(part.data() - text_.data());
    for (; at_ < offset; ++at_) {
      if (text_[at_] == '\n') {
        place_.line = std::min<uint64_t>(place_.line + 1, Place::last_line) & Place::last_line;
        place_.column = 1;
      } else if ((text_[at_] & 0xC0) != 0x80) {
        place_ = moved(place_, 1);
      }
    }
    return place_;
  }

 private:
  std::string_view text_;
  Place place_;
  size_t at_ = 0;
};

/// A path within a text. Attributes have their own place, the name has that of the text.
Result<const Expr*> read_path(std::string_view path, Place at, Places& places, Arena& arena,
                              Symbols& symbols) {
  // Blanks around a step are not part of it.
  std::vector<std::string_view> steps = split(path, '.');
  if (steps.size() > max_depth)
    return user_error("Syntax error: the model is nested too deeply");
  for (std::string_view& step : steps)
    step = trim(step);
  const Expr* made =
      arena.make<Name>(Expr{ExprKind::name, at}, QualifiedName{{}, symbols.intern(steps[0]), at});
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].empty())
      continue;
    Place place = places.of(steps[i]);
    place.is_exact = 1;
    made =
        arena.make<AttributeRef>(Expr{ExprKind::attribute, place}, made, symbols.intern(steps[i]));
  }
  return made;
}

bool is_path(std::string_view path) {
  bool starts = true;
  for (const char c : path) {
    if (!is_path_character(c) || (starts && (c == '.' || c == '-')))
      return false;
    starts = c == '.';
  }
  return !starts;
}

class FStringReader {
 public:
  FStringReader(std::string_view text, Place at, Arena& arena, Symbols& symbols)
      : text_(text), place_(at), places_(text, moved(at, 2)), arena_(arena), symbols_(symbols) {}

  /// Reads up to the end or, within a specification, up to its `}`.
  Result<const Format*> read(int depth) {
    if (depth > 2)
      return user_error("Syntax error: Max string recursion exceeded");
    std::vector<FormatPart> parts;
    std::string plain;
    const size_t start = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_doubled = at_ + 1 < text_.size() && text_[at_ + 1] == c;
      if (depth == 0 && (c == '{' || c == '}') && is_doubled) {
        plain.push_back(c);
        at_ += 2;
      } else if (c == '}') {
        if (depth > 0)
          break;
        return user_error(
            "Syntax error: Invalid f-string: Single '}' encountered in format string");
      } else if (c == '{') {
        flush(parts, plain);
        ++at_;
        parts.push_back(TRY(hole(depth)));
      } else {
        plain.push_back(c);
        ++at_;
      }
    }
    flush(parts, plain);
    return arena_.make<Format>(
        Expr{ExprKind::format, place_},
        std::span<const FormatPart>(arena_.copy(std::span<const FormatPart>(parts))), true,
        text_.substr(start, at_ - start));
  }

 private:
  void flush(std::vector<FormatPart>& parts, std::string& plain) {
    if (!plain.empty())
      parts.push_back({arena_.copy(std::string_view(plain))});
    plain.clear();
  }
  Result<FormatPart> hole(int depth) {
    const size_t end = text_.find_first_of("{}:!", at_);
    if (at_ >= text_.size())
      return user_error("Syntax error: Invalid f-string: Single '{' encountered in format string");
    if (end == std::string_view::npos)
      return user_error("Syntax error: Invalid f-string: expected '}' before end of string");
    const std::string_view path = trim(text_.substr(at_, end - at_));
    if (path.empty())
      return user_error(
          "f-strings do not support positional substitutions via '{}', use variable "
          "or attribute keys instead");
    FormatPart part{{}, TRY(read_path(path, place_, places_, arena_, symbols_))};
    at_ = end;
    if (text_[at_] == '!') {
      part.conversion = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
      if (std::string_view("rsa").find(part.conversion) == std::string_view::npos)
        return user_error(
            cat("Invalid f-string: Unknown conversion specifier ", text_.substr(at_ + 1, 1)));
      at_ += 2;
    }
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      part.spec = TRY(read(depth + 1));
    }
    if (at_ >= text_.size() || text_[at_] != '}')
      return user_error("Syntax error: Invalid f-string: expected '}' before end of string");
    ++at_;
    return part;
  }

  std::string_view text_;
  Place place_;
  Places places_;
  Arena& arena_;
  Symbols& symbols_;
  size_t at_ = 0;
};

}  // namespace

Result<std::string> unescape(std::string_view text, Place at, const Warn& warn) {
  std::string made;
  made.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      made.push_back(text[i++]);
      continue;
    }
    ++i;
    if (append_escape(made, text, i))
      continue;
    if (std::string_view("xuUN").find(text[i]) != std::string_view::npos)
      return refused_escape(text, i);
    warn(at, cat("invalid escape sequence `\\", text.substr(i, 1), "`"));
    made.push_back('\\');
  }
  return made;
}

Result<const Format*> read_interpolation(std::string_view text, Place at, Place start, Arena& arena,
                                         Symbols& symbols) {
  Places places(text, start);
  std::vector<FormatPart> parts;
  size_t done = 0;
  bool found = false;
  size_t close = 0;
  for (size_t open = text.find("{{"); open != std::string_view::npos;) {
    size_t from = open + 2;
    while (from < text.size() && text[from] == '{')
      ++from;
    if (close < from)
      close = text.find("}}", from);
    if (close == std::string_view::npos)
      break;
    open = text.find("{{", from);
    if (open < close)
      continue;
    const std::string_view path = trim(text.substr(from, close - from));
    if (!is_path(path))
      continue;
    if (from - 2 > done)
      parts.push_back({text.substr(done, from - 2 - done)});
    parts.push_back({{}, TRY(read_path(path, at, places, arena, symbols))});
    found = true;
    done = close + 2;
  }
  if (!found)
    return nullptr;
  if (done < text.size())
    parts.push_back({text.substr(done)});
  return arena.make<Format>(
      Expr{ExprKind::format, at},
      std::span<const FormatPart>(arena.copy(std::span<const FormatPart>(parts))), false, text);
}

Result<const Format*> read_f_string(std::string_view text, Place at, Arena& arena,
                                    Symbols& symbols) {
  return FStringReader(text, at, arena, symbols).read(0);
}

}  // namespace fettle::model
