#include "controller/async_question.h"

#include <gtest/gtest.h>

#include <semaphore>

namespace fettle {
namespace {

TEST(AsyncQuestion, AnAnswerIsTakenOnceWhenItIsThere) {
  std::binary_semaphore goes_on(0), has_ended(0);
  AsyncQuestion<int> aside({}, [&] { has_ended.release(); });
  EXPECT_FALSE(aside.began());
  EXPECT_FALSE(aside.take());
  const Instant now{5s};
  aside.begin(
      [&](const std::stop_token&) -> Result<int> {
        goes_on.acquire();
        return 7;
      },
      now);
  EXPECT_EQ(aside.began(), now);
  EXPECT_FALSE(aside.take()) << "nobody has answered yet";
  goes_on.release();
  has_ended.acquire();
  EXPECT_EQ(aside.began(), now) << "nobody has taken it";
  EXPECT_EQ(**aside.take(), 7);
  EXPECT_FALSE(aside.take());
  EXPECT_FALSE(aside.began());
}

TEST(AsyncQuestion, AQuestionEndsWithWhoeverPutItAndByAnInterruption) {
  const auto waits = [](const std::stop_token& stop) -> Result<int> {
    std::binary_semaphore stopped(0);
    const std::stop_callback on_stop(stop, [&] { stopped.release(); });
    stopped.acquire();
    return world_error("stopped");
  };
  std::stop_source interrupt;
  std::binary_semaphore has_ended(0);
  {
    AsyncQuestion<int> aside(interrupt.get_token(), [&] { has_ended.release(); });
    aside.begin(waits, {});
    interrupt.request_stop();
    has_ended.acquire();
    EXPECT_EQ(aside.take()->error().message, "stopped");
  }
  AsyncQuestion<int> left({}, [] {});
  left.begin(waits, {});
}

}  // namespace
}  // namespace fettle
