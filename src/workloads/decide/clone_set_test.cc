/// CloneSets from beginning to end, in a world that plays pods. Numbers are those of the scenarios.

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "tests/workloads/world.h"
#include "workloads/names.h"
#include "workloads/pods/in_place.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view in_place = R"({"podUpdatePolicy":"InPlaceIfPossible"})";

std::string rolling(std::string_view more) {
  return cat(R"({"podUpdatePolicy":"InPlaceIfPossible",)", more, "}");
}

class CloneSet : public testing::Test {
 protected:
  CloneSet() { world.add_nodes(4); }
  void put(int replicas, std::string_view images, std::string_view how = in_place,
           std::string_view more = "", std::string_view annotations = "{}") {
    world.put(
        manifest("CloneSet", "web", clone_set_spec(replicas, images, how, more), annotations));
  }
  void put_template(int replicas, std::string_view pod_template, std::string_view how = in_place,
                    std::string_view more = "") {
    world.put(manifest(
        "CloneSet", "web",
        cat(R"({"replicas":)", replicas, R"(,"selector":{"matchLabels":{"app":"web"}},"template":)",
            pod_template, R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":)", how, "}",
            more, "}")));
  }
  void mark(std::string_view pod, std::string_view metadata) { world.mark(pod, metadata); }
  std::string condition(std::string_view pod, std::string_view name) {
    return std::string(dict_of(world.pod(pod).resource->attributes).at("conditions").text_at(name));
  }
  void let_go(int max_unavailable, const std::string& scale_strategy, bool one_by_one);
  World world;
};

TEST_F(CloneSet, PodsComeAndAreReady) {
  put(5, "web:1");
  world.settle();
  EXPECT_EQ(world.real.size(), 5u);
  EXPECT_EQ(world.ready(), 5);
  for (const std::string& name : world.pods()) {
    EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::normal);
    EXPECT_EQ(world.pod(name).labels.text_at("controller-revision-hash"), world.revision_of(name));
    EXPECT_EQ(name.size(), std::string_view("web-abcde").size());
  }
  put(2, "web:1");
  world.finish();
  EXPECT_EQ(world.real.size(), 2u);
  world.fleet.drop("CloneSet/default/web");
  world.finish();
  EXPECT_TRUE(world.real.empty());
  EXPECT_TRUE(world.of_kind("revision").empty());
}

TEST(CloneSetOfACluster, PodsThatWereSeenOnNoNodeGoFirst) {
  const Name owner = "CloneSet/default/web";
  Fleet fleet("cluster");
  fleet.is_cluster = true;
  fleet.put(manifest("CloneSet", "web", clone_set_spec(3, "web:1", in_place, "")));
  const Wanted first = want(fleet, owner, Time(1h));
  fleet.accept(first);
  std::vector<Key> pods;
  for (const Box<Resource>& resource : first.resources) {
    auto record = std::make_shared<Record>();
    record->applied = resource;
    fleet.know(resource->key, record);
    if (resource->key.kind == "pod")
      pods.push_back(resource->key);
  }
  ASSERT_EQ(pods.size(), 3u);
  const Value ready = Value::dict({{"type", "Ready"}, {"status", "True"}});
  for (const Key& key : pods)
    fleet.see(key,
              State(Value::dict({{"phase", "Running"}, {"conditions", Value::list({ready})}})));
  fleet.see_node(pods[0], "n1");
  fleet.see_node(pods[2], "n2");
  EXPECT_EQ(fleet.pod(pods[2].name)->node, "n2");
  fleet.put(manifest("CloneSet", "web", clone_set_spec(2, "web:1", in_place, "")));
  std::set<Key> kept;
  for (const Box<Resource>& resource : want(fleet, owner, Time(2h)).resources)
    if (resource->key.kind == "pod")
      kept.insert(resource->key);
  EXPECT_EQ(kept, (std::set<Key>{pods[0], pods[2]}));
}

