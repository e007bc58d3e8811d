/// What is shown of environments whose services failed or were taken away.

#include "verbs/environments/environments.h"

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/explain.h"
#include "verbs/environments/services.h"

namespace fettle {
namespace {

/// An engine on which services with the image `bad` fail and leave a container that has ended, and
/// which makes no networks while it is full.
class TroubledEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  bool is_full = false;

  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override {
    if (act.key.kind == "network" && is_full)
      return world_error("no range is free");
    if (act.key.kind == "service" && act.verb != Verb::remove &&
        dict_of(act.attributes).text_at("image") == "bad") {
      containers[act.key.name.str()] = {"half made", "exited", "bad", {}};
      return world_error("the port did not open");
    }
    return FakeEngine::apply(act, progress, stop);
  }
};

class EnvironmentsTest : public RunPackageTest {
 protected:
  void SetUp() override {
    RunPackageTest::SetUp();
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "host" ? static_cast<Driver*>(&host_) : &troubled_;
    };
  }
  /// `NAME STATUS CONTAINER` of each service, then the status of the environment.
  std::string shown() {
    const Result<EnvironmentView> view = inspect_environment(place_, "e");
    if (!view)
      return to_string(view.error());
    std::string text;
    for (const ServiceView& service : view->services)
      text += cat(service.name, " ", service.status, " ", service.container, "; ");
    return text + view->status;
  }
  Result<ServiceView> service(const std::string& name) {
    return inspect_service(place_, *find_environment(place_, "e"), name);
  }

  TroubledEngine troubled_{home_.blobs()};
};

TEST_F(EnvironmentsTest, WhatARunHasJustSeenIsNotAskedForAgain) {
  ASSERT_EQ(run(add("a") + add("b")), "RR");
  const auto looks_of_a_run = [&] {
    const int before = troubled_.looks;
    PackageAudience nobody;
    const auto report = run_package(place_, request_, nobody);
    const auto view = inspect_environment(place_, "e", report->seen);
    EXPECT_EQ(view->services.size(), 2u);
    EXPECT_EQ(view->services.at(1).status, "running");
    return troubled_.looks - before;
  };
  EXPECT_EQ(looks_of_a_run(), 1);
  troubled_.containers.at("b").status = "exited";
  EXPECT_EQ(looks_of_a_run(), 2);  // it was started
  // Of what the run did not look at the engine is asked.
  ASSERT_EQ(run(add("a")), "S");
  EXPECT_EQ(looks_of_a_run(), 2);
}

TEST_F(EnvironmentsTest, AServiceThatWasTakenAwayAndCannotBeMadeAgainHasFailed) {
  ASSERT_EQ(run(add("a") + add("b")), "RR");
  EXPECT_EQ(shown(), "a running container 1; b running container 2; running");
  troubled_.containers.erase("a");
  EXPECT_EQ(shown(), "a absent container 1; b running container 2; running");
  ASSERT_EQ(run(add("a", "bad") + add("b")), "FN");
  EXPECT_EQ(shown(), "a failed half made; b running container 2; running");
  EXPECT_EQ(service("a")->error, "the port did not open");
  EXPECT_EQ(service(uuid_of("a").substr(0, 8))->name, "a");
  ASSERT_EQ(run(add("a") + add("b")), "RS");
  EXPECT_EQ(shown(), "a running container 3; b running container 2; running");
}

TEST_F(EnvironmentsTest, AServiceThatWasNeverAddedIsShownWhenItsContainerIsThere) {
  ASSERT_EQ(run(add("b") + add("a", "bad")), "RF");
  EXPECT_EQ(shown(), "a failed half made; b running container 1; running");
  EXPECT_EQ(dict_of(service("a")->attributes).text_at("image"), "bad");
  EXPECT_EQ(
      find_service(place_, "e", "a").error().message,
      "the service `a` was never added: the port did not open; `fettle service rm e a` removes "
      "the rest of it");
  EXPECT_TRUE(find_service_or_attempt(place_, "e", "a"));
  troubled_.containers.erase("a");
  EXPECT_EQ(shown(), "b running container 1; running");
  EXPECT_EQ(
      service("a").error().message,
      "the service `a` was never added: the port did not open; `fettle service rm e a` removes "
      "the rest of it");
  EXPECT_EQ(service("zebra").error().message, "there is no service `zebra` in `e`; it has b");
}

