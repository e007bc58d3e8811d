#include "base/cron.h"

#include <charconv>

#include "base/text.h"

namespace fettle {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

struct Field {
  std::string_view name;
  int least, most;
  std::string_view words;  ///< three letters each, the first stands for `least`
};

Error wrong(std::string_view text, const Field& field) {
  return user_error(cat("`", text, "` is not a valid ", field.name, " of a cron expression (",
                        field.least, " to ", field.most, ")"));
}

Result<int> number_of(std::string_view text, const Field& field) {
  int number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    const size_t place = text.size() == 3 ? field.words.find(lower_case(text)) : field.words.npos;
    if (place == field.words.npos || place % 3 != 0)
      return wrong(text, field);
    number = field.least + static_cast<int>(place / 3);
  }
  if (number < field.least || number > field.most)
    return wrong(text, field);
  return number;
}

template <size_t size>
Status read_piece(std::string_view piece, const Field& field, std::bitset<size>& set) {
  int step = 1, first = field.least, last = field.most;
  std::string_view range = piece;
  const size_t slash = piece.find('/');
  if (slash != piece.npos) {
    range = piece.substr(0, slash);
    const std::string_view text = piece.substr(slash + 1);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), step);
    if (code != std::errc() || end != text.data() + text.size() || step < 1 || step > 1000)
      return wrong(piece, field);
  }
  if (range != "*") {
    const size_t dash = range.find('-');
    first = TRY(number_of(range.substr(0, dash), field));
    last = dash != range.npos    ? TRY(number_of(range.substr(dash + 1), field))
           : slash == piece.npos ? first
                                 : field.most;
  }
  if (last < first)
    return wrong(piece, field);
  for (int i = first; i <= last; i += step)
    set.set(static_cast<size_t>(i));
  return {};
}

template <size_t size>
Status read_field(std::string_view text, const Field& field, std::bitset<size>& set) {
  for (const std::string_view piece : split(text, ','))
    TRY(read_piece(piece, field, set));
  return {};
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::vector<std::string_view> fields;
  for (const std::string_view field : split(trim(text), ' '))
    if (!trim(field).empty())
      fields.push_back(trim(field));
  if (fields.size() != 5)
    return user_error(cat("`", text, "` is not a cron expression: it has ", fields.size(),
                          " fields, not minute, hour, day, month and weekday"));
  Cron cron;
  TRY(read_field(fields[0], {"minute", 0, 59, ""}, cron.minutes_));
  TRY(read_field(fields[1], {"hour", 0, 23, ""}, cron.hours_));
  TRY(read_field(fields[2], {"day", 1, 31, ""}, cron.days_));
  TRY(read_field(fields[3], {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
                 cron.months_));
  TRY(read_field(fields[4], {"weekday", 0, 7, "sunmontuewedthufrisat"}, cron.weekdays_));
  if (cron.weekdays_.test(7))
    cron.weekdays_.set(0);
  cron.any_day_ = fields[2].starts_with('*');
  cron.any_weekday_ = fields[4].starts_with('*');
  return cron;
}

/// As every cron does: with both days given, either one fits.
bool Cron::fits_day(int64_t number) const {
  const sys_days day{days(number)};
  const year_month_day date(day);
  const bool fits_date = days_.test(static_cast<unsigned>(date.day()));
  const bool fits_weekday = weekdays_.test(std::chrono::weekday(day).c_encoding());
  if (!months_.test(static_cast<unsigned>(date.month())))
    return false;
  if (any_day_ || any_weekday_)
    return fits_date && fits_weekday;
  return fits_date || fits_weekday;
}

std::optional<Time> Cron::next(Time time) const {
  constexpr int64_t day_minutes = 24 * 60;
  constexpr int64_t searched_days = 3660;
  const auto since = std::chrono::floor<std::chrono::minutes>(time.time_since_epoch());
  int64_t minute = since.count() + 1;
  int64_t day = minute >= 0 ? minute / day_minutes : (minute - day_minutes + 1) / day_minutes;
  int64_t from = minute - day * day_minutes;
  for (int64_t last = day + searched_days; day < last; ++day, from = 0) {
    if (!fits_day(day))
      continue;
    for (; from < day_minutes; ++from)
      if (hours_.test(static_cast<size_t>(from / 60)) &&
          minutes_.test(static_cast<size_t>(from % 60)))
        return Time(std::chrono::minutes(day * day_minutes + from));
  }
  return std::nullopt;
}

}  // namespace fettle