/// After `kubectl delete --cascade=orphan`, the pods of the set before are still there.
TEST(CloneSetOfACluster, ASetThatIsMadeAnewWantsOtherNames) {
  for (const char* kind : {"CloneSet", "DaemonSet"}) {
    const auto names_of = [&](bool is_cluster, const char* uid) {
      Fleet fleet("cluster");
      fleet.is_cluster = is_cluster;
      Node node;
      node.name = "n1";
      node.labels = Value::dict({});
      fleet.put_node(node);
      Object set = manifest(kind, "web",
                            cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)",
                                template_text("web:1"), "}"));
      set.uid = uid;
      fleet.put(set);
      std::set<Name> names;
      const Wanted wanted = want(fleet, set.owner(), Time(1h));
      for (const Box<Resource>& resource : wanted.resources)
        if (resource->key.kind == "pod")
          names.insert(Name(node_address(resource->key.name).name));
      EXPECT_EQ(names.size(), 1u) << kind;
      return names;
    };
    EXPECT_NE(names_of(true, "u1"), names_of(true, "u2")) << kind;
    EXPECT_EQ(names_of(true, "u1"), names_of(true, "u1")) << kind;
    EXPECT_EQ(names_of(false, "u1"), names_of(false, "u2")) << kind;
  }
}

TEST_F(CloneSet, AskedAgainItWantsTheSame) {
  put(5, "web:1");
  world.settle();
  put(5, "web:2", rolling(R"("maxUnavailable":2)"));
  const Name owner = "CloneSet/default/web";
  const Wanted first = want(world.fleet, owner, world.now);
  const Wanted twice = want(world.fleet, owner, world.now);
  const auto digest = [&](const Wanted& wanted) {
    Digest sum{};
    for (const Box<Resource>& resource : wanted.resources)
      sum = combine(sum, combine(resource->key.name.digest(), resource->attributes.digest()));
    return sum;
  };
  EXPECT_EQ(digest(first), digest(twice));
  world.fleet.accept(first);
  const Wanted after = want(world.fleet, owner, world.now);
  std::map<Name, Attributes> before;
  for (const Box<Resource>& resource : first.resources)
    before[cat(to_string(resource->key))] = resource->attributes;
  for (const Box<Resource>& resource : after.resources)
    EXPECT_EQ(before[cat(to_string(resource->key))], resource->attributes)
        << to_string(resource->key);
  // What is as before is the same resource, not an equal one.
  for (size_t i = 0; i < after.pods.size(); ++i)
    EXPECT_EQ(&*after.resources[after.resources.size() - after.pods.size() + i],
              &*after.pods[i]->resource);
}

// 34. One image changed: in place with that image only.
TEST_F(CloneSet, AnImageChangesInPlace) {
  put(5, "web:1 log:1");
  world.settle();
  const auto before = world.pods();
  std::map<Name, std::string> logs;
  for (const auto& [key, pod] : world.real)
    logs[key] = pod.containers.at("c1").id;
  put(5, "web:2 log:1");
  int worst = 5;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  world.ready_after = 3s;
  world.finish();
  EXPECT_EQ(world.pods(), before);
  EXPECT_EQ(world.count_image("web:2"), 5);
  EXPECT_EQ(worst, 4) << "20 % of five";
  for (const auto& [key, pod] : world.real)
    EXPECT_EQ(pod.containers.at("c1").id, logs[key]) << "the other container stays";
  EXPECT_EQ(world.of_kind("revision").size(), 2u);
}

TEST_F(CloneSet, UnavailableOnesAreNeverMoreThanAllowedAndAPartitionKeepsTheRest) {
  put(10, "web:1");
  world.settle();
  put(10, "web:2", rolling(R"("maxUnavailable":3,"partition":4)"));
  world.ready_after = 2s;
  int worst = 10;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 6);
  EXPECT_EQ(worst, 7);
  put(10, "web:2", rolling(R"("maxUnavailable":3)"));
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 10);
}

TEST_F(CloneSet, APausedRolloutChangesNothingAndGoesOn) {
  put(3, "web:1");
  world.settle();
  put(3, "web:2", rolling(R"("paused":true)"));
  world.pass(30);
  EXPECT_EQ(world.count_image("web:1"), 3);
  put(3, "web:2");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 3);
}

