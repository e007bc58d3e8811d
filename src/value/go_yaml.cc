#include "value/go_yaml.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "base/text.h"
#include "value/json.h"
#include "value/yaml_scalar.h"

namespace fettle::go_yaml {
namespace {

std::optional<Value> word(std::string_view text) {
  if (is_word(text, {"y", "yes", "true", "on"}))
    return true;
  if (is_word(text, {"n", "no", "false", "off"}))
    return false;
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"}))
    return Value();
  return special_real(text);
}

/// Digits, of which the prefix tells the base, when 64 bits hold them.
std::optional<Value> integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  std::string_view digits = without_sign(text);
  int base = 10;
  const char letter =
      digits.size() > 1 && digits[0] == '0' ? lower_case(digits.substr(1, 1))[0] : '\0';
  if (letter == 'x' || letter == 'o' || letter == 'b') {
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  } else if (letter != '\0') {
    base = 8;
  }
  uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, failure] = std::from_chars(digits.data(), end, number, base);
  if (digits.empty() || failure != std::errc() || at != end)
    return std::nullopt;
  const bool is_signed = text != without_sign(text);
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  if (is_signed && number > most + (is_negative ? 1 : 0))
    return std::nullopt;
  return Value::big_integer((is_negative ? "-" : "") + std::to_string(number));
}

/// None: it is out of range.
std::optional<Value> real(std::string_view text) {
  if (!looks_like_real(text) && !is_made_of(without_sign(text), decimal_digits))
    return std::nullopt;
  const Value number = core_real(text);
  return std::isfinite(number.real()) ? std::optional(number) : std::nullopt;
}

std::string_view kind_of(const Value& value) {
  switch (value.type()) {
    case Value::Type::null:
      return "null";
    case Value::Type::boolean:
      return "bool";
    case Value::Type::integer:
      return "int";
    case Value::Type::real:
      return "float";
    default:
      return "str";
  }
}

Result<Value> binary(std::string_view text) {
  const Result<std::string> bytes = base64_decode_strictly(text);
  if (!bytes)
    return user_error("!!binary value contains invalid base64 data");
  std::string json;
  append_json_text(json, *bytes);
  return read_json(json);
}

/// The shortest digits that tell a real from all others, without a point: `1.5` is 15 and 1.
struct Digits {
  bool is_negative;
  std::string digits;
  int point;  ///< how many of them stand before it
};

template <typename Real>
Digits digits_of(Real number) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(number),
                                 std::chars_format::scientific);
  const std::string_view all(text.data(), static_cast<size_t>(end.ptr - text.data()));
  const size_t e = all.find('e');
  std::string digits = replace_all(all.substr(0, e), ".", "");
  return {std::signbit(number), std::move(digits),
          1 + std::atoi(std::string(all.substr(e + 1)).c_str())};
}

/// The number in the form of `%g` with the shortest digits, with exponents from six on.
std::string key_of_real(double given) {
  const auto number = static_cast<float>(given);
  if (std::isnan(number))
    return ".nan";
  if (std::isinf(number))
    return number < 0 ? "-.inf" : ".inf";
  auto [is_negative, digits, point] = digits_of(number);
  const std::string sign = is_negative ? "-" : "";
  const int exponent = number == 0 ? 0 : point - 1;
  if (exponent < -4 || exponent >= 6) {
    const std::string power = std::to_string(std::abs(exponent));
    return cat(sign, digits.substr(0, 1), digits.size() > 1 ? "." : "", digits.substr(1), "e",
               exponent < 0 ? "-" : "+", power.size() < 2 ? "0" : "", power);
  }
  if (point <= 0)
    return cat(sign, "0.", std::string(static_cast<size_t>(-point), '0'), digits);
  const auto whole = static_cast<size_t>(point);
  if (digits.size() <= whole)
    return cat(sign, digits, std::string(whole - digits.size(), '0'));
  return cat(sign, digits.substr(0, whole), ".", digits.substr(whole));
}

}  // namespace

Value plain(std::string_view text) {
  if (auto known = word(text))
    return *known;
  if (text.starts_with('.'))
    return real(text).value_or(Value(text));
  if (text.find_first_of("+-0123456789") != 0)
    return Value(text);
  const std::string digits = replace_all(text, "_", "");
  if (auto number = integer(digits))
    return *number;
  return real(digits).value_or(Value(text));
}

Result<Value> tagged(std::string_view text, std::string_view tag) {
  const std::string_view name =
      tag.starts_with(yaml_tag_prefix) ? tag.substr(yaml_tag_prefix.size()) : "";
  if (name == "binary")
    return binary(text);
  if (!is_one_of(name, {"bool", "int", "float", "null", "timestamp"}))
    return Value(text);
  Value value = plain(text);
  const std::string_view kind = name == "timestamp" && value.is_text() ? name : kind_of(value);
  if (name == "float" && value.is_integer() && value.integer())
    return Value(static_cast<double>(*value.integer()));
  if (kind != name)
    return user_error(cat("cannot decode !!", kind, " `", text, "` as a !!", name));
  return value;
}

Result<Name> key(const Value& scalar) {
  if (scalar.is_null())
    return user_error("null cannot be a key: Go makes no JSON of it");
  if (scalar.is_integer() && !scalar.integer())
    return user_error(cat("a key cannot be an integer beyond 63 bits: ", scalar.integer_digits()));
  return scalar.is_real() ? Name(key_of_real(scalar.real())) : Name(to_text(scalar));
}

Result<Value> from_json(const Value& scalar) {
  if (!scalar.is_real())
    return scalar;
  const double number = scalar.real();
  if (!std::isfinite(number))
    return user_error(cat("`", number < 0 ? "-" : "", std::isnan(number) ? ".nan" : ".inf",
                          "` cannot be an argument: JSON has no such number"));
  if (number != std::floor(number) || std::abs(number) >= 1e21)
    return scalar;
  const Digits found = digits_of(number);
  const auto whole = static_cast<size_t>(found.point);
  return Value::big_integer(cat(found.is_negative && number != 0 ? "-" : "", found.digits,
                                std::string(whole - std::min(whole, found.digits.size()), '0')));
}

}  // namespace fettle::go_yaml
