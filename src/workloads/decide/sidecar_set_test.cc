#include "workloads/decide/sidecar_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kinds/pod.h"
#include "tests/workloads/world.h"
#include "value/json.h"
#include "workloads/decide/rehearsal.h"
#include "workloads/decide/status.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

class Sidecars : public testing::Test {
 protected:
  Sidecars() {
    world.add_nodes(3);
    world.ready_after = 2s;
  }
  void put_set(std::string_view image, std::string_view strategy = "{}", std::string_view more = "",
               std::string_view annotations = "{}") {
    Object object = manifest(
        "SidecarSet", "logs",
        cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"log","image":")",
            image, R"("}],"updateStrategy":)", strategy, more, "}"),
        annotations);
    object.space = "";
    world.put(std::move(object));
  }
  void put_web(int replicas, std::string_view images = "nginx:1") {
    world.put(
        manifest("CloneSet", "web",
                 clone_set_spec(replicas, images, R"({"podUpdatePolicy":"InPlaceIfPossible"})")));
  }
  /// The image of a container of each pod, by the pod's name.
  std::vector<std::string> images(std::string_view container) const {
    std::vector<std::string> found;
    for (const auto& [key, pod] : world.real)
      if (const auto at = pod.containers.find(std::string(container)); at != pod.containers.end())
        found.push_back(at->second.image);
    std::ranges::sort(found);
    return found;
  }
  Value status() { return status_of(world.fleet, "SidecarSet//logs", world.now); }
  using Texts = std::vector<std::string>;
  World world;
};

TEST_F(Sidecars, NewPodsGetThemOldOnesDoNot) {
  put_web(2);
  world.finish();
  put_set("log:1");
  world.finish();
  EXPECT_EQ(images("log"), Texts{});
  put_web(3);
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:1"});
  EXPECT_EQ(status().integer_at("matchedPods"), 1);
  EXPECT_EQ(status().text_at("phase"), "complete");
}

TEST_F(Sidecars, BringTheirSecretsForPulls) {
  put_set("log:1", "{}", R"(,"imagePullSecrets":[{"name":"own"},{"name":"logs"}])");
  Object web = manifest("CloneSet", "web", clone_set_spec(1, "nginx:1"));
  const Value spec = web.document.at("spec"), pods = spec.at("template");
  const Value secrets = json(R"([{"name":"own"}])");
  web.document = edited(
      web.document,
      {{"spec", edited(spec, {{"template",
                               edited(pods, {{"spec", edited(pods.at("spec"), {{"imagePullSecrets",
                                                                                secrets}})}})}})}});
  world.put(std::move(web));
  world.finish();
  const Value made = pod_spec(world.pod(world.pods()[0]).resource->attributes);
  EXPECT_EQ(made.at("imagePullSecrets"), json(R"([{"name":"own"},{"name":"logs"}])"));
}

TEST_F(Sidecars, PodsThatAreNotMeantGetNone) {
  Object object = manifest("SidecarSet", "logs",
                           R"({"selector":{"matchLabels":{"app":"other"}},)"
                           R"("containers":[{"name":"log","image":"log:1"}]})");
  object.space = "";
  world.put(object);
  object.name = "elsewhere";
  object.document = edited(object.document,
                           {{"spec", edited(object.document.at("spec"),
                                            {{"selector", json(R"({"matchLabels":{"app":"web"}})")},
                                             {"namespace", "shop"}})}});
  world.put(object);
  put_web(1);
  world.finish();
  EXPECT_EQ(images("log"), Texts{});
}

TEST_F(Sidecars, ANamespaceSelectorLooksAtTheLabelsOfNamespaces) {
  put_set("log:1", "{}", R"(,"namespaceSelector":{"matchLabels":{"team":"a"}})");
  put_web(1);
  world.finish();
  EXPECT_EQ(images("log"), Texts{});
  Object space;
  space.kind = "Namespace";
  space.name = "default";
  space.document = json(R"({"metadata":{"name":"default","labels":{"team":"a"}}})");
  world.put(space);
  put_web(2);
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:1"});
}

