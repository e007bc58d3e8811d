#include "workloads/sidecar_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kinds/pod.h"
#include "tests/workloads/world.h"
#include "workloads/names.h"
#include "workloads/rehearsal.h"
#include "workloads/status.h"

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
  const Rehearsed found =
      rehearse(world.fleet, {"SidecarSet//logs", "CloneSet/default/web"}, world.now);
  ASSERT_EQ(found.turns.size(), 2u);
  EXPECT_EQ(found.turns[0].sort, PodTurn::Sort::in_place);
  EXPECT_EQ(found.turns[0].why, "image of sidecar `log`: log:1 -> log:2");
  EXPECT_EQ(found.turns[1].batch, 2u);
  ASSERT_EQ(found.pulls.size(), 1u);
  EXPECT_EQ(found.pulls[0].image, "log:2");
}

}  // namespace
}  // namespace fettle::workloads
