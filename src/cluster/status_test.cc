#include "cluster/status.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/objects.h"
#include "tests/kubernetes/json_text.h"
#include "workloads/read/read.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

const Time moment = Time(Duration(1'795'354'853'000'000'000));

class ClusterStatus : public testing::Test {
 protected:
  ClusterStatus() : fleet("e") {
    const auto read = workloads::read_manifests(
        R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{"name":"web"},
            "spec":{"replicas":2,"progressDeadlineSeconds":60,
              "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":
              {"app":"web"}},"spec":{"containers":[{"name":"c0","image":"web:1"}]}}}})",
        "web.json", {});
    EXPECT_TRUE(read.errors.empty());
    workloads::Object object = read.objects.at(0);
    object.generation = 4;
    fleet.put(std::move(object));
  }
  workloads::Fleet fleet;
};

TEST_F(ClusterStatus, HasTheFieldsOfOpenKruise) {
  const Value status = status_for(fleet, "CloneSet/default/web", {}, moment);
  const struct {
    std::string_view field;
    Value value;
  } table[] = {{"observedGeneration", 4},
               {"replicas", 0},
               {"readyReplicas", 0},
               {"availableReplicas", 0},
               {"updatedReplicas", 0},
               {"updatedReadyReplicas", 0},
               {"updatedAvailableReplicas", 0},
               {"expectedUpdatedReplicas", 2},
               {"labelSelector", "app=web"},
               {"collisionCount", 0}};
  for (const auto& [field, value] : table)
    EXPECT_EQ(status.at(field), value) << field;
  EXPECT_EQ(status.text_at("updateRevision").substr(0, 4), "web-");
  EXPECT_TRUE(status_for(fleet, "CloneSet/default/other", {}, moment).is_null());
}

TEST_F(ClusterStatus, AConditionKeepsItsTimes) {
  const Value first = status_for(fleet, "CloneSet/default/web", {}, moment);
  const Value& row = first.at("conditions").items()[0];
  EXPECT_EQ(row.text_at("lastTransitionTime"), "2026-11-22T13:40:53Z");
  EXPECT_EQ(status_for(fleet, "CloneSet/default/web", first, moment + 1h), first);
  const Value other = json(R"({"conditions":[
      {"type":"FailedScale","status":"True"},
      {"type":"Progressing","status":"False","lastTransitionTime":"2020-01-01T00:00:00Z"}]})");
  const Value next = status_for(fleet, "CloneSet/default/web", other, moment);
  ASSERT_EQ(next.at("conditions").items().size(), 2u);
  EXPECT_EQ(next.at("conditions").items()[0].text_at("type"), "FailedScale");
  EXPECT_EQ(next.at("conditions").items()[1].text_at("lastTransitionTime"), "2026-11-22T13:40:53Z");
}

TEST(ClusterStatusChange, SaysOnlyWhatDiffers) {
  const Value object = json(R"({"metadata":{"uid":"u","resourceVersion":"7"},
                                "status":{"replicas":2,"readyReplicas":1,"reason":"x"}})");
  EXPECT_EQ(status_change(object, json(R"({"replicas":2,"readyReplicas":2})")),
            json(R"({"metadata":{"uid":"u","resourceVersion":"7"},
                     "status":{"readyReplicas":2,"reason":null}})"));
  EXPECT_TRUE(status_change(object, object.at("status")).is_null());
}

/// A later version of OpenKruise may say more, and an earlier schema may have less than we say.
TEST(ClusterStatusChange, WhatOthersSayStaysAndWhatIsNotKeptIsNotWrittenAgain) {
  const Value object = json(R"({"metadata":{"uid":"u","resourceVersion":"7"},
      "status":{"replicas":2,"volumeClaims":[1],"daemonSetHash":"h"}})");
  const Value wanted = json(R"({"replicas":2,"phase":"complete","reason":"x"})");
  const Value change = status_change(object, wanted);
  EXPECT_EQ(change.at("status"), json(R"({"phase":"complete","reason":"x"})"));
  const Value answer = json(R"({"status":{"replicas":2,"volumeClaims":[1],"reason":"x"}})");
  const std::set<Name> dropped = dropped_fields(change, answer);
  EXPECT_EQ(dropped, std::set<Name>{"phase"});
  EXPECT_TRUE(status_change(answer, wanted, dropped).is_null());
  EXPECT_TRUE(dropped_fields(json(R"({"status":{"reason":null}})"), answer).empty());
}

TEST(ClusterDaemonSet, HasTheHashThatASchemaAsksFor) {
  const auto read = workloads::read_manifests(
      R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"DaemonSet","metadata":{"name":"agent"},
          "spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":
            {"app":"a"}},"spec":{"containers":[{"name":"c0","image":"a:1"}]}}}})",
      "agent.json", {});
  ASSERT_TRUE(read.errors.empty());
  workloads::Fleet fleet("e");
  fleet.put(read.objects.at(0));
  const Value status = status_for(fleet, "DaemonSet/default/agent", {}, moment);
  EXPECT_FALSE(status.text_at("daemonSetHash").empty());
  EXPECT_EQ(status.text_at("daemonSetHash"), status.text_at("updateRevision"));
}

TEST_F(ClusterStatus, OneMoreConditionStandsBesideTheOthersAndKeepsItsTimes) {
  const Value row = json(R"({"type":"InjectsPodsOfOthers","status":"False","reason":"NotServed",
    "message":"no"})");
  const Value before = json(R"({"conditions":[{"type":"Theirs","status":"True"}]})");
  const Value first = status_for(fleet, "CloneSet/default/web", before, moment, row);
  EXPECT_EQ(condition_of(first.at("conditions"), "Theirs").text_at("status"), "True");
  EXPECT_EQ(condition_of(first.at("conditions"), "InjectsPodsOfOthers").text_at("message"), "no");
  EXPECT_EQ(status_for(fleet, "CloneSet/default/web", first, moment + 1h, row), first);
  // What nobody knows yet after a start stays as it was.
  EXPECT_EQ(status_for(fleet, "CloneSet/default/web", first, moment + 1h), first);
}

/// The cluster says of each pod of a node that is away that it is not ready.
TEST(ClusterNode, HasLabelsAndTaints) {
  const workloads::Node node = read_node(json(R"({"metadata":{"name":"n1","labels":{"zone":"a"}},
    "spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]},
    "status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})"));
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(node.labels.text_at("zone"), "a");
  EXPECT_EQ(items_of(node.taints)[0].text_at("key"), "gpu");
  EXPECT_TRUE(node.is_ready);
}

}  // namespace
}  // namespace fettle::cluster
