#include "kinds/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace fettle {
namespace {

/// A unit in thousandths; none: there is no such unit.
std::optional<long double> milli_of_unit(std::string_view unit) {
  struct Row {
    std::string_view unit;
    long double factor;
  };
  constexpr long double ki = 1024;
  static constexpr std::array<Row, 16> rows{{{"n", 1e-9L},
                                             {"u", 1e-6L},
                                             {"m", 1e-3L},
                                             {"", 1},
                                             {"k", 1e3L},
                                             {"M", 1e6L},
                                             {"G", 1e9L},
                                             {"T", 1e12L},
                                             {"P", 1e15L},
                                             {"E", 1e18L},
                                             {"Ki", ki},
                                             {"Mi", ki * ki},
                                             {"Gi", ki * ki * ki},
                                             {"Ti", ki * ki * ki * ki},
                                             {"Pi", ki * ki * ki * ki * ki},
                                             {"Ei", ki * ki * ki * ki * ki * ki}}};
  for (const Row& row : rows)
    if (row.unit == unit)
      return row.factor * 1000;
  if (unit.size() < 2 || (unit[0] != 'e' && unit[0] != 'E'))
    return std::nullopt;
  unit.remove_prefix(unit[1] == '+' ? 2 : 1);
  int exponent = 0;
  const auto read = std::from_chars(unit.data(), unit.data() + unit.size(), exponent);
  if (read.ec != std::errc() || read.ptr != unit.data() + unit.size() || std::abs(exponent) > 40)
    return std::nullopt;
  return std::pow(10.0L, exponent) * 1000;
}

}  // namespace

std::optional<int64_t> quantity_milli(std::string_view text) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  long double number = 0;
  long double place = 0;  // of the next digit after the point; 0: there was no point
  size_t digits = 0, at = 0;
  for (; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '.' && place == 0) {
      place = 0.1L;
    } else if (letter >= '0' && letter <= '9') {
      const int digit = letter - '0';
      number = place == 0 ? number * 10 + digit : number + place * digit;
      place /= 10;
      ++digits;
    } else {
      break;
    }
  }
  const auto unit = milli_of_unit(text.substr(at));
  if (digits == 0 || digits > 40 || !unit)
    return std::nullopt;
  // The binary rounding error of a decimal fraction is no amount.
  const long double milli = std::ceil(number * *unit - 1e-6L);
  if (milli >= static_cast<long double>(std::numeric_limits<int64_t>::max()))
    return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(milli);
}

std::optional<int64_t> quantity_milli(const Value& value) {
  if (value.is_text())
    return quantity_milli(value.text().view());
  if (value.is_integer())
    return quantity_milli(std::string_view(value.integer_digits()));
  if (value.is_real() && value.real() >= 0 && value.real() < 1e15)
    return static_cast<int64_t>(std::ceil(value.real() * 1000 - 1e-6));
  return std::nullopt;
}

}  // namespace fettle
