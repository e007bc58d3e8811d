#pragma once
/// The times of `cron`: five fields (minute, hour, day of the month, month, day of the week), or a
/// word such as `@daily`, local to this process (`TZ`). `base/cron.h` reads the settings of Inmanta,
/// whose times are those of Python's `crontab`: in UTC, with seconds and years, and a day must fit
/// both fields.
///
/// As in cron, a day fits if either of its two fields does, once both are limited. Where clocks are
/// put forward, a time that does not exist is the first moment after the gap. Where they are put
/// back, a time that comes twice counts once, unless the hour is `*`: then both hours count, since
/// such a schedule goes by the time that passes.

#include <bitset>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fettle {

class CronTimes {
 public:
  /// Error (`Blame::user`): the column, and what was expected there.
  static Result<CronTimes> parse(std::string_view text);
  /// The first one after a moment. None: there is none within the next years.
  std::optional<Time> next_after(Time from) const;

 private:
  struct LocalDay {
    int64_t number = 0;  ///< since 1970
    unsigned month = 1, day = 1, weekday = 0;
  };
  Status read_fields(std::string_view text);
  bool fits(const LocalDay& day) const;
  std::optional<int64_t> first_of(const LocalDay& day, int64_t from) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool is_any_hour_ = false, is_any_day_ = false, is_any_weekday_ = false;
};

}  // namespace fettle