TEST_F(Sidecars, StandBeforeTheContainersOfThePodUnlessTheySayOtherwise) {
  Object object = manifest("SidecarSet", "logs",
                           R"({"selector":{"matchLabels":{"app":"web"}},"containers":[)"
                           R"({"name":"late","image":"a:1","podInjectPolicy":"AfterAppContainer"},)"
                           R"({"name":"early","image":"a:1"}]})");
  object.space = "";
  world.put(object);
  put_web(1);
  world.finish();
  Texts names;
  const Value spec = pod_spec(world.pod(world.pods()[0]).resource->attributes);
  for (const Value& container : spec.at("containers").items())
    names.emplace_back(container.text_at("name"));
  EXPECT_EQ(names, (Texts{"early", "c0", "late"}));
}

TEST_F(Sidecars, ANamespaceHasItsNameAsALabel) {
  put_set("log:1", "{}",
          R"(,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"default"}})");
  put_web(1);
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:1"});
}

TEST_F(Sidecars, AnUpdateGoesInPlaceOnePodAtATime) {
  put_set("log:1");
  put_web(4);
  world.finish();
  int most_away = 0;
  world.after_each = [&] { most_away = std::max(most_away, 4 - world.ready()); };
  const Texts made = world.made;
  put_set("log:2");
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:2", "log:2", "log:2", "log:2"}));
  EXPECT_EQ(images("c0"), (Texts{"nginx:1", "nginx:1", "nginx:1", "nginx:1"}));
  EXPECT_EQ(world.made, made) << "no pod is recreated";
  EXPECT_EQ(most_away, 1);
  EXPECT_EQ(world.updated.size(), 4u);
  EXPECT_EQ(status().integer_at("updatedReadyPods"), 4);
}

TEST_F(Sidecars, MaxUnavailableAndPartitionCount) {
  put_set("log:1");
  put_web(6);
  world.finish();
  int most_away = 0;
  world.after_each = [&] { most_away = std::max(most_away, 6 - world.ready()); };
  put_set("log:2", R"({"maxUnavailable":"50%","partition":2})");
  world.finish();
  EXPECT_EQ(std::ranges::count(images("log"), "log:2"), 4);
  EXPECT_EQ(most_away, 3);
  EXPECT_EQ(status().text_at("phase"), "partitioned");
}

TEST_F(Sidecars, PausedNotUpdateAndASelectorHoldPods) {
  put_set("log:1");
  put_web(2);
  world.finish();
  put_set("log:2", R"({"paused":true})");
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:1"}));
  EXPECT_EQ(status().text_at("phase"), "paused");
  put_set("log:2", R"({"type":"NotUpdate"})");
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:1"}));
  world.mark(world.pods()[0], R"({"labels":{"canary":"yes"}})");
  put_set("log:2", R"({"selector":{"matchLabels":{"canary":"yes"}}})");
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:2"}));
}

TEST_F(Sidecars, WhatIsMoreThanAnImageWaitsForNewPods) {
  put_set("log:1");
  put_web(1);
  world.finish();
  put_set("log:2", "{}", R"(,"volumes":[{"name":"v","emptyDir":{}}])");
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:1"});
  EXPECT_TRUE(world.has_notice("NotUpgradablePods"));
  EXPECT_EQ(status().text_at("phase"), "progressing");
  put_web(2);
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:2"}));
}

TEST_F(Sidecars, MayBeInitContainersAlone) {
  const auto put = [&](std::string_view image) {
    Object object = manifest(
        "SidecarSet", "logs",
        cat(R"({"selector":{"matchLabels":{"app":"web"}},"initContainers":[{"name":"first",)",
            R"("image":")", image, R"("}]})"));
    object.space = "";
    world.put(std::move(object));
  };
  put("first:1");
  put_web(2);
  world.finish();
  EXPECT_EQ(status().integer_at("updatedPods"), 2);
  put("first:2");
  world.finish();
  EXPECT_EQ(status().integer_at("matchedPods"), 2);
  EXPECT_EQ(status().integer_at("updatedPods"), 0);
  EXPECT_TRUE(world.has_notice("NotUpgradablePods"));
}

TEST_F(Sidecars, ImagesArePulledAheadWithOneJobANamespaceInTheOrderOfTheUpdate) {
  put_set("log:1");
  put_web(3);
  Object other = manifest("CloneSet", "shop", clone_set_spec(1, "nginx:1"));
  other.space = "shop";
  world.put(other);
  world.finish();
  put_set("log:2", "{}", "", R"({"fettle/image-predownload-mode":"wait"})");
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job").size(), 2u);
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:1", "log:1", "log:1"})) << "no image is there yet";
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:2", "log:2", "log:2", "log:2"}));
  EXPECT_EQ(world.pulled.size(), 3u) << "each node pulls once";
  EXPECT_EQ(world.of_kind("pull_job"), Texts{}) << "jobs go with the last update";
  // No job's selector knows a revision of the set: pods do not have its label.
  EXPECT_TRUE(world.has_notice("CreatedImagePullJob"));
}

