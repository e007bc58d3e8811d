#include "workloads/decide/daemon_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kinds/pod.h"
#include "tests/workloads/world.h"
#include "workloads/decide/status.h"

namespace fettle::workloads {
namespace {

class DaemonSets : public testing::Test {
 protected:
  /// `more`: of the pod's container; acts take time, and what ends takes longer.
  static std::string spec_of(std::string_view image, std::string_view rolling = "{}",
                             std::string_view more = "", std::string_view of_spec = "") {
    return cat(R"({"selector":{"matchLabels":{"app":"edge"}},"template":{"metadata":{"labels":)",
               R"({"app":"edge"}},"spec":{"containers":[{"name":"main","image":")", image, '"',
               more, R"(}]}},"updateStrategy":{"rollingUpdate":)", rolling, "}", of_spec, "}");
  }
  void put(std::string_view image, std::string_view rolling = "{}", std::string_view more = "",
           std::string_view of_spec = "") {
    world.put(manifest("DaemonSet", "edge", spec_of(image, rolling, more, of_spec)));
  }
  void be_slow() {
    world.is_slow = true;
    world.ready_after = 1s;
    world.act_takes = 1s;
    world.end_takes = 4s;
  }
  /// How many pods there are on a node: those that end or begin included.
  int on_node(std::string_view node) const {
    std::set<Name> keys;
    for (const auto& [key, pod] : world.real)
      keys.insert(key);
    for (const auto& [key, act] : world.acting)
      keys.insert(key);
    return static_cast<int>(std::ranges::count_if(
        keys, [&](const Name& key) { return node_address(key).node == node; }));
  }
  void two_pods_never_share(std::string_view port, std::string_view of_pod);
  World world;
};

TEST_F(DaemonSets, ThePodBeforeIsGoneBeforeTheNextOneBegins) {
  be_slow();
  world.add_nodes(3);
  put("web:1");
  world.finish();
  int most = 0;
  world.after_each = [&] {
    for (const char* node : {"n1", "n2", "n3"})
      most = std::max(most, on_node(node));
  };
  put("web:2");
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 3);
  EXPECT_EQ(most, 1);
}

TEST_F(DaemonSets, APartitionInPercentIsRoundedDown) {
  world.add_nodes(5);
  put("web:1");
  world.finish();
  put("web:2", R"({"partition":"50%","rollingUpdateType":"InPlaceIfPossible"})");
  world.finish();
  EXPECT_EQ(world.count_image("web:1"), 2);
  EXPECT_EQ(world.count_image("web:2"), 3);
  EXPECT_EQ(status_of(world.fleet, "DaemonSet/default/edge", world.now).text_at("phase"),
            "partitioned");
}

TEST_F(DaemonSets, PartitionedScalingHoldsNewPodsBack) {
  world.add_nodes(4);
  put("web:1", R"({"partition":3})", "", R"(,"scaleStrategy":{"partitionedScaling":true})");
  world.finish();
  EXPECT_EQ(world.ready(), 1);
  put("web:1", R"({"partition":1})", "", R"(,"scaleStrategy":{"partitionedScaling":true})");
  world.finish();
  EXPECT_EQ(world.ready(), 3);
}

// The outage of the issue: a label on three pods, and then a new image.
TEST_F(DaemonSets, LabelsAndThenAnImageTakeOnePodAtATime) {
  be_slow();
  world.add_nodes(3);
  put("web:1");
  world.finish();
  std::set<Name> missing;
  size_t most = 0;
  world.before_stop = [&](const Name& key, bool) { missing.insert(key); };
  world.after_each = [&] { most = std::max(most, 3 - static_cast<size_t>(world.ready())); };
  for (const std::string& pod : world.pods())
    world.mark(pod, R"({"labels":{"note":"x"}})");
  world.pass(1);
  put("web:2");
  world.finish();
  EXPECT_EQ(missing.size(), 3u);
  EXPECT_EQ(most, 1u);
}

TEST_F(DaemonSets, DeletionsThatAreAskedForKeepTheLimit) {
  be_slow();
  world.add_nodes(6);
  put("web:1", R"({"maxUnavailable":2})");
  world.finish();
  int least = 6;
  world.after_each = [&] { least = std::min(least, world.ready()); };
  for (const std::string& pod : world.pods())
    world.mark(pod, R"({"labels":{"apps.kruise.io/specified-delete":"true"}})");
  world.finish();
  EXPECT_EQ(least, 4);
  EXPECT_EQ(world.ready(), 6);
  EXPECT_EQ(world.removed.size(), 6u);
}

constexpr std::string_view port =
    R"(,"ports":[{"containerPort":80,"hostPort":8080,"hostIP":"127.0.0.1"}])";

