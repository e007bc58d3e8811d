/// Workloads in a world of this program's own: what becomes of acts that take long when users want
/// something else, and of those that wait without end.

#include "verbs/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <thread>

#include "base/text.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/workload_kinds.h"
#include "verbs/edit.h"
#include "verbs/nodes.h"
#include "verbs/workload_plan.h"
#include "verbs/workload_views.h"

namespace fettle {
namespace {

/// Added to the clock.
std::atomic<Duration::rep> skipped{0};

/// Goes so fast that a minute is no time to wait for.
Time fast_clock() {
  static const Time begun = now_from_clock();
  return begun + 100 * (now_from_clock() - begun) + Duration(skipped);
}

/// Pods run at once; where an image is `slow`, acts go on until they are told to stop, and where it
/// is `never`, they wait for ever. After an act with `last`, the world is away, and
/// 50 seconds after one with `brief` was seen.
class World : public Driver {
 public:
  Status ready(std::span<const Resource* const>, std::stop_token) override {
    return is_gone() ? Status(world_error("connection refused")) : Status();
  }
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token) override {
    const std::lock_guard lock(mutex_);
    if (is_gone())
      return std::vector<Observation>(subjects.size(), {{}, false, "connection refused"});
    std::vector<Observation> answers;
    for (const Subject& subject : subjects) {
      Observation answer;
      if (const auto found = images_.find(subject.key); found != images_.end()) {
        answer.state = status_of(subject.key, found->second);
        if (found->second == "brief" && goes_away_ == Duration::rep{0})
          goes_away_ = (fast_clock() + 50s).time_since_epoch().count();
      }
      answers.push_back(std::move(answer));
    }
    return answers;
  }
  Result<Outcome> apply(const Act& act, const ProgressSink&, std::stop_token stop) override {
    const std::string image(act.key.kind == "image" ? act.attributes.text_at("reference")
                                                    : pod_image(act.attributes, "main"));
    if (act.verb == Verb::remove) {
      const std::lock_guard lock(mutex_);
      images_.erase(act.key);
      return Outcome(Done{.outputs = Value::dict({}), .remote_id = {}});
    }
    if (image == "bad")
      return world_error("it cannot be");
    if (image == "never")
      return Outcome(Pending{"an init container has not ended", 1ms, {}});
    if (image == "slow" && wait_to_be_stopped(act.key, stop))
      return cancelled_error();
    const std::lock_guard lock(mutex_);
    is_away = is_away || image == "last";
    if (act.key.kind == "pod")
      images_[act.key] = image;
    return Outcome(Done{.outputs = Value::dict({}), .remote_id = "r"});
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }

  std::atomic<bool> is_away = false;

  /// From now on it is a process that has seen nothing before, as each command is.
  void looks_first() {
    const std::lock_guard lock(mutex_);
    looks_first_ = true;
    since_.clear();
  }

  /// Somebody removes a pod, or the containers in one.
  void lose_a_pod() {
    const std::lock_guard lock(mutex_);
    images_.erase(first_pod());
  }
  void lose_a_container() {
    const std::lock_guard lock(mutex_);
    images_.at(first_pod()).clear();
  }

