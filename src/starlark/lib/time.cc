/// `time`: instants in a zone and durations, with starlark-go's names and Go's layouts.

#include "starlark/lib/time.h"

#include <date/date.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "base/time.h"
#include "starlark/eval/bind.h"
#include "starlark/lib/library.h"
#include "starlark/lib/zone.h"

namespace fettle::starlark {
namespace {

constexpr int64_t giga = 1'000'000'000;
constexpr std::string_view rfc3339 = "2006-01-02T15:04:05Z07:00";

constexpr std::array<std::string_view, 12> months = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};

struct Fields {
  int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0, nanosecond = 0;
  int weekday = 0, offset = 0;
  std::string zone = "UTC";
};

int64_t days_of(int64_t year, int64_t month, int64_t day) {
  // Months and days outside their range carry, as Go lets them.
  month -= 1;
  year += month >= 0 ? month / 12 : (month - 11) / 12;
  month = (month % 12 + 12) % 12 + 1;
  // Years begin in March, so that a leap day comes last; an era has 400 of them.
  const int64_t shifted = month <= 2 ? year - 1 : year;
  const int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
  const int64_t year_of_era = shifted - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468 + day - 1;
}

/// The date so many days after that of 1970.
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

Fields fields_of_time(const TimeObject& time) {
  Fields f;
  const int64_t local = time.seconds + time.offset;
  int64_t day = local / 86400, rest = local % 86400;
  if (rest < 0) {
    rest += 86400;
    --day;
  }
  set_date(f, day);
  f.hour = int(rest / 3600);
  f.minute = int(rest / 60 % 60);
  f.second = int(rest % 60);
  f.nanosecond = time.nanoseconds;
  f.weekday = int(((day % 7) + 11) % 7);
  f.offset = time.offset;
  const auto* zone = static_cast<const Zone*>(time.zone);
  if (zone != nullptr)
    f.zone = zone->at(time.seconds).abbreviation;
  return f;
}

TimeObject* new_time(Vm& vm, int64_t seconds, int64_t nanoseconds, const Zone* zone,
                     int offset = 0) {
  seconds += nanoseconds / giga;
  nanoseconds %= giga;
  if (nanoseconds < 0) {
    nanoseconds += giga;
    --seconds;
  }
  auto* time = vm.heap().make<TimeObject>(Kind::time);
  time->flags |= Object::frozen;
  time->seconds = seconds;
  time->nanoseconds = static_cast<int32_t>(nanoseconds);
  time->zone = zone;
  time->offset = zone != nullptr ? zone->at(seconds).offset : offset;
  return time;
}

Value new_duration(Vm& vm, int64_t nanoseconds) {
  auto* duration = vm.heap().make<DurationObject>(Kind::duration);
  duration->flags |= Object::frozen;
  duration->nanoseconds = nanoseconds;
  return Value::object(duration);
}

std::string padded(int64_t n, size_t width, char fill = '0') {
  std::string text = std::to_string(std::abs(n));
  if (text.size() < width)
    text.insert(0, width - text.size(), fill);
  return n < 0 ? "-" + text : text;
}

std::string offset_text(int offset, bool colon, bool zulu) {
  if (offset == 0 && zulu)
    return "Z";
  const int minutes = std::abs(offset) / 60;
  return cat(offset < 0 ? "-" : "+", padded(minutes / 60, 2), colon ? ":" : "",
             padded(minutes % 60, 2));
}

/// The elements of Go's layouts, longest first where one begins like another.
constexpr std::string_view elements[] = {
    "January", "Monday", "-07:00", "Z07:00", "-0700", "Z0700", "2006", "MST", "Jan",
    "Mon",     "002",    "-07",    "_2",     "01",    "02",    "03",   "04",  "05",
    "06",      "15",     "PM",     "pm",     "1",     "2",     "3",    "4",   "5"};

/// At each byte of a layout, every element is looked for.
constexpr uint64_t steps_per_layout_byte = 4;

/// The element at the start of `layout`; empty when it begins with other text.
std::string_view element_at(std::string_view layout) {
  if ((layout[0] == '.' || layout[0] == ',') && layout.size() > 1 &&
      (layout[1] == '0' || layout[1] == '9')) {
    size_t end = 1;
    while (end < layout.size() && layout[end] == layout[1])
      ++end;
    if (end == layout.size() || layout[end] < '0' || layout[end] > '9')
      return layout.substr(0, end);
  }
  for (const std::string_view element : elements) {
    if (!layout.starts_with(element))
      continue;
    if (element == "Jan" && layout.size() > 3 && layout[3] >= 'a' && layout[3] <= 'z')
      continue;
    return element;
  }
  return {};
}

std::string format_time(const TimeObject& time, std::string_view layout) {
  const Fields f = fields_of_time(time);
  std::string out;
  while (!layout.empty()) {
    const std::string_view e = element_at(layout);
    if (e.empty()) {
      out += layout[0];
      layout.remove_prefix(1);
      continue;
    }
    layout.remove_prefix(e.size());
    const int hour12 = f.hour % 12 == 0 ? 12 : f.hour % 12;
    if (e == "2006")
      out += padded(f.year, 4);
    else if (e == "06")
      out += padded(f.year % 100, 2);
    else if (e == "01")
      out += padded(f.month, 2);
    else if (e == "1")
      out += std::to_string(f.month);
    else if (e == "January")
      out += months[size_t(f.month - 1)];
    else if (e == "Jan")
      out += months[size_t(f.month - 1)].substr(0, 3);
    else if (e == "Monday")
      out += days[size_t(f.weekday)];
    else if (e == "Mon")
      out += days[size_t(f.weekday)].substr(0, 3);
    else if (e == "02")
      out += padded(f.day, 2);
    else if (e == "_2")
      out += padded(f.day, 2, ' ');
    else if (e == "2")
      out += std::to_string(f.day);
    else if (e == "002")
      out += padded(days_of(f.year, f.month, f.day) - days_of(f.year, 1, 1) + 1, 3);
    else if (e == "15")
      out += padded(f.hour, 2);
    else if (e == "03")
      out += padded(hour12, 2);
    else if (e == "3")
      out += std::to_string(hour12);
    else if (e == "04")
      out += padded(f.minute, 2);
    else if (e == "4")
      out += std::to_string(f.minute);
    else if (e == "05")
      out += padded(f.second, 2);
    else if (e == "5")
      out += std::to_string(f.second);
    else if (e == "PM")
      out += f.hour >= 12 ? "PM" : "AM";
    else if (e == "pm")
      out += f.hour >= 12 ? "pm" : "am";
    else if (e == "MST")
      out += f.zone;
    else if (e == "Z07:00")
      out += offset_text(f.offset, true, true);
    else if (e == "-07:00")
      out += offset_text(f.offset, true, false);
    else if (e == "Z0700")
      out += offset_text(f.offset, false, true);
    else if (e == "-0700")
      out += offset_text(f.offset, false, false);
    else if (e == "-07")
      out += offset_text(f.offset, false, false).substr(0, 3);
    else {
      // A fraction: as many digits, or without zeros at the end.
      std::string digits = padded(f.nanosecond, 9).substr(0, std::min<size_t>(e.size() - 1, 9));
      if (e[1] == '9') {
        while (digits.ends_with('0'))
          digits.pop_back();
      }
      if (!digits.empty())
        out += cat(e[0], digits);
    }
  }
  return out;
}

class TimeParser {
 public:
  TimeParser(std::string_view layout, std::string_view text) : layout_(layout), text_(text) {}

