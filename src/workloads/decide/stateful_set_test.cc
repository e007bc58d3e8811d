/// StatefulSets and DaemonSets from beginning to end. Numbers are those of the scenarios.

#include "workloads/decide/stateful_set.h"

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "kinds/pod.h"
#include "tests/workloads/world.h"
#include "workloads/decide/status.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

std::string spec_of(int replicas, std::string_view images, std::string_view rolling = "{}",
                    std::string_view more = "") {
  return cat(R"({"replicas":)", replicas,
             R"(,"serviceName":"db","selector":{"matchLabels":{"app":"web"}},)", R"("template":)",
             template_text(images), R"(,"updateStrategy":{"rollingUpdate":)", rolling, "}", more,
             "}");
}

class StatefulSet : public testing::Test {
 protected:
  StatefulSet() { world.add_nodes(3); }
  void put(int replicas, std::string_view images, std::string_view rolling = "{}",
           std::string_view more = "") {
    world.put(manifest("StatefulSet", "db", spec_of(replicas, images, rolling, more)));
  }
  World world;
};

constexpr std::string_view parallel = R"(,"podManagementPolicy":"Parallel")";

/// Another one was to be made under this name, and it would be recreated as that one.
TEST(StatefulSetOfACluster, APodThatIsTakenOverStaysAsItIs) {
  const Name owner = "StatefulSet/default/db";
  Fleet fleet("cluster");
  fleet.is_cluster = true;
  fleet.put(manifest("StatefulSet", "db", spec_of(1, "db:1")));
  const auto decided = [&] {
    const Wanted wanted = want(fleet, owner, Time(1h));
    fleet.accept(wanted);
    EXPECT_EQ(wanted.pods.size(), 1u);
    return wanted.resources.back();
  };
  const Box<Resource> wanted = decided();
  Pod pod = read<Pod>(wanted->attributes);
  pod.uid = "another";
  Resource found = *wanted;
  found.attributes = write(pod);
  auto record = std::make_shared<Record>();
  record->applied = found;
  fleet.know(found.key, record);
  EXPECT_EQ(decided()->attributes, found.attributes);
}

TEST(StatefulSetOfACluster, TheLabelWithThePodsNameComesBack) {
  const Name owner = "StatefulSet/default/db";
  Fleet fleet("cluster");
  fleet.is_cluster = true;
  fleet.put(manifest("StatefulSet", "db", spec_of(1, "db:1")));
  const auto decided = [&] {
    const Wanted wanted = want(fleet, owner, Time(1h));
    fleet.accept(wanted);
    EXPECT_EQ(wanted.pods.size(), 1u);
    return wanted.resources.back();
  };
  const auto know = [&](const Resource& resource) {
    auto record = std::make_shared<Record>();
    record->applied = resource;
    fleet.know(resource.key, record);
  };
  const Box<Resource> wanted = decided();
  know(*wanted);
  Pod pod = read<Pod>(wanted->attributes);
  pod.labels = edited(pod.labels.value(), {{"statefulset.kubernetes.io/pod-name", Value()}});
  Resource changed = *wanted;
  changed.attributes = write(pod);
  ASSERT_NE(changed.attributes, wanted->attributes);
  know(changed);
  fleet.let_be(changed.key);
  EXPECT_EQ(fleet.pod(changed.key.name)->resource->attributes, changed.attributes);
  EXPECT_EQ(decided()->attributes, wanted->attributes);
}

struct OrdinalRow {
  const char* name;
  int64_t replicas, partition;
  bool unordered;
  std::vector<int> weights;  ///< of each pod, below zero: no pod is there
  std::vector<size_t> prepared;
  Order expected;
};

