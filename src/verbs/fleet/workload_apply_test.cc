/// `apply` after other commands changed what is stored.

#include <gtest/gtest.h>

#include "tests/fixtures/workloads_fixture.h"
#include "value/json.h"
#include "verbs/fleet/store_fleet.h"
#include "verbs/fleet/workload_edits.h"
#include "verbs/fleet/workload_plan.h"

namespace fettle {
namespace {

Name owner() { return "CloneSet/default/web"; }

class ApplyTest : public WorkloadsTest {
 protected:
  static std::vector<workloads::Object> manifest(std::string_view image,
                                                 std::string_view more = {}) {
    auto read = workloads::read_manifests(
        cat("apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: web}\nspec:\n",
            more,
            "  selector: {matchLabels: {app: web}}\n  template: {metadata: {labels: {app: web}}, ",
            "spec: {containers: [{name: main, image: ", image, "}]}}\n"),
        "web.yaml", {});
    EXPECT_TRUE(read.errors.empty()) << to_string(read.errors[0]);
    return std::move(read.objects);
  }
  StoredObject apply(std::string_view image, std::string_view more = {}) {
    const auto stored = apply_objects(place_, "fleet", manifest(image, more));
    EXPECT_TRUE(stored) << to_string(stored.error());
    return stored ? stored->at(0) : StoredObject();
  }
  Value document() {
    const auto objects = stored_objects(place_, "fleet");
    return objects->at(0).document;
  }
  void change_by_commands() {
    ASSERT_TRUE(scale_workloads(place_, "fleet", {owner()}, 3));
    StoreFleet fleet(place_, "fleet");
    ASSERT_TRUE(pause_rollout(fleet, owner(), true));
    ASSERT_TRUE(put_metadata(place_, "fleet", {owner()}, "annotations", {{"a", "b"}}, false));
    ASSERT_TRUE(put_metadata(place_, "fleet", {owner()}, "labels", {{"c", "d"}}, false));
  }
};

TEST_F(ApplyTest, WhatCommandsChangedStays) {
  apply("web:1");
  change_by_commands();
  const Value before = document();
  EXPECT_EQ(apply("web:1").fate, StoredObject::Fate::unchanged);
  EXPECT_EQ(document(), before);
  apply("web:2");
  EXPECT_EQ(document().at("spec").integer_at("replicas"), 3);
  EXPECT_TRUE(document().at("spec").at("updateStrategy").at("rollingUpdate").bool_at("paused"));
  EXPECT_EQ(document().at("metadata").at("annotations").text_at("a"), "b");
  EXPECT_EQ(document().at("metadata").at("labels").text_at("c"), "d");
}

TEST_F(ApplyTest, WhatTheManifestSaidBeforeGoesWithIt) {
  apply("web:1", "  replicas: 2\n  minReadySeconds: 5\n");
  ASSERT_TRUE(scale_workloads(place_, "fleet", {owner()}, 3));
  apply("web:1", "  replicas: 2\n");
  EXPECT_EQ(document().at("spec").integer_at("replicas"), 2);
  EXPECT_TRUE(document().at("spec").at("minReadySeconds").is_null());
}

TEST_F(ApplyTest, AnImageIsTakenBackAndThePlanSaysSo) {
  apply("web:1", "  replicas: 1\n");
  ASSERT_TRUE(set_images(place_, "fleet", owner(), {{"main", "web:2"}}));
  ASSERT_TRUE(scale_workloads(place_, "fleet", {owner()}, 3));
  StoreFleet fleet(place_, "fleet");
  const auto plan = plan_workloads(fleet, manifest("web:1", "  replicas: 1\n"));
  ASSERT_TRUE(plan) << to_string(plan.error());
  std::vector<std::string> paths;
  for (const workloads::TakenBack& field : plan->objects.at(0).taken_back)
    paths.push_back(field.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"spec.replicas", "spec.template.spec.containers"}));
  apply("web:1", "  replicas: 1\n");
  EXPECT_NE(write_json(document()).find("web:1"), std::string::npos);
  EXPECT_EQ(document().at("spec").integer_at("replicas"), 1);
}

TEST_F(ApplyTest, AnObjectWithoutARecordLosesNothing) {
  // As earlier versions of fettle stored it.
  store("web:1", "  minReadySeconds: 5\n");
  apply("web:2");
  EXPECT_EQ(document().at("spec").integer_at("minReadySeconds"), 5);
  EXPECT_EQ(document().at("spec").integer_at("replicas"), 2);
  // From now on there is one.
  apply("web:2", "  minReadySeconds: 7\n");
  apply("web:2");
  EXPECT_TRUE(document().at("spec").at("minReadySeconds").is_null());
}

TEST_F(ApplyTest, ARolloutIsUndoneAfterIt) {
  apply("web:1");
  EXPECT_EQ(code_of(bring()), 0);
  apply("web:2");
  EXPECT_EQ(code_of(bring()), 0);
  StoreFleet fleet(place_, "fleet");
  const auto undone = undo_rollout(fleet, owner(), 0);
  ASSERT_TRUE(undone) << to_string(undone.error());
  EXPECT_EQ(code_of(bring()), 0);
  EXPECT_EQ(images(), std::vector<std::string>{"web:1"});
  apply("web:2");
  EXPECT_EQ(code_of(bring()), 0);
  EXPECT_EQ(images(), std::vector<std::string>{"web:2"});
}

TEST_F(ApplyTest, WhatComesOfAMergeKeepsTheRules) {
  apply("web:1", "  scaleStrategy: {maxUnavailable: 1}\n");
  change_by_commands();
  const Value before = document();
  auto objects = manifest("web:1");
  objects[0].document = manifest("web:1", "  replicas: 5\n")[0].document;
  std::vector<Entry> spec(objects[0].document.at("spec").entries().begin(),
                          objects[0].document.at("spec").entries().end());
  spec.push_back({"replicas", -1});
  objects[0].document = Value::dict({{"spec", Value::dict(std::move(spec))}});
  const auto refused = apply_objects(place_, "fleet", objects);
  ASSERT_FALSE(refused);
  EXPECT_NE(to_string(refused.error()).find("merging CloneSet `web`"), std::string::npos)
      << to_string(refused.error());
  EXPECT_EQ(document(), before);
}

}  // namespace
}  // namespace fettle