  /// What could not be read, and as what.
  std::string rest() const {
    std::string shown;
    quote_text(shown, rest_);
    return shown;
  }
  std::string element() const {
    std::string shown;
    quote_text(shown, element_);
    return shown;
  }

  /// False when the text does not have the form of the layout.
  bool run(Fields& f, bool& has_offset) {
    bool pm = false, has_pm = false;
    std::string_view layout = layout_;
    while (!layout.empty()) {
      const std::string_view e = element_at(layout);
      rest_ = text_;
      element_ = e.empty() ? layout.substr(0, 1) : e;
      if (e.empty()) {
        if (text_.empty() || text_[0] != layout[0])
          return false;
        text_.remove_prefix(1);
        layout.remove_prefix(1);
        continue;
      }
      layout.remove_prefix(e.size());
      int n = 0;
      bool ok = true;
      if (e == "2006") {
        ok = number(4, 4, n);
        f.year = n;
      } else if (e == "06") {
        ok = number(2, 2, n);
        f.year = n + (n >= 69 ? 1900 : 2000);
      } else if (e == "01") {
        ok = number(2, 2, f.month) && f.month >= 1 && f.month <= 12;
      } else if (e == "1") {
        ok = number(1, 2, f.month) && f.month >= 1 && f.month <= 12;
      } else if (e == "January" || e == "Jan")
        ok = name(months, e == "Jan", f.month);
      else if (e == "Monday" || e == "Mon")
        ok = name(days, e == "Mon", n);
      else if (e == "02")
        ok = number(2, 2, f.day);
      else if (e == "2")
        ok = number(1, 2, f.day);
      else if (e == "_2") {
        if (text_.starts_with(' '))
          text_.remove_prefix(1);
        ok = number(1, 2, f.day);
      } else if (e == "15")
        ok = number(2, 2, f.hour) && f.hour < 24;
      else if (e == "03" || e == "3")
        ok = number(1, 2, f.hour) && f.hour <= 12;
      else if (e == "04")
        ok = number(2, 2, f.minute) && f.minute < 60;
      else if (e == "4")
        ok = number(1, 2, f.minute) && f.minute < 60;
      else if (e == "05" || e == "5") {
        ok = number(e.size() == 2 ? 2 : 1, 2, f.second) && f.second < 60;
        if (ok && !layout.starts_with('.') && text_.starts_with('.'))
          ok = fraction(f.nanosecond);
      } else if (e == "PM" || e == "pm") {
        has_pm = true;
        const std::string word = lower_case(text_.substr(0, 2));
        ok = word == "am" || word == "pm";
        pm = word == "pm";
        text_.remove_prefix(std::min<size_t>(2, text_.size()));
      } else if (e[0] == 'Z' || e[0] == '-') {
        has_offset = true;
        ok = offset(e, f.offset);
      } else if (e == "MST") {
        size_t length = 0;
        while (length < text_.size() && text_[length] >= 'A' && text_[length] <= 'Z')
          ++length;
        ok = length >= 3;
        f.zone = std::string(text_.substr(0, length));
        text_.remove_prefix(length);
      } else if (e[0] == '.' || e[0] == ',')
        ok = e[1] == '9' && !text_.starts_with('.') ? true : fraction(f.nanosecond);
      else
        ok = false;
      if (!ok)
        return false;
    }
    if (has_pm)
      f.hour = f.hour % 12 + (pm ? 12 : 0);
    const auto ymd = date::year(int(f.year)) / date::month(static_cast<unsigned>(f.month)) /
                     date::day(static_cast<unsigned>(f.day));
    return text_.empty() && ymd.ok();
  }

