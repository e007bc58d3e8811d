#pragma once
/// Times that repeat, as cron writes them: `0 1 * * *` is every day at 01:00. Always UTC.

#include <array>
#include <bitset>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace fettle {

class Cron {
 public:
  /// Five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday), each
  /// `*`, a number, a range `1-5`, steps `*/10`, a list `1,2,3`; months and days also by the first
  /// three letters of their English names. Errors (`Blame::user`): it is no such text.
  static Result<Cron> parse(std::string_view text);

  /// The first minute after `time` that fits; none within the next ten years (the 30th of
  /// February).
  std::optional<Time> next(Time time) const;

 private:
  bool fits_day(int64_t days) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<8> weekdays_;
  bool any_day_ = false, any_weekday_ = false;
};

}  // namespace fettle
