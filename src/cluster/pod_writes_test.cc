/// Which writes a rollout makes, and that each of them may be the last one of a controller.

#include "cluster/pod_writes.h"

#include <gtest/gtest.h>

#include "tests/fixtures/cluster_rollout_fixture.h"

namespace fettle::cluster {
namespace {

using kubernetes::at_path;
using kubernetes::strategic_patch;
using kubernetes::with_path;
using rollouts::Cluster;
using rollouts::manifest_of;
using rollouts::uids_of;

TEST(ClusterRollout, PodsAreMadeOnceAndOpenTheirGates) {
  Cluster cluster;
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  ASSERT_EQ(cluster.pods.size(), 3u);
  EXPECT_EQ(cluster.ready(), 3);
  EXPECT_EQ(cluster.writes, 3) << "one for the gates of each";
  ASSERT_EQ(cluster.revisions.size(), 1u);
  const Value& pod = cluster.pods.begin()->second;
  const Value& labels = at_path(pod, {"metadata", "labels"});
  EXPECT_EQ(labels.text_at("controller-revision-hash"), cluster.revisions.begin()->first);
  EXPECT_EQ(cat("web-", labels.text_at("apps.kruise.io/cloneset-instance-id")),
            cluster.pods.begin()->first);
  EXPECT_EQ(at_path(pod, {"metadata", "ownerReferences"}).items()[0].text_at("uid"), "uid-of-web");
  EXPECT_EQ(pod.at("spec").at("readinessGates").items()[0].text_at("conditionType"),
            "InPlaceUpdateReady");
  EXPECT_EQ(cluster.status.integer_at("readyReplicas"), 3);
  EXPECT_EQ(cluster.status.text_at("currentRevision"), cluster.revisions.begin()->first);
}

/// A pod gets no gate later, and without it what was written could not be read again.
TEST(ClusterRollout, AHookThatMarksPodsNotReadyHasItsGateFromTheBeginning) {
  Cluster cluster;
  cluster.put(manifest_of(
      2, "web:1", "",
      R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"true"},"markPodNotReady":true}})"));
  cluster.settle();
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_FALSE(cluster.decide());
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(items_of(pod.at("spec").at("readinessGates")).size(), 2u);
    EXPECT_EQ(Cluster::condition(pod, "KruisePodReady"), "True");
  }
}

TEST(ClusterRollout, AnUpdateInPlaceIsThreeWrites) {
  Cluster cluster;
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  const auto before = cluster.pods;
  cluster.writes = 0;
  cluster.subresources.clear();
  cluster.least_ready = 1'000;
  cluster.put(manifest_of(3, "web:2", ""));
  cluster.settle();
  EXPECT_EQ(cluster.images(), (std::vector<std::string>(3, "web:2")));
  EXPECT_EQ(cluster.writes, 9);
  const std::vector<std::string> once{"status", "", "status"};
  EXPECT_EQ(std::vector(cluster.subresources.begin(), cluster.subresources.begin() + 3), once);
  EXPECT_EQ(cluster.least_ready, 2);
  EXPECT_EQ(cluster.ready(), 3);
  for (const auto& [name, pod] : before)
    EXPECT_EQ(at_path(cluster.pods[name], {"metadata", "uid"}), at_path(pod, {"metadata", "uid"}));
  EXPECT_EQ(cluster.status.integer_at("updatedReadyReplicas"), 3);
  EXPECT_EQ(cluster.status.at("currentRevision"), cluster.status.at("updateRevision"));
}

