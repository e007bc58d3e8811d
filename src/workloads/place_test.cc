/// Where pods run.

#include "workloads/place.h"

#include <gtest/gtest.h>

#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

class Place : public testing::Test {
 protected:
  void add(std::string_view name, std::string_view labels, int64_t cpu = -1) {
    Node node;
    node.name = name;
    node.labels = json(labels);
    node.cpu = cpu;
    fleet.put_node(std::move(node));
  }
  std::string place(std::string_view spec) {
    Placement placement(fleet, {});
    const auto node = placement.place(json(spec));
    return node ? node->str() : cat("!", placement.why_not());
  }
  Fleet fleet{"fleet"};
};

TEST_F(Place, WithoutNodesItIsThisMachine) { EXPECT_EQ(place("{}"), ""); }

TEST_F(Place, NamesSelectorsAndAffinity) {
  add("a", R"({"disk":"hdd","size":"2"})");
  add("b", R"({"disk":"ssd","size":"4"})");
  EXPECT_EQ(place(R"({"nodeName":"b"})"), "b");
  EXPECT_EQ(place(R"({"nodeSelector":{"disk":"ssd"}})"), "b");
  const auto affinity = [](std::string_view terms) {
    return cat(R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)",
               R"({"nodeSelectorTerms":)", terms, "}}}}");
  };
  EXPECT_EQ(
      place(affinity(R"([{"matchExpressions":[{"key":"size","operator":"Gt","values":["3"]}]}])")),
      "b");
  EXPECT_EQ(place(affinity(
                R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]}])")),
            "a");
  EXPECT_EQ(place(R"({"nodeSelector":{"disk":"tape"}})"),
            "!0 of 2 nodes are available: 2 do not match");
}

TEST_F(Place, RoomByRequestsThenTheFewestPodsOfTheOwner) {
  add("a", "{}", 1000);
  add("b", "{}", 2000);
  const Value spec = json(R"({"containers":[{"resources":{"requests":{"cpu":"600m"}}}]})");
  Placement placement(fleet, {});
  EXPECT_EQ(placement.place(spec)->str(), "a");
  EXPECT_EQ(placement.place(spec)->str(), "b");
  EXPECT_EQ(placement.place(spec)->str(), "b");
  EXPECT_EQ(placement.place(spec)->str(), "b");
  EXPECT_FALSE(placement.place(spec));
}

TEST_F(Place, PodsOnANodeTakeItsRoom) {
  World world;
  Node node;
  node.name = "a";
  node.cpu = 1000;
  world.fleet.put_node(node);
  world.put(manifest("CloneSet", "web",
                     replace_all(clone_set_spec(3, "web:1"), R"("image":"web:1")",
                                 R"("image":"web:1","resources":{"requests":{"cpu":"400m"}})")));
  world.pass(2);
  EXPECT_EQ(world.pods().size(), 2u);
  EXPECT_TRUE(world.has_notice("FailedScheduling"));
  Node more;
  more.name = "b";
  world.fleet.put_node(more);
  world.finish();
  EXPECT_EQ(world.pods().size(), 3u);
}

TEST_F(Place, AwayAndCordonedNodesTakeNone) {
  Node away;
  away.name = "a";
  away.is_ready = false;
  fleet.put_node(away);
  Node cordoned;
  cordoned.name = "b";
  cordoned.is_cordoned = true;
  fleet.put_node(cordoned);
  EXPECT_EQ(place("{}"), "!0 of 2 nodes are available: 2 are away or cordoned");
}

TEST_F(Place, ANodeThatDrainsHasNoPodOfADaemonSetEither) {
  World world;
  world.add_nodes(2);
  world.put(manifest("DaemonSet", "agent",
                     cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)",
                         template_text("agent:1"), "}")));
  world.finish();
  EXPECT_EQ(world.pods().size(), 2u);
  Node node = world.fleet.nodes().begin()->second;
  node.is_cordoned = true;
  world.fleet.put_node(node);
  world.finish();
  EXPECT_EQ(world.pods().size(), 2u) << "a cordon is nothing to a DaemonSet";
  node.is_draining = true;
  world.fleet.put_node(node);
  world.finish();
  EXPECT_EQ(world.pods().size(), 1u);
  node.is_cordoned = node.is_draining = false;
  world.fleet.put_node(node);
  world.finish();
  EXPECT_EQ(world.pods().size(), 2u);
}

}  // namespace
}  // namespace fettle::workloads
