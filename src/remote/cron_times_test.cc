/// The times of cron, in zones whose clocks are put forward and back.

#include "remote/cron_times.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>

#include "base/rfc3339.h"
#include "base/text.h"

namespace fettle {
namespace {

/// A zone by its rule, so the test does not need the system's files.
constexpr const char* berlin = "CET-1CEST,M3.5.0,M10.5.0/3";

class CronTest : public testing::Test {
 protected:
  CronTest() { use_zone("UTC0"); }
  ~CronTest() override {
    unsetenv("TZ");
    tzset();
  }
  static void use_zone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  /// The next times after a moment.
  static std::string next(std::string_view text, std::string_view from, size_t count = 1) {
    const Result<CronTimes> times = CronTimes::parse(text);
    if (!times)
      return times.error().message;
    Time at = *read_moment(from);
    std::vector<std::string> all;
    for (size_t i = 0; i < count; ++i) {
      const std::optional<Time> found = times->next_after(at);
      if (!found)
        return "never";
      at = *found;
      all.push_back(write_moment(at));
    }
    return join(all, " ");
  }
  static std::string error_of(std::string_view text) { return next(text, "2026-01-01T00:00:00Z"); }
};

TEST_F(CronTest, FieldsHaveListsRangesStepsAndNames) {
  EXPECT_EQ(next("*/7 * * * *", "2026-01-01T00:50:00Z", 3),
            "2026-01-01T00:56:00Z 2026-01-01T01:00:00Z 2026-01-01T01:07:00Z");
  EXPECT_EQ(next("0 3 * * *", "2026-01-01T03:00:00Z"), "2026-01-02T03:00:00Z");
  EXPECT_EQ(next("0 3 * * *", "2026-01-01T02:59:59Z"), "2026-01-01T03:00:00Z");
  EXPECT_EQ(next("5,10-12,50/5 1 * * *", "2026-01-01T00:00:00Z", 6),
            "2026-01-01T01:05:00Z 2026-01-01T01:10:00Z 2026-01-01T01:11:00Z 2026-01-01T01:12:00Z "
            "2026-01-01T01:50:00Z 2026-01-01T01:55:00Z");
  EXPECT_EQ(next("0 0 * FEB-mar Mon", "2026-01-01T00:00:00Z"), "2026-02-02T00:00:00Z");
  EXPECT_EQ(next("0 0 * * fri-7", "2026-01-01T00:00:00Z", 4),
            "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z 2026-01-04T00:00:00Z 2026-01-09T00:00:00Z");
  EXPECT_EQ(next("  0\t0  1 1 * ", "2026-01-01T00:00:00Z"), "2027-01-01T00:00:00Z");
}

TEST_F(CronTest, WordsMeanWhatCronSays) {
  const std::string from = "2026-01-01T00:30:00Z";
  EXPECT_EQ(next("@hourly", from), "2026-01-01T01:00:00Z");
  EXPECT_EQ(next("@daily", from), "2026-01-02T00:00:00Z");
  EXPECT_EQ(next("@midnight", from), "2026-01-02T00:00:00Z");
  EXPECT_EQ(next("@weekly", from), "2026-01-04T00:00:00Z");
  EXPECT_EQ(next("@monthly", from), "2026-02-01T00:00:00Z");
  EXPECT_EQ(next("@yearly", from), "2027-01-01T00:00:00Z");
  EXPECT_EQ(next("@Annually", from), "2027-01-01T00:00:00Z");
}

TEST_F(CronTest, EitherDayFitsIfBothAreLimited) {
  // The 13th, and each Friday.
  EXPECT_EQ(next("0 0 13 * fri", "2026-01-08T00:00:00Z", 3),
            "2026-01-09T00:00:00Z 2026-01-13T00:00:00Z 2026-01-16T00:00:00Z");
  EXPECT_EQ(next("0 0 13 * *", "2026-01-08T00:00:00Z", 2),
            "2026-01-13T00:00:00Z 2026-02-13T00:00:00Z");
}

TEST_F(CronTest, MonthsHaveTheirEnds) {
  EXPECT_EQ(next("0 0 31 * *", "2026-01-31T00:00:00Z", 2),
            "2026-03-31T00:00:00Z 2026-05-31T00:00:00Z");
  EXPECT_EQ(next("59 23 28-31 12 *", "2026-12-31T23:59:00Z"), "2027-12-28T23:59:00Z");
  EXPECT_EQ(next("0 0 29 2 *", "2026-01-01T00:00:00Z", 2),
            "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z");
  EXPECT_EQ(next("0 0 29 2 *", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00Z")
      << "2100 is no leap year";
  EXPECT_EQ(error_of("0 0 31 2,4,6 *"),
            "the times `0 0 31 2,4,6 *` never come: none of these months has such a day");
}

TEST_F(CronTest, ATimeThatDoesNotExistIsTheNextThatDoes) {
  use_zone(berlin);
  // On 29 March 2026, 02:00 is 03:00.
  EXPECT_EQ(next("30 2 * * *", "2026-03-28T12:00:00Z", 2),
            "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z");
  EXPECT_EQ(next("0,15,30 2 * * *", "2026-03-28T12:00:00Z", 2),
            "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z")
      << "once for all of them";
  EXPECT_EQ(next("0 * * * *", "2026-03-29T00:00:00Z", 2),
            "2026-03-29T01:00:00Z 2026-03-29T02:00:00Z");
}

TEST_F(CronTest, ATimeThatComesTwiceCountsOnce) {
  use_zone(berlin);
  // On 25 October 2026, 03:00 is 02:00 again.
  EXPECT_EQ(next("30 2 * * *", "2026-10-24T12:00:00Z", 2),
            "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z");
  EXPECT_EQ(next("30 2 * * *", "2026-10-25T01:00:00Z"), "2026-10-26T01:30:00Z");
  EXPECT_EQ(next("0 2,3 * * *", "2026-10-24T12:00:00Z", 2),
            "2026-10-25T00:00:00Z 2026-10-25T02:00:00Z");
  EXPECT_EQ(next("30 * * * *", "2026-10-25T00:00:00Z", 3),
            "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z")
      << "each hour that passes";
}

TEST_F(CronTest, ChangesOfHalfAnHourAndOfTheSouth) {
  use_zone("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");  // Lord Howe
  // On 4 October 2026, 02:00 is 02:30; on 5 April, 02:00 is 01:30 again.
  EXPECT_EQ(next("15 2 * * *", "2026-10-03T10:00:00Z"), "2026-10-03T15:30:00Z");
  EXPECT_EQ(next("45 1 * * *", "2026-04-04T10:00:00Z", 2),
            "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z");
}

TEST_F(CronTest, ErrorsNameTheColumnAndWhatIsExpected) {
  EXPECT_EQ(error_of("0 25 * * *"),
            "the times `0 25 * * *` are wrong at column 3: expected an hour (0–23), found `25`");
  EXPECT_EQ(error_of(""),
            "the times `` are wrong at column 1: expected `*` or a minute (0–59), "
            "found the end");
  EXPECT_EQ(error_of("* * *"),
            "the times `* * *` are wrong at column 6: expected `*` or a month (1–12, or jan–dec), "
            "found the end");
  EXPECT_NE(error_of("* * * * * *").find("column 11: expected the end: there are five fields"),
            std::string::npos);
  EXPECT_NE(error_of("*/0 * * * *").find("column 3: expected a step (1 or more), found `0`"),
            std::string::npos);
  EXPECT_NE(error_of("9-5 * * * *").find("column 1: expected a range that goes up"),
            std::string::npos);
  EXPECT_NE(error_of("0 0 0 * *").find("column 5: expected a day of the month (1–31), found `0`"),
            std::string::npos);
  EXPECT_NE(error_of("0 0 * jam *").find("column 7: expected `*` or a month (1–12, or jan–dec)"),
            std::string::npos);
  EXPECT_NE(error_of("1x * * * *").find("column 2: expected `,`, `-`, `/` or a space"),
            std::string::npos);
  EXPECT_NE(error_of("99999999999 * * * *").find("column 1"), std::string::npos);
  EXPECT_NE(error_of("@dayly").find("did you mean `@daily`?"), std::string::npos);
  EXPECT_NE(error_of("@reboot").find("expected one of @yearly"), std::string::npos);
}

}  // namespace
}  // namespace fettle
