/// Sidecars of pods: how they come, change and are known again.

#include <gtest/gtest.h>

#include "tests/fixtures/cluster_rollout_fixture.h"

namespace fettle::cluster {
namespace {

using kubernetes::at_path;
using rollouts::Cluster;
using rollouts::manifest_of;
using rollouts::sidecar_set_of;
using rollouts::uids_of;

TEST(ClusterSidecarRollout, NewPodsHaveThemAndAreKnownAgain) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(2, "web:1", ""));
  cluster.settle();
  EXPECT_EQ(cluster.ready(), 2);
  EXPECT_EQ(cluster.writes, 2) << "one for the gates of each";
  EXPECT_FALSE(cluster.decide());
  ASSERT_EQ(cluster.sidecar_revisions.size(), 1u);
  const auto& [revision, object] = *cluster.sidecar_revisions.begin();
  EXPECT_EQ(object.at("metadata").text_at("namespace"), "kruise-system");
  for (const auto& [name, pod] : cluster.pods) {
    const auto containers = items_of(pod.at("spec").at("containers"));
    ASSERT_EQ(containers.size(), 3u);
    EXPECT_EQ(containers[0].text_at("name"), "log");
    EXPECT_EQ(items_of(containers[0].at("env"))[0].text_at("name"), "IS_INJECTED");
    const Value& annotations = pod.at("metadata").at("annotations");
    EXPECT_EQ(annotations.text_at("kruise.io/sidecarset-injected-list"), "logs");
    const Value told = json_annotation(pod, annotation::sidecar_hash).at("logs");
    EXPECT_EQ(told.text_at("hash"), "hash of log:1");
    EXPECT_EQ(told.text_at("controllerRevision"), revision);
  }
  EXPECT_EQ(cluster.sidecar_status.integer_at("matchedPods"), 2);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedReadyPods"), 2);
}

TEST(ClusterSidecarRollout, AnImageChangesInOneWriteWithoutAGate) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  const std::set<std::string> before = uids_of(cluster);
  cluster.writes = 0;
  cluster.subresources.clear();
  cluster.put_sidecars(sidecar_set_of("log:2"));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 3);
  EXPECT_EQ(cluster.subresources, std::vector<std::string>(3));
  EXPECT_EQ(cluster.writes, 3);
  EXPECT_EQ(uids_of(cluster), before);
  EXPECT_EQ(cluster.images(), std::vector<std::string>(3, "log:2")) << "it stands first";
  EXPECT_FALSE(cluster.decide());
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedReadyPods"), 3);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(Cluster::condition(pod, "InPlaceUpdateReady"), "True");
    EXPECT_EQ(json_annotation(pod, annotation::sidecar_hash).at("logs").text_at("hash"),
              "hash of log:2");
    EXPECT_EQ(at_path(json_annotation(pod, annotation::sidecar_state),
                      {"logs", "lastContainerStatuses", "log", "imageID"}),
              Value("sha256:log:1"));
  }
}

/// What was seen still shows the container before, which is ready.
TEST(ClusterSidecarRollout, TheNextPodWaitsUntilTheNewContainerIsSeen) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle();
  cluster.put_sidecars(sidecar_set_of("log:2"));
  for (int round = 0; round < 6; ++round)
    cluster.decide();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 1);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedPods"), 1);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedReadyPods"), 0);
  cluster.run();
  for (int round = 0; round < 6; ++round)
    cluster.decide();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 2);
}

TEST(ClusterSidecarRollout, EachWriteMayBeTheLastOne) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(3, "web:1", ""));
  cluster.settle(1);
  ASSERT_EQ(cluster.ready(), 3);
  const std::set<std::string> before = uids_of(cluster);
  cluster.least_ready = 1'000;
  cluster.put_sidecars(sidecar_set_of("log:2"));
  cluster.put(manifest_of(3, "web:2", ""));
  for (int round = 0; round < 80; ++round) {
    cluster.decide(1);
    cluster.run();
    cluster.least_ready = std::min(cluster.least_ready, cluster.ready());
  }
  EXPECT_EQ(cluster.count_of("log", "log:2"), 3);
  EXPECT_EQ(cluster.count_of("c0", "web:2"), 3);
  EXPECT_EQ(cluster.ready(), 3);
  EXPECT_GE(cluster.least_ready, 2);
  EXPECT_EQ(uids_of(cluster), before);
  EXPECT_FALSE(cluster.decide());
}

TEST(ClusterSidecarRollout, SomeKeepTheRevisionBefore) {
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1"));
  cluster.put(manifest_of(4, "web:1", ""));
  cluster.settle();
  cluster.put_sidecars(sidecar_set_of("log:2", "", R"({"maxUnavailable":1,"partition":3})"));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 1);
  EXPECT_EQ(cluster.sidecar_status.integer_at("updatedPods"), 1);
  EXPECT_FALSE(cluster.decide());
  cluster.put_sidecars(sidecar_set_of("log:2"));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log", "log:2"), 4);
}

/// Its annotations are those of the sidecar, not of the pod.
TEST(ClusterSidecarRollout, AHotOneIsTwoContainersOfWhichOneWorks) {
  constexpr std::string_view hot =
      R"(,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"})";
  Cluster cluster;
  cluster.put_sidecars(sidecar_set_of("log:1", hot));
  cluster.put(manifest_of(2, "web:1", ""));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log-1", "log:1"), 2);
  EXPECT_EQ(cluster.count_of("log-2", "empty:1"), 2);
  EXPECT_FALSE(cluster.decide());
  const std::set<std::string> before = uids_of(cluster);
  cluster.put_sidecars(sidecar_set_of("log:2", hot));
  cluster.settle();
  EXPECT_EQ(cluster.count_of("log-1", "empty:1"), 2);
  EXPECT_EQ(cluster.count_of("log-2", "log:2"), 2);
  EXPECT_EQ(uids_of(cluster), before);
  for (const auto& [name, pod] : cluster.pods)
    EXPECT_EQ(at_path(pod, {"metadata", "annotations",
                            "kruise.io/sidecarset-working-hotupgrade-container"}),
              Value(R"({"log":"log-2"})"));
  EXPECT_FALSE(cluster.decide());
}

}  // namespace
}  // namespace fettle::cluster
