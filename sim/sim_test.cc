#include <gtest/gtest.h>

#include <fstream>

#include "sim/simulation.h"
#include "tests/fixtures/sanitized.h"

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

/// A sanitizer finds as much in a few lives as in many.
constexpr uint64_t lives = is_sanitized ? 400 : 2'000;

TEST(Simulation, SeedsAreGoodWithFaultsAndCrashes) {
  uint64_t crashes = 0, faults = 0, steps = 0;
  for (uint64_t seed = 1; seed <= lives; ++seed) {
    const Report report = simulate(seed);
    ASSERT_TRUE(report.good) << "./dev sim --seed " << seed << ": " << report.problem << "\n"
                             << report.history;
    crashes += report.crashes;
    faults += report.faults;
    steps += report.steps;
  }
  EXPECT_GT(crashes, lives / 4);
  EXPECT_GT(faults, lives / 4);
  EXPECT_GT(steps, lives * 10);
}

/// Each statement of these is a real one, to a database.
constexpr uint64_t lives_at_a_server = is_sanitized ? 60 : 300;

TEST(Simulation, NothingIsLostOrDoubledByConnectionsThatAreLost) {
  uint64_t losses = 0, steps = 0;
  for (uint64_t seed = 1; seed <= lives_at_a_server; ++seed) {
    const Report report = simulate(seed, StoreSort::server);
    ASSERT_TRUE(report.good) << "./dev sim --server --seed " << seed << ": " << report.problem
                             << "\n"
                             << report.history;
    losses += report.losses;
    steps += report.steps;
  }
  EXPECT_GT(losses, lives_at_a_server * 2);
  EXPECT_GT(steps, lives_at_a_server * 10);
}

TEST(Simulation, TheSameSeedGivesTheSameRun) {
  for (const StoreSort sort : {StoreSort::file, StoreSort::server})
    for (uint64_t seed = 1; seed <= (sort == StoreSort::file ? 50 : 20); ++seed) {
      const Report one = simulate(seed, sort), other = simulate(seed, sort);
      EXPECT_EQ(one.digest, other.digest) << seed;
      EXPECT_EQ(one.course, other.course) << seed;
    }
}

}  // namespace
}  // namespace fettle::sim
