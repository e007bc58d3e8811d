/// What a fleet keeps of nodes and owners that come and go.

#include "workloads/fleet.h"

#include <gtest/gtest.h>

#include "kinds/pod.h"
#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

class FleetNumbers : public testing::Test {
 protected:
  void add_node(std::string_view name) {
    Node node;
    node.name = name;
    node.labels = Value::dict({});
    fleet.put_node(std::move(node));
  }
  /// Decides, and what is wanted is there at once, and what is not is gone.
  void decide(const Name& owner) {
    const Wanted wanted = want(fleet, owner, Time(1h));
    fleet.accept(wanted);
    for (const Box<Resource>& resource : wanted.resources) {
      auto record = std::make_shared<Record>();
      record->applied = resource;
      record->wanted_by[owner] = resource->attributes.digest();
      fleet.know(resource->key, record);
    }
    std::vector<Key> gone;
    for (const FleetPod* pod : fleet.owned(owner).pods)
      if (pod->is_leaving)
        gone.push_back(pod->resource->key);
    for (const Key& key : gone)
      fleet.know(key, nullptr);
    for (const Name& changed : fleet.take_changed())
      fleet.accept(want(fleet, changed, Time(1h)));
  }

  Fleet fleet{"fleet"};
};

TEST_F(FleetNumbers, ANodeGetsTheNumberOfOneThatIsGone) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = cat("node-", i);
    add_node(name);
    ASSERT_NE(fleet.node(name), nullptr);
    EXPECT_EQ(fleet.node_at(fleet.node(name)->number), fleet.node(name));
    fleet.drop_node(name);
    EXPECT_EQ(fleet.node(name), nullptr);
  }
  EXPECT_EQ(fleet.node_numbers(), 1u);
}

TEST_F(FleetNumbers, NobodyGetsTheNumberOfANodeThatStillHasPods) {
  const Name web = "CloneSet/default/web";
  add_node("a");
  fleet.put(manifest("CloneSet", "web", clone_set_spec(2, "web:1")));
  decide(web);
  ASSERT_EQ(fleet.owned(web).pods.size(), 2u);
  const uint32_t number = fleet.owned(web).pods[0]->node_number;
  EXPECT_EQ(fleet.node_at(number), fleet.node("a"));
  fleet.drop_node("a");
  EXPECT_EQ(fleet.node_at(number), nullptr);
  add_node("b");
  EXPECT_NE(fleet.node("b")->number, number);
  EXPECT_EQ(fleet.node_at(number), nullptr) << "its pods are not on another one";
  fleet.drop(web);
  decide(web);
  EXPECT_EQ(fleet.owners_kept(), 0u);
  add_node("c");
  EXPECT_EQ(fleet.node("c")->number, number);
  EXPECT_EQ(fleet.node_numbers(), 2u);
  EXPECT_EQ(fleet.used(number).cpu, 0);
}

TEST_F(FleetNumbers, APodThatIsSeenElsewhereLeavesItsNode) {
  fleet.is_cluster = true;
  const Name web = "CloneSet/default/web";
  fleet.put(manifest("CloneSet", "web", clone_set_spec(1, "web:1")));
  decide(web);
  ASSERT_EQ(fleet.owned(web).pods.size(), 1u);
  const Key pod = fleet.owned(web).pods[0]->resource->key;
  for (int i = 0; i < 100; ++i)
    fleet.see_node(pod, cat("node-", i));
  EXPECT_EQ(fleet.pod(pod.name)->node, "node-99");
  EXPECT_LE(fleet.node_numbers(), 2u);
}

/// Two pods, of which one may be unavailable. The first one is not ready, so to update it is free.
class FleetUpdates : public FleetNumbers {
 protected:
  FleetUpdates() {
    add_node("a");
    put("web:1");
    decide(web);
    pods_.assign(fleet.owned(web).pods.begin(), fleet.owned(web).pods.end());
    see(0, false);
    see(1, true);
  }
  void put(std::string_view image, std::string_view policy = "InPlaceIfPossible") {
    fleet.put(manifest(
        "CloneSet", "web",
        clone_set_spec(2, image,
                       cat(R"({"podUpdatePolicy":")", policy, R"(","maxUnavailable":1})"))));
  }
  /// And nothing of it begins.
  void decide_alone() { fleet.accept(want(fleet, web, Time(1h))); }
  const FleetPod& pod(size_t number) const { return *pods_[number]; }
  void see(size_t number, bool is_ready) {
    PodSeen seen;
    seen.phase = "Running";
    seen.conditions =
        Value::list({Value::dict({{"type", "Ready"}, {"status", is_ready ? "True" : "False"}})});
    fleet.see(pod(number).resource->key, write(seen));
  }
  /// Now it is the other one that may go.
  void change_places() {
    see(0, true);
    see(1, false);
  }

  const Name web = "CloneSet/default/web";

 private:
  std::vector<const FleetPod*> pods_;
};

