#include "base/time.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Time, DurationsArePrintedAsGoPrintsThem) {
  EXPECT_EQ(to_string(Duration(0)), "0s");
  EXPECT_EQ(to_string(Duration(250ms)), "250ms");
  EXPECT_EQ(to_string(Duration(1500ms)), "1.5s");
  EXPECT_EQ(to_string(Duration(90s)), "1m30s");
  EXPECT_EQ(to_string(Duration(2h)), "2h0m0s");
  EXPECT_EQ(to_string(Duration(-3s)), "-3s");
  EXPECT_EQ(to_string(Duration(1234567)), "1.234567ms");
}

TEST(Time, DurationsAreReadInGoSyntax) {
  EXPECT_EQ(*parse_duration("1h15m30.918s"), 1h + 15min + 30s + 918ms);
  EXPECT_EQ(*parse_duration("-1.5h"), -90min);
  EXPECT_EQ(*parse_duration("0"), 0s);
  EXPECT_EQ(*parse_duration("2\xC2\xB5s"), 2us);
  for (const char* wrong : {"", "1", "s", "1 s", "3d", "99999999999h", "-"})
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
}

TEST(Time, TimesArePrintedInUtcWithMilliseconds) {
  EXPECT_EQ(to_string(Time(1'700'000'000'123ms)), "2023-11-14T22:13:20.123Z");
}

}  // namespace
}  // namespace fettle
