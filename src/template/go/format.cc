#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/budget.h"
#include "base/text.h"
#include "template/go/functions.h"

namespace fettle::go_template {
namespace {

constexpr int widest = 1'000'000;

struct Verb {
  bool minus = false, plus = false, sharp = false, zero = false, space = false;
  int width = -1, precision = -1;
  char letter = 'v';
};

std::string_view type_of(const Value& value) {
  switch (value.type()) {
    case Value::Type::boolean:
      return "bool";
    case Value::Type::integer:
      return "int";
    case Value::Type::real:
      return "float64";
    case Value::Type::text:
      return "string";
    case Value::Type::list:
      return "[]interface {}";
    case Value::Type::dict:
      return "map[string]interface {}";
    default:
      return "<nil>";
  }
}

constexpr std::string_view hex_digits = "0123456789abcdef";

/// The code point at the begin of a text, and how many bytes it takes: 0 when it is broken.
std::pair<uint32_t, size_t> code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (size > text.size() || !is_valid_utf8(text.substr(0, size)))
    return {0, 0};
  uint32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  return {code, size};
}

/// A text as Go writes it in a program: `\n`, `\x00`, and with `ascii` everything else escaped.
std::string quoted(std::string_view text, bool ascii, char quote = '"') {
  std::string made(1, quote);
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      const auto [code, size] = code_point(text.substr(i));
      if (size == 0) {
        made += cat("\\x", hex_digits.substr(byte >> 4, 1), hex_digits.substr(byte & 15, 1));
        ++i;
        continue;
      }
      std::array<char, 16> escaped{};
      std::snprintf(escaped.data(), escaped.size(), code > 0xFFFF ? "\\U%08x" : "\\u%04x", code);
      made += ascii ? std::string(escaped.data()) : std::string(text.substr(i, size));
      i += size;
      continue;
    }
    constexpr std::string_view letters = "\a\b\f\n\r\t\v", names = "abfnrtv";
    if (text[i] == quote || text[i] == '\\')
      made.append("\\").push_back(text[i]);
    else if (const size_t known = letters.find(text[i]); known != letters.npos)
      made.append("\\").push_back(names[known]);
    else if (byte < 0x20 || byte == 0x7F)
      made += cat("\\x", hex_digits.substr(byte >> 4, 1), hex_digits.substr(byte & 15, 1));
    else
      made.push_back(text[i]);
    ++i;
  }
  return made + quote;
}

/// The shortest form of a float. JSON, where the data is from, has exponents below -4 and from 21
/// on, and so do `%v` and actions here; of `%g` they begin at 6.
std::string shortest(double number, int exponent_from) {
  if (std::isnan(number))
    return "NaN";
  if (std::isinf(number))
    return number > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> text{};
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  std::string scientific(text.data(), written.ptr);
  const size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  if (exponent < -4 || exponent >= exponent_from)
    return scientific;
  const auto fixed =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return {text.data(), fixed.ptr};
}

std::string padded(std::string text, const Verb& verb, bool number) {
  size_t length = 0;
  for (const char c : text)
    length += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  if (verb.width < 0 || length >= static_cast<size_t>(verb.width))
    return text;
  const size_t missing = static_cast<size_t>(verb.width) - length;
  if (verb.minus)
    return text.append(missing, ' ');
  if (verb.zero && number) {
    const size_t sign =
        !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
    return text.insert(sign, missing, '0');
  }
  return text.insert(0, missing, ' ');
}

std::string signed_text(std::string text, const Verb& verb) {
  if (text.starts_with('-') || text.starts_with('+'))
    return verb.plus || text[0] == '-' ? text : text.substr(1);
  return (verb.plus ? "+" : verb.space ? " " : "") + text;
}

std::string bad(const Verb& verb, const Value& value) {
  return cat("%!", std::string(1, verb.letter), "(", type_of(value), value.is_null() ? "" : "=",
             value.is_null() ? "" : printed(value), ")");
}