// 31. ASTS: no strategy, three pods: {2,1,0}; P6 of 10 with weights: {7,6,9,8}; holes with P2 R3:
// {4}; what is prepared first: {8,7,1,0}.
TEST(Ordinals, Order) {
  const OrdinalRow rows[] = {
      {"no strategy", 3, 0, false, {0, 0, 0}, {}, {2, 1, 0}},
      {"weights, partition 6 of 10", 10, 6, true, {0, 0, 0, 0, 0, 0, 9, 9, 5, 5}, {}, {7, 6, 9, 8}},
      {"holes, partition 2 of 3", 3, 2, false, {0, -1, 0, -1, 0}, {}, {4}},
      {"prepared first", 9, 5, true, {1, 1, 0, 0, 0, 0, 0, 0, 0}, {7, 8}, {8, 7, 1, 0}},
  };
  for (const OrdinalRow& row : rows) {
    Workload workload;
    workload.replicas = row.replicas;
    workload.partition = Amount{row.partition};
    workload.unordered = row.unordered;
    std::vector<PodRow> pods(row.weights.size());
    std::vector<PodTag> tags(row.weights.size());
    std::vector<OrdinalSlot> slots;
    for (size_t i = 0; i < row.weights.size(); ++i) {
      pods[i].tag = &tags[i];
      tags[i].name = cat("p", i);
      tags[i].labels = json(cat(R"({"w":"x)", row.weights[i], R"("})"));
      if (row.weights[i] >= 0)
        slots.push_back({static_cast<int64_t>(i), static_cast<uint32_t>(i)});
    }
    for (const size_t pod : row.prepared)
      pods[pod].lifecycle = Lifecycle::preparing_update;
    for (const int weight : {9, 5, 1})
      workload.order.priority.weights.push_back(
          {selector_of(json(cat(R"({"matchLabels":{"w":"x)", weight, R"("}})"))), weight * 10});
    EXPECT_EQ(sort_ordinals(workload, pods, slots), row.expected) << row.name;
  }
}

// Of all pods that were broken and have been repaired, none is free because it was broken.
TEST_F(StatefulSet, APodThatNobodyHasLookedAtSinceItWasRepairedIsNotBroken) {
  constexpr std::string_view in_place = R"({"podUpdatePolicy":"InPlaceIfPossible"})";
  put(2, "web:1", in_place);
  world.finish();
  for (const bool is_seen : {false, true}) {
    const FleetPod& first = world.pod("db-0");
    world.fleet.see(first.resource->key, json(R"({"phase":"Running"})"));
    auto record = std::make_shared<Record>();
    record->applied = first.resource;
    auto begun = std::make_shared<Record>(*record);
    begun->attempt = Attempt{.resource = first.resource, .started = {}, .error = {}};
    world.fleet.know(first.resource->key, begun);
    world.fleet.know(first.resource->key, record);
    EXPECT_EQ(first.readiness, Readiness::unseen);
    if (is_seen)
      world.see_all();
    Object changed = manifest("StatefulSet", "db", spec_of(2, "web:2", in_place));
    world.fleet.put(std::move(changed));
    const Wanted wanted = want(world.fleet, "StatefulSet/default/db", world.now);
    std::vector<std::string> updated;
    for (const Box<Resource>& resource : wanted.resources)
      if (resource->key.kind == "pod" &&
          !dict_of(resource->attributes).at("state").at("update").is_null())
        updated.emplace_back(dict_of(resource->attributes).text_at("name"));
    EXPECT_EQ(updated, is_seen ? std::vector<std::string>{"db-1"} : std::vector<std::string>());
  }
}

// What is between numbers that are far apart is not counted through.
TEST_F(StatefulSet, NumbersMayBeFarApart) {
  put(2, "web:1", "{}", R"(,"reserveOrdinals":["1-999999999"])");
  world.finish();
  EXPECT_EQ(world.pods(), (std::vector<std::string>{"db-0", "db-1000000000"}));
  put(2, "web:2", "{}", R"(,"reserveOrdinals":["1-999999999"])");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 2);
}

TEST(Ordinals, ReservedOnesAreLeftOut) {
  Workload workload;
  workload.replicas = 4;
  workload.reserved_ordinals = {{1, 1}, {3, 5}};
  EXPECT_EQ(ordinals_of(workload), (std::vector<int64_t>{0, 2, 6, 7}));
  workload.first_ordinal = 4;
  EXPECT_EQ(ordinals_of(workload), (std::vector<int64_t>{6, 7, 8, 9}));
}

TEST_F(StatefulSet, PodsComeOneAfterAnotherAndGoBackwards) {
  world.ready_after = 3s;
  put(3, "web:1");
  world.settle();
  EXPECT_EQ(world.pods(), std::vector<std::string>{"db-0"});
  world.pass(2);
  EXPECT_EQ(world.pods().size(), 1u);
  world.finish();
  EXPECT_EQ(world.made, (std::vector<std::string>{"db-0", "db-1", "db-2"}));
  EXPECT_EQ(world.pod("db-2").labels.text_at("apps.kubernetes.io/pod-index"), "2");
  EXPECT_EQ(dict_of(world.pod("db-2").resource->attributes).text_at("subdomain"), "db");
  put(1, "web:1");
  world.finish();
  EXPECT_EQ(world.removed, (std::vector<std::string>{"db-2", "db-1"}));
}

