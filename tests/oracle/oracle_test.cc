#include "tests/oracle/oracle.h"

#include <gtest/gtest.h>

#include "tests/fixtures/sanitized.h"

namespace fettle::oracle {
namespace {

/// A sanitizer finds as much in a few histories as in many.
constexpr int histories = is_sanitized ? 100 : 500;

TEST(Oracle, PartialExportsGiveWhatOneCompileGives) {
  int accepted = 0, refused = 0;
  for (int seed = 1; seed <= histories; ++seed) {
    const Report report = check_history(static_cast<uint64_t>(seed));
    ASSERT_TRUE(report.good) << "build/release/oracle --seed " << seed << ": " << report.problem;
    accepted += report.accepted;
    refused += report.refused;
  }
  EXPECT_GT(accepted, histories);
  EXPECT_GT(refused, histories / 5);
}

TEST(Oracle, SeedsThatOnceFailedAreGood) {
  for (const int seed : {11821}) {
    const Report report = check_history(static_cast<uint64_t>(seed));
    EXPECT_TRUE(report.good) << "build/release/oracle --seed " << seed << ": " << report.problem;
  }
}

}  // namespace
}  // namespace fettle::oracle
