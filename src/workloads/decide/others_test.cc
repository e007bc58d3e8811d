#include "workloads/decide/others.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kinds/pod.h"
#include "tests/workloads/world.h"
#include "workloads/decide/status.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view lent_mounts = R"([{"name":"data","mountPath":"/data"}])";

/// A cluster with pods of others. What is wanted of them is done when a test says so.
class Others : public testing::Test {
 protected:
  Others() {
    fleet.is_cluster = true;
    fleet.driver = "kubernetes";
    fleet.gates.pre_download = false;
  }

  void put_set(std::string_view image, std::string_view strategy = "{}", std::string_view more = "",
               std::string_view set = "logs", std::string_view container = "log") {
    Object object =
        manifest("SidecarSet", set,
                 cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":")",
                     container, R"(","image":")", image, R"(")", more, R"(}],"updateStrategy":)",
                     strategy, R"(,"revisionHistoryLimit":1})"));
    object.space = "";
    fleet.put(std::move(object));
    ask();
  }
  Value status(std::string_view set = "logs") {
    return status_of(fleet, cat("SidecarSet//", set), now);
  }
  Name revision(std::string_view set = "logs") { return status(set).text_at("latestRevision"); }
  static Value part(std::string_view set, const Name& revision, std::string_view container,
                    std::string_view image) {
    return Value::dict(
        {{"name", set},
         {"revision", revision},
         {"containers",
          Value::list({Value::dict(
              {{"name", container}, {"image", image}, {"volumeMounts", json(lent_mounts)}})})}});
  }
  static Key key_of(std::string_view pod) {
    return {"fleet", "pod", key_name_of_others("default", pod)};
  }
  void add_pod(std::string_view name, std::vector<Value> parts, std::string_view app = "web") {
    Pod pod;
    pod.name = Name(name);
    pod.uid = Name(cat("uid-of-", name));
    pod.owner = owner_of_others("default");
    pod.pod_template =
        json(cat(R"({"metadata":{"labels":{"app":")", app, R"(","pod":")", name,
                 R"("}},"spec":{"containers":[{"name":"main","image":"main:1"}]}})"));
    pod.sidecars = Value::list(std::move(parts));
    pod.state = Value::dict({{"made", 1}});
    Resource resource;
    resource.key = key_of(name);
    resource.driver = "kubernetes";
    resource.attributes = write(pod);
    know(std::move(resource), pod.owner.get());
    look(name);
    ask();
  }
  void add_pods(int count) {
    for (int i = 0; i < count; ++i)
      add_pod(cat("web-", i), {part("logs", revision(), "log", "log:1")});
  }

  void know(Resource resource, const Name& owner) {
    auto record = std::make_shared<Record>();
    record->wanted_by[owner] = resource.attributes.digest();
    const Key key = resource.key;
    record->applied = std::move(resource);
    fleet.know(key, record);
  }
  /// Its kubelet has started what is known of it.
  void look(std::string_view name) {
    std::vector<Value> rows;
    const Value spec = pod_spec(fleet.pod(key_of(name).name)->acted->attributes);
    for (const Value& container : items_of(spec.at("containers")))
      rows.push_back(Value::dict({{"name", container.at("name")},
                                  {"image", container.at("image")},
                                  {"imageID", cat("sha256:", container.text_at("image"))},
                                  {"containerID", cat("c://", container.text_at("image"))},
                                  {"ready", true}}));
    fleet.see(key_of(name),
              State(Value::dict({{"phase", "Running"},
                                 {"conditions", json(R"([{"type":"Ready","status":"True",
                                     "lastTransitionTime":"2026-01-01T00:00:00Z"}])")},
                                 {"containerStatuses", Value::list(std::move(rows))}})));
  }
  /// Everybody is asked until nobody wants anything new. Revisions are stored at once.
  void ask() {
    for (std::vector<Name> open = fleet.take_changed(); !open.empty(); open = fleet.take_changed())
      for (const Name& owner : open) {
        const Wanted wanted = want(fleet, owner, now);
        fleet.accept(wanted);
        for (const Box<Resource>& resource : wanted.resources)
          if (resource->key.kind == "revision")
            know(*resource, owner);
      }
  }
  /// What is wanted of a pod is written.
  void carry_out(std::string_view name) {
    know(*fleet.pod(key_of(name).name)->resource, owner_of_others("default"));
    ask();
  }
  void carry_out_and_look(std::string_view name) {
    carry_out(name);
    look(name);
    ask();
  }
  /// Pods that are to have a container with this image.
  std::vector<std::string> with(std::string_view image) {
    std::vector<std::string> found;
    for (const FleetPod* pod : fleet.owned(owner_of_others("default")).pods) {
      const Value spec = pod_spec(pod->resource->attributes);
      if (std::ranges::any_of(items_of(spec.at("containers")), [&](const Value& container) {
            return container.text_at("image") == image;
          }))
        found.push_back(pod->name.str());
    }
    return found;
  }
  using Texts = std::vector<std::string>;

  Fleet fleet{"fleet"};
  Time now{std::chrono::seconds(1'800'000'000)};
};

TEST_F(Others, ChangeOneAfterTheOther) {
  put_set("log:1");
  add_pods(3);
  EXPECT_EQ(status().integer_at("matchedPods"), 3);
  EXPECT_EQ(status().integer_at("updatedReadyPods"), 3);
  put_set("log:2");
  for (size_t updated = 1; updated <= 3; ++updated) {
    const Texts now_changing = with("log:2");
    ASSERT_EQ(now_changing.size(), updated);
    const auto last = std::ranges::find_if(now_changing, [&](const std::string& each) {
      return !fleet.pod(key_of(each).name)->is_done;
    });
    ASSERT_NE(last, now_changing.end());
    carry_out(*last);
    EXPECT_EQ(with("log:2").size(), updated) << "its kubelet has not told yet";
    look(*last);
    ask();
  }
  EXPECT_EQ(status().integer_at("updatedReadyPods"), 3);
  EXPECT_EQ(status().text_at("phase"), "complete");
  EXPECT_EQ(with("main:1").size(), 3u);
}

TEST_F(Others, KeepAllButImages) {
  put_set("log:1");
  add_pods(1);
  put_set("log:2");
  const FleetPod& pod = *fleet.pod(key_of("web-0").name);
  const Value sidecars = read_one<&Pod::sidecars>(pod.resource->attributes).value();
  const Value& container = sidecars.items()[0].at("containers").items()[0];
  EXPECT_EQ(container.text_at("image"), "log:2");
  EXPECT_EQ(container.at("volumeMounts"), json(lent_mounts));
  EXPECT_EQ(sidecars.items()[0].text_at("revision"), revision().view());
  EXPECT_EQ(sidecars.items()[0].at("last").at("log").text_at("image_id"), "sha256:log:1");
}

TEST_F(Others, StayIfTheirSetSaysSo) {
  put_set("log:1");
  add_pods(3);
  put_set("log:2", R"({"type":"NotUpdate"})");
  EXPECT_EQ(with("log:2"), Texts{});
  put_set("log:2", R"({"paused":true})");
  EXPECT_EQ(with("log:2"), Texts{});
  put_set("log:2", R"({"selector":{"matchLabels":{"pod":"web-1"}},"maxUnavailable":3})");
  EXPECT_EQ(with("log:2"), Texts{"web-1"});
  carry_out_and_look("web-1");
  put_set("log:2", R"({"partition":1,"maxUnavailable":3})");
  EXPECT_EQ(with("log:2").size(), 2u);
}

TEST_F(Others, HaveThePriorityThatTheirSetGivesThem) {
  put_set("log:1");
  add_pods(3);
  put_set("log:2", R"({"priorityStrategy":{"weightPriority":[
    {"weight":50,"matchSelector":{"matchLabels":{"pod":"web-2"}}}]}})");
  EXPECT_EQ(with("log:2"), Texts{"web-2"});
}