TEST_F(CloneSet, WhatCannotChangeInPlaceIsMadeAnewOrRefused) {
  put(3, "web:1");
  world.settle();
  const auto before = world.pods();
  world.ready_after = 1s;
  put_template(3, template_text("web:1 extra:1"), R"({"podUpdatePolicy":"InPlaceOnly"})");
  world.pass(5);
  EXPECT_EQ(world.pods(), before);
  EXPECT_TRUE(world.has_notice("FailedUpdatePodInPlace"));
  put_template(3, template_text("web:1 extra:1"));
  int worst = 3;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  world.finish();
  EXPECT_EQ(world.pods().size(), 3u);
  EXPECT_EQ(worst, 2);
  for (const std::string& name : world.pods())
    EXPECT_EQ(std::ranges::count(before, name), 0) << "made anew";
}

// 10 to 12, lived through: a surge of one, and nothing is ever missing.
TEST_F(CloneSet, WithASurgeAPodComesBeforeOneGoes) {
  put(5, "web:1", R"({"maxUnavailable":0,"maxSurge":1})");
  world.settle();
  world.ready_after = 2s;
  int worst = 5;
  size_t most = 0;
  world.after_each = [&] {
    worst = std::min(worst, world.ready());
    most = std::max(most, world.real.size());
  };
  put(5, "web:2", R"({"maxUnavailable":0,"maxSurge":1})");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 5);
  EXPECT_EQ(worst, 5);
  EXPECT_EQ(most, 6u);
}

// 35. Two images, no priority: both in one batch. 36. Priorities 10 and 5: the 10 first, the other
// one after it is consistent and ready.
TEST_F(CloneSet, ContainersWithALaunchPriorityChangeInBatches) {
  const auto text = [](std::string_view a, std::string_view b, bool ordered) {
    const auto env = [&](std::string_view number) {
      return ordered
                 ? cat(R"(,"env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":")", number, R"("}])")
                 : std::string();
    };
    return cat(
        R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"a","image":")", a,
        R"(")", env("5"), R"(},{"name":"b","image":")", b, R"(")", env("10"), "}]}}");
  };
  for (const bool ordered : {false, true}) {
    World fresh;
    fresh.add_nodes(1);
    const auto put_both = [&](std::string_view a, std::string_view b) {
      fresh.put(manifest(
          "CloneSet", "web",
          cat(R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":)",
              text(a, b, ordered), R"(,"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,)",
              R"("podUpdatePolicy":"InPlaceIfPossible"}}})")));
    };
    put_both("a:1", "b:1");
    fresh.settle();
    fresh.ready_after = 5s;
    put_both("a:2", "b:2");
    fresh.settle();
    const World::Real& pod = fresh.real.begin()->second;
    EXPECT_EQ(pod.containers.at("b").image, "b:2");
    EXPECT_EQ(pod.containers.at("a").image, ordered ? "a:1" : "a:2");
    EXPECT_EQ(fresh.pod(fresh.pods()[0]).lifecycle,
              ordered ? Lifecycle::updating : Lifecycle::normal);
    fresh.pass(3);
    EXPECT_EQ(pod.containers.at("a").image, ordered ? "a:1" : "a:2") << "not ready yet";
  }
}

// 37. Three priorities, the middle batch is never ready: the third is never applied.
TEST_F(CloneSet, ABatchThatIsNotReadyHoldsTheNext) {
  const auto text = [](std::string_view tag) {
    const auto one = [&](std::string_view name, std::string_view priority) {
      return cat(R"({"name":")", name, R"(","image":")", name, ":", tag,
                 R"(","env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":")", priority, R"("}]})");
    };
    return cat(R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[)", one("a", "1"), ",",
               one("b", "3"), ",", one("c", "2"), "]}}");
  };
  put_template(1, text("1"));
  world.settle();
  world.never_ready.insert("c:2");
  put_template(1, text("2"));
  world.pass(20);
  const World::Real& pod = world.real.begin()->second;
  EXPECT_EQ(pod.containers.at("b").image, "b:2");
  EXPECT_EQ(pod.containers.at("c").image, "c:2");
  EXPECT_EQ(pod.containers.at("a").image, "a:1");
  world.never_ready.clear();
  put_template(1, text("3"));
  world.finish();
  for (const auto& [name, container] : pod.containers)
    EXPECT_EQ(container.image, cat(name, ":3"));
}

