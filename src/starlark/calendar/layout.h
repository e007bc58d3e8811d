#pragma once
/// The elements of Go's layouts of times: a layout writes the parts of one known instant, and other
/// text stands for itself.

#include <array>
#include <cstdint>
#include <string_view>

namespace fettle::starlark {

enum class Element : uint8_t {
  none,
  long_year,
  short_year,
  zero_month,
  month,
  month_name,
  short_month_name,
  day_name,
  short_day_name,
  zero_day,
  blank_day,
  day,
  zero_day_of_year,
  blank_day_of_year,
  hour,
  zero_hour12,
  hour12,
  zero_minute,
  minute,
  zero_second,
  second,
  upper_noon,
  lower_noon,
  zone_name,
  offset,
  fraction
};

/// The first element of a layout and the text around it; without one, `before` is all of it.
struct Piece {
  std::string_view before;
  Element element = Element::none;
  std::string_view spelled;
  std::string_view behind;
};
Piece next_piece(std::string_view layout);

inline constexpr std::array<std::string_view, 12> month_names = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
inline constexpr std::array<std::string_view, 7> day_names = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

}  // namespace fettle::starlark