TEST_F(Others, AreNotChangedInAnythingElse) {
  put_set("log:1");
  add_pods(2);
  put_set("log:2", "{}", R"(,"env":[{"name":"A","value":"b"}])");
  EXPECT_EQ(with("log:2"), Texts{});
  EXPECT_EQ(status().integer_at("updatedPods"), 0);
  EXPECT_NE(status().text_at("reason").find("2 pods stay unchanged until recreated"),
            std::string_view::npos);
}

TEST_F(Others, OfAnUnknownRevisionAreLeftAlone) {
  put_set("log:1");
  add_pod("web-0", {part("logs", "logs-of-long-ago", "log", "log:0")});
  EXPECT_EQ(with("log:1"), Texts{});
  EXPECT_EQ(status().integer_at("matchedPods"), 1);
  EXPECT_EQ(status().integer_at("updatedPods"), 0);
}

/// Whoever makes a pod writes what its annotation says.
TEST_F(Others, MaySayThatTheyHaveNoContainersOfTheirSet) {
  put_set("log:1");
  const Name first = revision();
  const auto says = [](const Name& of, std::string_view more) {
    return json(cat(R"({"name":"logs","revision":")", of,
                    R"(","initContainers":[{"name":"log","image":"log:1"}])", more, "}"));
  };
  add_pod("web-0", {says("logs-of-long-ago", "")});
  add_pod("web-1", {says(first, R"(,"leaving":{"log":"empty:1"})")});
  add_pod("web-2", {says(first, "")});
  put_set("log:2");
  EXPECT_EQ(status().integer_at("matchedPods"), 3);
  EXPECT_EQ(with("log:2"), Texts{});
  EXPECT_EQ(with("main:1").size(), 3u);
}