 private:
  bool number(size_t least, size_t most, int& n) {
    size_t length = 0;
    while (length < most && length < text_.size() && text_[length] >= '0' && text_[length] <= '9')
      ++length;
    if (length < least)
      return false;
    std::from_chars(text_.data(), text_.data() + length, n);
    text_.remove_prefix(length);
    return true;
  }
  template <typename Names>
  bool name(const Names& names, bool is_short, int& n) {
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view wanted = is_short ? names[i].substr(0, 3) : names[i];
      if (lower_case(text_.substr(0, wanted.size())) == lower_case(wanted)) {
        text_.remove_prefix(wanted.size());
        n = int(i) + 1;
        return true;
      }
    }
    return false;
  }
  bool fraction(int& nanosecond) {
    if (!text_.starts_with('.') && !text_.starts_with(','))
      return false;
    text_.remove_prefix(1);
    size_t length = 0;
    int64_t n = 0;
    while (length < text_.size() && text_[length] >= '0' && text_[length] <= '9') {
      if (length < 9)
        n = n * 10 + (text_[length] - '0');
      ++length;
    }
    for (size_t i = length; i < 9; ++i)
      n *= 10;
    text_.remove_prefix(length);
    nanosecond = int(n);
    return length > 0;
  }
  bool offset(std::string_view element, int& seconds) {
    if (element[0] == 'Z' && text_.starts_with('Z')) {
      text_.remove_prefix(1);
      seconds = 0;
      return true;
    }
    if (!text_.starts_with('+') && !text_.starts_with('-'))
      return false;
    const int sign = text_[0] == '-' ? -1 : 1;
    text_.remove_prefix(1);
    int hours = 0, minutes = 0;
    if (!number(2, 2, hours))
      return false;
    if (element.find(':') != std::string_view::npos) {
      if (!text_.starts_with(':'))
        return false;
      text_.remove_prefix(1);
    }
    if (element.size() > 3 && !number(2, 2, minutes))
      return false;
    seconds = sign * (hours * 3600 + minutes * 60);
    return hours < 25 && minutes < 60;
  }
  std::string_view layout_;
  std::string_view text_;
  std::string_view rest_;
  std::string_view element_;
};

