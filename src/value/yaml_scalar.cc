#include "value/yaml_scalar.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "value/go_yaml.h"

namespace fettle {

bool is_word(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.size() != word.size())
      continue;
    std::string capital(word), upper(word);
    for (char& c : upper)
      c = static_cast<char>(c - 'a' + 'A');
    capital[0] = upper[0];
    if (text == word || text == capital || text == upper)
      return true;
  }
  return false;
}

bool is_made_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

bool looks_like_real(std::string_view text) {
  text = without_sign(text);
  const size_t exponent = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent);
  const size_t point = mantissa.find('.');
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction =
      point == mantissa.npos ? std::string_view() : mantissa.substr(point + 1);
  if ((whole.empty() && fraction.empty()) ||
      (!whole.empty() && !is_made_of(whole, decimal_digits)) ||
      (!fraction.empty() && !is_made_of(fraction, decimal_digits)))
    return false;
  if (exponent == text.npos)
    return point != mantissa.npos;
  const std::string_view power = text.substr(exponent + 1);
  return is_made_of(without_sign(power), decimal_digits);
}

Value core_real(std::string_view text) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::result_out_of_range)
    number = text.find("e-") != text.npos || text.find("E-") != text.npos ? 0.0 : HUGE_VAL;
  return text.starts_with('-') ? -std::abs(number) : number;
}

std::optional<Value> special_real(std::string_view text) {
  if (is_one_of(text, {".nan", ".NaN", ".NAN"}))
    return Value(std::numeric_limits<double>::quiet_NaN());
  if (is_one_of(without_sign(text), {".inf", ".Inf", ".INF"}))
    return Value(text.starts_with('-') ? -HUGE_VAL : HUGE_VAL);
  return std::nullopt;
}

namespace {

/// Digits of a base as an integer of any size; `negative` puts a minus in front.
Value integer(std::string_view digits, int base, bool negative) {
  uint64_t small = 0;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), small, base);
  if (failure == std::errc() && end == digits.data() + digits.size())
    return Value::big_integer((negative ? "-" : "") + std::to_string(small));
  if (base == 10)
    return Value::big_integer((negative ? "-" : "") + std::string(digits));
  return Value();  // too large in another base: nobody writes that, the caller keeps the text
}

/// A number that begins with `0x` and the like.
std::optional<Value> prefixed(std::string_view text, std::string_view prefix,
                              std::string_view digits, int base) {
  const bool negative = text.starts_with('-');
  std::string_view rest = without_sign(text);
  if (!rest.starts_with(prefix) || !is_made_of(rest.substr(prefix.size()), digits))
    return std::nullopt;
  Value value = integer(rest.substr(prefix.size()), base, negative);
  return value.is_null() ? std::nullopt : std::optional(std::move(value));
}

Value core(std::string_view text) {
  if (is_word(text, {"true"}) || is_word(text, {"false"}))
    return lower_case(text) == "true";
  if (is_made_of(without_sign(text), decimal_digits))
    return integer(without_sign(text), 10, text.starts_with('-'));
  if (text[0] != '-' && text[0] != '+') {
    if (auto octal = prefixed(text, "0o", "01234567", 8))
      return *octal;
    if (auto hex = prefixed(text, "0x", "0123456789abcdefABCDEF", 16))
      return *hex;
  }
  return looks_like_real(text) ? core_real(text) : Value(text);
}

}  // namespace

Value plain_scalar(std::string_view text, YamlSchema schema) {
  if (is_pyyaml(schema))
    return pyyaml_scalar(text, schema).value_or(Value(text));
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"}))
    return {};
  if (auto special = special_real(text))
    return *special;
  switch (schema) {
    case YamlSchema::core:
      return core(text);
    case YamlSchema::go_yaml_v2:
      return go_yaml::plain(text);
    case YamlSchema::pyyaml:
    case YamlSchema::idem:
      break;
  }
  return Value(text);
}

}  // namespace fettle