TEST_F(StatefulSet, InParallelAllComeAtOnce) {
  world.ready_after = 3s;
  put(3, "web:1", "{}", parallel);
  world.settle();
  EXPECT_EQ(world.pods().size(), 3u);
}

TEST_F(StatefulSet, TheHighestNumberChangesFirstAndAPartitionKeepsTheLow) {
  put(3, "web:1", R"({"podUpdatePolicy":"InPlaceIfPossible"})");
  world.finish();
  world.ready_after = 2s;
  int worst = 3;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  put(3, "web:2", R"({"podUpdatePolicy":"InPlaceIfPossible","partition":1})");
  world.finish();
  EXPECT_EQ(world.updated, (std::vector<std::string>{"db-2", "db-1"}));
  EXPECT_EQ(worst, 2);
  EXPECT_EQ(world.removed.size(), 0u);
  put(3, "web:2", R"({"podUpdatePolicy":"InPlaceIfPossible"})");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 3);
}

TEST_F(StatefulSet, APodThatIsMadeAnewKeepsItsNameAndItsClaim) {
  const std::string claims = R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}])";
  put(2, "web:1", "{}", claims);
  world.finish();
  const auto kept = world.of_kind("claim");
  ASSERT_EQ(kept.size(), 2u);
  put(2, "web:2", "{}", claims);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 2);
  EXPECT_EQ(world.pods(), (std::vector<std::string>{"db-0", "db-1"}));
  EXPECT_EQ(world.removed, (std::vector<std::string>{"db-1", "db-0"}));
  EXPECT_EQ(world.of_kind("claim"), kept);
  put(1, "web:2", "{}", claims);
  world.finish();
  EXPECT_EQ(world.of_kind("claim"), kept) << "Retain";
  put(1, "web:2", "{}",
      cat(claims, R"(,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"})"));
  world.finish();
  EXPECT_EQ(world.of_kind("claim").size(), 1u);
}

/// A pod that is being replaced is not there, and its data are not left over.
TEST_F(StatefulSet, OnlyClaimsOfNumbersThatAreNotWantedGoWhenItIsScaled) {
  const std::string claims =
      R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}],
        "persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"})";
  put(3, "web:1", "{}", claims);
  world.finish();
  const auto kept = world.of_kind("claim");
  ASSERT_EQ(kept.size(), 3u);
  world.is_slow = true;
  world.act_takes = 1s;
  world.end_takes = 3s;
  put(3, "web:2", "{}", claims);
  for (int second = 0; second < 200; ++second) {
    world.pass(1);
    world.look();
    ASSERT_EQ(world.of_kind("claim"), kept) << "second " << second;
  }
  EXPECT_EQ(world.count_image("web:2"), 3);
  world.is_slow = false;
  put(1, "web:2", "{}", claims);
  world.finish();
  EXPECT_EQ(world.of_kind("claim").size(), 1u);
}

TEST_F(StatefulSet, ItsClaimsOutliveItUnlessItSaysOtherwise) {
  const std::string claims = R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}])";
  const auto remove = [&] {
    world.remove("StatefulSet/default/db");
    world.finish();
    EXPECT_TRUE(world.pods().empty());
  };
  put(2, "web:1", "{}", claims);
  world.finish();
  const auto kept = world.of_kind("claim");
  const Name node = world.pod("db-0").node;
  remove();
  EXPECT_EQ(world.of_kind("claim"), kept);
  world.crash();
  world.finish();
  EXPECT_EQ(world.of_kind("claim"), kept);
  put(2, "web:1", "{}", claims);
  world.finish();
  EXPECT_EQ(world.of_kind("claim"), kept) << "taken up again";
  EXPECT_EQ(world.pod("db-0").node, node) << "where its data are";
  put(2, "web:1", "{}",
      cat(claims, R"(,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"})"));
  world.finish();
  remove();
  EXPECT_TRUE(world.of_kind("claim").empty());
}

TEST_F(StatefulSet, InParallelSeveralMayBeUnavailable) {
  const std::string how = R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":2})";
  put(6, "web:1", how, parallel);
  world.finish();
  world.ready_after = 2s;
  int worst = 6;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  put(6, "web:2", how, parallel);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 6);
  EXPECT_EQ(worst, 4);
}

