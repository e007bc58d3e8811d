#include <gtest/gtest.h>

#include "sim/cluster/simulation.h"
#include "tests/fixtures/sanitized.h"

namespace fettle::sim {
namespace {

/// A sanitizer finds as much in a few clusters as in many.
constexpr uint64_t clusters = is_sanitized ? 10 : 60;

TEST(ClusterSimulation, SeedsAreGoodWithFaultsAndCrashes) {
  uint64_t rollouts = 0, faults = 0, crashes = 0;
  for (uint64_t seed = 1; seed <= clusters; ++seed) {
    const ClusterReport report = simulate_cluster(seed);
    ASSERT_TRUE(report.good) << "./dev sim --cluster --seed " << seed << ": " << report.problem
                             << "\n"
                             << report.history;
    rollouts += report.rollouts;
    faults += report.faults;
    crashes += report.crashes;
  }
  EXPECT_GT(rollouts, clusters * 4);
  EXPECT_GT(faults, clusters * 4);
  EXPECT_GT(crashes, clusters / 2);
}

TEST(ClusterSimulation, TheSameSeedGivesTheSameTurns) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const ClusterReport one = simulate_cluster(seed), other = simulate_cluster(seed);
    EXPECT_EQ(one.digest, other.digest) << seed;
    EXPECT_EQ(one.history, other.history) << seed;
  }
}

}  // namespace
}  // namespace fettle::sim