std::string integer_text(const Value& value, const Verb& verb) {
  const std::string digits = value.integer_digits();
  const bool negative = digits.starts_with('-');
  std::string text = digits.substr(negative ? 1 : 0);
  std::string prefix;
  if (const int base = verb.letter == 'x' || verb.letter == 'X'   ? 16
                       : verb.letter == 'o' || verb.letter == 'O' ? 8
                       : verb.letter == 'b'                       ? 2
                                                                  : 10;
      base != 10) {
    if (!value.integer())
      return bad(verb, value);
    std::array<char, 80> buffer{};
    const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(*value.integer())
                                        : static_cast<uint64_t>(*value.integer());
    text.assign(buffer.data(),
                std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, base).ptr);
    if (verb.sharp || verb.letter == 'O')
      prefix = base == 16 ? "0x" : base == 2 ? "0b" : verb.letter == 'O' ? "0o" : "0";
    if (verb.letter == 'X')
      for (std::string* part : {&text, &prefix})
        for (char& c : *part)
          c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  if (verb.precision > static_cast<int>(text.size()))
    text.insert(0, static_cast<size_t>(verb.precision) - text.size(), '0');
  Verb unpadded = verb;
  unpadded.zero = verb.zero && verb.precision < 0;
  return padded(signed_text((negative ? "-" : "") + prefix + text, verb), unpadded, true);
}

std::string real_text(double number, const Verb& verb) {
  std::string text;
  if (verb.letter == 'v' || ((verb.letter == 'g' || verb.letter == 'G') && verb.precision < 0)) {
    text = shortest(number, verb.letter == 'v' ? 21 : 6);
  } else {
    const std::string form = cat("%.*", std::string(1, verb.letter));
    std::array<char, 512> buffer{};
    const int precision = std::min(verb.precision < 0 ? 6 : verb.precision, 100);
    const int size = std::snprintf(buffer.data(), buffer.size(), form.c_str(), precision, number);
    text.assign(buffer.data(), static_cast<size_t>(std::clamp(size, 0, 511)));
  }
  return padded(signed_text(text, verb), verb, true);
}

std::string text_text(std::string_view text, const Verb& verb) {
  std::string made;
  if (verb.letter == 'q' && verb.sharp && text.find('`') == text.npos &&
      text.find('\n') == text.npos) {
    made = cat("`", text, "`");
  } else if (verb.letter == 'q' || (verb.letter == 'v' && verb.sharp)) {
    made = quoted(text, verb.plus);
  } else if (verb.letter == 'x' || verb.letter == 'X') {
    constexpr std::string_view lower = "0123456789abcdef", upper = "0123456789ABCDEF";
    const std::string_view digits = verb.letter == 'x' ? lower : upper;
    for (const char c : text)
      made.append(verb.space && !made.empty() ? " " : "")
          .append(digits.substr(static_cast<unsigned char>(c) >> 4, 1))
          .append(digits.substr(static_cast<unsigned char>(c) & 15, 1));
  } else {
    made = text;
    if (verb.precision >= 0) {
      int left = verb.precision;
      size_t end = 0;
      for (; end < made.size(); ++end)
        if ((static_cast<unsigned char>(made[end]) & 0xC0) != 0x80 && left-- == 0)
          break;
      made.resize(end);
    }
  }
  return padded(made, verb, false);
}

std::string formatted(const Value& value, const Verb& verb) {
  Budget& budget = Budget::current();
  if (!budget.spend(1 + (verb.width > 0 ? static_cast<uint64_t>(verb.width) / 64 : 0)))
    return {};
  constexpr std::string_view integers = "vdxXobOcqU", reals = "veEfFgG", texts = "vsqxX";
  const auto fits = [&](std::string_view letters) {
    return letters.find(verb.letter) != letters.npos;
  };
  if (verb.letter == 'T')
    return padded(std::string(type_of(value)), verb, false);
  if (value.is_integer() && fits(integers)) {
    if (verb.letter == 'c' || verb.letter == 'q' || verb.letter == 'U') {
      const auto code = static_cast<uint32_t>(value.integer().value_or(0xFFFD));
      std::string character;
      append_utf8(character, code);
      if (verb.letter == 'U') {
        std::array<char, 16> text{};
        std::snprintf(text.data(), text.size(), "U+%04X", code);
        character = text.data();
      }
      return padded(verb.letter == 'q' ? cat("'", character, "'") : character, verb, false);
    }
    return integer_text(value, verb);
  }
  if (value.is_real() && fits(reals))
    return real_text(value.real(), verb);
  if (value.is_text() && fits(texts) &&
      !(budget.spend(value.text().size() / 16) && budget.has_room(6 * value.text().size())))
    return {};
  if (value.is_text() && fits(texts))
    return text_text(value.text(), verb);
  if (value.is_bool() && (verb.letter == 'v' || verb.letter == 't'))
    return padded(value.boolean() ? "true" : "false", verb, false);
  if (value.is_list() || value.is_dict()) {
    std::string text = value.is_list() ? "[" : "map[";
    bool first = true;
    const auto put = [&](std::string_view key, const Value& item) {
      if (budget.is_over() || !budget.has_room(2 * text.size()))
        return;
      text += cat(first ? "" : " ", key, key.empty() && value.is_list() ? "" : ":",
                  formatted(item, verb));
      first = false;
    };
    if (value.is_list())
      for (const Value& item : value.items())
        put("", item);
    else
      for (const Entry& entry : value.entries())
        put(entry.key, entry.value);
    return text + "]";
  }
  if (value.is_null() && verb.letter == 'v')
    return padded("<nil>", verb, false);
  return bad(verb, value);
}

