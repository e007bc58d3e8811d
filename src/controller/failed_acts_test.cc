#include "controller/failed_acts.h"

#include <gtest/gtest.h>

#include "reconcile/run.h"

namespace fettle {
namespace {

class FailedActsTest : public testing::Test {
 protected:
  static Record failed(int number) {
    Record record;
    record.attempt.emplace().failed = true;
    record.attempt.edit().resource = wanted(number);
    record.wanted_by[web] = wish_of(wanted(number));
    return record;
  }
  static Resource wanted(int number) {
    Resource resource;
    resource.key = pod;
    resource.attributes = Value::dict({{"number", number}});
    return resource;
  }
  bool is_held(int number) const { return acts.is_held(pod, wish_of(wanted(number)), now); }

  inline static const Name web = "CloneSet/default/web";
  inline static const Key pod{"cluster", "pod", "|default/web-1"};
  FailedActs acts;
  Instant now{1h};
};

TEST_F(FailedActsTest, EachFailureIsFollowedByALongerPause) {
  for (const Duration pause : {1s, 2s, 4s}) {
    acts.fail(pod, failed(1), false, now);
    EXPECT_EQ(acts.due(), now + pause);
    now += pause - 1ns;
    EXPECT_TRUE(is_held(1));
    EXPECT_TRUE(acts.take_due(now).empty());
    now += 1ns;
    EXPECT_FALSE(is_held(1));
    const auto due = acts.take_due(now);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due[0].key, pod);
    EXPECT_EQ(due[0].owners, std::set<Name>{web});
    EXPECT_TRUE(acts.take_due(now).empty()) << "it is tried once";
    EXPECT_FALSE(acts.due());
  }
}

TEST_F(FailedActsTest, AnotherWishIsTriedAtOnceAndBeginsAnew) {
  acts.fail(pod, failed(1), false, now);
  acts.fail(pod, failed(1), false, now);
  EXPECT_TRUE(is_held(1));
  EXPECT_FALSE(is_held(2));
  EXPECT_FALSE(acts.is_held(pod, now)) << "it may go";
  acts.fail(pod, failed(2), false, now);
  EXPECT_EQ(acts.due(), now + 1s);
}

TEST_F(FailedActsTest, WhatIsInTheWayHoldsUpEveryWish) {
  acts.fail(pod, failed(1), true, now);
  EXPECT_TRUE(is_held(2));
  acts.fail(pod, failed(2), true, now);
  EXPECT_EQ(acts.due(), now + 2s);
}

TEST_F(FailedActsTest, WhatFailedToGoWaits) {
  Record record = failed(1);
  record.attempt.edit().verb = Verb::remove;
  acts.fail(pod, record, false, now);
  EXPECT_TRUE(acts.is_held(pod, now));
  EXPECT_FALSE(is_held(1)) << "it is wanted again";
}

TEST_F(FailedActsTest, AChangeEndsThePause) {
  for (int i = 0; i < 5; ++i)
    acts.fail(pod, failed(1), false, now);
  acts.forgive(pod, now);
  EXPECT_FALSE(is_held(1));
  EXPECT_EQ(acts.take_due(now).size(), 1u);
  acts.fail(pod, failed(1), false, now);
  EXPECT_EQ(acts.due(), now + 1s);
  acts.forgive_all_of("CloneSet/default/other", now);
  EXPECT_TRUE(is_held(1));
  acts.forgive_all_of(web, now);
  EXPECT_FALSE(is_held(1));
}

TEST_F(FailedActsTest, NothingIsRememberedForEver) {
  acts.fail(pod, failed(1), false, now);
  acts.forget(pod);
  EXPECT_EQ(acts.size(), 0u);
  acts.fail(pod, failed(1), false, now);
  now += 1s;
  EXPECT_EQ(acts.take_due(now).size(), 1u);
  EXPECT_TRUE(acts.take_due(now + Backoff::longest).empty());
  EXPECT_EQ(acts.size(), 1u);
  EXPECT_TRUE(acts.take_due(now + Backoff::longest + 1ns).empty());
  EXPECT_EQ(acts.size(), 0u);
}

}  // namespace
}  // namespace fettle
