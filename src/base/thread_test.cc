#include "base/thread.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/condition.h"

namespace fettle {
namespace {

TEST(Thread, ItsEndIsAwaitedAndAskedFor) {
  std::atomic<bool> was_asked = false;
  {
    std::mutex mutex;
    Condition never;
    Thread thread([&](const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      was_asked = !never.wait(lock, stop, [] { return false; });
    });
  }
  EXPECT_TRUE(was_asked);
}

TEST(Thread, ItCanBeMovedAndReplaced) {
  std::atomic<int> ended = 0;
  const auto work = [&](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    Condition().wait(lock, stop, [] { return false; });
    ++ended;
  };
  Thread first(work);
  Thread second(std::move(first));
  EXPECT_EQ(ended, 0);
  second = Thread(work);
  EXPECT_EQ(ended, 1);
  EXPECT_TRUE(second.request_stop());
  second.join();
  EXPECT_EQ(ended, 2);
}

TEST(Condition, ItTellsWhetherWhatWasAwaitedHolds) {
  std::mutex mutex;
  Condition come;
  bool is_there = false;
  Thread thread([&] {
    {
      const std::lock_guard lock(mutex);
      is_there = true;
    }
    come.notify_all();
  });
  std::unique_lock lock(mutex);
  come.wait(lock, [&] { return is_there; });
  EXPECT_TRUE(come.wait_for(lock, 1h, [&] { return is_there; }));
  EXPECT_FALSE(come.wait_for(lock, 1ms, [&] { return !is_there; }));
  EXPECT_EQ(Play::current(), nullptr);
}

}  // namespace
}  // namespace fettle