TEST_F(Sidecars, TheJobOfANamespaceCountsItsOwnNodes) {
  put_web(1);
  Object other = manifest("CloneSet", "web", clone_set_spec(2, "nginx:1"));
  other.space = "shop";
  put_set("log:1");
  world.put(other);
  world.finish();
  put_set("log:2", R"({"partition":"99%"})");
  world.pass(100);
  std::map<Name, int64_t> desired;
  for (const Object& job : jobs_of_rollouts(world.fleet))
    desired[job.space] = job.document.at("status").integer_at("desired");
  EXPECT_EQ(desired, (std::map<Name, int64_t>{{"default", 1}, {"shop", 2}}));
}

TEST_F(Sidecars, TheNextTemplateTakesOverInTheMiddle) {
  put_set("log:1");
  put_web(4);
  world.finish();
  put_set("log:2");
  world.pass(3);
  int most_away = 0;
  world.after_each = [&] { most_away = std::max(most_away, 4 - world.ready()); };
  put_set("log:3");
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:3", "log:3", "log:3", "log:3"}));
  EXPECT_EQ(most_away, 1);
  EXPECT_EQ(world.of_kind("pull_job"), Texts{});
}

TEST_F(Sidecars, AContainerOfTheSameNameIsLeftOut) {
  Object object = manifest("SidecarSet", "logs",
                           R"({"selector":{"matchLabels":{"app":"web"}},)"
                           R"("containers":[{"name":"c0","image":"log:1"}]})");
  object.space = "";
  world.put(object);
  put_web(1);
  world.finish();
  EXPECT_EQ(images("c0"), Texts{"nginx:1"});
  EXPECT_TRUE(world.has_notice("FailedInjectSidecar"));
}

TEST_F(Sidecars, PodsKeepTheirsWhenTheSetGoes) {
  put_set("log:1");
  put_web(1);
  world.finish();
  world.fleet.drop("SidecarSet//logs");
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:1"});
}

TEST_F(Sidecars, ThePodsOwnUpdateGoesOnBesideIt) {
  put_set("log:1");
  put_web(3);
  world.finish();
  put_set("log:2");
  put_web(3, "nginx:2");
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:2", "log:2", "log:2"}));
  EXPECT_EQ(images("c0"), (Texts{"nginx:2", "nginx:2", "nginx:2"}));
  EXPECT_EQ(world.made.size(), 3u);
}

TEST_F(Sidecars, ARehearsalTellsIt) {
  put_set("log:1");
  put_web(2);
  world.finish();
  put_set("log:2");
  const RehearsalResult found =
      rehearse(world.fleet, {"SidecarSet//logs", "CloneSet/default/web"}, world.now);
  ASSERT_EQ(found.turns.size(), 2u);
  EXPECT_EQ(found.turns[0].sort, PodTurn::Sort::in_place);
  EXPECT_EQ(found.turns[0].why, "image of sidecar `log`: log:1 -> log:2");
  EXPECT_EQ(found.turns[1].batch, 2u);
  ASSERT_EQ(found.pulls.size(), 1u);
  EXPECT_EQ(found.pulls[0].image, "log:2");
}

constexpr std::string_view hot =
    R"(,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"})";

class HotSidecars : public Sidecars {
 protected:
  void put_hot(std::string_view image, std::string_view more = "") {
    Object object =
        manifest("SidecarSet", "mesh",
                 cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"mesh",)",
                     R"("image":")", image, "\"", hot, more, R"(}],"updateStrategy":{}})"));
    object.space = "";
    world.put(std::move(object));
  }
  /// "IMAGE of mesh-1, IMAGE of mesh-2, the one that works, their versions" of the only pod.
  std::string pair() const {
    const auto& pod = world.real.begin()->second;
    const Value annotations = pod_annotations(world.pod(world.pods()[0]).resource->attributes);
    const auto number = [&](std::string_view key) {
      return annotations.text_at(cat(key, ".sidecarset.kruise.io/mesh-1"));
    };
    const auto other = [&](std::string_view key) {
      return annotations.text_at(cat(key, ".sidecarset.kruise.io/mesh-2"));
    };
    return cat(pod.containers.at("mesh-1").image, " ", pod.containers.at("mesh-2").image, " ",
               annotations.text_at("kruise.io/sidecarset-working-hotupgrade-container"), " ",
               number("version"), "/", number("versionalt"), " ", other("version"), "/",
               other("versionalt"));
  }
};

