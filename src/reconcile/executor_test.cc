/// Acts on real threads. Nothing here waits for a time: drivers continue when the test lets them.

#include "reconcile/executor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

namespace fettle {
namespace {

/// Each act waits for a permit, or for its stop token.
class GatedDriver : public Driver {
 public:
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token) override {
    return std::vector<Observation>(subjects.size());
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override {
    progress({"half way", 1, 2});
    std::unique_lock lock(mutex_);
    most_at_once = std::max(most_at_once, ++running_);
    changed_.notify_all();
    const bool permitted = changed_.wait(lock, stop, [&] { return permits_ > 0; });
    --running_;
    changed_.notify_all();
    if (!permitted)
      return world_error("told to stop");
    --permits_;
    return Done{Value::dict({{"name", act.key.name}}), {}, true};
  }
  void permit(int count) {
    const std::lock_guard lock(mutex_);
    permits_ += count;
    changed_.notify_all();
  }
  void wait_for(int running) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == running; });
  }
  int most_at_once = 0;

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int running_ = 0, permits_ = 0;
};

class ThreadsTest : public testing::Test {
 protected:
  Job job(const std::string& name) {
    Job made;
    made.act.key = {"e", "job", name};
    made.driver = &driver_;
    return made;
  }
  /// Waits until that many have ended.
  static News until(Threads& threads, size_t count) {
    News all;
    while (all.ended.size() < count && !all.stop && !all.leave) {
      News news = threads.wait(std::nullopt);
      for (ActEnd& ended : news.ended)
        all.ended.push_back(std::move(ended));
      all.progress.insert(all.progress.end(), news.progress.begin(), news.progress.end());
      all.stop |= news.stop;
      all.leave |= news.leave;
    }
    return all;
  }

  GatedDriver driver_;
  Interrupt interrupt_;
};

TEST_F(ThreadsTest, ActsRunSideBySideAndTheirThreadsAreUsedAgain) {
  Threads threads(interrupt_);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i)
      threads.start(job(std::to_string(i)));
    driver_.wait_for(4);
    driver_.permit(4);
    const News news = until(threads, 4);
    EXPECT_EQ(news.ended.size(), 4u);
    EXPECT_EQ(news.progress.size(), 4u);
  }
  EXPECT_EQ(driver_.most_at_once, 4);
}

TEST_F(ThreadsTest, AWaitEndsAtItsInstantWhateverTheCalendarSays) {
  Threads threads(interrupt_);
  const Instant until = threads.now().instant + 1ms;
  const News news = threads.wait(until);
  EXPECT_TRUE(news.ended.empty());
  EXPECT_GE(threads.now().instant, until);
}

TEST_F(ThreadsTest, AWaitThatSomebodyEndsTellsOfNothing) {
  Threads threads(interrupt_);
  threads.wake();
  EXPECT_TRUE(threads.wait(std::nullopt).ended.empty());
  std::jthread waker([&] { threads.wake(); });
  EXPECT_FALSE(threads.wait(std::nullopt).stop);
}

TEST_F(ThreadsTest, SomebodyWhoAsksWakesIt) {
  Threads threads(interrupt_);
  std::jthread asker([&] { interrupt_.ask(); });
  EXPECT_TRUE(until(threads, 1).stop);
  asker = std::jthread([&] { interrupt_.ask(); });
  EXPECT_TRUE(until(threads, 1).leave);
}

TEST_F(ThreadsTest, WhereNothingIsChangedTheFirstInterruptionReachesWhatIsInFlight) {
  Threads threads(interrupt_);
  threads.start(job("a"));
  driver_.wait_for(1);
  interrupt_.ask();
  driver_.wait_for(0);
  EXPECT_TRUE(until(threads, 1).stop);
}

TEST_F(ThreadsTest, TheSecondInterruptionReachesWhatIsInFlight) {
  const Interrupt::ActGuard acting(interrupt_);
  Threads threads(interrupt_);
  threads.start(job("a"));
  driver_.wait_for(1);
  interrupt_.ask();
  EXPECT_FALSE(interrupt_.acts_token().stop_requested());
  interrupt_.ask();
  driver_.wait_for(0);
  EXPECT_TRUE(until(threads, 1).leave);
}

TEST_F(ThreadsTest, AtItsEndActsAreToldToStopAndWaitedFor) {
  {
    Threads threads(interrupt_);
    threads.start(job("a"));
    driver_.wait_for(1);
  }
  driver_.wait_for(0);
  EXPECT_FALSE(interrupt_.acts_token().stop_requested());
}

TEST_F(ThreadsTest, WhatIsInstantIsDoneWhereItIsBegun) {
  class Instant : public GatedDriver {
   public:
    Result<Outcome> apply(const Act&, const ProgressSink&, std::stop_token) override {
      thread = std::this_thread::get_id();
      return Outcome(Done{});
    }
    std::thread::id thread;
  } instant;
  Threads threads(interrupt_);
  Job made = job("a");
  made.act.is_instant = true;
  made.driver = &instant;
  threads.start(std::move(made));
  EXPECT_EQ(instant.thread, std::this_thread::get_id());
  EXPECT_EQ(until(threads, 1).ended.size(), 1u);
}

TEST_F(ThreadsTest, WhatNobodyCanDoFailsAndSaysSo) {
  Threads threads(interrupt_);
  Job made = job("a");
  made.driver = nullptr;
  threads.start(std::move(made));
  const News news = until(threads, 1);
  ASSERT_EQ(news.ended.size(), 1u);
  EXPECT_EQ(news.ended[0].outcome.error().message, "nothing here can act on `job/a`");
}

TEST_F(ThreadsTest, AThreadThatCannotBeStartedFailsItsActAndNotTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    // One task for a user who already has at least this one; root has no such limit.
    const rlimit limit{1, 1};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0 || (getuid() == 0 && setuid(65534) != 0))
      _exit(2);
    Threads threads(interrupt_);
    threads.start(job("a"));
    const News news = until(threads, 1);
    _exit(news.ended.size() == 1 && !news.ended[0].outcome &&
                  news.ended[0].outcome.error().message == "this machine cannot start more threads"
              ? 0
              : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fettle
