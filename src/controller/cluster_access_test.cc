#include "controller/cluster_access.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

int acts_with(double qps, int burst) { return acts_at_once_for({.qps = qps, .burst = burst}); }

TEST(ActsAtOnce, FollowTheBudgetOfRequestsWithinLimits) {
  EXPECT_EQ(acts_with(30, 50), 16) << "the defaults";
  EXPECT_EQ(acts_with(1, 1), 16);
  EXPECT_EQ(acts_with(100, 50), 25);
  EXPECT_EQ(acts_with(30, 200), 50);
  EXPECT_EQ(acts_with(100'000, 100'000), 64);
  EXPECT_EQ(acts_with(0, 50), 64) << "there is no limit";
}

}  // namespace
}  // namespace fettle