/// The controller dies after each write, wherever that is.
TEST(ClusterRollout, EachWriteMayBeTheLastOne) {
  for (const int grace : {0, 5}) {
    Cluster cluster;
    const std::string how = cat(R"(,"inPlaceUpdateStrategy":{"gracePeriodSeconds":)", grace, "}");
    cluster.put(manifest_of(3, "web:1", how));
    cluster.settle(1);
    ASSERT_EQ(cluster.ready(), 3);
    const auto before = cluster.pods;
    cluster.least_ready = 1'000;
    cluster.put(manifest_of(3, "web:2", how));
    for (int round = 0; round < 60; ++round) {
      cluster.decide(1);
      cluster.run();
      cluster.least_ready = std::min(cluster.least_ready, cluster.ready());
    }
    EXPECT_EQ(cluster.images(), (std::vector<std::string>(3, "web:2"))) << grace;
    EXPECT_EQ(cluster.ready(), 3);
    EXPECT_GE(cluster.least_ready, 2);
    for (const auto& [name, pod] : before)
      EXPECT_EQ(at_path(cluster.pods[name], {"metadata", "uid"}),
                at_path(pod, {"metadata", "uid"}));
    EXPECT_FALSE(cluster.decide());
  }
}

TEST(ClusterRollout, APodDrainsBeforeItsImageChanges) {
  Cluster cluster;
  const std::string how = R"(,"inPlaceUpdateStrategy":{"gracePeriodSeconds":5})";
  cluster.put(manifest_of(1, "web:1", how));
  cluster.settle();
  const Value before = cluster.status.at("currentRevision");
  cluster.put(manifest_of(1, "web:2", how));
  ASSERT_TRUE(cluster.decide());
  const Time began = cluster.now;
  cluster.run();
  const Value pod = cluster.pods.begin()->second;
  EXPECT_EQ(cluster.images(), std::vector<std::string>{"web:1"});
  EXPECT_EQ(Cluster::condition(pod, "Ready"), "False");
  EXPECT_EQ(at_path(pod, {"metadata", "labels"}).text_at("lifecycle.apps.kruise.io/state"),
            "Updating");
  EXPECT_EQ(at_path(pod, {"metadata", "labels"}).at("controller-revision-hash"), before)
      << "an update that is only announced can still be taken back";
  while (cluster.images()[0] == "web:1" && cluster.now < began + 1min) {
    cluster.decide();
    cluster.run();
  }
  EXPECT_EQ(cluster.now, began + 6s) << "the run of the write is one more";
  cluster.settle();
  EXPECT_EQ(cluster.ready(), 1);
}

TEST(ClusterRollout, PartitionScaleAndDeletion) {
  Cluster cluster;
  cluster.put(manifest_of(4, "web:1", ""));
  cluster.settle();
  cluster.put(manifest_of(4, "web:2", R"(,"partition":3)"));
  cluster.settle();
  EXPECT_EQ(std::ranges::count(cluster.images(), "web:2"), 1);
  EXPECT_EQ(cluster.status.integer_at("updatedReplicas"), 1);
  EXPECT_EQ(cluster.status.integer_at("expectedUpdatedReplicas"), 1);
  EXPECT_NE(cluster.status.at("currentRevision"), cluster.status.at("updateRevision"));
  cluster.put(manifest_of(2, "web:2", R"(,"partition":1)"));
  cluster.settle();
  EXPECT_EQ(cluster.pods.size(), 2u);
  const std::string name = cluster.pods.begin()->first;
  Value& pod = cluster.pods.begin()->second;
  pod = with_path(pod, {"metadata", "labels", "apps.kruise.io/specified-delete"}, "true");
  cluster.settle();
  EXPECT_EQ(cluster.pods.size(), 2u);
  EXPECT_FALSE(cluster.pods.contains(name));
  EXPECT_EQ(cluster.ready(), 2);
}

