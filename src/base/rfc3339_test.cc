#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Rfc3339, MomentsAreReadInEveryZone) {
  const Time noon{std::chrono::seconds(1'795'262'400)};
  for (const char* text : {"2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000000000Z",
                           "2026-11-21T13:30:00+01:30", "2026-11-21T04:00:00-08:00"}) {
    const auto read = read_moment(text);
    ASSERT_TRUE(read) << text << to_string(read.error());
    EXPECT_EQ(*read, noon) << text;
  }
  EXPECT_EQ(*read_moment("2026-11-21T12:00:00.5Z"), noon + 500ms);
}

TEST(Rfc3339, WhatIsNoMomentIsAnError) {
  for (const char* text :
       {"", "Z", "2026-11-21", "2026-11-21T12:00:00", "2026-13-21T12:00:00Z",
        "2026-02-30T12:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T12:00:00+99:00",
        "0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "2026-11-21T12:00:00.Z",
        "-026-11-21T12:00:00Z", "2026-11-21T12:00:00Z "})
    EXPECT_FALSE(read_moment(text)) << text;
}

TEST(Rfc3339, WhatIsWrittenIsRead) {
  const Time time = *read_moment("2026-01-02T03:04:05.678901234Z");
  EXPECT_EQ(write_moment(time), "2026-01-02T03:04:05Z");
  EXPECT_EQ(write_precise_moment(time), "2026-01-02T03:04:05.678901Z");
  EXPECT_EQ(*read_moment(write_precise_moment(time)), time - 234ns);
}

}  // namespace
}  // namespace fettle
