#include "value/starlark_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

void append_quoted(std::string& made, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  static constexpr std::string_view named = "\a\b\f\n\r\t\v\"\\", letters = "abfnrtv\"\\";
  made += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t at = named.find(c); at != named.npos)
      made.append("\\").append(1, letters[at]);
    else if (byte < 0x20 || byte == 0x7F)
      made.append("\\x").append({hex[byte >> 4], hex[byte & 15]});
    else
      made += c;
  }
  made += '"';
}

/// Shortest digits; an exponent below -4 and from 6 on; always a point or an exponent.
std::string real_text(double number) {
  if (!std::isfinite(number))
    return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "+inf";
  std::array<char, 64> text{};
  const auto written = [&](std::chars_format format) {
    char* const end = std::to_chars(text.data(), text.data() + text.size(), number, format).ptr;
    return std::string(text.data(), end);
  };
  std::string made = written(std::chars_format::scientific);
  const int exponent = std::stoi(made.substr(made.find('e') + 1));
  if (exponent < -4 || exponent >= 6)
    return made;
  made = written(std::chars_format::fixed);
  return made.find('.') == made.npos ? made + ".0" : made;
}

void append(std::string& made, const Value& value) {
  switch (value.type()) {
    case Value::Type::null:
      made += "None";
      break;
    case Value::Type::boolean:
      made += value.boolean() ? "True" : "False";
      break;
    case Value::Type::integer:
      made += value.integer_digits();
      break;
    case Value::Type::real:
      made += real_text(value.real());
      break;
    case Value::Type::text:
      append_quoted(made, value.text());
      break;
    case Value::Type::list:
      made += '[';
      for (const Value& item : value.items()) {
        made += &item == value.items().data() ? "" : ", ";
        append(made, item);
      }
      made += ']';
      break;
    case Value::Type::dict:
      made += '{';
      for (const Entry& entry : value.entries()) {
        made += &entry == value.entries().data() ? "" : ", ";
        append_quoted(made, entry.key);
        made += ": ";
        append(made, entry.value);
      }
      made += '}';
      break;
    default:
      made += write_json(value);
      break;
  }
}

}  // namespace

std::string starlark_repr(const Value& value) {
  std::string made;
  append(made, value);
  return made;
}

std::string starlark_text(const Value& value) {
  if (value.is_text())
    return value.text().str();
  return value.is_secret() ? std::string(masked) : starlark_repr(value);
}

}  // namespace fettle
