#include "base/wait.h"

#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace fettle {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
};

TEST(Wait, WhatIsReadyIsToldAndALimitEnds) {
  const Pipe pipe;
  Poller poller({});
  std::array<pollfd, 1> waited{{{pipe.ends[0], POLLIN, 0}}};
  EXPECT_EQ(*poller.wait(waited, 1ms), 0);
  EXPECT_EQ(*poller.wait(waited, 0s), 0);
  ASSERT_EQ(write(pipe.ends[1], "x", 1), 1);
  EXPECT_EQ(*poller.wait(waited, for_ever), 1);
  EXPECT_NE(waited[0].revents & POLLIN, 0);
  EXPECT_TRUE(*await_descriptor(pipe.ends[0], POLLIN, for_ever, {}));
  EXPECT_FALSE(*await_descriptor(pipe.ends[1], POLLIN, 1ms, {}));
}

TEST(Wait, AStopEndsAWaitWithoutALimit) {
  const Pipe pipe;
  std::stop_source stop;
  Poller poller(stop.get_token());
  std::array<pollfd, 1> waited{{{pipe.ends[0], POLLIN, 0}}};
  EXPECT_EQ(*poller.wait(waited, 1ms), 0);
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_TRUE(is_cancelled(poller.wait(waited, for_ever).error()));
  EXPECT_TRUE(is_cancelled(poller.wait(waited, for_ever).error())) << "and every later one";
  EXPECT_TRUE(is_cancelled(pause_for(1h, stop.get_token()).error()));
  EXPECT_TRUE(is_cancelled(await_descriptor(pipe.ends[0], POLLIN, 1h, stop.get_token()).error()));
}

TEST(Wait, TimePassesWithoutAStop) {
  std::stop_source stop;
  EXPECT_TRUE(pause_for(1ms, stop.get_token()));
  EXPECT_TRUE(pause_for(-1s, {}));
}

TEST(Wait, WhatIsLeftOfALimit) {
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(left_of(0s, now), for_ever);
  EXPECT_EQ(left_of(1s, now - 5s), 0s);
  EXPECT_GT(left_of(1h, now), 59min);
}

}  // namespace
}  // namespace fettle
