#include "verbs/states/paced_drivers.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

const Key mine{"e", "service", "web"}, other{"e", "service", "db"};

/// Comes to what the test says.
class AnswerDriver : public Driver {
 public:
  Result<std::vector<Observation>> observe(std::span<const Subject>, std::stop_token) override {
    return std::vector<Observation>();
  }
  Result<Outcome> apply(const Act&, const ProgressSink&, std::stop_token) override {
    return outcome;
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }
  Result<Outcome> outcome = Outcome(Done{});
};

class PacedDriversTest : public testing::Test {
 protected:
  Result<Outcome> apply(const Key& key, Result<Outcome> outcome, int attempt = 1) {
    driver_.outcome = std::move(outcome);
    Act act;
    act.key = key;
    act.attempt = attempt;
    act.so_far = Value(7);
    return paced_.around("engine", &driver_)->apply(act, {}, {});
  }
  static Outcome not_ready() {
    return Pending{.what = "no port", .retry_after = 250ms, .so_far = Value(1)};
  }

  AnswerDriver driver_;
  PacedDrivers paced_{[](const Value& wait, int calls, std::stop_token) -> Result<Duration> {
    return wait.is_integer() ? Result<Duration>(wait.integer().value_or(0) * 1s * (calls + 1))
                             : world_error("no idea");
  }};
};

TEST_F(PacedDriversTest, WithoutWaitsADriverIsItself) {
  EXPECT_EQ(paced_.around("engine", &driver_), &driver_);
  paced_.put(mine, 5);
  EXPECT_NE(paced_.around("engine", &driver_), &driver_);
  EXPECT_EQ(paced_.around("engine", &driver_), paced_.around("engine", &driver_));
  EXPECT_EQ(paced_.around("none", nullptr), nullptr);
}

TEST_F(PacedDriversTest, WhatIsNotReadyComesAgainAsItsWaitSays) {
  paced_.put(mine, 5);
  EXPECT_EQ(std::get<Pending>(*apply(mine, not_ready())).retry_after, Duration(5s));
  EXPECT_EQ(std::get<Pending>(*apply(mine, not_ready(), 3)).retry_after, Duration(15s));
  EXPECT_EQ(std::get<Pending>(*apply(other, not_ready())).retry_after, Duration(250ms));
  paced_.put(mine, {});  // its pace says it
  EXPECT_EQ(std::get<Pending>(*apply(mine, not_ready())).retry_after, std::nullopt);
}

TEST_F(PacedDriversTest, AnErrorComesAgainWithItsProgress) {
  paced_.put(mine, 5);
  const Result<Outcome> outcome = apply(mine, world_error("refused"), 2);
  const Failed& failed = std::get<Failed>(*outcome);
  EXPECT_EQ(failed.error.message, "refused");
  EXPECT_TRUE(failed.outputs.is_null());
  EXPECT_EQ(failed.again->after, Duration(10s));
  EXPECT_EQ(failed.again->so_far, Value(7));
  EXPECT_EQ(failed.again->progress, Name("refused").digest());
}

TEST_F(PacedDriversTest, WhatWasStoppedOrIsUnknownStaysAnError) {
  paced_.put(mine, 5);
  EXPECT_TRUE(is_cancelled(apply(mine, cancelled_error()).error()));
  Error unknown = world_error("broke off");
  unknown.unknown_outcome = true;
  EXPECT_EQ(apply(mine, unknown).error().message, "broke off");
}

TEST_F(PacedDriversTest, AWaitThatFailsIsTheError) {
  paced_.put(mine, "bad");
  EXPECT_EQ(apply(mine, not_ready()).error().message, "no idea");
  EXPECT_TRUE(std::holds_alternative<Done>(*apply(mine, Outcome(Done{}))));
}

}  // namespace
}  // namespace fettle