// 47. Hooked inPlaceUpdate: PreparingUpdate until the
// handler is removed; then Updating; Updated until it is set again; then Normal.
TEST_F(CloneSet, AHookHoldsAPodBeforeAndAfterItsUpdate) {
  const std::string hook = R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"yes"}}})";
  put_template(1, template_text("web:1", ""), rolling(R"("maxUnavailable":1)"), hook);
  world.settle();
  const std::string name = world.pods()[0];
  mark(name, R"({"labels":{"hold":"yes"}})");
  world.settle();
  put_template(1, template_text("web:2", ""), rolling(R"("maxUnavailable":1)"), hook);
  world.settle();
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::preparing_update);
  EXPECT_EQ(world.count_image("web:1"), 1);
  mark(name, R"({"labels":{"hold":null}})");
  world.pass(2);
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::updated);
  EXPECT_EQ(world.count_image("web:2"), 1);
  mark(name, R"({"labels":{"hold":"yes"}})");
  world.settle();
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::normal);
}

// 47. The same when the label is the template's: what was taken away stays away.
TEST_F(CloneSet, AHookOfTheTemplateHoldsAPodAfterItsUpdate) {
  const std::string hook = R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"yes"}}})";
  const auto text = [](std::string_view image) {
    return replace_all(template_text(image, ""), R"("app":"web")", R"("app":"web","hold":"yes")");
  };
  put_template(1, text("web:1"), rolling(R"("maxUnavailable":1)"), hook);
  world.settle();
  const std::string name = world.pods()[0];
  put_template(1, text("web:2"), rolling(R"("maxUnavailable":1)"), hook);
  world.settle();
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::preparing_update);
  mark(name, R"({"labels":{"hold":null}})");
  world.pass(3);
  EXPECT_EQ(world.count_image("web:2"), 1);
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::updated);
  mark(name, R"({"labels":{"hold":"yes"}})");
  world.settle();
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::normal);
}

// 47. Undone in PreparingUpdate: Normal, and the container does not start again.
TEST_F(CloneSet, WhatIsUndoneWhileAHookHoldsItNeverChanges) {
  const std::string hook = R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"yes"}}})";
  const auto text = [](std::string_view image) { return template_text(image, ""); };
  put_template(1, text("web:1"), rolling(R"("maxUnavailable":1)"), hook);
  world.settle();
  const std::string name = world.pods()[0];
  mark(name, R"({"labels":{"hold":"yes"}})");
  put_template(1, text("web:2"), rolling(R"("maxUnavailable":1)"), hook);
  world.settle();
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::preparing_update);
  put_template(1, text("web:1"), rolling(R"("maxUnavailable":1)"), hook);
  world.finish();
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::normal);
  EXPECT_TRUE(world.updated.empty());
  EXPECT_EQ(world.pods(), std::vector<std::string>{name});
}

TEST_F(CloneSet, AHookHoldsAPodBeforeItsDeletionAndItStaysWhenItIsWantedAgain) {
  const std::string hook = R"(,"lifecycle":{"preDelete":{"labelsHandler":{"hold":"yes"}}})";
  put_template(2, template_text("web:1", R"(,"x":"y")"), in_place, hook);
  world.settle();
  for (const std::string& name : world.pods())
    mark(name, R"({"labels":{"hold":"yes"}})");
  put_template(1, template_text("web:1", R"(,"x":"y")"), in_place, hook);
  world.pass(3);
  EXPECT_EQ(world.real.size(), 2u);
  const auto prepared =
      world.pods([](const FleetPod& pod) { return pod.lifecycle == Lifecycle::preparing_delete; });
  ASSERT_EQ(prepared.size(), 1u);
  put_template(2, template_text("web:1", R"(,"x":"y")"), in_place, hook);
  world.settle();
  EXPECT_EQ(world.pod(prepared[0]).lifecycle, Lifecycle::normal);
  put_template(1, template_text("web:1", R"(,"x":"y")"), in_place, hook);
  world.settle();
  for (const std::string& name : world.pods())
    mark(name, R"({"labels":{"hold":null}})");
  world.settle();
  EXPECT_EQ(world.real.size(), 1u);
}