TEST(ClusterRollout, WhatOthersWriteIsNoReasonToWrite) {
  Cluster cluster;
  cluster.put(manifest_of(2, "web:1", ""));
  cluster.settle();
  cluster.writes = 0;
  Value& pod = cluster.pods.begin()->second;
  pod = with_path(pod, {"metadata", "labels", "team"}, "a");
  pod = with_path(pod, {"metadata", "annotations", "note"}, "b");
  pod = strategic_patch(pod, kubernetes::json(R"({"metadata":{"finalizers":["x.org/y"]},"spec":{
      "containers":[{"name":"c0","image":"mirror.org/web:1","resources":{}},
                    {"name":"mesh","image":"mesh:1"}]}})"));
  cluster.settle();
  EXPECT_EQ(cluster.writes, 0);
  EXPECT_EQ(cluster.pods.size(), 2u);
  cluster.put(manifest_of(2, "web:2", ""));
  cluster.settle();
  EXPECT_EQ(cluster.images(), (std::vector<std::string>{"web:2", "web:2"}));
  const Value& metadata = cluster.pods.begin()->second.at("metadata");
  EXPECT_EQ(metadata.at("labels").text_at("team"), "a");
  EXPECT_EQ(metadata.at("finalizers"), Value::list({"x.org/y"}));
  EXPECT_EQ(cluster.ready(), 2);
}

/// Whoever may edit a pod may pretend that it is being updated.
TEST(ClusterRollout, AStateThatNobodyCouldHaveWrittenDoesNoHarm) {
  for (const char* own : {R"({"since":1})", R"({"since":9223372036854775807,"grace":true})"}) {
    Cluster cluster;
    cluster.put(manifest_of(1, "web:1", ""));
    cluster.settle();
    Value& pod = cluster.pods.begin()->second;
    const std::string state = cat(R"({"revision":")", cluster.revisions.begin()->first,
                                  R"(","fettle":)", own, R"(,"nextContainerImages":{"c0":"x"}})");
    pod = with_path(pod, {"metadata", "annotations", annotation::update_state.view()}, state);
    pod = with_path(pod, {"metadata", "labels", "lifecycle.apps.kruise.io/state"}, "Updating");
    pod = strategic_patch(pod, kubernetes::json(R"({"spec":{"containers":[
        {"name":"c0","image":"other:1"}]}})"));
    cluster.settle();
    EXPECT_EQ(cluster.images(), std::vector<std::string>{"web:1"}) << own;
    EXPECT_EQ(cluster.ready(), 1) << own;
  }
}

/// OpenKruise closes the gate before it writes anything else, and may have died then.
TEST(ClusterRollout, AGateThatSomebodyClosedIsOpened) {
  Cluster cluster;
  cluster.put(manifest_of(1, "web:1", ""));
  cluster.settle();
  const auto change = [&](std::string_view patch) {
    Value& pod = cluster.pods.begin()->second;
    pod = strategic_patch(pod, kubernetes::json(patch));
    cluster.run();
    cluster.settle();
    return cluster.pods.begin()->second;
  };
  change(R"({"status":{"conditions":[{"type":"InPlaceUpdateReady","status":"False"}]}})");
  EXPECT_EQ(cluster.ready(), 1);
  const Value pod =
      change(R"({"metadata":{"labels":{"lifecycle.apps.kruise.io/state":"Updating"}}})");
  EXPECT_EQ(pod.at("metadata").at("labels").text_at("lifecycle.apps.kruise.io/state"), "Normal");
  EXPECT_EQ(cluster.ready(), 1);
}

/// In the patch, too: a server would put them into its order.
TEST(ClusterRollout, TwoContainersChangeAndKeepTheirOrder) {
  const auto manifest = [](int number) {
    const std::string text = manifest_of(2, cat("web:", number), "");
    return replace_all(replace_all(text, R"("side")", R"("a")"), "side:1", cat("side:", number));
  };
  Cluster cluster;
  cluster.put(manifest(1));
  cluster.settle();
  const std::set<std::string> before = uids_of(cluster);
  cluster.put(manifest(2));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("c0", "web:2"), 2);
  EXPECT_EQ(cluster.count_of("a", "side:2"), 2);
  EXPECT_EQ(uids_of(cluster), before);
}

}  // namespace
}  // namespace fettle::cluster
