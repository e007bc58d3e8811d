/// Nodes that are drained, cordoned, added and lost while workloads are brought about: by commands,
/// and by a controller that is in the middle of acts that take long.

#include <gtest/gtest.h>

#include <future>

#include "tests/fixtures/workloads_fixture.h"
#include "verbs/fleet/claims.h"
#include "verbs/fleet/nodes.h"
#include "verbs/fleet/workload_edits.h"

namespace fettle {
namespace {

class BusyTest : public WorkloadsTest {
 protected:
  ~BusyTest() override { end_controller(); }

  /// `web-x on n1`, …
  std::vector<std::string> pods(std::string_view begin = "web") {
    std::vector<std::string> found;
    const auto known = other_place().store->known("fleet");
    for (const auto& [key, record] : known.value_or(Known()))
      if (const NodeAddress address = node_address(key.name);
          key.kind == "pod" && address.name.starts_with(begin))
        found.push_back(cat(address.name, " on ", address.node));
    std::ranges::sort(found);
    return found;
  }
  std::vector<std::string> nodes(std::string_view begin = "web") {
    std::vector<std::string> found;
    for (const std::string& pod : pods(begin))
      found.push_back(pod.substr(pod.rfind(' ') + 1));
    std::ranges::sort(found);
    return found;
  }
  std::string name_on(std::string_view node) {
    for (const std::string& pod : pods())
      if (pod.ends_with(cat(" on ", node)))
        return pod.substr(0, pod.find(' '));
    return {};
  }
  void store_text(std::string_view text) {
    auto read = workloads::read_manifests(text, "more.yaml", {});
    ASSERT_TRUE(read.errors.empty()) << to_string(read.errors[0]);
    ASSERT_TRUE(store_objects(other_place(), "fleet", std::move(read.objects)));
  }
  void store_more(std::string_view name) {
    store_text(cat("apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: ", name,
                   "}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: ", name,
                   "}}\n  template: {metadata: {labels: {app: ", name,
                   "}}, spec: {containers: [{name: main, image: web:1}]}}\n"));
  }