// A rollout that recreates pods, whose hooks let go of pods at once or one by one: they go as
// `maxUnavailable` allows, whether or not `scaleStrategy` limits how many may be missing, and the
// rollout ends.
void CloneSet::let_go(int max_unavailable, const std::string& scale_strategy, bool one_by_one) {
  const std::string more =
      cat(R"(,"lifecycle":{"preDelete":{"labelsHandler":{"hold":"yes"}}})", scale_strategy);
  const std::string how =
      cat(R"({"podUpdatePolicy":"ReCreate","maxUnavailable":)", max_unavailable, "}");
  const auto text = [](std::string_view image) {
    return replace_all(template_text(image), R"("app":"web")", R"("app":"web","hold":"yes")");
  };
  world.ready_after = 3s;
  put_template(4, text("web:1"), how, more);
  world.finish();
  put_template(4, text("web:2"), how, more);
  world.pass(5);
  const auto held =
      world.pods([](const FleetPod& pod) { return pod.lifecycle == Lifecycle::preparing_delete; });
  EXPECT_EQ(held.size(), static_cast<size_t>(max_unavailable));
  int least = 4;
  world.after_each = [&] { least = std::min(least, world.ready()); };
  for (const std::string& name : one_by_one ? held : world.pods()) {
    mark(name, R"({"labels":{"hold":null}})");
    if (one_by_one)
      world.pass(1);
  }
  for (int second = 0; second < 200; ++second) {
    world.pass(1);
    // The new ones are let go as they come.
    for (const std::string& name : world.pods())
      if (one_by_one && world.pod(name).lifecycle == Lifecycle::preparing_delete)
        mark(name, R"({"labels":{"hold":null}})");
  }
  EXPECT_EQ(least, 4 - max_unavailable);
  EXPECT_EQ(world.count_image("web:2"), 4);
  EXPECT_EQ(world.ready(), 4);
}

TEST_F(CloneSet, PodsThatHooksLetGoTogetherGoOneAfterAnother) { let_go(1, "", false); }

TEST_F(CloneSet, PodsThatHooksLetGoTogetherDoNotStandForEver) {
  let_go(1, R"(,"scaleStrategy":{"maxUnavailable":1})", false);
}

// One is gone and may not come back while another one, which is let go, is still there.
TEST_F(CloneSet, APodThatIsLetGoLaterDoesNotStandForEver) {
  let_go(2, R"(,"scaleStrategy":{"maxUnavailable":1})", true);
}

TEST_F(CloneSet, PodsThatAreLetGoAndDoNotCountDoNotStandForEver) {
  let_go(1, R"(,"scaleStrategy":{"maxUnavailable":1,"excludePreparingDelete":true})", false);
}

// 43, 44. When an update counts as complete.
TEST_F(CloneSet, CompletionIsSeenInTheContainers) {
  ContainerSeen seen;
  seen.image = "web:1";
  seen.image_id = "sha256:1";
  const Value last = json(R"({"image_id":"sha256:1"})");
  EXPECT_FALSE(is_container_updated(nullptr, last, "web:2", {})) << "no status: wait";
  EXPECT_FALSE(is_container_updated(&seen, last, "web:2", {})) << "all as before: wait";
  seen.image = "docker.io/library/web:2";
  EXPECT_TRUE(is_container_updated(&seen, last, "web:2", {})) << "status.image is the wanted one";
  seen.image = "web:1";
  seen.image_id = "sha256:2";
  EXPECT_TRUE(is_container_updated(&seen, last, "web:2", {})) << "another image";
  seen.image_id = "sha256:1";
  seen.container_id = "c2";
  EXPECT_TRUE(is_container_updated(&seen, json(R"({"image_id":"sha256:1","container_id":"c1"})"),
                                   "web:2", {}))
      << "44: the same digest under a new tag, another container";
  EXPECT_FALSE(is_container_updated(&seen, last, "web:2", Value("c3")))
      << "not the one that was made";
  EXPECT_TRUE(is_container_updated(&seen, last, "web:2", Value("c2")));
  seen.image_id = Name();
  EXPECT_FALSE(is_container_updated(&seen, last, "web:1", {})) << "an image that is nowhere";
}

