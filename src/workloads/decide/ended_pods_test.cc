/// Pods of a cluster that end by themselves: others come in their place, after a pause that grows.

#include <gtest/gtest.h>

#include <algorithm>

#include "kinds/pod.h"
#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

class EndedPods : public testing::Test {
 protected:
  EndedPods() { fleet.is_cluster = true; }

  /// Decides, and carries out what is decided. Returns the wanted pods, in order.
  std::vector<Key> decide(const Name& owner) {
    const Wanted wanted = want(fleet, owner, now);
    ask = wanted.ask;
    fleet.accept(wanted);
    std::vector<Key> pods;
    for (const Box<Resource>& resource : wanted.resources) {
      auto record = std::make_shared<Record>();
      record->applied = resource;
      fleet.know(resource->key, record);
      if (resource->key.kind == "pod")
        pods.push_back(resource->key);
    }
    std::vector<Key> gone;
    for (const FleetPod* pod : fleet.owned(owner).pods)
      if (pod->is_leaving)
        gone.push_back(pod->resource->key);
    for (const Key& key : gone)
      fleet.know(key, nullptr);
    std::sort(pods.begin(), pods.end());
    return pods;
  }
  void end(const Key& key, std::string_view phase = "Failed") {
    fleet.see(key, State(Value::dict({{"phase", phase}})));
  }
  void add_node(const Name& name) {
    Node node;
    node.name = name;
    node.labels = Value::dict({});
    fleet.put_node(std::move(node));
  }
  static Name node_of(const Key& key, const Fleet& fleet) { return fleet.pod(key.name)->node; }

  Fleet fleet{"cluster"};
  Time now{1h};
  std::optional<Time> ask;
};

TEST_F(EndedPods, EachComesAfterTwiceThePauseOfTheOneBefore) {
  const Name web = "CloneSet/default/web";
  fleet.put(manifest("CloneSet", "web", clone_set_spec(1, "web:1")));
  std::vector<Key> before = decide(web);
  ASSERT_EQ(before.size(), 1u);
  end(before[0]);
  std::vector<Key> after = decide(web);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_NE(after, before) << "the first time, another one comes at once";
  for (const Duration pause : {1s, 2s, 4s}) {
    before = after;
    end(before[0]);
    EXPECT_EQ(decide(web), before);
    EXPECT_EQ(ask, now + pause);
    now += pause - 1ns;
    EXPECT_EQ(decide(web), before);
    now += 1ns;
    after = decide(web);
    ASSERT_EQ(after.size(), 1u);
    EXPECT_NE(after, before);
  }
  // What users change is tried at once.
  end(after[0]);
  EXPECT_EQ(decide(web), after);
  fleet.put(manifest("CloneSet", "web", clone_set_spec(1, "web:2"), "{}", 2));
  EXPECT_NE(decide(web), after);
  // Whoever has run for long begins anew.
  before = decide(web);
  now += 1h;
  end(before[0]);
  EXPECT_NE(decide(web), before);
}

TEST_F(EndedPods, OthersComeAndGoMeanwhile) {
  const Name web = "CloneSet/default/web";
  fleet.put(manifest("CloneSet", "web", clone_set_spec(2, "web:1")));
  std::vector<Key> pods = decide(web);
  for (int i = 0; i < 2; ++i) {
    end(pods[0]);
    pods = decide(web);
  }
  ASSERT_EQ(pods.size(), 2u) << "one of them has ended and stays for now";
  ASSERT_TRUE(ask);
  const std::set<Key> with_ended(pods.begin(), pods.end());
  const Time later = *ask;
  fleet.put(manifest("CloneSet", "web", clone_set_spec(3, "web:1")));
  pods = decide(web);
  EXPECT_EQ(pods.size(), 3u);
  for (const Key& key : with_ended)
    EXPECT_NE(std::ranges::find(pods, key), pods.end());
  fleet.put(manifest("CloneSet", "web", clone_set_spec(2, "web:1")));
  EXPECT_EQ(decide(web).size(), 2u) << "what has ended goes first";
  now = later;
  EXPECT_EQ(decide(web).size(), 2u);
}

TEST_F(EndedPods, APodOfAStatefulSetComesBackLater) {
  const Name db = "StatefulSet/default/db";
  fleet.put(manifest("StatefulSet", "db",
                     cat(R"({"replicas":2,"serviceName":"s","podManagementPolicy":"Parallel",
    "selector":{"matchLabels":{"app":"web"}},"template":)",
                         template_text("db:1"), "}")));
  std::vector<Key> pods = decide(db);
  ASSERT_EQ(pods.size(), 2u);
  const auto uid_of = [&](const Key& key) {
    return read_one<&Pod::uid>(fleet.pod(key.name)->resource->attributes).get();
  };
  const Name first = uid_of(pods[0]);
  end(pods[0]);
  decide(db);  // it goes
  now += 1ms;
  EXPECT_EQ(decide(db), pods);
  EXPECT_NE(uid_of(pods[0]), first);
  const Name second = uid_of(pods[0]);
  end(pods[0], "Succeeded");
  EXPECT_EQ(decide(db), pods);
  EXPECT_EQ(uid_of(pods[0]), second);
  ASSERT_TRUE(ask);
  now = *ask;
  decide(db);
  EXPECT_EQ(decide(db), pods);
  EXPECT_NE(uid_of(pods[0]), second);
}

TEST_F(EndedPods, OneNodeOfADaemonSetHoldsUpNoOther) {
  const Name edge = "DaemonSet/default/edge";
  add_node("n1");
  add_node("n2");
  fleet.put(manifest("DaemonSet", "edge",
                     cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)",
                         template_text("edge:1"), "}")));
  const auto pod_on = [&](const Name& node) {
    decide(edge);
    for (const Key& key : decide(edge))
      if (node_of(key, fleet) == node)
        return key;
    return Key();
  };
  for (int i = 0; i < 4; ++i) {
    const Key broken = pod_on("n1");
    ASSERT_FALSE(broken.kind.empty());
    end(broken);
    EXPECT_EQ(pod_on("n1") == broken, i > 0);
    if (ask)
      now = *ask;
  }
  const Key other = pod_on("n2");
  end(other);
  EXPECT_NE(pod_on("n2"), other) << "it is the first that ends there";
}

}  // namespace
}  // namespace fettle::workloads