/// The instant of local fields in a zone.
int64_t instant_of(const Fields& f, const Zone* zone) {
  const int64_t local = days_of(f.year, f.month, f.day) * 86400 + int64_t{f.hour} * 3600 +
                        int64_t{f.minute} * 60 + f.second;
  if (zone == nullptr)
    return local - f.offset;
  int64_t seconds = local - zone->at(local).offset;
  return local - zone->at(seconds).offset;
}

const Zone* zone_at(Vm& vm, const Value& name) {
  const Zone* zone = find_zone(view_of(name));
  if (zone == nullptr)
    vm.fail_with("unknown time zone ", view_of(name));
  return zone;
}

Value time_from_timestamp(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 2))
    return Value::error();
  int64_t n[2] = {0, 0};
  for (uint32_t i = 0; i < a.count; ++i) {
    if (!want_int64(vm, a, i, n[i]))
      return Value::error();
  }
  return Value::object(new_time(vm, n[0], n[1], utc()));
}

Value time_is_valid_timezone(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  return Value::boolean(find_zone(view_of(a.positional[0])) != nullptr);
}

Value time_now(Vm& vm, const Arguments& a) {
  if (vm.is_spec() && !want_positional(vm, a, 0, 0))
    return Value::error();
  if (!vm.session.session->now)
    return vm.fail("now: the current time is not available here");
  const int64_t now = vm.session.session->now().time_since_epoch().count();
  return Value::object(new_time(vm, 0, now, utc()));
}

/// What Go says of a text that is no duration.
std::string duration_problem(std::string_view text) {
  std::string shown;
  quote_text(shown, text);
  const std::string invalid = cat("invalid duration ", shown);
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+'))
    rest.remove_prefix(1);
  constexpr std::string_view digits = "0123456789";
  static constexpr std::string_view units[] = {"ns", "us", "\u00b5s", "\u03bcs",
                                               "ms", "s",  "m",       "h"};
  while (!rest.empty()) {
    const size_t number = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::string_view amount = rest.substr(0, number);
    if (amount.find_first_of(digits) == amount.npos || amount.find('.') != amount.rfind('.'))
      return invalid;
    rest.remove_prefix(number);
    const std::string_view unit = rest.substr(0, rest.find_first_of("0123456789."));
    if (unit.empty())
      return cat("missing unit in duration ", shown);
    if (std::find(std::begin(units), std::end(units), unit) == std::end(units)) {
      std::string quoted;
      quote_text(quoted, unit);
      return cat("unknown unit ", quoted, " in duration ", shown);
    }
    rest.remove_prefix(unit.size());
  }
  return invalid;
}