TEST_F(StatefulSet, ImagesArePulledAheadInItsOwnOrder) {
  world.ready_after = 0s;
  put(3, "web:1", R"({"podUpdatePolicy":"InPlaceIfPossible"})");
  world.finish();
  put(3, "web:2", R"({"podUpdatePolicy":"InPlaceIfPossible","paused":true})");
  world.pass(100);
  ASSERT_EQ(world.pulled.size(), 3u);
  EXPECT_EQ(world.pulled[0], cat(world.pod("db-2").node, "|web:2"));
  EXPECT_EQ(world.pulled[2], cat(world.pod("db-0").node, "|web:2"));
}

TEST_F(StatefulSet, OnDeleteChangesWhatIsDeletedOnly) {
  const auto put_on_delete = [&](std::string_view images) {
    world.put(manifest("StatefulSet", "db",
                       replace_all(spec_of(2, images), R"("updateStrategy":{)",
                                   R"("updateStrategy":{"type":"OnDelete",)")));
    world.finish();
  };
  put_on_delete("web:1");
  put_on_delete("web:2");
  EXPECT_EQ(world.count_image("web:1"), 2);
}

class DaemonSet : public testing::Test {
 protected:
  void put(std::string_view images, std::string_view rolling = "{}", std::string_view more = "",
           std::string_view annotations = "{}") {
    world.put(manifest(
        "DaemonSet", "agent",
        cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)", template_text(images),
            R"(,"updateStrategy":{"rollingUpdate":)", rolling, "}", more, "}"),
        annotations));
  }
  World world;
};

constexpr std::string_view daemon_in_place = R"({"rollingUpdateType":"InPlaceIfPossible")";

TEST_F(DaemonSet, EachNodeHasOnePodAndNewNodesGetOne) {
  world.add_nodes(3);
  put("web:1");
  world.finish();
  EXPECT_EQ(world.pods().size(), 3u);
  world.add_nodes(1);
  world.finish();
  EXPECT_EQ(world.pods().size(), 4u);
  world.fleet.drop_node("n1");
  world.finish();
  EXPECT_EQ(world.pods().size(), 3u);
}

TEST_F(DaemonSet, ItChangesInPlaceOneAtATimeWithTheLastNodeFirst) {
  world.add_nodes(4);
  put("web:1", cat(daemon_in_place, "}"));
  world.finish();
  world.ready_after = 2s;
  int worst = 4;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  const auto before = world.pods();
  put("web:2", cat(daemon_in_place, R"(,"partition":1})"));
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 3);
  EXPECT_EQ(worst, 3);
  EXPECT_EQ(world.pods(), before);
  EXPECT_EQ(world.pod(world.updated[0]).node, "n4");
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u) << "a partition keeps the job";
  put("web:2", cat(daemon_in_place, "}"));
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 4);
  EXPECT_TRUE(world.of_kind("pull_job").empty());
}

TEST_F(DaemonSet, StandardUpdatesMakePodsAnewAndPullNothingAhead) {
  world.add_nodes(3);
  put("web:1");
  world.finish();
  world.ready_after = 1s;
  put("web:2");
  world.settle();
  EXPECT_TRUE(world.of_kind("pull_job").empty());
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 3);
  EXPECT_EQ(world.removed.size(), 3u);
}

TEST_F(DaemonSet, WithASurgeTheNewPodComesFirst) {
  world.add_nodes(3);
  const std::string_view how = R"({"maxSurge":1,"maxUnavailable":0})";
  put("web:1", how);
  world.finish();
  world.ready_after = 2s;
  int worst = 3;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  put("web:2", how);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 3);
  EXPECT_EQ(world.pods().size(), 3u);
  EXPECT_EQ(worst, 3);
}

TEST_F(DaemonSet, AChangeOfTemplateInTheMiddleKeepsTheLimit) {
  world.add_nodes(8);
  put("web:1", cat(daemon_in_place, "}"));
  world.finish();
  world.ready_after = 3s;
  int worst = 8;
  world.after_each = [&] { worst = std::min(worst, world.ready()); };
  put("web:2", cat(daemon_in_place, "}"));
  world.pass(5);
  put("web:3", cat(daemon_in_place, "}"));
  world.pass(5);
  put("web:1", cat(daemon_in_place, "}"));
  world.finish();
  EXPECT_EQ(world.count_image("web:1"), 8);
  EXPECT_EQ(worst, 7);
}

TEST_F(DaemonSet, OnDeletePullsNothingAhead) {
  world.add_nodes(2);
  const auto put_on_delete = [&](std::string_view images) {
    world.put(manifest("DaemonSet", "agent",
                       cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)",
                           template_text(images), R"(,"updateStrategy":{"type":"OnDelete"}})")));
    world.finish();
  };
  put_on_delete("web:1");
  put_on_delete("web:2");
  EXPECT_TRUE(world.pulled.empty());
  EXPECT_EQ(world.count_image("web:1"), 2);
}

