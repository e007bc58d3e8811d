#include "base/at_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>

#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

TEST(AtOnce, AllAreDoneAndSeveralAtATime) {
  std::atomic<int> done = 0, inside = 0, most = 0;
  std::barrier together(3);
  std::vector<Task> tasks;
  for (int i = 0; i < 9; ++i)
    tasks.emplace_back([&](const std::stop_token&) -> Status {
      int now = ++inside, before = most;
      while (before < now && !most.compare_exchange_weak(before, now)) {
      }
      together.arrive_and_wait();  // three are there at once, or nobody goes on
      --inside;
      ++done;
      return {};
    });
  EXPECT_TRUE(do_at_once(tasks, 3, {}));
  EXPECT_EQ(done, 9);
  EXPECT_EQ(most, 3);
  EXPECT_TRUE(do_at_once({}, 3, {}));
}

TEST(AtOnce, TheFirstErrorEndsTheOthers) {
  std::atomic<int> begun = 0;
  std::barrier both(2);
  std::vector<Task> tasks;
  tasks.emplace_back([&](const std::stop_token&) -> Status {
    both.arrive_and_wait();
    return world_error("it failed");
  });
  tasks.emplace_back([&](const std::stop_token& stop) -> Status {
    both.arrive_and_wait();
    return pause_for(1h, stop);
  });
  tasks.emplace_back([&](const std::stop_token&) -> Status {
    ++begun;
    return {};
  });
  const Status ended = do_at_once(tasks, 2, {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "it failed");
  EXPECT_EQ(begun, 0);
}

TEST(AtOnce, AStopReachesThem) {
  std::stop_source stop;
  const std::vector<Task> tasks(2, [&](const std::stop_token& token) -> Status {
    stop.request_stop();
    return pause_for(1h, token);
  });
  const Status ended = do_at_once(tasks, 2, stop.get_token());
  ASSERT_FALSE(ended);
  EXPECT_TRUE(is_cancelled(ended.error()));
}

}  // namespace
}  // namespace fettle