Value time_parse_duration(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const Value x = a.positional[0];
  if (is_kind(x, Kind::duration))
    return x;
  if (!is_text(x))
    return vm.fail_with("parse_duration: for parameter 1: got ", type_name_of(x),
                        ", want a duration, string, or int");
  if (!vm.charge(view_of(x).size() / 4))
    return Value::error();
  const Result<Duration> parsed = parse_duration(view_of(x));
  if (!parsed) {
    return vm.fail_with("parse_duration: for parameter 1: time: ", duration_problem(view_of(x)));
  }
  return new_duration(vm, parsed->count());
}

Value time_parse_time(Vm& vm, const Arguments& a) {
  Value given[3];
  static constexpr const char* names[] = {"x", "format?", "location?"};
  static constexpr Accepted types[] = {Accepted::text, Accepted::text, Accepted::text};
  if (!want_named(vm, a, names, given, types))
    return Value::error();
  const Zone* zone = utc();
  if (!given[2].is_unset() && (zone = zone_at(vm, given[2])) == nullptr)
    return Value::error();
  const std::string_view layout = given[1].is_unset() ? rfc3339 : view_of(given[1]);
  if (!vm.charge((layout.size() + view_of(given[0]).size()) * steps_per_layout_byte))
    return Value::error();
  Fields f;
  f.year = 0;
  bool has_offset = false;
  TimeParser parser(layout, view_of(given[0]));
  if (!parser.run(f, has_offset)) {
    std::string text, shown;
    quote_text(text, view_of(given[0]));
    quote_text(shown, layout);
    return vm.fail_with("parsing time ", text, " as ", shown, ": cannot parse ", parser.rest(),
                        " as ", parser.element());
  }
  if (!has_offset)
    return Value::object(new_time(vm, instant_of(f, zone), f.nanosecond, zone));
  const int64_t seconds = instant_of(f, nullptr);
  if (zone->at(seconds).offset == f.offset)
    return Value::object(new_time(vm, seconds, f.nanosecond, zone));
  return Value::object(new_time(vm, seconds, f.nanosecond, nullptr, f.offset));
}

Value time_time(Vm& vm, const Arguments& a) {
  static constexpr const char* names[] = {"year?",   "month?",  "day?",        "hour?",
                                          "minute?", "second?", "nanosecond?", "location?"};
  static constexpr Accepted types[] = {Accepted::int64, Accepted::int64, Accepted::int64,
                                       Accepted::int64, Accepted::int64, Accepted::int64,
                                       Accepted::int64, Accepted::text};
  Value given[8];
  if (!want_named(vm, a, names, given, types))
    return Value::error();
  if (a.count > 0)
    return vm.fail("time: unexpected positional arguments");
  int64_t n[7] = {};
  for (size_t i = 0; i < 7; ++i) {
    if (given[i].is_unset())
      continue;
    if (!to_int64(given[i], n[i]) || std::abs(n[i]) > 3'000'000'000)
      return vm.fail("time: date out of range");
  }
  const Zone* zone = utc();
  if (!given[7].is_unset() && (zone = zone_at(vm, given[7])) == nullptr)
    return Value::error();
  if (std::abs(n[0]) > 30'000 || std::abs(n[1]) > 100'000 || std::abs(n[2]) > 10'000'000)
    return vm.fail("time: date out of range");
  const int64_t local = days_of(n[0], n[1], n[2]) * 86400 + n[3] * 3600 + n[4] * 60 + n[5];
  const int64_t guess = local - zone->at(local).offset;
  return Value::object(new_time(vm, local - zone->at(guess).offset, n[6], zone));
}

Value method_format(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  const std::string_view layout = view_of(a.positional[0]);
  if (!vm.charge(layout.size() * steps_per_layout_byte))
    return Value::error();
  return make_text(vm.heap(), format_time(*as<TimeObject>(a.self), layout));
}

Value method_in_location(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  const Zone* zone = zone_at(vm, a.positional[0]);
  if (zone == nullptr)
    return Value::error();
  const auto* time = as<TimeObject>(a.self);
  return Value::object(new_time(vm, time->seconds, time->nanoseconds, zone));
}

constexpr MethodEntry time_table[] = {{"format", method_format},
                                      {"in_location", method_in_location}};
constexpr MethodEntry functions[] = {{"from_timestamp", time_from_timestamp},
                                     {"is_valid_timezone", time_is_valid_timezone},
                                     {"now", time_now},
                                     {"parse_duration", time_parse_duration},
                                     {"parse_time", time_parse_time},
                                     {"time", time_time}};

/// An operand as nanoseconds: a duration, or an integer that is small enough.
int64_t nanoseconds_of(Value v) { return as<DurationObject>(v)->nanoseconds; }

bool add_overflows(int64_t a, int64_t b, int64_t& sum) {
  return __builtin_add_overflow(a, b, &sum);
}

}  // namespace