  /// Until an act of this kind goes on that takes long.
  bool await(const Name& kind) {
    std::unique_lock lock(mutex_);
    return told_.wait_for(lock, 60s, [&] {
      return std::ranges::any_of(slow_, [&](const Key& key) { return key.kind == kind; });
    });
  }
  std::vector<Key> stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  bool is_gone() const {
    return is_away || (goes_away_ != 0 && fast_clock().time_since_epoch().count() >= goes_away_);
  }
  Key first_pod() const {
    return std::ranges::find(images_, Name("pod"), [](const auto& each) { return each.first.kind; })
        ->first;
  }
  Value status_of(const Key& key, const std::string& image) {
    std::string since = "2026-01-01T00:00:01Z";
    if (looks_first_)
      since = since_.try_emplace(cat(key.name, image), workloads::time_text(fast_clock()))
                  .first->second;
    return Value::dict(
        {{"phase", "Running"},
         {"conditions",
          Value::list({Value::dict(
              {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", since}})})},
         {"containerStatuses", image.empty()
                                   ? Value::list({})
                                   : Value::list({Value::dict({{"name", "main"},
                                                               {"image", image},
                                                               {"imageID", cat("sha256:", image)},
                                                               {"containerID", image},
                                                               {"ready", true}})})}});
  }
  bool wait_to_be_stopped(const Key& key, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    slow_.push_back(key);
    told_.notify_all();
    // The limit is for a test that fails.
    stops_.wait_for(lock, stop, 60s, [] { return false; });
    if (stop.stop_requested())
      stopped_.push_back(key);
    return stop.stop_requested();
  }

  std::mutex mutex_;
  std::condition_variable told_;
  std::condition_variable_any stops_;
  std::map<Key, std::string> images_;
  std::vector<Key> slow_, stopped_;
  bool looks_first_ = false;
  std::atomic<Duration::rep> goes_away_{0};   ///< when, if ever
  std::map<std::string, std::string> since_;  ///< pods with their image
};

class WorkloadsTest : public testing::Test {
 protected:
  WorkloadsTest() : host_(http_, home_.blobs(), [] { return uint64_t{7}; }, {}) {
    place_.store = &home_.store();
    place_.blobs = &home_.blobs();
    place_.kinds = &kinds_;
    place_.clock = now_from_clock;
    place_.random = [] { return uint64_t{7}; };
    place_.interrupt = &interrupt_;
    place_.command = "a test";
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "engine" ? static_cast<Driver*>(&world_)
             : name == "host" ? static_cast<Driver*>(&host_)
                              : nullptr;
    };
  }
  /// The world is that of a node.
  void use_node() {
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "engine@n1" ? static_cast<Driver*>(&world_)
             : name == "host"    ? static_cast<Driver*>(&host_)
                                 : nullptr;
    };
  }
  /// As another command would while this one goes on.
  Workplace other_place() {
    Workplace other = place_;
    if (other_store_ == nullptr)
      other_store_ = *open_sqlite_store(home_.path("fettle.db"));
    other.store = other_store_.get();
    return other;
  }
  void store(std::string_view image, std::string_view more = {}, std::string_view of_main = {},
             std::string_view rolling = "podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1",
             std::string_view annotations = {}) {
    auto read =
        workloads::read_manifests(cat("apiVersion: apps.kruise.io/v1beta1\nkind: "
                                      "CloneSet\nmetadata: {name: web, annotations: {",
                                      annotations,
                                      "}}\nspec:\n"
                                      "  replicas: 2\n",
                                      more,
                                      "  selector: {matchLabels: {app: web}}\n"
                                      "  updateStrategy: {rollingUpdate: {",
                                      rolling,
                                      "}}\n  template: {metadata: {labels: {app: web}}, spec: "
                                      "{containers: [{name: main, image: ",
                                      image, of_main, "}]}}\n"),
                                  "web.yaml", {});
    ASSERT_TRUE(read.errors.empty()) << to_string(read.errors[0]);
    const auto stored = store_objects(other_place(), "fleet", std::move(read.objects));
    ASSERT_TRUE(stored) << to_string(stored.error());
  }
  Brought bring(Duration limit = 60s) {
    BringOptions options;
    options.limit = limit;
    const auto brought = bring_workloads(place_, "fleet", options);
    EXPECT_TRUE(brought) << to_string(brought.error());
    return brought.value_or(Brought{});
  }
  std::vector<std::string> images() {
    std::vector<std::string> found;
    const auto pods = pods_of(place_, "fleet");
    EXPECT_TRUE(pods) << to_string(pods.error());
    for (const Value& pod : pods.value_or(std::vector<Value>()))
      found.emplace_back(
          pod.at("status").at("containerStatuses").items()[0].text_at("image", "none"));
    return found;
  }
  /// Of the rollout, as another command sees it.
  std::string phase() {
    const auto objects = objects_with_status(other_place(), "fleet");
    EXPECT_TRUE(objects) << to_string(objects.error());
    for (const workloads::Object& object : objects.value_or(std::vector<workloads::Object>()))
      if (object.kind == "CloneSet")
        return std::string(object.document.at("status").text_at("phase"));
    return {};
  }
  bool is_stopped(const Name& kind) {
    return std::ranges::any_of(world_.stopped(), [&](const Key& key) { return key.kind == kind; });
  }

  TestHome home_;
  std::unique_ptr<Store> other_store_;
  HttpClient http_;
  WorkloadKinds kinds_;
  Interrupt interrupt_;
  Workplace place_;
  World world_;
  HostDriver host_;
};

TEST_F(WorkloadsTest, LaterCommandsKnowSinceWhenPodsAreReady) {
  place_.clock = fast_clock;
  // Whoever looks first at a pod with a probe learns nothing but that it is ready now.
  world_.looks_first();
  store("web:1", "  minReadySeconds: 60\n", ", readinessProbe: {httpGet: {port: 80}}");
  EXPECT_EQ(bring().ready, 2u);
  world_.looks_first();
  EXPECT_EQ(phase(), "complete");
  // Another container begins anew.
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
    const auto made = plan_workloads(other_place(), "fleet", {});
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

/// The exit code of a command that brings workloads about, and of `rollout status`.
int code_of(const Brought& brought) {
  if (brought.is_refused || !brought.summary.failures.empty())
    return 1;
  return brought.summary.is_late || !brought.unsettled.empty() ? 3 : 0;
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
    const Brought brought = bring(100ms);
    EXPECT_EQ(code_of(brought), row.code)
        << row.image << " " << row.rolling << ": " << join(brought.unsettled, "; ");
    EXPECT_EQ(code_of(phase()), row.code) << row.image << " " << row.rolling << ": " << phase();
  }
}

TEST_F(WorkloadsTest, WhoFollowsAControllerTakesItsPlaceWhenItEnds) {
  store("web:1");
  Workplace controller = other_place();
  controller.command = controller_words;
  auto edit = begin_edit(controller, "fleet", false);
  ASSERT_TRUE(edit) << to_string(edit.error());
  std::promise<void> follows;
  std::vector<std::string> told;
  place_.notice = [&](const std::string& text) {
    told.push_back(text);
    if (told.size() == 1)
      follows.set_value();
  };
  Brought brought;
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
  Brought brought;
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
  Brought brought;
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
  const Brought brought = bring(100ms);
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
  const Brought brought = bring(100ms);
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
  const Brought brought = bring();
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
  const Brought brought = bring();
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
  const Brought brought = bring();
  EXPECT_EQ(code_of(brought), 3);
  ASSERT_EQ(brought.unsettled.size(), 2u) << join(brought.unsettled, "; ");
  EXPECT_TRUE(brought.unsettled[0].ends_with(": node `n1` does not answer"))
      << brought.unsettled[0];
}

TEST_F(WorkloadsTest, WhatAnotherOneRemovedMeanwhileIsDrained) {
  ASSERT_TRUE(add_node(place_, {.name = "n1", .engine = "unix:///run/n1"}));
  use_node();
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  auto other = home_.edit("fleet");
  place_.notice = [&](const std::string& text) {
    if (!text.starts_with("waiting for ") || other == nullptr)
      return;
    std::vector<Change> changes;
    const Known known = *home_.store().known("fleet");
    for (const auto& [key, record] : known)
      if (key.kind == "pod")
        changes.push_back({Change::forget, key, nullptr, {}});
    EXPECT_EQ(changes.size(), 2u);
    EXPECT_TRUE(other->write(changes));
    other.reset();
  };
  const auto drained = drain_node(place_, "n1", true);
  ASSERT_TRUE(drained) << to_string(drained.error());
  EXPECT_TRUE(drained->good());
  EXPECT_EQ(other, nullptr);
}

}  // namespace
}  // namespace fettle
