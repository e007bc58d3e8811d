/// The rules of YAML 1.1 as PyYAML has them: which texts are numbers, and which numbers they are.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "base/text.h"
#include "value/python.h"
#include "value/whole.h"
#include "value/yaml_scalar.h"

namespace fettle {
namespace {

/// More are no number: Python reads no longer ones either.
constexpr size_t most_digits = whole::most_digits;
constexpr size_t most_groups = 64;

bool has_only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == text.npos;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `[0-5]?[0-9]`
bool is_sixtieth(std::string_view text) {
  return (text.size() == 1 && is_digit(text[0])) ||
         (text.size() == 2 && text[0] >= '0' && text[0] <= '5' && is_digit(text[1]));
}

std::string plain_digits(std::string_view digits) {
  std::string plain = replace_all(digits, "_", "");
  plain.erase(0, std::min(plain.find_first_not_of('0'), plain.size()));
  return plain;
}

/// Digits of a base with `_` between them. None: there is nothing but `_`.
std::optional<Value> integer_of(std::string_view digits, int base, bool is_negative) {
  if (has_only(digits, "_") || digits.size() > most_digits)
    return std::nullopt;
  std::string plain = plain_digits(digits);
  if (plain.empty())
    return Value(0);
  if (base != 10)
    plain = whole::of_base(plain, base);
  return Value::big_integer((is_negative ? "-" : "") + plain);
}

/// `1:30` is ninety.
std::optional<Value> base_60(std::string_view text, bool is_negative) {
  const auto groups = split(text, ':');
  if (groups.size() < 2 || groups.size() > most_groups || !std::isdigit(groups[0][0]) ||
      groups[0][0] == '0' || !has_only(groups[0], "0123456789_") || groups[0].size() > most_digits)
    return std::nullopt;
  std::string total = plain_digits(groups[0]);
  for (size_t i = 1; i < groups.size(); ++i) {
    if (!is_sixtieth(groups[i]))
      return std::nullopt;
    const auto scaled = whole::compute(whole::Operation::multiply, total, "60");
    const auto sum =
        scaled ? whole::compute(whole::Operation::add, *scaled, groups[i]) : std::nullopt;
    if (!sum)
      return std::nullopt;
    total = *sum;
  }
  return Value::big_integer((is_negative ? "-" : "") + total);
}

std::optional<Value> integer(std::string_view text, YamlSchema schema) {
  const bool is_negative = text.starts_with('-');
  const std::string_view rest = without_sign(text);
  if (rest.empty() || !is_digit(rest[0]))
    return std::nullopt;
  if (rest.find(':') != rest.npos)
    return base_60(rest, is_negative);
  if (rest == "0")
    return Value(0);
  if (rest.starts_with("0b") && has_only(rest.substr(2), "01_"))
    return integer_of(rest.substr(2), 2, is_negative);
  if (rest.starts_with("0x") && has_only(rest.substr(2), "0123456789abcdefABCDEF_"))
    return integer_of(rest.substr(2), 16, is_negative);
  const bool drops_zeros = schema == YamlSchema::idem && rest.size() == text.size();
  if (rest[0] == '0')
    return has_only(rest, "01234567_") ? integer_of(rest, drops_zeros ? 10 : 8, is_negative)
                                       : std::nullopt;
  return has_only(rest, "0123456789_") ? integer_of(rest, 10, is_negative) : std::nullopt;
}

double real_of(std::string_view text) {
  const std::string plain = replace_all(text, "_", "");
  double number = 0;
  const auto [end, failure] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (failure == std::errc::result_out_of_range)
    return plain.find("e-") != plain.npos || plain.find("E-") != plain.npos ? 0.0 : HUGE_VAL;
  return number;
}

/// `190:20:30.15`
std::optional<Value> real_of_base_60(std::string_view text, bool is_negative) {
  const auto groups = split(text, ':');
  const size_t point = groups.back().find('.');
  if (groups.size() > most_groups || point == std::string_view::npos ||
      !is_sixtieth(groups.back().substr(0, point)) ||
      !has_only(groups.back().substr(point + 1), "0123456789_") ||
      !has_only(groups[0], "0123456789_") || groups[0].empty() || !is_digit(groups[0][0]))
    return std::nullopt;
  double total = real_of(groups[0]);
  for (size_t i = 1; i < groups.size(); ++i) {
    if (i + 1 < groups.size() && !is_sixtieth(groups[i]))
      return std::nullopt;
    total = total * 60 + real_of(groups[i]);
  }
  return Value(is_negative ? -total : total);
}

/// Whether a text ends here or with an exponent, which must have a sign.
bool ends_as_real(std::string_view rest) {
  return rest.empty() ||
         (rest.size() > 2 && (rest[0] == 'e' || rest[0] == 'E') &&
          (rest[1] == '-' || rest[1] == '+') && has_only(rest.substr(2), decimal_digits));
}

std::optional<Value> pyyaml_real(std::string_view text) {
  if (is_one_of(text, {".nan", ".NaN", ".NAN"}))
    return Value(std::numeric_limits<double>::quiet_NaN());
  const bool is_negative = text.starts_with('-');
  const std::string_view rest = without_sign(text);
  if (is_one_of(rest, {".inf", ".Inf", ".INF"}))
    return Value(is_negative ? -HUGE_VAL : HUGE_VAL);
  if (rest.empty() || rest.size() > most_digits)
    return std::nullopt;
  if (rest.find(':') != rest.npos)
    return real_of_base_60(rest, is_negative);
  const size_t whole = std::min(rest.find_first_not_of("0123456789_"), rest.size());
  if (whole == rest.size() || rest[whole] != '.' || (whole > 0 && rest[0] == '_'))
    return std::nullopt;
  const std::string_view behind = rest.substr(whole + 1);
  const size_t fraction = std::min(behind.find_first_not_of("0123456789_"), behind.size());
  const bool has_digit = whole > 0 || (fraction > 0 && is_digit(behind[0]));
  if (!has_digit || (whole == 0 && rest.size() != text.size()) ||
      !ends_as_real(behind.substr(fraction)))
    return std::nullopt;
  const double number = real_of(rest);
  return Value(is_negative ? -number : number);
}

}  // namespace

std::optional<Value> pyyaml_scalar(std::string_view text, YamlSchema schema) {
  if (text.empty())
    return Value();
  switch (text[0]) {
    case '~':
    case 'n':
    case 'N':
      if (is_one_of(text, {"~", "null", "Null", "NULL"}))
        return Value();
      [[fallthrough]];
    case 'y':
    case 'Y':
    case 't':
    case 'T':
    case 'f':
    case 'F':
    case 'o':
    case 'O':
      if (is_one_of(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
        return Value(true);
      if (is_one_of(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
        return Value(false);
      return std::nullopt;
    default:
      break;
  }
  if (!is_digit(text[0]) && text[0] != '-' && text[0] != '+' && text[0] != '.')
    return std::nullopt;
  if (std::optional<Value> number = pyyaml_real(text))
    return number;
  return integer(text, schema);
}

Result<Value> pyyaml_tagged(std::string_view text, std::string_view tag, YamlSchema schema) {
  constexpr std::string_view prefix = "tag:yaml.org,2002:";
  const std::string_view name = tag.starts_with(prefix) ? tag.substr(prefix.size()) : "";
  const std::optional<Value> plain = pyyaml_scalar(text, schema);
  if (name == "str" || name == "timestamp" || name == "value" || name == "merge")
    return Value(text);
  if (name == "null")
    return Value();
  if (name == "bool") {
    if (plain && plain->is_bool())
      return *plain;
    return user_error(cat("a bool is expected, not ", python::quoted(text)));
  }
  if (name == "int") {
    if (plain && plain->is_integer())
      return *plain;
    return user_error(cat("invalid literal for int() with base 10: ", python::quoted(text)));
  }
  if (name == "float") {
    if (plain && plain->is_real())
      return *plain;
    if (plain && plain->is_integer())
      return Value(whole::to_real(plain->integer_digits()));
    return user_error(cat("could not convert string to float: ", python::quoted(text)));
  }
  if (name == "binary") {
    std::string bytes = TRY(base64_decode(text));
    if (is_valid_utf8(bytes))
      return Value(bytes);
    return user_error("what `!!binary` holds must be UTF-8 here");
  }
  return user_error(cat("could not determine a constructor for the tag ", python::quoted(tag)));
}

}  // namespace fettle
