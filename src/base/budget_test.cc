#include "base/budget.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Budget, ARefusalStays) {
  Budget budget({.steps = 10'000, .bytes = 1'000});
  EXPECT_TRUE(budget.spend(9'999));
  EXPECT_TRUE(budget.spend(1));
  EXPECT_FALSE(budget.spend(1));
  EXPECT_FALSE(budget.spend(0));
  EXPECT_EQ(budget.refusal(), "it takes more than 10000 steps");
  budget.begin();
  EXPECT_TRUE(budget.spend(10'000));
}

TEST(Budget, BytesAreThoseInUse) {
  Budget budget({.bytes = 5'000'000});
  EXPECT_TRUE(budget.take(4'000'000));
  budget.give_back(3'000'000);
  EXPECT_TRUE(budget.take(4'000'000));
  EXPECT_FALSE(budget.is_over());
  EXPECT_FALSE(budget.has_room(1));
  EXPECT_FALSE(budget.spend(1));
  EXPECT_TRUE(budget.is_out_of_memory());
  EXPECT_EQ(budget.refusal(), "it takes more than 5 MB of memory");
}

TEST(Budget, WhatIsNoLongerWantedIsRefused) {
  std::atomic<bool> cancelled{false};
  Budget budget({.cancelled = &cancelled});
  EXPECT_TRUE(budget.spend(1));
  cancelled = true;
  uint64_t steps = 0;
  while (budget.spend(1))
    ++steps;
  EXPECT_LE(steps, 5'000u);
  EXPECT_EQ(budget.refusal(), "it was cancelled");
}

TEST(Budget, ThereIsAlwaysOne) {
  EXPECT_TRUE(Budget::current().take(1));
  Budget outer({.steps = 1}), inner({.steps = 1});
  {
    const Budget::Scope around(outer);
    {
      const Budget::Scope within(inner);
      EXPECT_EQ(&Budget::current(), &inner);
    }
    EXPECT_EQ(&Budget::current(), &outer);
  }
  EXPECT_NE(&Budget::current(), &outer);
}

TEST(Budget, HasHalfOfTheMachineAtLeast) { EXPECT_GE(Budget::default_bytes(), 2'000'000'000u); }

}  // namespace
}  // namespace fettle
