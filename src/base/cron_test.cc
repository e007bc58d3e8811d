#include "base/cron.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

Time at(int year, unsigned month, unsigned day, int hour, int minute, int second = 0) {
  using namespace std::chrono;
  return Time(sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day))
                  .time_since_epoch() +
              hours(hour) + minutes(minute) + seconds(second));
}

std::string next(std::string_view cron, Time time) {
  const Result<Cron> parsed = Cron::parse(cron);
  if (!parsed)
    return parsed.error().message;
  const std::optional<Time> found = parsed->next(time);
  return found ? to_string(*found).substr(0, 16) : "never";
}

TEST(Cron, FindsTheNextTime) {
  const Time saturday = at(2026, 11, 21, 13, 0, 5);
  EXPECT_EQ(next("0 1 * * *", saturday), "2026-11-22T01:00");
  EXPECT_EQ(next("* * * * *", saturday), "2026-11-21T13:01");
  EXPECT_EQ(next("0 13 * * *", saturday), "2026-11-22T13:00");
  EXPECT_EQ(next("*/20 * * * *", saturday), "2026-11-21T13:20");
  EXPECT_EQ(next("5-50/15 13 * * *", saturday), "2026-11-21T13:05");
  EXPECT_EQ(next("0 0 1 1 *", saturday), "2027-01-01T00:00");
  EXPECT_EQ(next("0 9 * * mon-fri", saturday), "2026-11-23T09:00");
  EXPECT_EQ(next("0 9 * * 7", saturday), "2026-11-22T09:00");
  EXPECT_EQ(next("0 0 29 2 *", saturday), "2028-02-29T00:00");
  EXPECT_EQ(next("0 0 30 feb *", saturday), "never");
  EXPECT_EQ(next("0 0 13 * fri", saturday), "2026-11-27T00:00");
}

TEST(Cron, RefusesWhatIsNone) {
  const Time now = at(2026, 11, 21, 13, 0);
  EXPECT_EQ(
      next("", now),
      "`` is not a cron expression: it has 0 fields, not minute, hour, day, month and weekday");
  EXPECT_EQ(next("60 * * * *", now), "`60` is not a valid minute of a cron expression (0 to 59)");
  EXPECT_EQ(next("0 5-3 * * *", now), "`5-3` is not a valid hour of a cron expression (0 to 23)");
  EXPECT_EQ(next("0 0 0 * *", now), "`0` is not a valid day of a cron expression (1 to 31)");
  EXPECT_EQ(next("0 0 * foo *", now), "`foo` is not a valid month of a cron expression (1 to 12)");
  EXPECT_EQ(next("*/0 * * * *", now), "`*/0` is not a valid minute of a cron expression (0 to 59)");
  EXPECT_EQ(next("1,,2 * * * *", now), "`` is not a valid minute of a cron expression (0 to 59)");
}

}  // namespace
}  // namespace fettle
