#include "starlark/calendar/zone_rule.h"

#include <algorithm>

#include "starlark/calendar/calendar.h"

namespace fettle::starlark {
namespace {

constexpr int64_t years_of_a_cycle = 400;

/// A day of each year and seconds into it.
struct YearDay {
  enum class Form : uint8_t { week_of_month, without_leap_day, with_leap_day } form{};
  int month = 1, week = 1, day = 0;
  int64_t seconds = 7200;

  int64_t local_in(int64_t year) const {
    if (form == Form::with_leap_day)
      return (days_of(year, 1, 1) + day) * 86400 + seconds;
    const bool is_leap = days_of(year + 1, 1, 1) - days_of(year, 1, 1) == 366;
    if (form == Form::without_leap_day)
      return (days_of(year, 1, 1) + day - 1 + (is_leap && day >= 60 ? 1 : 0)) * 86400 + seconds;
    const int64_t first = days_of(year, month, 1);
    const int64_t first_weekday = ((first % 7) + 11) % 7;  // the first of 1970 was a Thursday
    int64_t at = first + (day - first_weekday + 7) % 7 + 7 * (week - 1);
    if (at >= days_of(year, month + 1, 1))
      at -= 7;
    return at * 86400 + seconds;
  }
};

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) {}

  bool accept(char c) {
    if (!rest_.starts_with(c))
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string name() {
    const bool quoted = accept('<');
    size_t size = 0;
    while (size < rest_.size() &&
           (quoted ? rest_[size] != '>' : (rest_[size] | 32) >= 'a' && (rest_[size] | 32) <= 'z'))
      ++size;
    std::string found(rest_.substr(0, size));
    rest_.remove_prefix(std::min(size + (quoted ? 1 : 0), rest_.size()));
    return found;
  }

  int number() {
    int n = 0;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      n = std::min(n * 10 + (rest_[0] - '0'), 100'000);
      rest_.remove_prefix(1);
    }
    return n;
  }

  /// `[-]hours[:minutes[:seconds]]`
  int time() {
    const bool negative = accept('-');
    if (!negative)
      accept('+');
    int seconds = std::min(number(), 1000) * 3600;
    if (accept(':'))
      seconds += number() * 60;
    if (accept(':'))
      seconds += number();
    return negative ? -seconds : seconds;
  }

  YearDay year_day() {
    YearDay found;
    if (accept('M')) {
      found.month = std::clamp(number(), 1, 12);
      accept('.');
      found.week = std::clamp(number(), 1, 5);
      accept('.');
      found.day = std::min(number(), 6);
    } else {
      found.form = accept('J') ? YearDay::Form::without_leap_day : YearDay::Form::with_leap_day;
      found.day = std::min(number(), 366);
    }
    if (accept('/'))
      found.seconds = time();
    return found;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::vector<ZoneChange> changes_of_rule(std::string_view rule, int64_t year) {
  RuleReader in(rule);
  const std::string winter = in.name();
  const int winter_offset = -in.time();
  const std::string summer = in.name();
  if (winter.empty() || summer.empty())
    return {};
  int summer_offset = winter_offset + 3600;
  if (!in.accept(',')) {
    summer_offset = -in.time();
    if (!in.accept(','))
      return {};
  }
  std::vector<ZoneChange> changes;
  const YearDay begin = in.year_day();
  in.accept(',');
  const YearDay end = in.year_day();
  for (int64_t y = year; y < year + years_of_a_cycle; ++y) {
    changes.push_back({begin.local_in(y) - winter_offset, summer_offset, summer});
    changes.push_back({end.local_in(y) - summer_offset, winter_offset, winter});
  }
  std::ranges::sort(changes, {}, &ZoneChange::from);
  return changes;
}

}  // namespace fettle::starlark
