#include "reconcile/loop.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/text.h"
#include "store/sqlite_store.h"

namespace fettle {
namespace {

class OneKind : public Kind, public Kinds {
 public:
  Name name() const override { return "thing"; }
  Sort sort() const override { return Sort::action; }
  const Kind* find(const Name&) const override { return this; }
};

/// Acts take as long as their attribute `ms` says, and count how many run at once.
class SlowDriver : public Driver {
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
    const int now = ++running;
    for (int most = most_at_once; now > most && !most_at_once.compare_exchange_weak(most, now);) {
    }
    progress({"half way", 1, 2});
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(act.attributes.integer_at("ms"));
    while (std::chrono::steady_clock::now() < until && !stop.stop_requested())
      std::this_thread::sleep_for(1ms);
    --running;
    ++applied;
    if (stop.stop_requested())
      return world_error("told to stop");
    if (act.attributes.bool_at("skip"))
      return Skipped{"not now"};
    if (act.attempt <= act.attributes.integer_at("pending"))
      return Pending{"not yet", Duration(1ms), {}};
    return Done{Value::dict({{"out", act.attempt}}), {}, true};
  }
  std::atomic<int> running{0}, most_at_once{0}, applied{0};
};

class LoopTest : public testing::Test, public Audience {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-loop-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    store_ = std::move(*open_sqlite_store(folder_ + "/fettle.db"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void progress(const Key&, const Progress&) override { ++progress_seen_; }

  void want(std::string name, Value attributes, std::vector<std::string> needs = {}) {
    Resource resource;
    resource.key = {"e", "thing", name};
    resource.attributes = std::move(attributes);
    resource.driver = "slow";
    for (const std::string& need : needs)
      resource.needs.push_back({{{"e", "thing", need}}});
    intent_->environment = "e";
    intent_->sets["p"] = Leftover::keep;
    intent_->resources["p"].push_back(std::move(resource));
  }

  Result<Summary> carry(int parallelism = 4) {
    RunOptions options;
    options.parallelism = parallelism;
    fettle::Run run = *fettle::Run::make(intent_, *store_->known("e"), {}, kinds_, options);
    Surroundings around{store_.get(),
                        [&](const Name& name) { return name == "slow" ? &driver_ : nullptr; },
                        now_from_clock, this};
    return carry_out(run, around, interrupt_);
  }

  std::string folder_;
  std::unique_ptr<Store> store_;
  OneKind kinds_;
  SlowDriver driver_;
  Interrupt interrupt_;
  std::shared_ptr<Intent> intent_ = std::make_shared<Intent>();
  std::atomic<int> progress_seen_{0};
};

TEST_F(LoopTest, ActsRunSideBySideWithinTheParallelism) {
  for (int i = 0; i < 12; ++i)
    want(std::to_string(i), Value::dict({{"ms", 20}}));
  const Result<Summary> summary = carry(3);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->done, 12u);
  EXPECT_EQ(driver_.most_at_once, 3);
  EXPECT_EQ(progress_seen_, 12);
  EXPECT_EQ(store_->known("e")->size(), 12u);
  EXPECT_EQ(carry()->kept, 12u);
}

TEST_F(LoopTest, WhatIsPendingIsAskedAgain) {
  want("a", Value::dict({{"pending", 3}}));
  want("b", Value::dict({}), {"a"});
  EXPECT_EQ(carry()->done, 2u);
  EXPECT_EQ(store_->known("e")->at({"e", "thing", "a"})->outputs.at("out"), Value(4));
}

TEST_F(LoopTest, AskedOnceItFinishesWhatIsInFlightAndBeginsNothing) {
  want("a", Value::dict({{"ms", 100}}));
  want("b", Value::dict({}), {"a"});
  std::jthread asker([&] {
    std::this_thread::sleep_for(30ms);
    interrupt_.ask();
  });
  const Result<Summary> summary = carry();
  EXPECT_TRUE(summary->stopped);
  EXPECT_EQ(summary->done, 1u);
  EXPECT_FALSE(store_->known("e")->at({"e", "thing", "a"})->attempt);
}

TEST_F(LoopTest, AskedTwiceItLeavesAtOnceAndWhatWasInFlightCountsAsInterrupted) {
  want("a", Value::dict({{"ms", 30'000}}));
  std::jthread asker([&] {
    std::this_thread::sleep_for(30ms);
    interrupt_.ask();
    interrupt_.ask();
  });
  const auto began = std::chrono::steady_clock::now();
  const Result<Summary> summary = carry();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  EXPECT_TRUE(summary->stopped);
  const auto known = store_->known("e");
  ASSERT_TRUE(known->at({"e", "thing", "a"})->attempt);
  EXPECT_FALSE(known->at({"e", "thing", "a"})->attempt->failed);
}

TEST_F(LoopTest, WhatAnInterruptedActMayHaveDoneCountsAsAChange) {
  want("a", Value::dict({}));
  const Key key{"e", "thing", "a"};
  for (const bool failed : {false, true}) {
    Record record;
    record.applied = intent_->resources["p"][0];
    record.attempt = Attempt{*record.applied, {}, failed, {}, 0};
    record.changes = 1;
    fettle::Run run = *fettle::Run::make(intent_, {{key, std::make_shared<const Record>(record)}},
                                         {}, kinds_, {});
    run.start(Time());
    uint64_t changes = 0;
    for (const Order& order : run.on(ActEnded{key, Done{{}, {}, false}}, Time()))
      if (const auto* written = std::get_if<WriteRecord>(&order))
        changes = written->record->changes;
    EXPECT_EQ(changes, failed ? 1u : 2u);
    EXPECT_EQ(run.standing(key), failed ? Standing::unchanged : Standing::changed);
  }
}

TEST_F(LoopTest, WhatComesBackIsHeardAgainByThoseWhoNeedIt) {
  const auto act = [&](bool needs) {
    intent_->resources["p"].clear();
    want("listener", Value::dict({}));
    if (needs) {
      want("told", Value::dict({}));
      intent_->resources["p"][0].needs.push_back(
          {{{"e", "thing", "told"}}, false, When::succeeded, Unmet::fail, Bond::refresh});
    }
    intent_->sets["p"] = Leftover::remove;
    const int before = driver_.applied;
    EXPECT_TRUE(carry()->good());
    return driver_.applied - before;
  };
  EXPECT_EQ(act(true), 2);
  EXPECT_EQ(act(false), 0);  // an action that nobody wants is forgotten
  EXPECT_EQ(act(true), 2);
}

TEST_F(LoopTest, WhatIsSkippedIsNoFailureAndWhatNeedsItWaits) {
  want("a", Value::dict({{"skip", true}}));
  want("b", Value::dict({}), {"a"});
  want("c", Value::dict({}));
  const Result<Summary> summary = carry();
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->failures.empty());
  EXPECT_FALSE(summary->good());
  ASSERT_EQ(summary->skips.size(), 1u);
  EXPECT_EQ(to_string(summary->skips[0].key), "thing/a");
  EXPECT_EQ(summary->skips[0].why, "not now");
  EXPECT_EQ(summary->blocked, 1u);
  EXPECT_EQ(summary->done, 1u);
  EXPECT_EQ(store_->known("e")->at({"e", "thing", "a"})->attempt->error, "not now");
  const auto events = store_->events_of({"e", "thing", "a"}, 10);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->front().type, EventType::skipped);
  EXPECT_EQ(events->front().text, "not now");
  const auto waiting = store_->events_of({"e", "thing", "b"}, 10);
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->front().text, "skipped: `thing/a` was skipped");
  // The next run tries again.
  intent_->resources["p"][0].attributes = Value::dict({});
  EXPECT_EQ(carry()->done, 2u);
}

TEST_F(LoopTest, AResourceWithoutADriverFailsAndSaysSo) {
  want("a", Value::dict({}));
  intent_->resources["p"][0].driver = "nobody";
  const Result<Summary> summary = carry();
  ASSERT_EQ(summary->failures.size(), 1u);
  EXPECT_EQ(summary->failures[0].error.message, "nobody here can act on `thing/a`");
}

}  // namespace
}  // namespace fettle
