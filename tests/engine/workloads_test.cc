/// Workloads on a real engine: a CloneSet comes up, is updated in place, and goes.

#include <gtest/gtest.h>

#include "base/text.h"
#include "controller/workloads.h"
#include "drivers/engine/connect.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/marks.h"
#include "drivers/host/host_driver.h"
#include "kinds/kinds.h"
#include "tests/engine/world.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/workload_kinds.h"
#include "tests/fixtures/workplace_setup.h"
#include "verbs/fleet/workload_views.h"

namespace fettle {
namespace {

class WorkloadsTest : public testing::TestWithParam<TestEngine::Sort> {
 protected:
  WorkloadsTest()
      : engine_(http_, home_.blobs(),
                [this](bool, std::stop_token stop) {
                  return link_engine(http_, running_engine(GetParam()), {}, std::move(stop));
                }),
        host_(http_, home_.blobs(), [] { return uint64_t{7}; }, {}) {
    place_ = place_of({home_.store(), home_.blobs(), kinds_, interrupt_},
                      {{"engine", &engine_}, {"host", &host_}});
  }
  ~WorkloadsTest() override {
    for (const ContainerState& left : containers())
      EXPECT_TRUE(remove_container(**engine_.engine({}), left.id, {}));
  }
  std::vector<ContainerState> containers() {
    auto found = list_containers(**engine_.engine({}), {environment_filter("fleet")}, {})
                     .value_or(std::vector<ContainerState>());
    std::ranges::stable_partition(found, [](const ContainerState& each) {
      return !label(each.labels, mark::container).empty();
    });
    return found;
  }
  static std::string clone_set(const std::string& image, int replicas, int partition = 0) {
    return cat(
        "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\n"
        "spec:\n  replicas: ",
        replicas,
        "\n  selector: {matchLabels: {app: web}}\n"
        "  updateStrategy:\n    rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, "
        "maxUnavailable: 1, partition: ",
        partition,
        "}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n"
        "      terminationGracePeriodSeconds: 0\n      containers:\n"
        "      - {name: main, image: \"localhost/fettle/",
        image, ":1\", command: [sleep, \"1000\"], imagePullPolicy: IfNotPresent}\n");
  }
  BringResult apply(const std::string& text) {
    auto read = workloads::read_manifests(text, "web.yaml", {});
    EXPECT_TRUE(read.errors.empty()) << (read.errors.empty() ? "" : to_string(read.errors[0]));
    const auto stored = store_objects(place_, "fleet", std::move(read.objects));
    EXPECT_TRUE(stored) << to_string(stored.error());
    return bring();
  }
  BringResult bring() {
    BringOptions options;
    options.limit = 30s;
    const auto brought = bring_workloads(place_, "fleet", options);
    EXPECT_TRUE(brought) << to_string(brought.error());
    return brought.value_or(BringResult{});
  }
  /// `NAME IP IMAGE RESTARTS` of each pod.
  std::vector<std::string> pods() {
    std::vector<std::string> found;
    const auto all = pods_of(place_, "fleet");
    EXPECT_TRUE(all) << to_string(all.error());
    for (const Value& pod : all.value_or(std::vector<Value>())) {
      const Value& row = pod.at("status").at("containerStatuses").items()[0];
      found.push_back(cat(pod.at("metadata").text_at("name"), " ",
                          pod.at("status").text_at("podIP"), " ", row.text_at("image"), " ",
                          row.integer_at("restartCount")));
    }
    return found;
  }

  TestHome home_;
  HttpClient http_;
  WorkloadKinds kinds_;
  Interrupt interrupt_;
  Workplace place_;
  EngineDriver engine_;
  HostDriver host_;
};

TEST_P(WorkloadsTest, ACloneSetComesUpIsUpdatedInPlaceAndGoes) {
  const BringResult first = apply(clone_set("busybox", 2));
  EXPECT_TRUE(first.summary.good());
  EXPECT_TRUE(first.unsettled.empty()) << join(first.unsettled, "; ");
  EXPECT_EQ(first.ready, 2u);
  const std::vector<std::string> before = pods();
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(containers().size(), 4u);
  // A partition holds one back.
  const BringResult half = apply(clone_set("web", 2, 1));
  EXPECT_TRUE(half.unsettled.empty()) << join(half.unsettled, "; ");
  size_t updated = 0;
  for (const std::string& pod : pods())
    updated += pod.ends_with("localhost/fettle/web:1 1");
  EXPECT_EQ(updated, 1u) << join(pods(), "; ");
  const BringResult whole = apply(clone_set("web", 2));
  EXPECT_TRUE(whole.unsettled.empty()) << join(whole.unsettled, "; ");
  const std::vector<std::string> after = pods();
  ASSERT_EQ(after.size(), 2u);
  for (size_t i = 0; i < after.size(); ++i) {
    const std::string kept = before[i].substr(0, before[i].find(" localhost"));
    EXPECT_EQ(after[i], kept + " localhost/fettle/web:1 1") << "name and address are kept";
  }
  EXPECT_EQ(containers().size(), 4u);
  // Nothing more is wanted.
  const BringResult again = bring();
  EXPECT_EQ(again.summary.done, 0u);
  EXPECT_EQ(apply(clone_set("web", 1)).pods, 1u);
  ASSERT_TRUE(delete_objects(place_, "fleet", {"CloneSet/default/web"}));
  EXPECT_EQ(bring().pods, 0u);
  EXPECT_TRUE(containers().empty());
  EXPECT_FALSE(delete_objects(place_, "fleet", {"CloneSet/default/web"}));
}

TEST_P(WorkloadsTest, RestartsAreCountedWhoeverCausedThem) {
  EXPECT_TRUE(apply(clone_set("busybox", 1)).unsettled.empty());
  const auto restarts = [&] {
    const auto found = pods();
    return found.size() == 1 ? found[0].substr(found[0].rfind(' ') + 1) : join(found, "; ");
  };
  EXPECT_EQ(restarts(), "0");
  Engine& engine = **engine_.engine({});
  for (const char* count : {"1", "2"}) {
    ASSERT_TRUE(stop_container(engine, containers().at(0).id, 0s, {}));
    EXPECT_TRUE(bring().unsettled.empty());
    EXPECT_EQ(restarts(), count) << "somebody stopped it, and it was started again";
  }
  ASSERT_TRUE(remove_container(engine, containers().at(0).id, {}));
  EXPECT_TRUE(bring().unsettled.empty());
  EXPECT_EQ(restarts(), "3") << "somebody removed it, and another one came";
  EXPECT_TRUE(apply(clone_set("web", 1)).unsettled.empty());
  EXPECT_EQ(restarts(), "4") << "an update in place";
  ASSERT_TRUE(delete_objects(place_, "fleet", {"CloneSet/default/web"}));
  EXPECT_EQ(bring().pods, 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, WorkloadsTest,
                         testing::Values(TestEngine::Sort::podman, TestEngine::Sort::docker),
                         [](const auto& sort) { return to_string(sort.param); });

}  // namespace
}  // namespace fettle
