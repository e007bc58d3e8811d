#include "reconcile/wait.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Wait, ExponentialGrowsByHalfUpToTheLimit) {
  struct Case {
    int attempt;
    Duration want;
  };
  const Pace pace{Wait::exponential, 100ms, 1s};
  Prng prng(1);
  for (const Case& c :
       {Case{1, 100ms}, Case{2, 150ms}, Case{3, 225ms}, Case{7, 1s}, Case{1'000'000, 1s}})
    EXPECT_EQ(pause(pace, c.attempt, prng), c.want) << c.attempt;
}

TEST(Wait, RandomStaysWithinItsLimitsAndReplays) {
  const Pace pace{Wait::random, 10ms, 20ms};
  Prng a(7), b(7);
  for (int attempt = 1; attempt < 100; ++attempt) {
    const Duration drawn = pause(pace, attempt, a);
    EXPECT_GE(drawn, pace.shortest);
    EXPECT_LE(drawn, pace.longest);
    EXPECT_EQ(drawn, pause(pace, attempt, b));
  }
}

TEST(Wait, FixedIsFixed) {
  Prng prng(1);
  EXPECT_EQ(pause({Wait::fixed, 3s, 1s}, 9, prng),
            3s);  // the shortest wins over a longest below it
}

TEST(Wait, NamesAreReadAndSuggested) {
  EXPECT_EQ(*parse_wait("random"), Wait::random);
  EXPECT_EQ(parse_wait("exponentiol").error().message,
            "unknown wait algorithm `exponentiol`, did you mean `exponential`?");
}

}  // namespace
}  // namespace fettle
