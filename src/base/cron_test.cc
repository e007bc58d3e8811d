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
  EXPECT_EQ(next("0 0 13 * fri", saturday), "2027-08-13T00:00");
}

/// Answers of Python's `crontab`.
TEST(Cron, ReadsWhatTheOriginalReads) {
  const Time saturday = at(2026, 11, 21, 13, 0, 5);
  EXPECT_EQ(next("@daily", saturday), "2026-11-22T00:00");
  EXPECT_EQ(next("@weekly", saturday), "2026-11-22T00:00");
  EXPECT_EQ(next("0 0 L * *", saturday), "2026-11-30T00:00");
  EXPECT_EQ(next("0 0 z2 * *", saturday), "2026-11-28T00:00");
  EXPECT_EQ(next("0 0 15,L * *", saturday), "2026-11-30T00:00");
  EXPECT_EQ(next("0 0 * * L5", saturday), "2026-11-27T00:00");
  EXPECT_EQ(next("0 0 * * L1-3", saturday), "2026-11-24T00:00");
  EXPECT_EQ(next("0 0 31 * L1", saturday), "2027-05-31T00:00");
  EXPECT_EQ(next("0 0 ? * 1", saturday), "2026-11-23T00:00");
  EXPECT_EQ(next("0 0 * * fri-sun", saturday), "2026-11-22T00:00");
  EXPECT_EQ(next("0 0 1 1 * 2030", saturday), "2030-01-01T00:00");
  EXPECT_EQ(to_string(*Cron::parse("30 0 0 1 1 * 2030")->next(saturday)).substr(0, 19),
            "2030-01-01T00:00:30");
  for (const char* wrong :
       {"@Hourly", "@reboot", "0 0 1 1 * 2100", "*/61 * * * *", "59/5 * * * *", "*/60 * * * *",
        "30-50/40 * * * *", "L * * * *", "0 0 L5 * *", "0 0 * * L8", "0 0 * * L", "* * * *"})
    EXPECT_FALSE(Cron::parse(wrong)) << wrong;
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
