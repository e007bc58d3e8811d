#include "model/evaluate/contributions.h"

#include <gtest/gtest.h>

namespace fettle::model {
namespace {

constexpr Contributor somebody = 5;

TEST(Contributions, AreOfWhomTheTaskWritesFor) {
  Underway now;
  Contributions contributions(true, now);
  {
    const ScopeGuard contributing(now.by, somebody);
    contributions.read(nullptr, 3, Place());
    contributions.allocate(Datum::of(true));
  }
  contributions.read(nullptr, 4, Place());
  ASSERT_EQ(contributions.readings().size(), 2U);
  EXPECT_EQ(contributions.readings()[0].by, somebody);
  EXPECT_EQ(contributions.readings()[1].by, 0U);
  ASSERT_EQ(contributions.allocations().size(), 1U);
  EXPECT_EQ(contributions.allocations()[0].by, somebody);
}

TEST(Contributions, AProbeReadsNothing) {
  Underway now;
  Contributions contributions(true, now);
  const ScopeGuard probing(now.is_probing, true);
  contributions.read(nullptr, 3, Place());
  EXPECT_TRUE(contributions.readings().empty());
}

TEST(Contributions, AreRepeatedByOthersOnly) {
  Underway now;
  Contributions contributions(true, now);
  Instance owner{};
  owner.number = 7;
  const ScopeGuard contributing(now.by, somebody);
  contributions.repeat(&owner, 0, Datum::of(true), somebody, Place());
  EXPECT_TRUE(contributions.repetitions().empty());
  contributions.repeat(&owner, 0, Datum::of(true), 0, Place());
  ASSERT_EQ(contributions.repetitions().size(), 1U);
  EXPECT_EQ(contributions.repetitions()[0].by, somebody);
  const ScopeGuard of_the_owner(now.by, Contributor{owner.number + 1});
  contributions.repeat(&owner, 0, Datum::of(true), 0, Place());
  EXPECT_EQ(contributions.repetitions().size(), 1U);
}

TEST(Contributions, AreKeptForAVersionOnly) {
  Underway now;
  Contributions contributions(false, now);
  Instance owner{};
  const ScopeGuard contributing(now.by, somebody);
  contributions.read(nullptr, 3, Place());
  contributions.repeat(&owner, 0, Datum::of(true), 0, Place());
  EXPECT_TRUE(contributions.readings().empty());
  EXPECT_TRUE(contributions.repetitions().empty());
  contributions.allocate(Datum::of(true));
  EXPECT_EQ(contributions.allocations().size(), 1U);
}

}  // namespace
}  // namespace fettle::model