TEST_F(CloneSet, TheSameDigestUnderANewTagFinishes) {
  world.same_ids = true;
  put(3, "web:1");
  world.settle();
  put(3, "web:2");
  world.finish();
  for (const std::string& name : world.pods())
    EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::normal);
  EXPECT_EQ(world.count_image("web:2"), 3);
}

TEST_F(CloneSet, AnImageThatIsNowhereStopsTheRolloutAndAnotherOneRepairsIt) {
  put(5, "web:1");
  world.settle();
  world.images_nowhere.insert("web:2");
  put(5, "web:2");
  world.pass(60);
  EXPECT_EQ(world.ready(), 4);
  EXPECT_EQ(
      world.pods([](const FleetPod& pod) { return pod.lifecycle == Lifecycle::updating; }).size(),
      1u);
  put(5, "web:3");
  world.finish();
  EXPECT_EQ(world.count_image("web:3"), 5);
  EXPECT_EQ(world.ready(), 5);
}

// 45. Grace 3 s: the first write has no image; it comes after 3 s; a revision that changed in
// between drops the first grace.
TEST_F(CloneSet, GraceLetsAPodDrainBeforeItsContainerStops) {
  const std::string how =
      rolling(R"("maxUnavailable":1,"inPlaceUpdateStrategy":{"gracePeriodSeconds":3})");
  put(1, "web:1", how);
  world.settle();
  const std::string name = world.pods()[0];
  put(1, "web:2", how);
  world.settle();
  EXPECT_EQ(condition(name, condition::in_place), "False");
  EXPECT_EQ(world.count_image("web:1"), 1);
  world.pass(2);
  EXPECT_EQ(world.count_image("web:1"), 1);
  world.pass(1);
  EXPECT_EQ(world.count_image("web:2"), 1);
  world.finish();
  EXPECT_EQ(condition(name, condition::in_place), "True");
}

TEST_F(CloneSet, ARollbackDuringTheGraceNeverStopsTheContainer) {
  const std::string how =
      rolling(R"("maxUnavailable":1,"inPlaceUpdateStrategy":{"gracePeriodSeconds":3})");
  put(1, "web:1", how);
  world.settle();
  put(1, "web:2", how);
  world.pass(1);
  put(1, "web:1", how);
  world.finish();
  EXPECT_TRUE(world.updated.empty());
  EXPECT_EQ(world.ready(), 1);
  const std::string name = world.pods()[0];
  EXPECT_EQ(world.pod(name).lifecycle, Lifecycle::normal);
  put(1, "web:2", how);
  world.pass(2);
  put(1, "web:3", how);
  world.pass(2);
  EXPECT_TRUE(world.updated.empty()) << "a new grace for a new revision";
  world.finish();
  EXPECT_EQ(world.count_image("web:3"), 1);
}

// 38. A label alone is written, and no container starts again.
TEST_F(CloneSet, ALabelAloneStopsNoContainer) {
  put_template(2, template_text("web:1"));
  world.settle();
  put_template(
      2, replace_all(template_text("web:1"), R"("app":"web")", R"("app":"web","tier":"gold")"));
  world.finish();
  EXPECT_TRUE(world.updated.empty());
  for (const std::string& name : world.pods())
    EXPECT_EQ(world.pod(name).labels.text_at("tier"), "gold");
  EXPECT_TRUE(world.of_kind("pull_job").empty());
}

// 46. Of a resize alone nobody is told, unless it recreates the container.
TEST_F(CloneSet, AResizeDoesNotTouchTheReadiness) {
  world.fleet.gates.resize = true;
  const auto text = [](std::string_view cpu, std::string_view policy) {
    return cat(
        R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i",)",
        R"("resources":{"requests":{"cpu":")", cpu, R"("}},"resizePolicy":[{"resourceName":)",
        R"("cpu","restartPolicy":")", policy, R"("}]}]}})");
  };
  for (const auto& [policy, touched] :
       {std::pair("NotRequired", false), std::pair("RestartContainer", true)}) {
    World fresh;
    fresh.fleet.gates.resize = true;
    fresh.add_nodes(1);
    const auto put_size = [&](std::string_view cpu) {
      fresh.put(manifest(
          "CloneSet", "web",
          cat(R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":)",
              text(cpu, policy),
              R"(,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceOnly"}}})")));
    };
    put_size("100m");
    fresh.settle();
    bool was_false = false;
    fresh.after_each = [&] {
      for (const auto& [key, pod] : fresh.real)
        was_false |=
            dict_of(pod.attributes).at("conditions").text_at(condition::in_place) == "False";
    };
    put_size("200m");
    fresh.finish();
    EXPECT_EQ(was_false, touched) << policy;
    EXPECT_EQ(dict_of(fresh.pod(fresh.pods()[0]).resource->attributes)
                  .at("template")
                  .at("spec")
                  .at("containers")
                  .items()[0]
                  .at("resources")
                  .at("requests")
                  .text_at("cpu"),
              "200m");
  }
}