  void begin_controller() {
    place_.role = Holder::Role::controller;
    controller_ = std::async(std::launch::async, [this] {
      BringOptions options;
      options.keeps = true;
      return bring_workloads(place_, "fleet", options).has_value();
    });
    ASSERT_TRUE(eventually([&] { return is_kept(other_place(), "fleet").value_or(false); }));
  }
  void end_controller() {
    if (!controller_.valid())
      return;
    world_.release();
    interrupt_.ask();
    controller_.get();
  }
  static bool eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 6000; ++i) {
      if (holds())
        return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  /// A workplace of a command that runs beside the controller.
  Workplace beside() {
    Workplace place = other_place();
    place.interrupt = &other_interrupt_;
    place.command = "another command";
    return place;
  }

  Interrupt other_interrupt_;
  std::future<bool> controller_;
};

TEST_F(BusyTest, ADrainedNodesPodsComeBackElsewhere) {
  use_nodes({"n1", "n2"});
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  ASSERT_EQ(nodes(), (std::vector<std::string>{"n1", "n2"}));
  const auto draining = drain_node(place_, "n1", false);
  ASSERT_TRUE(draining) << to_string(draining.error());
  EXPECT_EQ(draining->owners.at("fleet"), (std::set<Name>{"CloneSet/default/web"}));
  EXPECT_EQ(bring().unsettled, std::vector<std::string>{});
  EXPECT_EQ(nodes(), (std::vector<std::string>{"n2", "n2"}));
  EXPECT_EQ(pods_on(place_, "n1")->size(), 0u);
}

TEST_F(BusyTest, ADrainThatNobodyCanSpareAPodForSaysSo) {
  use_nodes({"n1", "n2"});
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  const std::string broken = name_on("n2"), asked = name_on("n1");
  world_.break_pod(broken);
  std::vector<std::string> told;
  place_.notice = [&](const std::string& text) { told.push_back(text); };
  ASSERT_TRUE(drain_node(place_, "n1", false));
  const BringResult brought = bring(1s);
  EXPECT_EQ(code_of(brought), 3);
  const std::string why =
      cat("pod default/", asked, ": it waits to leave node `n1`: 1 of 2 pods of ",
          "CloneSet/default/web are available, and 1 may be missing");
  EXPECT_EQ(std::ranges::count(brought.unsettled, why), 1) << join(brought.unsettled, "\n");
  EXPECT_EQ(std::ranges::count(told, "waiting for " + why), 1) << join(told, "\n");
  EXPECT_EQ(name_on("n1"), asked);
  // By force it goes at once, and when the other one is back, waiting is over.
  ASSERT_TRUE(drain_node(place_, "n1", true));
  world_.break_pod(broken, false);
  EXPECT_EQ(code_of(bring()), 0);
  EXPECT_EQ(nodes(), (std::vector<std::string>{"n2", "n2"}));
}

TEST_F(BusyTest, APodThatIsDeletedGoesAtOnceAndCountsForOthers) {
  use_nodes({"n1", "n2"});
  store("web:1");
  EXPECT_EQ(bring().ready, 2u);
  const std::string deleted = name_on("n1"), other = name_on("n2");
  world_.break_pod(other);
  // The broken one leaves nothing to spare; the deletion asks nobody.
  const auto stored = delete_pods(place_, "fleet", {Name(cat("Pod/default/", deleted))});
  ASSERT_TRUE(stored) << to_string(stored.error());
  EXPECT_EQ(stored->at(0).fate, StoredObject::Fate::deleted);
  world_.break_pod(other, false);
  EXPECT_EQ(code_of(bring()), 0);
  EXPECT_EQ(std::ranges::count_if(pods(),
                                  [&](const std::string& pod) { return pod.starts_with(deleted); }),
            0);
  EXPECT_EQ(pods().size(), 2u);
  const auto objects = stored_objects(place_, "fleet");
  EXPECT_TRUE(std::ranges::none_of(*objects, [](const auto& object) {
    return object.kind == "Pod";
  })) << "nothing is said any more about pods that are gone";
}

// `n2` is cordoned, and pods are asked for, while the acts on others go on.
TEST_F(BusyTest, AControllerInTheMiddleOfActsHearsOfNodes) {
  use_nodes({"n1", "n2"});
  store("slow");
  begin_controller();
  ASSERT_TRUE(world_.await("pod"));
  const Workplace beside = this->beside();
  ASSERT_TRUE(cordon_node(beside, "n2", true));
  EXPECT_EQ(await_controllers(beside)->size(), 0u);
  store_more("more");
  ASSERT_TRUE(eventually([&] { return nodes("more").size() == 2; }));
  EXPECT_EQ(nodes("more"), (std::vector<std::string>{"n1", "n1"}));
  ASSERT_TRUE(cordon_node(beside, "n2", false));
  ASSERT_TRUE(cordon_node(beside, "n1", true));
  world_.thinks = true;
  ASSERT_TRUE(add_node(beside, {.name = "n3", .engine = "unix:///run/n3"}));
  EXPECT_EQ(await_controllers(beside)->size(), 0u);
  store_more("last");
  ASSERT_TRUE(eventually([&] { return nodes("last").size() == 2; }));
  EXPECT_EQ(nodes("last"), (std::vector<std::string>{"n2", "n3"}));
}

// They change with the node: it goes and comes back with others.
TEST_F(BusyTest, AControllerInTheMiddleOfActsHearsOfLabels) {
  use_nodes({"n1", "n2"});
  ASSERT_TRUE(cordon_node(place_, "n2", true));
  store("slow");
  begin_controller();
  ASSERT_TRUE(world_.await("pod"));
  const Workplace beside = this->beside();
  for (const char* const zone : {"a", "b"}) {
    ASSERT_TRUE(remove_node(beside, "n2"));
    ASSERT_TRUE(
        add_node(beside, {.name = "n2", .engine = "unix:///run/n2", .labels = {{"zone", zone}}}));
    EXPECT_EQ(await_controllers(beside)->size(), 0u);
    const std::string name = cat("in-", zone);
    store_text(cat("apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: ", name,
                   "}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: ", name,
                   "}}\n  template: {metadata: {labels: {app: ", name, "}}, spec: {nodeSelector: ",
                   "{zone: ", zone, "}, containers: [{name: main, image: web:1}]}}\n"));
    ASSERT_TRUE(eventually([&] { return nodes(name).size() == 2; })) << zone;
    EXPECT_EQ(nodes(name), (std::vector<std::string>{"n2", "n2"}));
    ASSERT_TRUE(delete_objects(beside, "fleet", {Name(cat("CloneSet/default/", name))}));
    ASSERT_TRUE(eventually([&] { return nodes(name).empty(); }));
  }
}

/// A DaemonSet's pods leave a node that is drained and come back nowhere else.
class DaemonTest : public BusyTest {
 protected:
  void store_daemon() {
    store_text(
        "apiVersion: apps.kruise.io/v1beta1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n"
        "  selector: {matchLabels: {app: agent}}\n  template: {metadata: {labels: {app: agent}},\n"
        "    spec: {containers: [{name: main, image: agent:1}]}}\n");
  }
};

TEST_F(DaemonTest, ADrainTakesItsPodAway) {
  for (const bool is_forced : {false, true}) {
    const std::string node = is_forced ? "n2" : "n1";
    if (!is_forced)
      use_nodes({"n1", "n2", "n3"});
    store_daemon();
    EXPECT_EQ(code_of(bring()), 0);
    const auto draining = drain_node(place_, node, is_forced);
    ASSERT_TRUE(draining) << to_string(draining.error());
    EXPECT_EQ(draining->owners.at("fleet"), (std::set<Name>{"DaemonSet/default/agent"}));
    const BringResult brought = bring();
    EXPECT_EQ(code_of(brought), 0) << join(brought.unsettled, "\n");
    EXPECT_EQ(std::ranges::count(nodes("agent"), node), 0);
  }
  EXPECT_EQ(nodes("agent"), std::vector<std::string>{"n3"});
}

TEST_F(DaemonTest, ABusyControllerTakesItsPodAwayAndTheNodeGoes) {
  use_nodes({"n1", "n2", "n3"});
  store_daemon();
  begin_controller();
  ASSERT_TRUE(eventually([&] { return nodes("agent").size() == 3; }));
  const Workplace beside = this->beside();
  for (const bool is_forced : {false, true}) {
    const std::string node = is_forced ? "n2" : "n1";
    const Status too_early = remove_node(beside, node);
    ASSERT_FALSE(too_early) << "its pod is there";
    EXPECT_EQ(too_early.error().blame, Blame::user);
    const auto draining = drain_node(beside, node, is_forced);
    ASSERT_TRUE(draining) << to_string(draining.error());
    EXPECT_EQ(await_controllers(beside)->size(), 0u);
    ASSERT_TRUE(eventually([&] { return pods_on(beside, node)->empty(); }));
    const Status removed = remove_node(beside, node);
    ASSERT_TRUE(removed) << to_string(removed.error());
    EXPECT_EQ(await_controllers(beside)->size(), 0u);
  }
  EXPECT_EQ(nodes_of(*beside.store)->size(), 1u);
  EXPECT_EQ(nodes("agent"), std::vector<std::string>{"n3"});
}

TEST_F(BusyTest, WhatADrainTakesFromABusyControllerComesBackElsewhere) {
  use_nodes({"n1", "n2", "n3"});
  store_more("more");
  begin_controller();
  ASSERT_TRUE(eventually([&] { return nodes("more").size() == 2; }));
  store("slow");
  ASSERT_TRUE(world_.await("pod"));
  const std::string node = nodes("more")[0];
  const Workplace beside = this->beside();
  ASSERT_TRUE(drain_node(beside, node, false));
  EXPECT_EQ(await_controllers(beside)->size(), 0u);
  EXPECT_TRUE(eventually([&] {
    return nodes("more").size() == 2 && std::ranges::count(nodes("more"), node) == 0;
  })) << join(pods("more"), ", ");
}

TEST_F(BusyTest, ALostNodeIsForgottenByWhoeverActs) {
  use_nodes({"n1", "n2"});
  store("web:1");
  begin_controller();
  ASSERT_TRUE(eventually([&] { return pods().size() == 2; }));
  const Workplace beside = this->beside();
  const Status removed = remove_node(beside, "n2", true);
  ASSERT_TRUE(removed) << to_string(removed.error());
  EXPECT_EQ(nodes_of(*beside.store)->size(), 1u);
  EXPECT_TRUE(eventually([&] { return nodes() == std::vector<std::string>{"n1", "n1"}; }))
      << join(pods(), ", ");
}

TEST_F(BusyTest, DataAreDeletedByWhoeverActs) {
  use_nodes({"n1"});
  store_text(
      "apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n"
      "  replicas: 1\n  selector: {matchLabels: {app: db}}\n"
      "  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: main, image: db:1,\n"
      "    volumeMounts: [{name: data, mountPath: /data}]}]}}\n"
      "  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]\n");
  begin_controller();
  ASSERT_TRUE(eventually([&] { return nodes("db").size() == 1; }));
  const Workplace beside = this->beside();
  const auto in_use = remove_claims(beside, "fleet", {"default/data-db-0"}, true);
  ASSERT_FALSE(in_use);
  EXPECT_EQ(in_use.error().message, "claim `default/data-db-0` is used by pod `default/db-0`");
  ASSERT_TRUE(delete_objects(beside, "fleet", {"StatefulSet/default/db"}));
  ASSERT_TRUE(eventually([&] { return nodes("db").empty(); }));
  EXPECT_EQ(claims_of(beside, "fleet")->size(), 1u);
  const auto removed = remove_claims(beside, "fleet", {"default/data-db-0"}, true);
  ASSERT_TRUE(removed) << to_string(removed.error());
  EXPECT_TRUE(removed->good());
  EXPECT_EQ(claims_of(beside, "fleet")->size(), 0u);
  EXPECT_TRUE(eventually([&] { return stored_objects(beside, "fleet")->empty(); }))
      << "a claim of this name that comes later is another one";
}

}  // namespace
}  // namespace fettle
