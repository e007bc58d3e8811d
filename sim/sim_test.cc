#include <gtest/gtest.h>

#include <fstream>

#include "sim/simulation.h"

namespace fettle::sim {
namespace {

TEST(Simulation, SeedsThatOnceFailedAreGood) {
  std::ifstream seeds(FETTLE_SOURCE_DIR "/sim/seeds.txt");
  ASSERT_TRUE(seeds) << "sim/seeds.txt is missing";
  for (uint64_t seed = 0; seeds >> seed;) {
    const Report report = simulate(seed);
    EXPECT_TRUE(report.good) << "./dev sim --seed " << seed << ": " << report.problem << "\n"
                             << report.history;
  }
}

TEST(Simulation, TwoThousandSeedsAreGoodWithFaultsAndCrashes) {
  uint64_t crashes = 0, faults = 0, steps = 0;
  for (uint64_t seed = 1; seed <= 2'000; ++seed) {
    const Report report = simulate(seed);
    ASSERT_TRUE(report.good) << "./dev sim --seed " << seed << ": " << report.problem << "\n"
                             << report.history;
    crashes += report.crashes;
    faults += report.faults;
    steps += report.steps;
  }
  EXPECT_GT(crashes, 500u);
  EXPECT_GT(faults, 500u);
  EXPECT_GT(steps, 20'000u);
}

TEST(Simulation, TheSameSeedGivesTheSameRun) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Report one = simulate(seed), other = simulate(seed);
    EXPECT_EQ(one.digest, other.digest) << seed;
    EXPECT_EQ(one.course, other.course) << seed;
  }
}

}  // namespace
}  // namespace fettle::sim