TEST_F(DaemonSet, NodesThatAreNotAskedForHaveNone) {
  world.add_nodes(2, R"({"disk":"ssd"})");
  world.add_nodes(2);
  world.put(manifest("DaemonSet", "agent",
                     cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)",
                         replace_all(template_text("web:1"), R"("spec":{)",
                                     R"("spec":{"nodeSelector":{"disk":"ssd"},)"),
                         "}")));
  world.finish();
  EXPECT_EQ(world.pods().size(), 2u);
}

TEST_F(StatefulSet, OnDeleteAPodThatIsDeletedGetsTheNewRevision) {
  const auto put_on_delete = [&](std::string_view image) {
    Object object = manifest("StatefulSet", "db", spec_of(2, image));
    object.document = edited(
        object.document, {{"spec", edited(object.document.at("spec"),
                                          {{"updateStrategy", json(R"({"type":"OnDelete"})")}})}});
    world.put(std::move(object));
  };
  put_on_delete("web:1");
  world.finish();
  put_on_delete("web:2");
  world.finish();
  EXPECT_EQ(world.count_image("web:1"), 2);
  world.delete_pod("db-1");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 1);
  EXPECT_NE(world.revision_of("db-1"), world.revision_of("db-0"));
  const Value status = status_of(world.fleet, "StatefulSet/default/db", world.now);
  EXPECT_EQ(status.integer_at("currentReplicas"), 1);
  EXPECT_EQ(status.integer_at("updatedReplicas"), 1);
}

TEST_F(StatefulSet, APodThatIsMadeAnewIsAnotherOne) {
  put(1, "web:1");
  world.finish();
  const auto uid = [&] {
    return std::string(dict_of(world.pod("db-0").resource->attributes).text_at("uid"));
  };
  const std::string first = uid();
  EXPECT_FALSE(first.empty());
  world.delete_pod("db-0");
  world.finish();
  EXPECT_NE(uid(), first);
}

// Of 2, 3 and 5 the partition keeps the lower two: it counts pods, and not their numbers.
TEST_F(StatefulSet, APartitionCountsPodsWhereNumbersAreReserved) {
  constexpr std::string_view reserved = R"(,"reserveOrdinals":["0-1",4])";
  put(3, "web:1", "{}", reserved);
  world.finish();
  ASSERT_EQ(world.pods(), (std::vector<std::string>{"db-2", "db-3", "db-5"}));
  put(3, "web:2", R"({"partition":2})", reserved);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 1);
  EXPECT_NE(world.revision_of("db-5"), world.revision_of("db-3"));
  // One below the partition that is recreated keeps its revision.
  world.delete_pod("db-3");
  world.finish();
  EXPECT_EQ(world.revision_of("db-3"), world.revision_of("db-2"));
  world.delete_pod("db-5");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 1);
}

// A hook that lets go ends the recreation, also where the pod waited for it with others behind it.
TEST(StatefulSets, ADeletionHookAndARecreationEndWhenTheHookLetsGo) {
  for (const std::string_view policy : {"OrderedReady", "Parallel"}) {
    World world;
    world.add_nodes(2);
    const std::string more = cat(
        R"(,"lifecycle":{"preDelete":{"labelsHandler":{"guard":"yes"}}},"podManagementPolicy":")",
        policy, '"');
    const auto put_all = [&](std::string_view image) {
      Object object = manifest("StatefulSet", "db", spec_of(3, image, "{}", more));
      Value pod = object.document.at("spec").at("template");
      pod = edited(pod, {{"metadata", json(R"({"labels":{"app":"db","guard":"yes"}})")}});
      object.document = edited(object.document,
                               {{"spec", edited(object.document.at("spec"), {{"template", pod}})}});
      world.put(std::move(object));
    };
    put_all("web:1");
    world.finish();
    put_all("web:2");
    world.pass(5);
    for (int i = 0; i < 3; ++i) {
      const auto held = world.pods(
          [](const FleetPod& pod) { return pod.lifecycle == Lifecycle::preparing_delete; });
      ASSERT_EQ(held.size(), 1u) << policy << " " << i;
      world.mark(held[0], R"({"labels":{"guard":null}})");
      world.pass(5);
    }
    EXPECT_EQ(world.count_image("web:2"), 3) << policy;
  }
}

}  // namespace
}  // namespace fettle::workloads
