/// Environments that the store does not know, and commands that meet others at work.

#include "verbs/workplace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/fixtures/package_fixture.h"
#include "verbs/environments.h"

namespace fettle {
namespace {

/// An engine that has the service `box` of every environment.
class EngineWithBox : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  Result<std::vector<Found>> list(const Name& environment, std::stop_token) override {
    Found box;
    box.key = {environment, "service", "box"};
    box.record.applied.emplace();
    box.record.applied->key = box.key;
    box.record.remote_id = "c1";
    return std::vector{box};
  }
};

/// Another fettle at work: it has the lease of `e` until `leave`, and does something before that.
class Other {
 public:
  Other(const std::string& path, void (*before_leaving)(Store&)) {
    EXPECT_EQ(pipe(ready_), 0);
    EXPECT_EQ(pipe(gate_), 0);
    child_ = fork();
    if (child_ != 0) {
      EXPECT_EQ(read(ready_[0], &byte_, 1), 1);
      EXPECT_EQ(byte_, '1');
      return;
    }
    auto store = open_sqlite_store(path);
    const Holder me = this_process("fettle run .", Time(1s));
    const bool taken = store && !*(*store)->acquire("e", me);
    (void)!write(ready_[1], taken ? "1" : "0", 1);
    (void)!read(gate_[0], &byte_, 1);
    before_leaving(**store);
    _exit((*store)->release("e", me) ? 0 : 1);
  }
  void leave() {
    EXPECT_EQ(write(gate_[1], "1", 1), 1);
    int status = 1;
    waitpid(child_, &status, 0);
    EXPECT_EQ(status, 0);
  }

 private:
  int ready_[2], gate_[2];
  pid_t child_;
  char byte_ = 0;
};

class WorkplaceTest : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    place_.driver = [this](const Name&) -> Driver* { return &engine_with_box_; };
  }
  std::string path() const { return folder_ + "/fettle.db"; }

  EngineWithBox engine_with_box_{blobs_};
};

TEST_F(WorkplaceTest, WhatOnlyTheEngineKnowsIsTakenOver) {
  EXPECT_EQ(find_environment(place_, "e")->name, "e");
  EXPECT_TRUE(store_->known("e")->contains({"e", "service", "box"}));
}

TEST_F(WorkplaceTest, WhatAnotherIsJustMakingIsNotTakenOver) {
  Other other(path(), [](Store&) {});
  EXPECT_EQ(find_environment(place_, "e").error().message,
            "there is no environment `e`; there are none yet");
  EXPECT_TRUE(store_->known("e")->empty());
  other.leave();
  EXPECT_TRUE(find_environment(place_, "e"));
}

TEST_F(WorkplaceTest, AnEnvironmentThatGoesAwayWhileWeWaitIsNotMadeAgain) {
  ASSERT_TRUE(store_->put_environment({"e", "u", Time(1s), Value::dict({})}));
  Other other(path(), [](Store& store) { static_cast<void>(store.remove_environment("e")); });
  std::string told;
  place_.notice = [&](const std::string& text) {
    told = text;
    other.leave();
  };
  EXPECT_EQ(hold_environment(place_, "e", true).error().message,
            "the environment `e` was removed meanwhile");
  EXPECT_TRUE(told.starts_with("waiting for `fettle run .` (process ")) << told;
}

TEST_F(WorkplaceTest, OnlyWhoRemovedAnEnvironmentSaysSo) {
  ASSERT_TRUE(store_->put_environment({"e", "u", Time(1s), Value::dict({})}));
  Other other(path(), [](Store& store) { static_cast<void>(store.remove_environment("e")); });
  place_.notice = [&](const std::string&) { other.leave(); };
  EXPECT_FALSE(*remove_environment_if_there(place_, "e", true));
  place_.driver = [this](const Name&) -> Driver* { return &engine_; };
  ASSERT_TRUE(store_->put_environment({"e", "u", Time(1s), Value::dict({})}));
  EXPECT_TRUE(*remove_environment_if_there(place_, "e", true));
  EXPECT_FALSE(*store_->environment("e"));
}

TEST_F(WorkplaceTest, WhoDoesNotWaitIsToldForWhom) {
  ASSERT_TRUE(store_->put_environment({"e", "u", Time(1s), Value::dict({})}));
  Other other(path(), [](Store&) {});
  const std::string message = hold_environment(place_, "e", false).error().message;
  EXPECT_TRUE(message.starts_with("the environment `e` is in use by `fettle run .` (process "))
      << message;
  other.leave();
  EXPECT_TRUE(hold_environment(place_, "e", false));
}

}  // namespace
}  // namespace fettle
