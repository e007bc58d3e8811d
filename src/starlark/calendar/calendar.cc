#include "starlark/calendar/calendar.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "starlark/calendar/layout.h"

namespace fettle::starlark {
namespace {

std::string padded(int64_t n, size_t width, char fill = '0') {
  std::string text = std::to_string(std::abs(n));
  if (text.size() < width)
    text.insert(0, width - text.size(), fill);
  return n < 0 ? "-" + text : text;
}

/// The text of `-0700` and the like: the part of the offset that the element shows.
std::string offset_text(int offset, std::string_view element) {
  if (offset == 0 && element[0] == 'Z')
    return "Z";
  const bool colon = element.find(':') != std::string_view::npos;
  const size_t digits = element.size() - 1 - size_t(std::ranges::count(element, ':'));
  const int size = std::abs(offset);
  std::string text = cat(offset < 0 ? "-" : "+", padded(size / 3600, 2));
  if (digits >= 4)
    text += cat(colon ? ":" : "", padded(size / 60 % 60, 2));
  if (digits >= 6)
    text += cat(colon ? ":" : "", padded(size % 60, 2));
  return text;
}

int64_t day_of_year(const Fields& f) {
  return days_of(f.year, f.month, f.day) - days_of(f.year, 1, 1) + 1;
}

/// Digits of a fraction: as many as the element has, or without zeros at the end.
std::string fraction_text(int nanosecond, std::string_view element) {
  std::string digits = padded(nanosecond, 9).substr(0, std::min<size_t>(element.size() - 1, 9));
  if (element[1] == '9') {
    while (digits.ends_with('0'))
      digits.pop_back();
  }
  return digits.empty() ? digits : cat(element[0], digits);
}

std::string element_text(const Fields& f, Element element, std::string_view spelled) {
  const int hour12 = f.hour % 12 == 0 ? 12 : f.hour % 12;
  switch (element) {
    case Element::none:
      return {};
    case Element::long_year:
      return padded(f.year, 4);
    case Element::short_year:
      return padded(std::abs(f.year) % 100, 2);
    case Element::zero_month:
      return padded(f.month, 2);
    case Element::month:
      return std::to_string(f.month);
    case Element::month_name:
      return std::string(month_names[size_t(f.month - 1)]);
    case Element::short_month_name:
      return std::string(month_names[size_t(f.month - 1)].substr(0, 3));
    case Element::day_name:
      return std::string(day_names[size_t(f.weekday)]);
    case Element::short_day_name:
      return std::string(day_names[size_t(f.weekday)].substr(0, 3));
    case Element::zero_day:
      return padded(f.day, 2);
    case Element::blank_day:
      return padded(f.day, 2, ' ');
    case Element::day:
      return std::to_string(f.day);
    case Element::zero_day_of_year:
      return padded(day_of_year(f), 3);
    case Element::blank_day_of_year:
      return padded(day_of_year(f), 3, ' ');
    case Element::hour:
      return padded(f.hour, 2);
    case Element::zero_hour12:
      return padded(hour12, 2);
    case Element::hour12:
      return std::to_string(hour12);
    case Element::zero_minute:
      return padded(f.minute, 2);
    case Element::minute:
      return std::to_string(f.minute);
    case Element::zero_second:
      return padded(f.second, 2);
    case Element::second:
      return std::to_string(f.second);
    case Element::upper_noon:
      return f.hour >= 12 ? "PM" : "AM";
    case Element::lower_noon:
      return f.hour >= 12 ? "pm" : "am";
    case Element::zone_name:
      return f.zone.empty() ? offset_text(f.offset, "-0700") : f.zone;
    case Element::offset:
      return offset_text(f.offset, spelled);
    case Element::fraction:
      return fraction_text(f.nanosecond, spelled);
  }
  return {};
}

}  // namespace

int64_t days_of(int64_t year, int64_t month, int64_t day) {
  month -= 1;
  year += month >= 0 ? month / 12 : (month - 11) / 12;
  month = (month % 12 + 12) % 12 + 1;
  // Years begin in March, so that a leap day comes last; an era has 400 of them.
  const int64_t shifted = month <= 2 ? year - 1 : year;
  const int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
  const int64_t year_of_era = shifted - era * 400;
  const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
  const int64_t of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
  return era * 146097 + of_era - 719468 + day - 1;
}

void set_date(Fields& f, int64_t day) {
  const int64_t since_0000 = day + 719468;
  const int64_t era = (since_0000 >= 0 ? since_0000 : since_0000 - 146096) / 146097;
  const int64_t of_era = since_0000 - era * 146097;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t month = (5 * of_year + 2) / 153;
  f.day = int(of_year - (153 * month + 2) / 5 + 1);
  f.month = int(month < 10 ? month + 3 : month - 9);
  f.year = year + era * 400 + (f.month <= 2 ? 1 : 0);
}

std::string format_layout(const Fields& fields, std::string_view layout) {
  std::string out;
  while (!layout.empty()) {
    const Piece piece = next_piece(layout);
    out += piece.before;
    out += element_text(fields, piece.element, piece.spelled);
    layout = piece.behind;
  }
  return out;
}

}  // namespace fettle::starlark
