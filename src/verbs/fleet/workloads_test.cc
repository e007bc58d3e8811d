/// Workloads in a world of this program's own: what becomes of acts that take long when users want
/// something else, and of those that wait without end.

#include "controller/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "base/text.h"
#include "tests/fixtures/workloads_fixture.h"
#include "verbs/fleet/nodes.h"
#include "verbs/fleet/store_fleet.h"
#include "verbs/fleet/workload_plan.h"

namespace fettle {
namespace {

TEST_F(WorkloadsTest, LaterCommandsKnowSinceWhenPodsAreReady) {
  place_.clock = fast_clock;
  // Whoever looks first at a pod with a probe learns nothing but that it is ready now.
  world_.looks_first();
  store("web:1", "  minReadySeconds: 60\n", ", readinessProbe: {httpGet: {port: 80}}");
  EXPECT_EQ(bring().ready, 2u);
  world_.looks_first();
  EXPECT_EQ(phase(), "complete");
  // Another container begins again.
  store("web:2", "  minReadySeconds: 60\n", ", readinessProbe: {httpGet: {port: 80}}");
  EXPECT_EQ(bring().ready, 2u);
  EXPECT_EQ(phase(), "complete");
}

TEST_F(WorkloadsTest, WhatIsAskedForNowAndThenIsNotForgotten) {
  place_.clock = fast_clock;
  world_.looks_first();
  store("web:1", "  minReadySeconds: 60\n", ", readinessProbe: {httpGet: {port: 80}}");
  EXPECT_EQ(bring().ready, 2u);
  for (int i = 0; i < 3; ++i) {
    skipped += Duration(2h).count();
    world_.looks_first();
    EXPECT_EQ(phase(), "complete") << i;
    ASSERT_TRUE(home_.store().forget_before(fast_clock() - 1h));
  }
  world_.looks_first();
  EXPECT_EQ(phase(), "complete");
}

TEST_F(WorkloadsTest, WhatIsGoneBehindFettleIsPlannedAndBroughtBack) {
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  const auto plan = [&] {
    const Workplace place = other_place();
    StoreFleet fleet(place, "fleet");
    const auto made = plan_workloads(fleet, {});
    EXPECT_TRUE(made) << to_string(made.error());
    std::vector<std::string> lines;
    if (made)
      for (const workloads::PodTurn& turn : made->rollout.turns)
        lines.push_back(cat(to_string(turn.sort), ": ", turn.why));
    return lines;
  };
  EXPECT_EQ(plan(), std::vector<std::string>{});
  world_.lose_a_pod();
  EXPECT_EQ(plan(), std::vector<std::string>{"create: it is gone"});
  EXPECT_EQ(bring().ready, 2u);
  EXPECT_EQ(plan(), std::vector<std::string>{});
  world_.lose_a_container();
  EXPECT_EQ(plan(), std::vector<std::string>{"restore: its container `main` is gone"});
}

TEST_F(WorkloadsTest, NamesOfPodsThatWereDeletedLeaveTheList) {
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  const auto names = [&] {
    std::vector<std::string> found;
    for (const Value& pod : pods_of(place_, "fleet").value_or(std::vector<Value>()))
      found.emplace_back(pod.at("metadata").text_at("name"));
    return found;
  };
  const std::string doomed = names().at(0);
  store("web:1", cat("  scaleStrategy: {podsToDelete: [", doomed, ", web-never]}\n"));
  EXPECT_EQ(bring().ready, 2u);
  EXPECT_EQ(std::ranges::count(names(), doomed), 0);
  const auto stored = stored_objects(other_place(), "fleet");
  ASSERT_TRUE(stored);
  for (const workloads::Object& object : *stored)
    EXPECT_TRUE(object.document.at("spec").at("scaleStrategy").at("podsToDelete").is_null());
  EXPECT_EQ(phase(), "complete");
}

int code_of(std::string_view phase) {
  return phase == "failed" ? 1 : phase == "progressing" ? 3 : 0;
}

TEST_F(WorkloadsTest, WhoBringsThemAboutAndWhoLooksComeToTheSame) {
  const std::string in_place = "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1";
  const std::string wait = "fettle/image-predownload-mode: wait";
  struct Row {
    const char* image;
    std::string rolling, annotations;
    int code;
    const char* of_main = "";
  };
  const Row rows[] = {
      {"web:2", in_place, "", 0},
      {"web:3", in_place + ", paused: true", "", 0},
      {"web:3", in_place + ", partition: 1", "", 0},
      {"web:3", "podUpdatePolicy: InPlaceOnly", "", 1, ", env: [{name: A, value: b}]"},
      {"web:4", in_place, wait + ", apps.kruise.io/image-predownload-parallelism: 0", 3},
      {"web:4", in_place, wait, 0},
      {"never", in_place, "", 3},
      {"web:5", in_place, "", 0},
      {"bad", in_place, "", 1},
      {"bad", in_place + ", paused: true", "", 1},
      {"web:6", in_place, "", 0},
  };
  store("web:1");
  EXPECT_EQ(code_of(bring()), 0);
  for (const Row& row : rows) {
    store(row.image, "", row.of_main, row.rolling, row.annotations);
    const BringResult brought = bring(100ms);
    EXPECT_EQ(code_of(brought), row.code)
        << row.image << " " << row.rolling << ": " << join(brought.unsettled, "; ");
    EXPECT_EQ(code_of(phase()), row.code) << row.image << " " << row.rolling << ": " << phase();
  }
}

TEST_F(WorkloadsTest, WhoFollowsAControllerTakesItsPlaceWhenItEnds) {
  store("web:1");
  Workplace controller = other_place();
  controller.role = Holder::Role::controller;
  auto edit = begin_edit(controller, "fleet", false);
  ASSERT_TRUE(edit) << to_string(edit.error());
  std::promise<void> follows;
  std::vector<std::string> told;
  place_.notice = [&](const std::string& text) {
    told.push_back(text);
    if (told.size() == 1)
      follows.set_value();
  };
  BringResult brought;
  {
    const std::jthread other([&] { brought = bring(); });
    EXPECT_EQ(follows.get_future().wait_for(60s), std::future_status::ready);
    *edit = nullptr;
  }
  EXPECT_EQ(brought.ready, 2u);
  EXPECT_TRUE(brought.summary.good());
  EXPECT_EQ(told,
            (std::vector<std::string>{"a controller keeps the workloads; following its progress",
                                      "the controller has ended; carrying on without it"}));
}

TEST_F(WorkloadsTest, WithoutAnythingStoredNoEnvironmentIsMade) {
  EXPECT_EQ(bring().pods, 0u);
  EXPECT_FALSE(*home_.store().environment("fleet"));
}

TEST_F(WorkloadsTest, PullsThatNobodyWantsAnyMoreEndAtOnceThoseOfPodsIncluded) {
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  store("slow");
  BringResult brought;
  {
    const std::jthread other([&] { brought = bring(); });
    EXPECT_TRUE(world_.await("image"));
    EXPECT_TRUE(world_.await("pod"));
    store("web:3");
  }
  EXPECT_TRUE(is_stopped("image"));
  EXPECT_TRUE(is_stopped("pod"));
  EXPECT_TRUE(brought.summary.good());
  EXPECT_EQ(images(), (std::vector<std::string>{"web:3", "web:3"}));
}

TEST_F(WorkloadsTest, WhatIsDeletedStopsPullingAndGoes) {
  store("slow");
  BringResult brought;
  {
    const std::jthread other([&] { brought = bring(); });
    EXPECT_TRUE(world_.await("pod"));
    ASSERT_TRUE(delete_objects(other_place(), "fleet", {"CloneSet/default/web"}));
  }
  EXPECT_TRUE(is_stopped("pod"));
  EXPECT_EQ(brought.pods, 0u);
  EXPECT_TRUE(images().empty());
}

TEST_F(WorkloadsTest, APodThatWaitsWithoutEndIsListedAndNotWaitedForWithoutEnd) {
  store("never");
  const BringResult brought = bring(100ms);
  EXPECT_TRUE(brought.summary.is_late);
  EXPECT_TRUE(brought.summary.good());
  EXPECT_EQ(brought.unsettled.size(), 2u) << join(brought.unsettled, "; ");
  EXPECT_EQ(brought.ready, 0u);
  EXPECT_EQ(images().size(), 2u);
  // It is begun again from where it was.
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
}

TEST_F(WorkloadsTest, WhatAHookHoldsIsToldOnceWhileItIsWaitedFor) {
  const std::string_view hook = "  lifecycle: {inPlaceUpdate: {labelsHandler: {app: web}}}\n";
  store("web:1", hook);
  static_cast<void>(bring(100ms));
  std::vector<std::string> told;
  place_.notice = [&](const std::string& text) { told.push_back(text); };
  store("web:2", hook);
  const BringResult brought = bring(100ms);
  EXPECT_TRUE(brought.summary.is_late);
  ASSERT_FALSE(brought.unsettled.empty());
  for (const std::string& line : brought.unsettled)
    EXPECT_EQ(std::ranges::count(told, "waiting for " + line), 1) << line << "\n"
                                                                  << join(told, "\n");
}

TEST_F(WorkloadsTest, APodOnANodeThatIsAwayNamesTheNode) {
  ASSERT_TRUE(add_node(place_, {.name = "n1", .engine = "unix:///run/n1"}));
  use_node();
  std::vector<std::string> told;
  place_.notice = [&](const std::string& text) { told.push_back(text); };
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  world_.is_away = true;
  store("web:2");
  const BringResult brought = bring();
  EXPECT_FALSE(brought.summary.is_late) << "nobody waits for it";
  EXPECT_EQ(code_of(brought), 3);
  ASSERT_EQ(brought.unsettled.size(), 2u) << join(brought.unsettled, "; ");
  for (const std::string& line : brought.unsettled)
    EXPECT_TRUE(line.starts_with("pod default/web-") &&
                line.ends_with(": node `n1` does not answer"))
        << line;
  EXPECT_TRUE(std::ranges::any_of(told, [](const std::string& line) {
    return line.starts_with("node `n1` does not answer: ");
  })) << join(told, "; ");
  EXPECT_EQ(phase(), "progressing");
  world_.is_away = false;
  EXPECT_EQ(bring().ready, 2u);
  EXPECT_EQ(images(), (std::vector<std::string>{"web:2", "web:2"}));
}

TEST_F(WorkloadsTest, ANodeThatIsLostInTheMiddleIsTheReason) {
  ASSERT_TRUE(add_node(place_, {.name = "n1", .engine = "unix:///run/n1"}));
  use_node();
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  store("last");
  const BringResult brought = bring();
  EXPECT_EQ(code_of(brought), 3);
  EXPECT_EQ(brought.ready, 0u) << "nobody knows";
  ASSERT_EQ(brought.unsettled.size(), 2u) << join(brought.unsettled, "; ");
  for (const std::string& line : brought.unsettled)
    EXPECT_TRUE(line.ends_with(": node `n1` does not answer")) << line;
}

TEST_F(WorkloadsTest, WhatWasReadyIsLookedAtOnceMoreWhenItIsAvailable) {
  place_.clock = fast_clock;
  ASSERT_TRUE(add_node(place_, {.name = "n1", .engine = "unix:///run/n1"}));
  use_node();
  world_.looks_first();
  store("brief", "  minReadySeconds: 100\n");
  const BringResult brought = bring();
  EXPECT_EQ(code_of(brought), 3);
  ASSERT_EQ(brought.unsettled.size(), 2u) << join(brought.unsettled, "; ");
  EXPECT_TRUE(brought.unsettled[0].ends_with(": node `n1` does not answer"))
      << brought.unsettled[0];
}

}  // namespace
}  // namespace fettle
