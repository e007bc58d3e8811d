#include "controller/backoff.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Backoff, ThePauseDoublesUpToItsLimit) {
  Backoff backoff;
  Instant now;
  EXPECT_TRUE(backoff.is_over(now));
  for (Duration pause = 1s; pause < 5min; pause *= 2) {
    backoff.begin(now);
    EXPECT_EQ(backoff.until() - now, pause);
    EXPECT_FALSE(backoff.is_over(now + pause - 1ns));
    EXPECT_TRUE(backoff.is_over(now + pause));
    now += pause;
  }
  for (int i = 0; i < 3; ++i) {
    backoff.begin(now);
    EXPECT_EQ(backoff.until() - now, Duration(5min));
  }
}

TEST(Backoff, WhatIsAnotherOneBeginsWithTheShortestPause) {
  Backoff backoff;
  const Instant now;
  backoff.begin(now);
  backoff.begin(now);
  backoff.reset();
  EXPECT_FALSE(backoff.is_over(now + 1s)) << "the pause that has begun stays";
  backoff.begin(now);
  EXPECT_EQ(backoff.until() - now, Duration(1s));
}

TEST(Backoff, ANodeThatIsBackEndsThePauseAndNotTheCount) {
  Backoff backoff;
  const Instant now;
  backoff.begin(now);
  backoff.end(now);
  EXPECT_TRUE(backoff.is_over(now));
  backoff.begin(now);
  EXPECT_EQ(backoff.until() - now, Duration(2s));
}

}  // namespace
}  // namespace fettle