TEST_F(FleetUpdates, OneThatHasNotBegunIsDecidedAgainWhenItsPodIsReady) {
  put("web:2");
  decide_alone();
  ASSERT_TRUE(pod(0).is_due);
  change_places();
  EXPECT_FALSE(pod(0).is_due);
  EXPECT_TRUE(pod(0).is_done) << "it is as it was wanted before";
  EXPECT_EQ(fleet.take_changed(), std::vector<Name>{web});
  decide_alone();
  EXPECT_FALSE(pod(0).is_due);
  EXPECT_TRUE(pod(1).is_due);
}

TEST_F(FleetUpdates, OneThatHasBegunGoesOn) {
  put("web:2");
  decide_alone();
  const Box<Resource> wanted = pod(0).resource;
  auto record = std::make_shared<Record>();
  record->applied = pod(0).acted;
  record->attempt.emplace();
  record->attempt.edit().verb = Verb::update;
  record->attempt.edit().resource = wanted;
  fleet.know(wanted->key, record);
  change_places();
  decide_alone();
  EXPECT_EQ(pod(0).resource->attributes, wanted->attributes);
}

TEST_F(FleetUpdates, APodThatIsReadyMeanwhileIsNotRemovedForOne) {
  put("web:2", "ReCreate");
  decide_alone();
  ASSERT_TRUE(pod(0).is_leaving);
  change_places();
  decide_alone();
  EXPECT_FALSE(pod(0).is_leaving);
  EXPECT_TRUE(pod(1).is_leaving);
}

TEST_F(FleetUpdates, APodThatIsToGoForAnotherReasonGoesAllTheSame) {
  fleet.put(manifest("CloneSet", "web", clone_set_spec(0, "web:1")));
  decide_alone();
  ASSERT_TRUE(pod(0).is_leaving);
  change_places();
  decide_alone();
  EXPECT_TRUE(pod(0).is_leaving);
  EXPECT_TRUE(pod(1).is_leaving);
}

/// A workload of its own label, and a SidecarSet for it.
class FleetSets : public FleetNumbers {
 protected:
  FleetSets() {
    add_node("a");
    for (const std::string name : {"db", "web"}) {
      Object set = manifest("SidecarSet", cat("of-", name),
                            cat(R"({"selector":{"matchLabels":{"app":")", name,
                                R"("}},"containers":[{"name":"log","image":"log:1"}]})"));
      set.space = "";
      fleet.put(std::move(set));
      std::string spec = clone_set_spec(3, "web:1");
      for (size_t at = 0; (at = spec.find(R"("web")", at)) != spec.npos; at += name.size() + 2)
        spec.replace(at, 5, cat('"', name, '"'));
      fleet.put(manifest("CloneSet", name, spec));
    }
    for (const Name owner :
         {"SidecarSet//of-db", "SidecarSet//of-web", "CloneSet/default/db", "CloneSet/default/web"})
      decide(owner);
    while (!fleet.take_changed().empty()) {
    }
  }
  size_t walked(const Name& set) const {
    size_t count = 0;
    fleet.for_each_pod_with(set, [&](const FleetPod&) { ++count; });
    return count;
  }
};

/// Else each event of a pod has every set walk all pods.
TEST_F(FleetSets, APodConcernsOnlyThoseThatHavePutSomethingIntoIt) {
  ASSERT_EQ(walked("of-web"), 3u);
  ASSERT_EQ(walked("of-db"), 3u);
  const FleetPod& pod = *fleet.owned("CloneSet/default/web").pods[0];
  fleet.see(pod.resource->key, State());
  EXPECT_EQ(fleet.take_changed(),
            (std::vector<Name>{"CloneSet/default/web", "SidecarSet//of-web"}));
  const Key key = pod.resource->key;
  fleet.know(key, nullptr);
  EXPECT_EQ(fleet.take_changed(),
            (std::vector<Name>{"CloneSet/default/web", "SidecarSet//of-web"}));
  EXPECT_EQ(walked("of-web"), 2u);
  EXPECT_EQ(walked("of-db"), 3u);
}

/// As when somebody else has taken its containers out of the pod.
TEST_F(FleetSets, OneThatHasLeftAPodIsAskedAgain) {
  const FleetPod& known = *fleet.owned("CloneSet/default/web").pods[0];
  Pod pod = read<Pod>(known.resource->attributes);
  pod.sidecars = Value::list({});
  Resource resource = *known.resource;
  resource.attributes = write(pod);
  auto record = std::make_shared<Record>();
  record->applied = resource;
  fleet.know(resource.key, record);
  fleet.take_changed();
  fleet.let_be(resource.key);
  EXPECT_EQ(fleet.take_changed(),
            (std::vector<Name>{"CloneSet/default/web", "SidecarSet//of-web"}));
  EXPECT_EQ(walked("of-web"), 2u);
  fleet.see(resource.key, State());
  EXPECT_EQ(fleet.take_changed(), std::vector<Name>{"CloneSet/default/web"});
}

}  // namespace
}  // namespace fettle::workloads
