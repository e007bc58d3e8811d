#include "reconcile/wait.h"

#include <set>

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
    EXPECT_EQ(pause(pace, c.attempt, 0s, prng), c.want) << c.attempt;
}

TEST(Wait, RandomStaysWithinItsLimitsAndReplays) {
  const Pace pace{Wait::random, 10ms, 20ms};
  Prng a(7), b(7);
  for (int attempt = 1; attempt < 100; ++attempt) {
    const Duration drawn = pause(pace, attempt, 0s, a);
    EXPECT_GE(drawn, pace.shortest);
    EXPECT_LE(drawn, pace.longest);
    EXPECT_EQ(drawn, pause(pace, attempt, 0s, b));
  }
}

TEST(Wait, RandomDrawsWholeUnitsBothEndsIncluded) {
  const Pace pace{Wait::random, 2s, 5s, 1.5, Jitter::none, 1s};
  Prng prng(3);
  std::set<Duration> drawn;
  for (int call = 1; call < 200; ++call)
    drawn.insert(pause(pace, call, 0s, prng));
  EXPECT_EQ(drawn, (std::set<Duration>{2s, 3s, 4s, 5s}));
}

TEST(Wait, ExponentialMayGrowWithoutALimit) {
  const Pace pace{Wait::exponential, 2s, Duration::max(), 10};
  Prng prng(1);
  EXPECT_EQ(pause(pace, 1, 0s, prng), 2s);
  EXPECT_EQ(pause(pace, 2, 0s, prng), 20s);
  EXPECT_EQ(pause(pace, 3, 0s, prng), 200s);
  EXPECT_GT(pause(pace, 1'000'000, 0s, prng), Duration(24h * 365));
}

TEST(Wait, JitterStaysWithinWhatItsNameSays) {
  Prng prng(5);
  Duration before = 0s;
  for (int call = 1; call < 300; ++call) {
    const Duration full = pause({Wait::fixed, 4s, 4s, 1, Jitter::full}, call, 0s, prng);
    EXPECT_TRUE(full >= 0s && full <= 4s);
    const Duration equal = pause({Wait::fixed, 4s, 4s, 1, Jitter::equal}, call, 0s, prng);
    EXPECT_TRUE(equal >= 2s && equal <= 4s);
    const Duration next =
        pause({Wait::exponential, 1s, 30s, 2, Jitter::decorrelated}, call, before, prng);
    EXPECT_TRUE(next >= 1s && next <= std::clamp<Duration>(before * 3, 1s, 30s)) << call;
    before = next;
  }
}

TEST(Wait, FixedIsFixed) {
  Prng prng(1);
  EXPECT_EQ(pause({Wait::fixed, 3s, 1s}, 9, 0s, prng),
            3s);  // the shortest wins over a longest below it
}

}  // namespace
}  // namespace fettle
