/// Several engines at once: two Podmans with their own roots, and one that is gone.

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

#include "base/text.h"
#include "controller/workloads.h"
#include "drivers/engine/connect.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "tests/engine/test_engines.h"
#include "tests/engine/world.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/workload_kinds.h"
#include "value/json.h"
#include "verbs/environments/environments.h"
#include "verbs/fleet/nodes.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

class NodesTest : public testing::Test {
 protected:
  NodesTest() : host_(http_, home_.blobs(), [] { return uint64_t{7}; }, {}) {
    // The first one is that of all tests; the second has its own root.
    const Path build = FETTLE_BINARY_DIR;
    addresses_["n1"] = running_engine(TestEngine::Sort::podman);
    second_ = std::make_unique<TestEngine>(TestEngine::Sort::podman,
                                           build / "engines" / cat("second-", getpid()));
    const auto second = second_->start();
    EXPECT_TRUE(second) << to_string(second.error());
    EXPECT_TRUE(second_->import(Path(FETTLE_SOURCE_DIR) / "build/images", {"busybox"}));
    addresses_["n2"] = second.value_or(EngineAddress());
    addresses_["gone"] =
        *parse_engine_address("unix://" + home_.path("nobody.sock"), process_variable);
    for (const auto& [name, address] : addresses_) {
      EngineDriverOptions options;
      options.name = engine_of_node(name);
      drivers_[options.name] = std::make_unique<EngineDriver>(
          http_, home_.blobs(),
          [this, name](bool, std::stop_token stop) {
            return link_engine(http_, addresses_.at(name), {}, std::move(stop));
          },
          options);
    }
    place_.store = &home_.store();
    place_.blobs = &home_.blobs();
    place_.kinds = &kinds_;
    place_.clock = now_from_clock;
    place_.random = [] { return uint64_t{7}; };
    place_.interrupt = &interrupt_;
    place_.command = "a test";
    place_.notice = [this](const std::string& text) { told_ += text + "\n"; };
    place_.driver = [this](const Name& name) -> Driver* {
      if (name == "host")
        return &host_;
      const auto found = drivers_.find(name);
      return found == drivers_.end() ? nullptr : found->second.get();
    };
    place_.nodes = [this]() -> Result<std::vector<std::string>> {
      std::vector<std::string> names;
      for (const auto& [name, address] : addresses_)
        names.push_back(name);
      return names;
    };
    for (const auto& [name, address] : addresses_)
      EXPECT_TRUE(add_node(place_, {.name = name, .engine = address.text}));
  }
  ~NodesTest() override {
    for (const char* name : {"n1", "n2"})
      for (const ContainerState& left : containers(name))
        EXPECT_TRUE(remove_container(engine(name), left.id, {}));
    EXPECT_TRUE(second_->stop(true));
  }