TEST_F(Others, MaySayAnyVersionOfAHotSidecar) {
  constexpr std::string_view hot =
      R"(,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"})";
  put_set("log:1", "{}", hot);
  add_pod("web-0", {json(cat(R"({"name":"logs","revision":")", revision(), R"(","containers":[
      {"name":"log-1","image":"log:1"},{"name":"log-2","image":"empty:1"}],
      "working":{"log":"log-1"},"annotations":{
      "version.sidecarset.kruise.io/log-1":"9223372036854775807"}})"))});
  put_set("log:2", "{}", hot);
  EXPECT_EQ(with("log:2"), Texts{"web-0"});
  const List sidecars =
      read_one<&Pod::sidecars>(fleet.pod(key_of("web-0").name)->resource->attributes);
  EXPECT_EQ(sidecars.items()[0].at("annotations").text_at("version.sidecarset.kruise.io/log-2"),
            "1");
}

TEST_F(Others, KeepTheirRevision) {
  put_set("log:1");
  add_pods(1);
  for (const char* image : {"log:2", "log:3", "log:4"})
    put_set(image, R"({"paused":true})");
  put_set("log:4");
  EXPECT_EQ(with("log:4"), Texts{"web-0"});
}

TEST_F(Others, AreOnlyThoseThatTheSetSelects) {
  put_set("log:1");
  const Name first = revision();
  add_pod("web-0", {part("logs", first, "log", "log:1")}, "other");
  add_pod("web-1", {part("traces", "traces-1", "trace", "trace:1")});
  put_set("log:2");
  EXPECT_EQ(with("log:2"), Texts{});
  EXPECT_EQ(status().integer_at("matchedPods"), 0);
}

TEST_F(Others, ThatLeaveTheSelectorInTheirTurnStayAsTheyAre) {
  put_set("log:1");
  const Name first = revision();
  add_pod("web-0", {part("logs", first, "log", "log:1")});
  put_set("log:2");
  EXPECT_EQ(with("log:2"), Texts{"web-0"});
  add_pod("web-0", {part("logs", first, "log", "log:1")}, "other");
  fleet.let_be(key_of("web-0"));
  ask();
  EXPECT_EQ(with("log:2"), Texts{});
  EXPECT_EQ(status().integer_at("matchedPods"), 0);
}

TEST_F(Others, GetTheChangesOfTwoSetsTogether) {
  put_set("log:1");
  put_set("trace:1", "{}", "", "traces", "trace");
  add_pod("web-0", {part("logs", revision(), "log", "log:1"),
                    part("traces", revision("traces"), "trace", "trace:1")});
  put_set("log:2");
  put_set("trace:2", "{}", "", "traces", "trace");
  EXPECT_EQ(with("log:2"), Texts{"web-0"});
  EXPECT_EQ(with("trace:2"), Texts{"web-0"});
  carry_out_and_look("web-0");
  EXPECT_EQ(status().integer_at("updatedReadyPods"), 1);
  EXPECT_EQ(status("traces").integer_at("updatedReadyPods"), 1);
}

TEST_F(Others, ARefusedWriteHoldsTheSetWithTheWordsOfTheServer) {
  put_set("log:1");
  add_pods(2);
  put_set("log:2");
  const Texts chosen = with("log:2");
  ASSERT_EQ(chosen.size(), 1u);
  const FleetPod& pod = *fleet.pod(key_of(chosen[0]).name);
  auto record = std::make_shared<Record>();
  record->applied = *pod.acted;
  record->wanted_by[owner_of_others("default")] = {};
  Attempt& attempt = record->attempt.emplace();
  attempt.resource = *pod.resource;
  attempt.verb = Verb::update;
  attempt.failed = true;
  attempt.error = "no such registry";
  fleet.know(key_of(chosen[0]), record);
  ask();
  EXPECT_EQ(with("log:2"), chosen);
  EXPECT_EQ(status().text_at("reason"), cat("pod ", chosen[0], ": no such registry"));
}

TEST_F(Others, AreWantedEvenIfTheirSetIsGone) {
  put_set("log:1");
  add_pods(2);
  fleet.drop("SidecarSet//logs");
  (void)fleet.take_changed();
  const Wanted wanted = want(fleet, owner_of_others("default"), now);
  EXPECT_EQ(wanted.resources.size(), 2u);
  EXPECT_EQ(wanted.pods.size(), 2u);
}

}  // namespace
}  // namespace fettle::workloads
