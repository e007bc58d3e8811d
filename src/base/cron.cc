#include "base/cron.h"

#include <charconv>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"

namespace fettle {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr int first_year = 1970, last_year = 2099;

struct Field {
  std::string_view name;
  int least, most;
  int most_of_range;       ///< a weekday may be 7
  std::string_view words;  ///< three letters each, the first stands for `least`
};

constexpr Field second_field{"second", 0, 59, 59, ""};
constexpr Field minute_field{"minute", 0, 59, 59, ""};
constexpr Field hour_field{"hour", 0, 23, 23, ""};
constexpr Field day_field{"day", 1, 31, 31, ""};
constexpr Field month_field{"month", 1, 12, 12, "janfebmaraprmayjunjulaugsepoctnovdec"};
constexpr Field weekday_field{"weekday", 0, 6, 7, "sunmontuewedthufrisat"};
constexpr Field year_field{"year", first_year, last_year, last_year, ""};

Error wrong(std::string_view text, const Field& field) {
  return user_error(cat("`", text, "` is not a valid ", field.name, " of a cron expression (",
                        field.least, " to ", field.most_of_range, ")"));
}

std::optional<int> whole_of(std::string_view text) {
  int number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && number >= 0
             ? std::optional(number)
             : std::nullopt;
}

Result<int> number_of(std::string_view text, const Field& field) {
  std::optional<int> number = whole_of(text);
  if (!number) {
    const size_t place = text.size() == 3 ? field.words.find(text) : field.words.npos;
    if (place != field.words.npos && place % 3 == 0)
      number = field.least + static_cast<int>(place / 3);
  }
  if (!number || *number < field.least || *number > field.most_of_range)
    return wrong(text, field);
  return *number;
}

template <size_t size>
Status read_piece(std::string_view piece, const Field& field, std::bitset<size>& set) {
  int step = 1, first = field.least, last = field.most;
  std::string_view range = piece;
  const size_t slash = piece.find('/');
  const bool has_step = slash != piece.npos;
  if (has_step) {
    range = piece.substr(0, slash);
    const std::optional<int> given = whole_of(piece.substr(slash + 1));
    if (!given || *given < 1 || *given > field.most_of_range)
      return wrong(piece, field);
    step = *given;
  }
  if (range != "*" && range != "?") {
    const size_t dash = range.find('-');
    first = TRY(number_of(range.substr(0, dash), field));
    last = dash != range.npos ? TRY(number_of(range.substr(dash + 1), field))
           : has_step         ? field.most
                              : first;
    if (dash != range.npos && last == 0 && field.words.starts_with("sun"))
      last = 7;
  }
  if (last < first || (has_step && first + step > field.most_of_range))
    return wrong(piece, field);
  for (int i = first; i <= last; i += step)
    set.set(static_cast<size_t>(field.least == first_year ? i - first_year : i));
  return {};
}

/// `5` or `1-3`, both from 0 to 7.
template <size_t size>
Status read_last(std::string_view piece, const Field& field, std::bitset<size>& set) {
  const std::string_view range = piece.substr(1);
  const size_t dash = range.find('-');
  const std::optional<int> first = whole_of(range.substr(0, dash));
  const std::optional<int> last = dash == range.npos ? first : whole_of(range.substr(dash + 1));
  if (!first || !last || *first > 7 || *last > 7 || *last < *first)
    return wrong(piece, field);
  for (int i = *first; i <= *last; ++i)
    set.set(static_cast<size_t>(i));
  return {};
}

template <size_t size>
Status read_field(std::string_view text, const Field& field, std::bitset<size>& set,
                  char last_mark = 0, std::bitset<32>* days_before_last = nullptr,
                  std::bitset<8>* last_weekdays = nullptr) {
  for (const std::string_view piece : split(text, ',')) {
    if (piece == "l" && days_before_last != nullptr)
      days_before_last->set(0);
    else if (days_before_last != nullptr && piece.starts_with(last_mark))
      TRY(read_last(piece, field, *days_before_last));
    else if (last_weekdays != nullptr && piece.starts_with(last_mark))
      TRY(read_last(piece, field, *last_weekdays));
    else
      TRY(read_piece(piece, field, set));
  }
  return {};
}

std::string_view meaning_of(std::string_view text) {
  static const std::unordered_map<std::string_view, std::string_view> aliases{
      {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
      {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@hourly", "0 * * * *"}};
  const auto found = aliases.find(text);
  return found == aliases.end() ? text : found->second;
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  const std::string lower = lower_case(meaning_of(text));
  std::vector<std::string_view> fields;
  for (const std::string_view field : split(lower, ' '))
    if (!trim(field).empty())
      fields.push_back(trim(field));
  if (fields.size() < 5 || fields.size() > 7)
    return user_error(cat("`", text, "` is not a cron expression: it has ", fields.size(),
                          " fields, not minute, hour, day, month and weekday"));
  if (fields.size() < 7)
    fields.insert(fields.begin(), "0");
  if (fields.size() < 7)
    fields.push_back("*");
  Cron cron;
  TRY(read_field(fields[0], second_field, cron.seconds_));
  TRY(read_field(fields[1], minute_field, cron.minutes_));
  TRY(read_field(fields[2], hour_field, cron.hours_));
  TRY(read_field(fields[3], day_field, cron.days_, 'z', &cron.days_before_last_));
  TRY(read_field(fields[4], month_field, cron.months_));
  TRY(read_field(fields[5], weekday_field, cron.weekdays_, 'l', nullptr, &cron.last_weekdays_));
  TRY(read_field(fields[6], year_field, cron.years_));
  for (std::bitset<8>* set : {&cron.weekdays_, &cron.last_weekdays_})
    if (set->test(7))
      set->set(0);
  return cron;
}

bool Cron::fits_day(int64_t number) const {
  const sys_days at{days(number)};
  const year_month_day date(at);
  const int in_year = static_cast<int>(date.year());
  if (in_year < first_year || in_year > last_year ||
      !years_.test(static_cast<size_t>(in_year - first_year)) ||
      !months_.test(static_cast<unsigned>(date.month())))
    return false;
  const auto of_month = static_cast<unsigned>(date.day());
  const auto last = static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day());
  const unsigned of_week = std::chrono::weekday(at).c_encoding();
  const bool fits_date = days_.test(of_month) || days_before_last_.test(last - of_month);
  return fits_date &&
         (weekdays_.test(of_week) || (last_weekdays_.test(of_week) && last - of_month < 7));
}

std::optional<Time> Cron::next(Time time) const {
  constexpr int64_t day_seconds = 24 * 60 * 60;
  const auto since = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const int64_t from = since.count() + 1;
  int64_t number = from >= 0 ? from / day_seconds : (from - day_seconds + 1) / day_seconds;
  int64_t at = from - number * day_seconds;
  const int64_t end = sys_days(std::chrono::year(last_year + 1) / 1 / 1).time_since_epoch().count();
  for (; number < end; ++number, at = 0) {
    if (!fits_day(number))
      continue;
    for (; at < day_seconds; ++at) {
      if (!hours_.test(static_cast<size_t>(at / 3600)))
        at = (at / 3600 + 1) * 3600 - 1;
      else if (!minutes_.test(static_cast<size_t>(at / 60 % 60)))
        at = (at / 60 + 1) * 60 - 1;
      else if (seconds_.test(static_cast<size_t>(at % 60)))
        return Time(std::chrono::seconds(number * day_seconds + at));
    }
  }
  return std::nullopt;
}

}  // namespace fettle