std::string time_text(const TimeObject& time) {
  const Fields f = fields_of_time(time);
  std::string name = time.zone == nullptr ? offset_text(f.offset, false, false) : f.zone;
  return format_time(time, "2006-01-02 15:04:05.999999999 -0700 ") + name;
}

std::string duration_text(int64_t nanoseconds) { return to_string(Duration(nanoseconds)); }

/// A duration divided by a number; what has no duration is the least one, as in Go.
static Value divided(Vm& vm, int64_t nanoseconds, double by) {
  if (by == 0)
    return vm.fail("time.duration division by zero");
  const double result = double(nanoseconds) / by;
  return new_duration(vm, std::fabs(result) < 9.2e18 ? int64_t(result) : INT64_MIN);
}

Value time_binary(Vm& vm, Op op, Value x, Value y) {
  const bool x_time = is_kind(x, Kind::time), y_time = is_kind(y, Kind::time);
  const bool x_span = is_kind(x, Kind::duration), y_span = is_kind(y, Kind::duration);
  const auto moved = [&](Value time, int64_t by) {
    const auto* t = as<TimeObject>(time);
    TimeObject* made = new_time(vm, t->seconds + by / giga, t->nanoseconds + by % giga,
                                static_cast<const Zone*>(t->zone), t->offset);
    return Value::object(made);
  };
  const auto too_large = [&] { return vm.fail("time.duration out of range"); };
  int64_t n = 0;
  switch (op) {
    case Op::add:
      if (x_time && y_span)
        return moved(x, nanoseconds_of(y));
      if (x_span && y_time)
        return moved(y, nanoseconds_of(x));
      if (x_span && y_span)
        return add_overflows(nanoseconds_of(x), nanoseconds_of(y), n) ? too_large()
                                                                      : new_duration(vm, n);
      break;
    case Op::subtract:
      if (x_time && y_span)
        return moved(x, nanoseconds_of(y) == INT64_MIN ? INT64_MAX : -nanoseconds_of(y));
      if (x_span && y_time)
        return moved(y, nanoseconds_of(x) == INT64_MIN ? INT64_MAX : -nanoseconds_of(x));
      if (x_time && y_time) {
        const auto* a = as<TimeObject>(x);
        const auto* b = as<TimeObject>(y);
        int64_t seconds = 0;
        if (__builtin_sub_overflow(a->seconds, b->seconds, &seconds) ||
            __builtin_mul_overflow(seconds, giga, &n) ||
            add_overflows(n, a->nanoseconds - b->nanoseconds, n))
          return too_large();
        return new_duration(vm, n);
      }
      if (x_span && y_span)
        return __builtin_sub_overflow(nanoseconds_of(x), nanoseconds_of(y), &n)
                   ? too_large()
                   : new_duration(vm, n);
      break;
    case Op::multiply: {
      const Value span = x_span ? x : y, factor = x_span ? y : x;
      if (!is_kind(span, Kind::duration) || !is_int(factor))
        break;
      if (!to_int64(factor, n))
        return vm.fail("int value out of range (want signed 64-bit value)");
      return __builtin_mul_overflow(nanoseconds_of(span), n, &n) ? too_large()
                                                                 : new_duration(vm, n);
    }
    case Op::divide:
      if (!x_span && !is_float(x))
        return y_span && is_int(x) ? vm.fail("unsupported operation") : Value::unset();
      if (!x_span)  // a number divided by a duration is the duration divided by the number
        std::swap(x, y);
      if (is_int(y) && !to_int64(y, n))
        return vm.fail("int value out of range (want signed 64-bit value)");
      if (is_int(y) && n != 0)
        return nanoseconds_of(x) == INT64_MIN && n == -1 ? x
                                                         : new_duration(vm, nanoseconds_of(x) / n);
      if (y_span && !is_float(y)) {
        if (nanoseconds_of(y) == 0)
          return vm.fail("time.duration division by zero");
        return make_float(vm.heap(), double(nanoseconds_of(x)) / double(nanoseconds_of(y)));
      }
      if (is_int(y) && !to_int64(y, n))
        return vm.fail("int value out of range (want signed 64-bit value)");
      if (is_int(y) || is_float(y))
        return divided(vm, nanoseconds_of(x), is_int(y) ? double(n) : float_of(y));
      break;
    case Op::floor_divide:
      if (!x_span)
        break;
      if (y_span) {
        const int64_t a = nanoseconds_of(x), b = nanoseconds_of(y);
        if (b == 0)
          return vm.fail("time.duration division by zero");
        if (a == INT64_MIN && b == -1)
          return too_large();
        return make_int(vm.heap(), a / b - (a % b != 0 && (a < 0) != (b < 0)));
      }
      break;
    default:
      break;
  }
  return Value::unset();
}

