#include "tests/oracle/oracle.h"

#include <gtest/gtest.h>

namespace fettle::oracle {
namespace {

TEST(Oracle, PartialExportsGiveWhatOneCompileGives) {
  int accepted = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const Report report = check_history(seed);
    ASSERT_TRUE(report.good) << "build/release/oracle --seed " << seed << ": " << report.problem;
    accepted += report.accepted;
    refused += report.refused;
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 100);
}

TEST(Oracle, SeedsThatOnceFailedAreGood) {
  for (const int seed : {11821}) {
    const Report report = check_history(static_cast<uint64_t>(seed));
    EXPECT_TRUE(report.good) << "build/release/oracle --seed " << seed << ": " << report.problem;
  }
}

}  // namespace
}  // namespace fettle::oracle