// 3 to 5. Deletion that was asked for: the same number stays, and not too many go at once.
TEST_F(CloneSet, SpecifiedPodsAreReplacedOneByOne) {
  put(5, "web:1", rolling(R"("maxUnavailable":1)"));
  world.settle();
  const auto before = world.pods();
  world.ready_after = 2s;
  int worst = 5;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  mark(before[0], R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  mark(before[1], R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  world.finish();
  const auto after = world.pods();
  EXPECT_EQ(after.size(), 5u);
  EXPECT_EQ(std::ranges::count(after, before[0]) + std::ranges::count(after, before[1]), 0);
  EXPECT_EQ(worst, 4);
  put(4, "web:1", rolling(R"("maxUnavailable":1)"),
      cat(R"(,"scaleStrategy":{"podsToDelete":[")", before[2], R"("]})"));
  world.finish();
  EXPECT_EQ(world.pods().size(), 4u);
  EXPECT_EQ(std::ranges::count(world.pods(), before[2]), 0);
}

// The label itself is an act, after which nobody has looked at the pod yet: that makes it no pod
// that is not ready, and so no pod that may go for nothing.
TEST_F(CloneSet, SpecifiedPodsThatNobodyHasLookedAtAreNotFree) {
  world.is_slow = true;
  world.ready_after = world.act_takes = 1s;
  world.end_takes = 4s;
  put(5, "web:1", rolling(R"("maxUnavailable":1)"));
  world.finish();
  const auto before = world.pods();
  int least = 5;
  world.after_each = [&] { least = std::min(least, world.ready()); };
  for (const std::string& name : {before[0], before[1]})
    mark(name, R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  world.finish();
  EXPECT_EQ(least, 4);
  EXPECT_EQ(world.ready(), 5);
  EXPECT_EQ(world.removed.size(), 2u);
}

TEST_F(CloneSet, ASpecifiedPodWaitsForAnUpdateThatHasUsedUpTheBudget) {
  world.is_slow = true;
  world.ready_after = world.act_takes = 3s;
  world.end_takes = 4s;
  const std::string how = rolling(R"("maxUnavailable":1)");
  put(4, "web:1", how);
  world.finish();
  int least = 4;
  world.after_each = [&] { least = std::min(least, world.ready()); };
  put(4, "web:2", how);
  for (int second = 0; second < 20 && world.ready() == 4; ++second)
    world.pass(1);
  ASSERT_EQ(world.ready(), 3) << "one of them changes";
  const auto old = world.pods([](const FleetPod& pod) { return pod.is_ready(); });
  ASSERT_FALSE(old.empty());
  mark(old[0], R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  world.pass(1);
  EXPECT_TRUE(world.removed.empty());
  world.finish();
  EXPECT_EQ(least, 3);
  EXPECT_EQ(world.count_image("web:2"), 4);
  EXPECT_EQ(std::ranges::count(world.pods(), old[0]), 0);
}

TEST_F(CloneSet, AnUndoneRolloutFindsItsRevisionAgain) {
  put(2, "web:1");
  world.settle();
  const std::string first = world.revision_of(world.pods()[0]);
  put(2, "web:2");
  world.finish();
  put(2, "web:1");
  world.finish();
  EXPECT_EQ(world.revision_of(world.pods()[0]), first);
  EXPECT_EQ(world.of_kind("revision").size(), 2u);
  EXPECT_EQ(dict_of(*world.wanted("revision", cat("default/", first))).integer_at("number"), 3);
}

TEST_F(CloneSet, HistoryIsLimitedAndWhatPodsHaveStays) {
  for (int i = 1; i <= 6; ++i) {
    put(1, cat("web:", i), in_place, R"(,"revisionHistoryLimit":2)");
    world.finish();
  }
  EXPECT_EQ(world.of_kind("revision").size(), 3u);
}

TEST_F(CloneSet, ClaimsOfADeletedPodGoOrAreUsedAgain) {
  const std::string claims = R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}])";
  put(2, "web:1", "{}", claims);
  world.settle();
  EXPECT_EQ(world.of_kind("claim").size(), 2u);
  const std::string gone = world.pods()[0];
  mark(gone, R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  world.finish();
  EXPECT_EQ(world.of_kind("claim").size(), 2u);
  for (const std::string& claim : world.of_kind("claim"))
    EXPECT_EQ(claim.find(gone), claim.npos) << "its claim went with it";
  put(2, "web:1", "{}", cat(claims, R"(,"scaleStrategy":{"enablePVCReuse":true})"));
  world.settle();
  const auto kept = world.of_kind("claim");
  mark(world.pods()[0], R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  world.finish();
  EXPECT_EQ(world.of_kind("claim"), kept);
}

TEST_F(CloneSet, ProgressHasADeadline) {
  const std::string deadline = R"(,"progressDeadlineSeconds":10)";
  put(2, "web:1", in_place, deadline);
  world.settle();
  world.never_ready.insert("web:2");
  put(2, "web:2", in_place, deadline);
  world.pass(9);
  EXPECT_FALSE(world.has_notice("ProgressDeadlineExceeded"));
  world.pass(3);
  EXPECT_TRUE(world.has_notice("ProgressDeadlineExceeded"));
}

TEST_F(CloneSet, PodsOfALostNodeComeBackElsewhere) {
  put(4, "web:1");
  world.settle();
  const std::string lost = world.pods([](const FleetPod& pod) { return pod.node == "n1"; }).at(0);
  world.fleet.drop_node("n1");
  world.finish();
  EXPECT_EQ(world.pods().size(), 4u);
  EXPECT_EQ(std::ranges::count(world.pods(), lost), 0);
}

TEST_F(CloneSet, ConfigsReachPodsThatNameThem) {
  Object config;
  config.kind = "ConfigMap";
  config.space = "default";
  config.name = "settings";
  config.document = json(R"({"data":{"a":"1"}})");
  world.put(config);
  const std::string pod_template =
      R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i",)"
      R"("envFrom":[{"configMapRef":{"name":"settings"}}]}]}})";
  put_template(2, pod_template);
  world.settle();
  const auto config_of = [&] {
    return dict_of(world.pod(world.pods()[0]).resource->attributes)
        .at("configs")
        .at("ConfigMap/settings");
  };
  EXPECT_EQ(config_of(), json(R"({"a":"1"})"));
  config.document = json(R"({"data":{"a":"2"}})");
  world.put(config);
  world.finish();
  EXPECT_EQ(config_of(), json(R"({"a":"2"})"));
  EXPECT_TRUE(world.updated.empty());
}

TEST_F(CloneSet, PodsOfALostNodeDoNotChangeTogetherWhenItIsBack) {
  put(8, "web:1", R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":3})");
  world.finish();
  world.ready_after = 2s;
  world.lose_node("n1");
  int fewest = 8;
  world.after_each = [&] { fewest = std::min(fewest, world.ready()); };
  put(8, "web:2", R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":3})");
  world.pass(60);
  EXPECT_EQ(world.count_image("web:2"), 6) << "others go on meanwhile";
  // What is wanted of its pods is what it was: they may be serving.
  world.fleet.for_each_pod([](const FleetPod& pod) {
    EXPECT_FALSE(pod.node == "n1" && pod.is_updating) << pod.name.view();
  });
  put(8, "web:2", R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1})");
  world.pass(1);
  fewest = 8;
  world.lose_node("n1", false);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 8);
  EXPECT_EQ(fewest, 7);
}

}  // namespace
}  // namespace fettle::workloads