  Engine& engine(const std::string& node) {
    return **drivers_.at(engine_of_node(node))->engine({});
  }
  std::vector<ContainerState> containers(const std::string& node) {
    auto found = list_containers(engine(node), {environment_filter("fleet")}, {})
                     .value_or(std::vector<ContainerState>());
    std::ranges::stable_partition(found, [](const ContainerState& each) {
      return !label(each.labels, mark::container).empty();
    });
    return found;
  }
  void want(const std::string& node) {
    Resource pod;
    pod.key = {"fleet", "pod", cat(node, "|default/web")};
    pod.driver = engine_of_node(node);
    pod.attributes = *pod_kind().normalise(*read_json(cat(
        R"({"name":"web","node":")", node,
        R"(","template":{"spec":{"terminationGracePeriodSeconds":0,"containers":[)"
        R"({"name":"box","image":"localhost/fettle/busybox:1","command":["sleep","1000"]}]}}})")));
    intent_->resources["set"].push_back(std::move(pod));
  }
  void begin() {
    intent_ = std::make_shared<Intent>();
    intent_->environment = "fleet";
    intent_->sets["set"] = Leftover::remove;
    intent_->resources["set"];
    told_.clear();
  }
  Summary carry() {
    const auto edit = home_.edit("fleet");
    EXPECT_TRUE(ensure_environment(place_, *edit, Value::dict({})));
    const auto edited = edit_by(place_, *edit, intent_);
    EXPECT_TRUE(edited) << to_string(edited.error());
    return edited ? edited->summary : Summary{};
  }

  TestHome home_;
  HttpClient http_;
  WorkloadKinds kinds_;
  HostDriver host_;
  Interrupt interrupt_;
  Workplace place_;
  std::unique_ptr<TestEngine> second_;
  std::map<std::string, EngineAddress> addresses_;
  std::map<Name, std::unique_ptr<EngineDriver>> drivers_;
  std::shared_ptr<Intent> intent_;
  std::string told_;
};

TEST_F(NodesTest, OneThatIsGoneDisturbsNoOther) {
  begin();
  for (const char* node : {"n1", "n2", "gone"})
    want(node);
  const Summary first = carry();
  EXPECT_EQ(first.done, 2u);
  EXPECT_EQ(first.blocked, 1u);
  EXPECT_TRUE(first.failures.empty());
  EXPECT_EQ(told_.find("node `gone` does not answer: there is no socket"), 0u) << told_;
  EXPECT_EQ(containers("n1").size(), 2u);
  EXPECT_EQ(containers("n2").size(), 2u);
  const auto views = look_at_nodes(place_);
  ASSERT_TRUE(views) << to_string(views.error());
  for (const NodeView& view : *views) {
    EXPECT_EQ(view.answers, view.node.name != "gone") << view.node.name;
    EXPECT_EQ(view.pods, view.node.name == "gone" ? 0u : 1u) << view.node.name;
  }

  // The second goes away: its pods stay known, whether they are wanted or not.
  ASSERT_TRUE(second_->stop(false));
  begin();
  want("n1");
  const Summary second = carry();
  EXPECT_TRUE(second.failures.empty());
  EXPECT_EQ(second.kept, 1u);
  EXPECT_NE(told_.find("1 resource that is no longer wanted stays there until it answers"),
            std::string::npos)
      << told_;
  const Key left{"fleet", "pod", "n2|default/web"};
  EXPECT_TRUE(home_.store().known("fleet")->contains(left));
  // The environment cannot go without it.
  const auto early = remove_environment(place_, "fleet", {});
  ASSERT_FALSE(early);
  EXPECT_NE(to_string(early.error()).find("nothing answers at the socket"), std::string::npos)
      << to_string(early.error());

  // It comes back, and the pods that are left on it go.
  const auto again = second_->start();
  ASSERT_TRUE(again) << to_string(again.error());
  const Summary third = carry();
  EXPECT_TRUE(third.good());
  EXPECT_FALSE(home_.store().known("fleet")->contains(left));
  EXPECT_TRUE(containers("n2").empty());
  EXPECT_EQ(containers("n1").size(), 2u);
}

// Two of three pods must run at every moment, as the engines see it.
TEST_F(NodesTest, ADrainTakesNoMorePodsAtATimeThanMayBeMissing) {
  ASSERT_TRUE(remove_node(place_, "gone"));
  auto read = workloads::read_manifests(
      "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec:\n"
      "  replicas: 3\n  selector: {matchLabels: {app: web}}\n"
      "  updateStrategy: {rollingUpdate: {maxUnavailable: 1}}\n"
      "  template: {metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 0,\n"
      "    containers: [{name: main, image: \"localhost/fettle/busybox:1\",\n"
      "      command: [sleep, \"1000\"], imagePullPolicy: IfNotPresent}]}}\n",
      "web.yaml", {});
  ASSERT_TRUE(read.errors.empty()) << to_string(read.errors[0]);
  ASSERT_TRUE(store_objects(place_, "fleet", std::move(read.objects)));
  const auto bring = [&] { return bring_workloads(place_, "fleet", {.limit = 30s}); };
  ASSERT_TRUE(bring());
  const auto running = [&](const std::string& node) {
    return std::ranges::count_if(containers(node), [](const ContainerState& each) {
      return each.runs() && label(each.labels, mark::container) == "main";
    });
  };
  ASSERT_EQ(running("n1") + running("n2"), 3);
  const std::string drained = running("n1") == 2 ? "n1" : "n2",
                    other = drained == "n1" ? "n2" : "n1";
  std::atomic<bool> is_over = false;
  auto least = std::async(std::launch::async, [&] {
    ptrdiff_t found = 3;
    while (!is_over)
      found = std::min(found, running("n1") + running("n2"));
    return found;
  });
  const auto draining = drain_node(place_, drained, false);
  EXPECT_TRUE(draining) << (draining ? "" : to_string(draining.error()));
  EXPECT_TRUE(bring());
  is_over = true;
  EXPECT_EQ(least.get(), 2);
  EXPECT_TRUE(containers(drained).empty());
  EXPECT_EQ(running(other), 3);
  EXPECT_TRUE(remove_node(place_, drained));
  const auto gone = remove_environment(place_, "fleet", {});
  ASSERT_TRUE(gone) << to_string(gone.error());
}

}  // namespace
}  // namespace fettle
