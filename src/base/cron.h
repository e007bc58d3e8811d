#pragma once
/// Times that repeat, as cron writes them: `0 1 * * *` is every day at 01:00. Always UTC. They are
/// read as Python's `crontab` reads them, which Inmanta does with its settings. Schedules of a
/// server are read as cron itself reads them (`remote/cron_times.h`).

#include <bitset>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace fettle {

class Cron {
 public:
  /// Five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday); a
  /// sixth is the year, and with seven the first is the second. Each is `*` (or `?`), a number, a
  /// range `1-5`, steps `*/10`, a list `1,2,3`; months and days also by the first three letters of
  /// their English names. A day `L` is the last of its month, `z2` the second before it; a weekday
  /// `L5` is the last Friday of its month. `@daily` and its like stand for five fields.
  /// A time fits when every field does. Errors (`Blame::user`): it is no such text.
  static Result<Cron> parse(std::string_view text);

  /// The first second after `time` that fits; none when there is no such.
  std::optional<Time> next(Time time) const;

 private:
  bool fits_day(int64_t number) const;

  std::bitset<60> seconds_;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<32> days_before_last_;  ///< of the month; 0 is the last one
  std::bitset<13> months_;
  std::bitset<8> weekdays_;
  std::bitset<8> last_weekdays_;  ///< of the month
  std::bitset<130> years_;        ///< since 1970
};

}  // namespace fettle
