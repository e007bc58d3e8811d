/// Environments that the store does not know, and commands that meet others at work.

#include "workplace/edit.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/environments.h"

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
    box.record.applied.edit().key = box.key;
    box.record.remote_id = "c1";
    return std::vector{box};
  }
};

/// Another fettle at work: it has the right to act on `e` until `leave`, and does something before.
class Other {
 public:
  Other(const std::string& path, void (*before_leaving)(Edit&)) {
    EXPECT_EQ(pipe(ready_), 0);
    EXPECT_EQ(pipe(gate_), 0);
    child_ = fork();
    if (child_ != 0) {
      EXPECT_EQ(::read(ready_[0], &byte_, 1), 1);
      EXPECT_EQ(byte_, '1');
      return;
    }
    auto store = open_sqlite_store(path);
    auto begun = (*store)->begin_edit("e", this_process("fettle run .", Time(1s)));
    auto* edit = begun ? std::get_if<std::unique_ptr<Edit>>(&*begun) : nullptr;
    (void)!::write(ready_[1], edit != nullptr ? "1" : "0", 1);
    (void)!::read(gate_[0], &byte_, 1);
    before_leaving(**edit);
    edit->reset();
    _exit(0);
  }
  void leave() {
    EXPECT_EQ(::write(gate_[1], "1", 1), 1);
    int status = 1;
    waitpid(child_, &status, 0);
    EXPECT_EQ(status, 0);
  }

 private:
  int ready_[2], gate_[2];
  pid_t child_;
  char byte_ = 0;
};

class EditTest : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    place_.driver = [this](const Name&) -> Driver* { return &engine_with_box_; };
  }
  std::string path() const { return home_.path("fettle.db"); }

  EngineWithBox engine_with_box_{home_.blobs()};

  void put_environment() {
    ASSERT_TRUE(home_.edit("e")->put_environment({"e", "u", Time(1s), Value::dict({})}));
  }
};

TEST_F(EditTest, WhatOnlyTheEngineKnowsIsTakenOver) {
  EXPECT_EQ(find_environment(place_, "e")->name, "e");
  EXPECT_TRUE(home_.store().known("e")->contains({"e", "service", "box"}));
}

TEST_F(EditTest, WhatAnotherIsJustMakingIsNotTakenOver) {
  Other other(path(), [](Edit&) {});
  EXPECT_EQ(find_environment(place_, "e").error().message,
            "there is no environment `e`; there are no environments yet");
  EXPECT_TRUE(home_.store().known("e")->empty());
  other.leave();
  EXPECT_TRUE(find_environment(place_, "e"));
}

TEST_F(EditTest, AnEnvironmentThatGoesAwayWhileWeWaitIsNotMadeAgain) {
  put_environment();
  Other other(path(), [](Edit& edit) { static_cast<void>(edit.remove_environment()); });
  std::string told;
  place_.notice = [&](const std::string& text) {
    told = text;
    other.leave();
  };
  EXPECT_EQ(hold_environment(place_, "e", true).error().message,
            "the environment `e` has been removed since");
  EXPECT_TRUE(told.starts_with("waiting for `fettle run .` (process ")) << told;
}

TEST_F(EditTest, OnlyWhoRemovedAnEnvironmentSaysSo) {
  put_environment();
  Other other(path(), [](Edit& edit) { static_cast<void>(edit.remove_environment()); });
  place_.notice = [&](const std::string&) { other.leave(); };
  std::vector<std::string> told;
  const auto tell = [&](const std::string& name) { told.push_back(name); };
  EXPECT_TRUE(clean(place_, {true, true, {}}, tell)->environments.empty());
  EXPECT_TRUE(told.empty());
  place_.driver = [this](const Name&) -> Driver* { return &engine_; };
  put_environment();
  EXPECT_EQ(clean(place_, {true, true, {}}, tell)->environments, std::vector<std::string>{"e"});
  EXPECT_EQ(told, std::vector<std::string>{"e"});
  EXPECT_FALSE(*home_.store().environment("e"));
}

TEST_F(EditTest, WhatRunsMeanwhileIsUnderWayAndNotInterrupted) {
  place_.driver = [this](const Name& name) -> Driver* {
    return name == "host" ? static_cast<Driver*>(&host_) : &engine_;
  };
  ASSERT_EQ(run(add("a")), "R");
  // Somebody is just replacing it.
  const Key key{"e", "service", "a"};
  auto record = std::make_shared<Record>(*home_.store().known("e")->at(key));
  record->attempt = Attempt{*record->applied, Verb::replace, Time(1s), false, {}, 0};
  ASSERT_TRUE(home_.edit("e")->write(std::vector{Change{Change::record, key, record, {}}}));
  const auto step = [&](const Preview& preview) {
    for (const Step& one : preview.plan.steps)
      if (one.key == key)
        return cat(to_string(one.verb), ": ", one.why);
    return std::string();
  };
  EXPECT_TRUE(step(*preview_package(place_, request_)).starts_with("replace: interrupted on "));
  Other other(path(), [](Edit&) {});
  const Preview preview = *preview_package(place_, request_);
  EXPECT_TRUE(step(preview).starts_with("blocked: `fettle run .` (process ")) << step(preview);
  EXPECT_EQ(preview.at_work->what, "fettle run .");
  other.leave();
}

TEST_F(EditTest, WhoDoesNotWaitIsToldForWhom) {
  put_environment();
  Other other(path(), [](Edit&) {});
  const std::string message = hold_environment(place_, "e", false).error().message;
  EXPECT_TRUE(message.starts_with("the environment `e` is in use by `fettle run .` (process "))
      << message;
  other.leave();
  EXPECT_TRUE(hold_environment(place_, "e", false));
}

}  // namespace
}  // namespace fettle