TEST_F(EnvironmentsTest, AServiceThatOnlyCommandsWantLeavesNoDrift) {
  ASSERT_EQ(run(add("a")), "R");
  const auto put_by_hand = [&](bool is_new, const char* image) {
    const auto edit = *begin_edit(place_, "e", true);
    return put_service(place_, *edit, *find_environment(place_, "e"),
                       {"mine", Value::dict({{"image", image}}), is_new});
  };
  ASSERT_TRUE(put_by_hand(true, "x")->summary.good());
  const auto again = put_by_hand(true, "y");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().blame, Blame::user);
  EXPECT_EQ(again.error().message,
            "there is a service `mine` already; `fettle service update e mine` changes it");
  EXPECT_EQ(troubled_.containers["mine"].image, "x");
  EXPECT_TRUE(put_by_hand(false, "y")->summary.good());
  EXPECT_TRUE(transit("mine", Verb::remove));
  EXPECT_FALSE(home_.store().known("e")->contains({"e", "service", "mine"}));
  EXPECT_TRUE(drift(place_, "e")->empty());
  // What a package wants is drift until that runs again.
  EXPECT_TRUE(transit("a", Verb::remove));
  ASSERT_EQ(drift(place_, "e")->size(), 1u);
  EXPECT_EQ(drift(place_, "e")->at(0).why, "it was removed");
  EXPECT_EQ(planned({"e", "service", "a"}), "create: it was removed");
  EXPECT_EQ(run(add("a")), "R");
  EXPECT_TRUE(drift(place_, "e")->empty());
}

TEST_F(EnvironmentsTest, WhatSomebodyWorksOnIsNoDrift) {
  ASSERT_EQ(run(add("a")), "R");
  troubled_.containers.clear();
  ASSERT_EQ(drift(place_, "e")->size(), 1u);
  const auto edit = *begin_edit(place_, "e", true);
  const Key key{"e", "service", "a"};
  auto record = std::make_shared<Record>(*home_.store().known("e")->at(key));
  record->attempt = Attempt{*record->applied, Verb::replace, place_.clock(), false, {}, 0};
  const std::vector<Change> changes{{Change::record, key, record, {}}};
  ASSERT_TRUE(edit->write(changes));
  EXPECT_TRUE(drift(place_, "e")->empty());
}

TEST_F(EnvironmentsTest, WhatWasInterruptedIsNotBlamedOnTheOutside) {
  ASSERT_EQ(run(add("a")), "R");
  troubled_.containers.clear();
  const Key key{"e", "service", "a"};
  {
    const auto edit = *begin_edit(place_, "e", true);
    auto record = std::make_shared<Record>(*home_.store().known("e")->at(key));
    record->attempt = Attempt{*record->applied, Verb::replace, Time(), false, {}, 0};
    const std::vector<Change> changes{{Change::record, key, record, {}}};
    ASSERT_TRUE(edit->write(changes));
  }
  ASSERT_EQ(drift(place_, "e")->size(), 1u);
  EXPECT_EQ(drift(place_, "e")->at(0).why, "interrupted on 1970-01-01T00:00:00.000Z");
}

TEST_F(EnvironmentsTest, AServiceIsStartedAgainWhenItsContainerIsGone) {
  ASSERT_EQ(run(add("a")), "R");
  troubled_.containers.clear();
  EXPECT_TRUE(transit("a", Verb::start));
  EXPECT_EQ(troubled_.containers["a"].status, "running");
  EXPECT_EQ(run(add("a")), "S");
}

TEST_F(EnvironmentsTest, AnUpdateKeepsTheVariablesThatItDoesNotName) {
  const Value before = Value::dict({{"image", "a"},
                                    {"env", Value::dict({{"A", "1"}, {"B", "2"}})},
                                    {"cmd", Value::list({"x"})}});
  const Value after = merged_attributes(
      before, Value::dict({{"env", Value::dict({{"A", "3"}})}, {"cmd", Value::list({"y"})}}));
  EXPECT_EQ(after.at("env"), Value::dict({{"A", "3"}, {"B", "2"}}));
  EXPECT_EQ(after.at("cmd"), Value::list({"y"}));
  EXPECT_EQ(after.text_at("image"), "a");
}

TEST_F(EnvironmentsTest, AnEditBySomebodyIsInThePlanTheEventsAndTheReasons) {
  ASSERT_EQ(run(add("a")), "R");
  EXPECT_TRUE(transit("a", Verb::stop));
  EXPECT_EQ(planned({"e", "service", "a"}), "start: drift: it was stopped");
  const std::vector<Cause> causes = *why(place_, "e", {"e", "service", "a"});
  ASSERT_FALSE(causes.empty());
  const std::string line = to_string(causes[0]);
  EXPECT_NE(line.find("was stopped on "), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(": by command")) << line;
  ASSERT_EQ(run(add("a")), "R");
  EXPECT_EQ(results_[0], cat("Service 'a' added with service UUID '", uuid_of("a"), "'"));
}

TEST_F(EnvironmentsTest, AnEnvironmentWithoutItsNetworkIsNotMade) {
  troubled_.is_full = true;
  EXPECT_EQ(add_environment(place_, "e", false, true)->summary.failures.at(0).error.message,
            "no range is free");
  EXPECT_FALSE(*home_.store().environment("e"));
  troubled_.is_full = false;
  EXPECT_TRUE(add_environment(place_, "e", false, true)->summary.good());
  EXPECT_TRUE(*home_.store().environment("e"));
}

}  // namespace
}  // namespace fettle
