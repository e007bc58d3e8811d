#include "base/result.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0)
    return user_error("`" + std::to_string(number) + "` is odd", {"a.txt", 3, 4});
  return number / 2;
}

Result<int> quarter(int number) {
  const int once = TRY(half(number));
  return TRY(half(once).context("halving again"));
}

TEST(Result, TryReturnsTheValueOrTheError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(7).error().message, "`7` is odd");
}

TEST(Result, ContextTellsWhatTheCallerWasDoingOutermostFirst) {
  Result<int> failed = quarter(6).context("reading");
  EXPECT_EQ(to_string(failed.error()), "a.txt:3:4: reading: halving again: `3` is odd");
}

TEST(Result, PlacesArePrintedAsFarAsTheyAreKnown) {
  EXPECT_EQ(to_string(Where{"a", 0, 0}), "a");
  EXPECT_EQ(to_string(Where{"a", 2, 0}), "a:2");
  EXPECT_EQ(to_string(Where{"", 2, 7}), "line 2:7");
  EXPECT_EQ(to_string(Where{}), "");
}

}  // namespace
}  // namespace fettle