TEST_F(DaemonSets, ASurgeWaitsForAPortThatCannotBeSharedAndSaysSo) {
  be_slow();
  world.add_nodes(1);
  put("web:1", R"({"maxSurge":1})", port);
  world.finish();
  put("web:2", R"({"maxSurge":1})", port);
  world.pass(10);
  EXPECT_EQ(world.count_image("web:1"), 1);
  EXPECT_EQ(on_node("n1"), 1);
  const auto obstruction = obstruction_of(world.fleet, "DaemonSet/default/edge");
  ASSERT_TRUE(obstruction);
  EXPECT_TRUE(obstruction->text.starts_with(
      "port 127.0.0.1:8080 of node `n1` is taken by pod default/edge-"))
      << obstruction->text;
}

// Of every kind: the one before it is gone before it begins, and other nodes come first.
void DaemonSets::two_pods_never_share(std::string_view port, std::string_view of_pod) {
  const auto on_host = [&](const std::string& spec) {
    return replace_all(spec, R"("spec":{"containers")",
                       cat(R"("spec":{)", of_pod, R"("containers")"));
  };
  be_slow();
  world.add_nodes(2);
  const auto clone_set = [&](std::string_view image, int replicas) {
    world.put(manifest(
        "CloneSet", "web",
        on_host(cat(
            R"({"replicas":)", replicas, R"(,"selector":{"matchLabels":{"app":"web"}},"template":)",
            R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":")",
            image, '"', port,
            R"(}]}},"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}})"))));
  };
  clone_set("web:1", 2);
  world.finish();
  EXPECT_EQ(on_node("n1"), 1);
  EXPECT_EQ(on_node("n2"), 1);
  int most = 0;
  world.after_each = [&] { most = std::max({most, on_node("n1"), on_node("n2")}); };
  clone_set("web:2", 2);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 2);
  EXPECT_EQ(most, 1);
  // A third one has no place, and gets the one that another workload leaves.
  clone_set("web:2", 1);
  world.finish();
  world.put(manifest("DaemonSet", "edge", on_host(spec_of("web:1", "{}", port))));
  world.pass(10);
  EXPECT_EQ(world.count_image("web:1"), 1);
  EXPECT_TRUE(world.has_notice("FailedScheduling"));
  world.remove("CloneSet/default/web");
  world.finish();
  EXPECT_EQ(world.count_image("web:1"), 2);
  EXPECT_EQ(most, 1);
}

TEST_F(DaemonSets, TwoPodsNeverHaveOnePortOfANode) { two_pods_never_share(port, ""); }

TEST_F(DaemonSets, OnTheNetworkOfTheNodeEachPortIsOneOfTheNode) {
  two_pods_never_share(R"(,"ports":[{"containerPort":80}])", R"("hostNetwork":true,)");
}

// What a SidecarSet injects takes room, too: of every kind.
TEST_F(DaemonSets, APortOfASidecarIsAPortOfItsPod) {
  be_slow();
  world.add_nodes(2);
  world.put(
      manifest("SidecarSet", "proxy",
               cat(R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"proxy",)",
                   R"("image":"proxy:1")", port, "}]}")));
  world.put(manifest("CloneSet", "web",
                     R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{)"
                     R"("metadata":{"labels":{"app":"web"}},"spec":{"containers":[)"
                     R"({"name":"main","image":"web:1"}]}}})"));
  world.finish();
  ASSERT_EQ(on_node("n1") + on_node("n2"), 1);
  put("edge:1", "{}", port);
  world.pass(10);
  EXPECT_EQ(world.count_image("edge:1"), 1);
  world.put(manifest("StatefulSet", "db",
                     R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{)"
                     R"("metadata":{"labels":{"app":"web"}},"spec":{"containers":[)"
                     R"({"name":"main","image":"db:1"}]}}})"));
  world.pass(10);
  EXPECT_EQ(world.count_image("db:1"), 0);
  EXPECT_TRUE(world.has_notice("FailedScheduling"));
  world.remove("DaemonSet/default/edge");
  world.finish();
  EXPECT_EQ(world.count_image("db:1"), 1);
}

TEST(HostPorts, ClashByAddressAndProtocol) {
  const auto ports = [](std::string_view text) {
    return host_ports_of(json(cat(R"({"containers":[{"ports":[)", text, "]}]}")));
  };
  const auto all = ports(R"({"containerPort":80,"hostPort":80})");
  const auto local = ports(R"({"containerPort":80,"hostPort":80,"hostIP":"127.0.0.1"})");
  const auto other = ports(R"({"containerPort":80,"hostPort":80,"hostIP":"10.0.0.1"})");
  const auto udp = ports(R"({"containerPort":80,"hostPort":80,"protocol":"UDP"})");
  EXPECT_NE(clash(all, local), nullptr);
  EXPECT_NE(clash(local, all), nullptr);
  EXPECT_EQ(clash(local, other), nullptr);
  EXPECT_EQ(clash(all, udp), nullptr);
  EXPECT_TRUE(ports(R"({"containerPort":80})").empty());
  EXPECT_EQ(
      host_ports_of(json(R"({"hostNetwork":true,"containers":[{"ports":[{"containerPort":9}]}]})"))
          .size(),
      1u);
  EXPECT_EQ(to_string(udp[0]), "80/UDP");
}

}  // namespace
}  // namespace fettle::workloads