/// Digits or `*` at `at`; -1 when there are none.
int count_at(std::string_view text, size_t& at, std::span<const Value> arguments, size_t& next) {
  if (at < text.size() && text[at] == '*') {
    ++at;
    if (next < arguments.size() && arguments[next].is_integer())
      return static_cast<int>(
          std::clamp<int64_t>(arguments[next++].integer().value_or(0), -1, widest));
    return -1;
  }
  int count = -1;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    count = std::min(widest, std::max(count, 0) * 10 + (text[at] - '0'));
  return count;
}

/// `[2]` at `at`: the argument to take next, counted from 1. Whether there was one.
bool argument_index(std::string_view text, size_t& at, size_t& next) {
  if (at >= text.size() || text[at] != '[')
    return false;
  const size_t end = text.find(']', at);
  size_t number = 0;
  const char* const last = text.data() + std::min(end, text.size());
  const auto [stop, failure] = std::from_chars(text.data() + at + 1, last, number);
  if (end == text.npos || failure != std::errc() || stop != last)
    return false;
  next = number == 0 ? ~size_t{0} : number - 1;
  at = end + 1;
  return true;
}

}  // namespace

std::string_view go_type(const Value& value) { return type_of(value); }

std::string printed(const Value& value) { return formatted(value, Verb{}); }

std::string format(std::string_view text, std::span<const Value> arguments) {
  std::string made;
  size_t next = 0;
  bool reordered = false;
  Budget& budget = Budget::current();
  for (size_t at = 0; at < text.size() && !budget.is_over();) {
    if (text[at] != '%') {
      made.push_back(text[at++]);
      continue;
    }
    ++at;
    Verb verb;
    for (; at < text.size(); ++at) {
      bool* flag = text[at] == '-'   ? &verb.minus
                   : text[at] == '+' ? &verb.plus
                   : text[at] == '#' ? &verb.sharp
                   : text[at] == '0' ? &verb.zero
                   : text[at] == ' ' ? &verb.space
                                     : nullptr;
      if (flag == nullptr)
        break;
      *flag = true;
    }
    bool indexed = argument_index(text, at, next);
    verb.width = count_at(text, at, arguments, next);
    if (at < text.size() && text[at] == '.') {
      ++at;
      indexed |= argument_index(text, at, next);
      verb.precision = std::max(0, count_at(text, at, arguments, next));
    }
    indexed |= argument_index(text, at, next);
    reordered |= indexed;
    if (at >= text.size()) {
      made += "%!(NOVERB)";
      break;
    }
    verb.letter = text[at++];
    if (verb.letter == '%')
      made.push_back('%');
    else if (next >= arguments.size())
      made += cat("%!", std::string(1, verb.letter), indexed ? "(BADINDEX)" : "(MISSING)");
    else
      made += formatted(arguments[next++], verb);
    budget.has_room(2 * made.size());
  }
  if (next < arguments.size() && !reordered) {
    made += "%!(EXTRA ";
    for (size_t i = next; i < arguments.size(); ++i)
      made += cat(i == next ? "" : ", ", type_of(arguments[i]), "=", printed(arguments[i]));
    made += ")";
  }
  return made;
}

}  // namespace fettle::go_template