TEST_F(HotSidecars, APodGetsTwoOfWhichOneWorks) {
  put_hot("mesh:1");
  put_web(1);
  world.finish();
  EXPECT_EQ(pair(), R"(mesh:1 empty:1 {"mesh":"mesh-1"} 1/0 0/1)");
  const Value spec = pod_spec(world.pod(world.pods()[0]).resource->attributes);
  const Value& first = spec.at("containers").items()[0];
  EXPECT_EQ(first.text_at("name"), "mesh-1");
  EXPECT_TRUE(first.at("upgradeStrategy").is_null());
  EXPECT_EQ(write_json(first.at("env"), {.indent = 0}),
            R"([{"name":"SIDECARSET_VERSION","valueFrom":{"fieldRef":{"fieldPath":)"
            R"("metadata.annotations['version.sidecarset.kruise.io/mesh-1']"}}},)"
            R"({"name":"SIDECARSET_VERSION_ALT","valueFrom":{"fieldRef":{"fieldPath":)"
            R"("metadata.annotations['versionalt.sidecarset.kruise.io/mesh-1']"}}}])");
}

TEST_F(HotSidecars, TheOldOneLeavesWhenTheNewOneIsReady) {
  put_hot("mesh:1");
  put_web(1);
  world.finish();
  put_hot("mesh:2");
  std::vector<std::string> steps;
  std::vector<Time> times;
  world.after_each = [&] {
    if (!steps.empty() && steps.back() == pair())
      return;
    steps.push_back(pair());
    times.push_back(world.now);
  };
  world.finish();
  const std::vector<std::string> expected{R"(mesh:1 empty:1 {"mesh":"mesh-1"} 1/0 0/1)",
                                          R"(mesh:1 mesh:2 {"mesh":"mesh-2"} 1/0 2/1)",
                                          R"(empty:1 mesh:2 {"mesh":"mesh-2"} 0/0 2/1)"};
  EXPECT_EQ(steps, expected);
  EXPECT_GE(times.at(2) - times.at(1), world.ready_after);
  EXPECT_EQ(status_of(world.fleet, "SidecarSet//mesh", world.now).text_at("phase"), "complete");
  put_hot("mesh:3");
  world.finish();
  EXPECT_EQ(pair(), R"(mesh:3 empty:1 {"mesh":"mesh-1"} 3/2 0/1)");
}

TEST_F(HotSidecars, ANewImageInTheMiddleIsForTheOneThatHasJustBegun) {
  put_hot("mesh:1");
  put_web(1);
  world.finish();
  put_hot("mesh:2");
  for (int i = 0; i < 20 && !pair().starts_with("mesh:1 mesh:2"); ++i)
    world.pass(1);
  ASSERT_EQ(pair().substr(0, 13), "mesh:1 mesh:2");
  put_hot("mesh:3");
  bool old_left_early = false;
  world.after_each = [&] {
    const std::string now = pair();
    old_left_early |= now.starts_with("empty:1 mesh:2");
  };
  world.finish();
  EXPECT_FALSE(old_left_early);
  EXPECT_EQ(pair().substr(0, 14), "empty:1 mesh:3");
}

TEST_F(HotSidecars, OnlyTheNewImageIsPulledAhead) {
  put_hot("mesh:1");
  put_web(1);
  world.finish();
  world.pulled.clear();
  put_hot("mesh:2");
  world.finish();
  ASSERT_EQ(world.pulled.size(), 1u);
  EXPECT_TRUE(world.pulled[0].ends_with("mesh:2")) << world.pulled[0];
}

