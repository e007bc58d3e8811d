#include "sim/cluster/turns.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/condition.h"
#include "base/thread.h"
#include "base/wait.h"

namespace fettle::sim {
namespace {

/// What two threads write in which order, and how long that takes.
std::string written_by_two(uint64_t seed) {
  std::string text;
  Turns turns(seed);
  const Instant began = instant_from_clock();
  {
    const auto write = [&text](char letter) {
      for (int i = 0; i < 20; ++i) {
        text += letter;
        ASSERT_TRUE(pause_for(1min, {}));
      }
    };
    Thread one([&] { write('a'); }), other([&] { write('b'); });
    one.join();
    other.join();
  }
  EXPECT_GE(instant_from_clock() - began, 20min);
  EXPECT_LT(instant_from_clock() - began, 21min);
  return text;
}

TEST(Turns, ASeedRepeatsTheOrderOfThreads) {
  const std::string first = written_by_two(1);
  EXPECT_EQ(first.size(), 40u);
  EXPECT_EQ(written_by_two(1), first);
  std::set<std::string> written;
  for (uint64_t seed = 1; seed <= 16; ++seed)
    written.insert(written_by_two(seed));
  EXPECT_GT(written.size(), 1u);
}

TEST(Turns, WhoeverWaitsIsWokenByAConditionAStopOrTheTime) {
  Turns turns(1);
  std::mutex mutex;
  Condition come;
  bool has_come = false;
  std::vector<std::string> told;
  {
    Thread by_condition([&] {
      std::unique_lock lock(mutex);
      come.wait(lock, [&] { return has_come; });
      told.emplace_back("condition");
    });
    Thread by_stop([&](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      if (!come.wait(lock, stop, [] { return false; }))
        told.emplace_back("stop");
    });
    Thread by_time([&] {
      std::unique_lock lock(mutex);
      if (!come.wait_for(lock, 1s, [] { return false; }))
        told.emplace_back("time");
    });
    ASSERT_TRUE(pause_for(2s, {}));
    EXPECT_EQ(told, (std::vector<std::string>{"time"}));
    {
      const std::lock_guard lock(mutex);
      has_come = true;
    }
    come.notify_all();
    ASSERT_TRUE(pause_for(1s, {}));
    EXPECT_EQ(told.back(), "condition");
  }
  EXPECT_EQ(told, (std::vector<std::string>{"time", "condition", "stop"}));
}

TEST(Turns, TheAgendaIsKeptInOrder) {
  Turns turns(1);
  std::vector<int> done;
  turns.after(2s, [&] { done.push_back(2); });
  turns.after(1s, [&] { done.push_back(1); });
  turns.after(1h, [&] { done.push_back(3); });
  ASSERT_TRUE(pause_for(10s, {}));
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
}

TEST(Turns, APausedGroupGoesOnLater) {
  Turns turns(1);
  turns.join_group(7);
  std::optional<Instant> woken;
  Thread paused([&] {
    ASSERT_TRUE(pause_for(1s, {}));
    woken = instant_from_clock();
  });
  turns.join_group(0);
  ASSERT_TRUE(pause_for(500ms, {}));
  turns.pause_group(7, true);
  const Instant before = instant_from_clock();
  ASSERT_TRUE(pause_for(1min, {}));
  EXPECT_FALSE(woken);
  turns.pause_group(7, false);
  paused.join();
  EXPECT_GE(*woken - before, 1min);
}

}  // namespace
}  // namespace fettle::sim