Value time_field(Vm& vm, Value object, std::string_view name) {
  if (is_kind(object, Kind::duration)) {
    const int64_t n = nanoseconds_of(object);
    if (name == "hours")
      return make_float(vm.heap(), double(n) / 3600e9);
    if (name == "minutes")
      return make_float(vm.heap(), double(n) / 60e9);
    if (name == "seconds")
      return make_float(vm.heap(), double(n) / 1e9);
    if (name == "milliseconds")
      return make_int(vm.heap(), n / 1'000'000);
    if (name == "microseconds")
      return make_int(vm.heap(), n / 1'000);
    if (name == "nanoseconds")
      return make_int(vm.heap(), n);
    return Value::unset();
  }
  const auto* time = as<TimeObject>(object);
  const Fields f = fields_of_time(*time);
  const std::pair<std::string_view, int64_t> all[] = {{"year", f.year},
                                                      {"month", f.month},
                                                      {"day", f.day},
                                                      {"hour", f.hour},
                                                      {"minute", f.minute},
                                                      {"second", f.second},
                                                      {"nanosecond", f.nanosecond},
                                                      {"unix", time->seconds}};
  for (const auto& [known, n] : all) {
    if (known == name)
      return make_int(vm.heap(), n);
  }
  if (name == "unix_nano")
    return make_int(vm.heap(), i64(u64(time->seconds) * u64(giga) + u64(time->nanoseconds)));
  return Value::unset();
}

std::span<const MethodEntry> time_methods() { return time_table; }
std::span<const MethodEntry> duration_methods() { return {}; }

Value make_time_module(Heap& heap) {
  const auto span = [&](int64_t nanoseconds) {
    auto* duration = heap.make<DurationObject>(Kind::duration);
    duration->nanoseconds = nanoseconds;
    return Value::object(duration);
  };
  const Named constants[] = {{"nanosecond", span(1)},          {"microsecond", span(1'000)},
                             {"millisecond", span(1'000'000)}, {"second", span(giga)},
                             {"minute", span(60 * giga)},      {"hour", span(3600 * giga)}};
  return make_library(heap, "time", functions, constants);
}

}  // namespace fettle::starlark