TEST_F(Sidecars, TheyGetVolumesAndVariablesOfThePod) {
  Object object = manifest(
      "SidecarSet", "logs",
      R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"log","image":"log:1",)"
      R"("volumeMounts":[{"name":"own","mountPath":"/own"}],"env":[{"name":"A","value":"own"}],)"
      R"("shareVolumePolicy":{"type":"enabled"},"transferEnv":[)"
      R"({"sourceContainerName":"c0","envNames":["A","B"]},)"
      R"({"sourceContainerNameFrom":{"fieldRef":{"fieldPath":"metadata.labels['main']"}},)"
      R"("envName":"C"},{"sourceContainerName":"gone","envName":"D"}]}]})");
  object.space = "";
  world.put(object);
  world.put(manifest(
      "CloneSet", "web",
      R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":)"
      R"({"app":"web","main":"c0"}},"spec":{"containers":[{"name":"c0","image":"nginx:1","env":[)"
      R"({"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"C","value":"3"},)"
      R"({"name":"D","value":"4"}],"volumeMounts":[{"name":"data","mountPath":"/data"},)"
      R"({"name":"other","mountPath":"/own"}]}]}}})"));
  world.finish();
  const Value spec = pod_spec(world.pod(world.pods()[0]).resource->attributes);
  const Value& log = spec.at("containers").items()[0];
  EXPECT_EQ(write_json(log, {.indent = 0}),
            R"({"env":[{"name":"A","value":"own"},{"name":"B","value":"2"},)"
            R"({"name":"C","value":"3"}],"image":"log:1","name":"log","volumeMounts":[)"
            R"({"mountPath":"/own","name":"own"},{"mountPath":"/data","name":"data"}]})");
  // What it was lent stands in the way of no update.
  object.document = edited(object.document,
                           {{"spec", json(write_json(object.document.at("spec"), {.indent = 0}))}});
  std::string changed = write_json(object.document, {.indent = 0});
  changed.replace(changed.find("log:1"), 5, "log:2");
  object.document = json(changed);
  world.put(object);
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:2"});
  EXPECT_EQ(world.made.size(), 1u);
}

class InjectedRevisions : public Sidecars {
 protected:
  void put_version(std::string_view image, std::string_view version, std::string_view more) {
    Object object = manifest(
        "SidecarSet", "logs",
        cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"log","image":")",
            image, R"("}])", more, "}"));
    object.space = "";
    object.document = edited(
        object.document,
        {{"metadata", edited(object.document.at("metadata"),
                             {{"labels", Value::dict({{label::custom_version, version}})}})}});
    world.put(std::move(object));
  }
};

TEST_F(InjectedRevisions, NewPodsGetTheOneThatIsNamed) {
  put_version("log:1", "stable", "");
  put_web(1);
  world.finish();
  put_version("log:2", "new",
              R"(,"updateStrategy":{"type":"NotUpdate"},)"
              R"("injectionStrategy":{"revision":{"customVersion":"stable"}})");
  world.finish();
  put_web(3);
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:1", "log:1"}));
  const std::string name(status().text_at("latestRevision"));
  put_version("log:3", "newer",
              cat(R"(,"updateStrategy":{"type":"NotUpdate"},)"
                  R"("injectionStrategy":{"revision":{"revisionName":")",
                  name, R"("}})"));
  world.finish();
  put_web(4);
  world.finish();
  EXPECT_EQ(images("log"), (Texts{"log:1", "log:1", "log:1", "log:2"}));
}

TEST_F(InjectedRevisions, OneThatIsGoneIsToldAndTheNewestComes) {
  put_version("log:1", "stable", R"(,"injectionStrategy":{"revision":{"revisionName":"logs-9"}})");
  put_web(1);
  world.finish();
  EXPECT_EQ(images("log"), Texts{"log:1"});
  EXPECT_TRUE(world.has_notice("FailedInjectSidecar"));
}

TEST_F(InjectedRevisions, PartiallyTheyFollowTheUpdate) {
  const auto new_pods = [&](std::string_view strategy) {
    put_version("log:1", "stable", "");
    put_web(0);
    world.finish();
    put_version("log:2", "new",
                cat(R"(,"updateStrategy":)", strategy,
                    R"(,"injectionStrategy":{"revision":{"customVersion":"stable",)"
                    R"("policy":"Partial"}})"));
    put_web(40);
    world.finish();
    return std::ranges::count(images("log"), "log:2");
  };
  EXPECT_EQ(new_pods(R"({"partition":"0%"})"), 40);
  EXPECT_EQ(new_pods(R"({"paused":true})"), 0);
  EXPECT_EQ(new_pods(R"({"selector":{"matchLabels":{"canary":"yes"}}})"), 0);
  const auto half = new_pods(R"({"type":"NotUpdate","partition":"50%"})");
  EXPECT_GT(half, 8);
  EXPECT_LT(half, 32);
}

}  // namespace
}  // namespace fettle::workloads
